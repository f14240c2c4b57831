r"""The polynomial equations an allocation leads to.

With r learnable weights and everything else constant, "the student's labels equal the
teacher's" is a system of polynomials.  Written out directly it has degree T (recurrent)
or L (layers); with the dynamic steps kept as unknowns F it is at most quadratic.  Both
have the same solutions: F is a function of the weights.

Forms
-----
``B`` (paper 1, Lemma 3.3), recurrent nets: F = (F_1 | … | F_T), n×Tb,

.. math:: W g_B(F) = F, \quad D F X = Y, \quad g_B(F) = (F_2 | … | F_T | B).

``D`` (Lemma B.7), recurrent nets: F = (F_1 | … | F_T), d×nT, g_D(F) stacks
F_2, …, F_T, D by rows:

.. math:: F_t W = F_{t-1}, \quad D W = F_T, \quad F (I_T ⊗ B) X = Y.

``forward`` (Eqs. 4.1–4.3), feed-forward nets: :math:`W_1 X = F_1`,
:math:`W_l F_{l-1} = F_l`, :math:`W_L F_{L-1} = Y`.

``backward``, feed-forward nets, its mirror image: :math:`W_L = G_L`,
:math:`G_{l+1} W_l = G_l`, :math:`G_1 X = Y`.

``direct``, any linear net: the labels themselves, without auxiliary unknowns.  Where
only the encoder, only the decoder or one layer learns, it is already linear.

Mixed allocations (B, W and D together; several layers) need nothing new: a learnable
cell is an unknown wherever its matrix stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from algebra.errors import InputError
from algebra.networks.base import Network
from algebra.networks.chain import ChainNetwork, need_chain
from algebra.polynomials.rings import Ring, SymbolicRing, symbol
from algebra.problems.allocation import Allocation


@dataclass(frozen=True)
class PolynomialSystem:
    """A polynomial system over some ring.

    Attributes
    ----------
    form : str
        "B", "D", "forward", "backward" or "direct".
    ring : Ring
    unknowns : tuple of str
        Names: first the learnable weights in the allocation's order (``W_0_1``), then the
        auxiliary unknowns (``F_2_0``: row 2, column 0).
    weights : int
        How many of the unknowns are weights.
    equations : tuple
        Polynomials that must vanish, one a label (a plain ring element where no unknown
        occurs).
    labels : tuple of str
        What each equation says, such as ``"W g_B(F) = F [2, 0]"``.
    """

    form: str
    ring: Any
    unknowns: tuple[str, ...]
    weights: int
    equations: tuple[Any, ...]
    labels: tuple[str, ...]

    @property
    def auxiliary(self) -> tuple[str, ...]:
        """Names of the auxiliary unknowns."""
        return self.unknowns[self.weights :]

    def __str__(self) -> str:
        return (
            f"{self.form} form: {len(self.equations)} equations in {len(self.unknowns)} unknowns "
            f"({self.weights} weights, {len(self.auxiliary)} auxiliary)"
        )


def forms(network: Network, allocation: Allocation) -> tuple[str, ...]:
    """The lifted forms that fit a network and allocation; ("direct",) where none helps."""
    chain = need_chain(network).chain()
    if chain.recurrent in allocation.matrices:
        return ("B", "D")
    if chain.recurrent is None and len(allocation.matrices) > 1:
        return ("forward", "backward")
    return ("direct",)


def unknown_count(allocation: Allocation, form: str) -> int:
    """Number of unknowns of a form: learnable weights and auxiliary ones."""
    shapes = _auxiliary_shapes(allocation.network, form).values()
    return allocation.size + sum(rows * columns for rows, columns in shapes)


def build_system(
    allocation: Allocation,
    weights: Mapping[str, np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    ring: Ring,
    form: str,
) -> PolynomialSystem:
    """The system of one instance, in one form, over one ring.

    Parameters
    ----------
    allocation : Allocation
    weights : mapping of str to ndarray
        Object arrays of the student's weights, entries the ring understands; those of
        learnable cells are ignored.
    X, Y : ndarray
        Samples and labels.
    ring : Ring
    form : str
        One of `forms`, or "direct".

    Returns
    -------
    PolynomialSystem
    """
    network = need_chain(allocation.network)
    if form != "direct" and form not in forms(network, allocation):
        raise InputError(
            f"`form` ({form!r}) does not fit; choose from "
            + ", ".join(dict.fromkeys((*forms(network, allocation), "direct")))
        )
    names = [f"{name}_{i}_{j}" for name, i, j in allocation.cells]
    shapes = _auxiliary_shapes(network, form)
    layout: list[str] = list(names)
    for prefix, (rows, columns) in shapes.items():
        layout += [f"{prefix}_{i}_{j}" for i in range(rows) for j in range(columns)]
    generators = ring.generators(layout)

    student = {name: _constants(ring, weights[name]) for name in network.shapes}
    for (name, i, j), generator in zip(allocation.cells, generators, strict=False):
        student[name][i, j] = generator
    lifted: dict[str, np.ndarray] = {}
    offset = len(names)
    for prefix, (rows, columns) in shapes.items():
        block = np.empty(rows * columns, dtype=object)
        block[:] = generators[offset : offset + rows * columns]
        lifted[prefix] = block.reshape(rows, columns)
        offset += rows * columns

    X, Y = _constants(ring, X), _constants(ring, Y)
    equations: list[Any] = []
    labels: list[str] = []
    for label, block in _matrix_equations(network, form, student, lifted, X, Y):
        for (i, j), polynomial in np.ndenumerate(block):
            equations.append(polynomial)
            labels.append(f"{label} [{i}, {j}]")
    return PolynomialSystem(
        form=form,
        ring=ring,
        unknowns=tuple(layout),
        weights=len(names),
        equations=tuple(equations),
        labels=tuple(labels),
    )


def symbolic_system(
    allocation: Allocation, form: str, support: Mapping[str, np.ndarray] | None = None
) -> PolynomialSystem:
    """The system with a SymPy symbol for every weight, sample and label entry.

    Fixed weights are the symbols ``W_0_1``, …, samples ``X_0_0``, labels ``Y_0_0``.

    Examples
    --------
    >>> from algebra.networks.base import LinearEstimator
    >>> net = LinearEstimator(q=2, d=1, m=1)
    >>> system = symbolic_system(Allocation.from_cells(net, [("W", 0, 0)]), "direct")
    >>> system.equations[0].expand()
    W_0_0*X_0_0 + W_0_1*X_1_0 - Y_0_0
    """
    network = allocation.network
    weights = {}
    for name, shape in network.shapes.items():
        weights[name] = _symbols(name, shape)
        if support and name in support:
            weights[name] = np.where(np.asarray(support[name]) != 0, weights[name], 0)
    X = _symbols("X", network.input_shape)
    Y = _symbols("Y", (network.d, network.columns))
    return build_system(allocation, weights, X, Y, SymbolicRing(), form)


def _symbols(prefix: str, shape: tuple[int, int]) -> np.ndarray:
    out = np.empty(shape, dtype=object)
    for i, j in np.ndindex(shape):
        out[i, j] = symbol(f"{prefix}_{i}_{j}")
    return out


def _constants(ring: Ring, array: np.ndarray) -> np.ndarray:
    out = np.empty(array.shape, dtype=object)
    for index, value in np.ndenumerate(array):
        out[index] = ring.constant(value)
    return out


def _auxiliary_shapes(network: Network, form: str) -> dict[str, tuple[int, int]]:
    chain = need_chain(network)
    widths, inputs = chain.inner_widths, network.input_shape[0]
    if form == "B":
        return {"F": (widths[0], inputs)}
    if form == "D":
        return {"F": (network.d, widths[0] * chain.steps)}
    if form == "forward":
        return {f"F{layer}": (width, network.columns) for layer, width in enumerate(widths, 1)}
    if form == "backward":
        numbered = reversed(list(enumerate(widths, start=2)))
        return {f"G{layer}": (network.d, width) for layer, width in numbered} | {
            "G1": (network.d, inputs)
        }
    return {}


def _matrix_equations(
    network: ChainNetwork,
    form: str,
    student: Mapping[str, np.ndarray],
    lifted: Mapping[str, np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
) -> Sequence[tuple[str, np.ndarray]]:
    """Label and value of each matrix equation of a form, as (left − right)."""
    if form == "direct":
        return [("Y", network.forward(student, X) - Y)]
    chain, U, letter = network.chain(), network.drive(X), network.drive_letter
    if chain.recurrent and chain.start:
        F, W, B = lifted["F"], student[chain.recurrent], student[chain.start]
        D, b, T, n = student[chain.output], network.step_inputs, network.steps, len(W)
        if form == "B":
            shifted = np.concatenate([F[:, b:], B], axis=1)
            return [("W g_B(F) = F", W @ shifted - F), (f"D F {letter} = Y", D @ F @ U - Y)]
        steps = [F[:, t * n : (t + 1) * n] for t in range(T)]
        following = [*steps[1:], D]
        rows = np.concatenate(
            [after @ W - step for after, step in zip(following, steps, strict=True)]
        )
        driven = np.concatenate([B @ U[t * b : (t + 1) * b] for t in range(T)])
        return [("g_D(F) W = F", rows), (f"F (I ⊗ B) {letter} = Y", F @ driven - Y)]
    names = ("", *chain.steps, chain.output)
    L = network.steps + 1
    equations = []
    if form == "forward":
        left = U
        for layer in range(1, L):
            product = student[names[layer]] @ left
            symbol_left = letter if layer == 1 else f"F{layer - 1}"
            label = f"{names[layer]} {symbol_left} = F{layer}"
            equations.append((label, product - lifted[f"F{layer}"]))
            left = lifted[f"F{layer}"]
        equations.append((f"{names[L]} F{L - 1} = Y", student[names[L]] @ left - Y))
        return equations
    right = student[names[L]]
    equations.append((f"{names[L]} = G{L}", right - lifted[f"G{L}"]))
    for layer in range(L - 1, 0, -1):
        right = lifted[f"G{layer + 1}"] @ student[names[layer]]
        label = f"G{layer + 1} {names[layer]} = G{layer}"
        equations.append((label, right - lifted[f"G{layer}"]))
    equations.append((f"G1 {letter} = Y", lifted["G1"] @ U - Y))
    return equations
