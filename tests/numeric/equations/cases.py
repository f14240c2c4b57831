"""Small chains of every kind, with root counts made by tests/data/make_root_counts.py."""

import json
from pathlib import Path

import numpy as np

from algebra.networks.kinds import KINDS
from algebra.problems.allocation import Allocation
from numeric.equations.chain import Chain, make_chain

DATA = Path(__file__).parents[2] / "data" / "root_counts.json"


def cases() -> list[tuple[Allocation, int]]:
    """Allocations and their generic root counts."""
    out = []
    for case in json.loads(DATA.read_text(encoding="utf-8")):
        sizes = dict(case["network"])
        network = KINDS[sizes.pop("kind")](**sizes)
        cells = [(name, i, j) for name, i, j in case["cells"]]
        out.append((Allocation.from_cells(network, cells), case["root_count"]))
    return out


def chains() -> list[Chain]:
    """Chains of all the allocations."""
    return [make_chain(allocation) for allocation, _ in cases()]


def labels_at(chain: Chain, parameters: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Labels (d×m') of learnable weights w at a parameter vector, any dtype."""
    p = np.array(parameters, dtype=np.result_type(parameters, w))
    p[chain.cells[:, 4]] = w
    n, c = chain.widths, chain.columns
    state = p[chain.s0_at : chain.s0_at + n[0] * c].reshape(n[0], c)
    total = np.zeros((n[-1], chain.samples), p.dtype) if chain.read_all else state
    for k in range(1, len(n)):
        at = chain.m_at[k]
        state = p[at : at + n[k] * n[k - 1]].reshape(n[k], n[k - 1]) @ state
        if chain.read_all:
            at = chain.p_at[k]
            total = total + state @ p[at : at + c * chain.samples].reshape(c, chain.samples)
        else:
            total = state
    return p[chain.d_at : chain.d_at + chain.network.d * n[-1]].reshape(-1, n[-1]) @ total


def residual_at(chain: Chain, parameters: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Residuals (r,) of the equations."""
    labels = labels_at(chain, parameters, w)[tuple(chain.equations.T)]
    return labels - chain.equation_labels(parameters)


def difference_quotients(chain: Chain, parameters: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Jacobian by central differences: Y is a polynomial, so 1e-6 is a good step."""
    columns = []
    for j in range(chain.unknowns):
        step = np.zeros(chain.unknowns)
        step[j] = 1e-6
        columns.append(
            (residual_at(chain, parameters, w + step) - residual_at(chain, parameters, w - step))
            / 2e-6
        )
    return np.array(columns).T
