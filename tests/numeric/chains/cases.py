"""Small chains of every kind, with root counts made by tests/data/make_root_counts.py."""

import json
from pathlib import Path

import numpy as np

from algebra.networks.base import KINDS
from algebra.problems.allocation import Allocation
from numeric.chains.chain import Chain, make_chain

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


def difference_quotients(chain: Chain, parameters: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Jacobian by central differences: Y is a polynomial, so 1e-6 is a good step."""
    columns = []
    for j in range(chain.unknowns):
        step = np.zeros(chain.unknowns)
        step[j] = 1e-6
        columns.append(
            (chain.residual_at(parameters, w + step) - chain.residual_at(parameters, w - step))
            / 2e-6
        )
    return np.array(columns).T
