r"""The lifted forms of a network's equations: their unknowns, equations, values and size.

With r learnable weights and everything else constant, "the student's labels equal the teacher's" is
a system of polynomials.  Written out directly it has degree T (recurrent) or L (layers); with the
states kept as unknowns F it is at most quadratic.  All forms have the same solutions: F is a
function of the weights.

``B`` (paper 1, Lemma 3.3), recurrent nets: F = (F_1 | … | F_T), n×Tb,

.. math:: W g_B(F) = F, \quad D F X = Y, \quad g_B(F) = (F_2 | … | F_T | B).

``D`` (Lemma B.7), recurrent nets: F = (F_1 | … | F_T), d×nT, g_D(F) stacks
F_2, …, F_T, D by rows:

.. math:: F_t W = F_{t-1}, \quad D W = F_T, \quad F (I_T ⊗ B) X = Y.

``forward`` (Eqs. 4.1–4.3), feed-forward nets: :math:`W_1 X = F_1`,
:math:`W_l F_{l-1} = F_l`, :math:`W_L F_{L-1} = Y`.

``backward``, feed-forward nets, the transposed form: :math:`W_L = G_L`,
:math:`G_{l+1} W_l = G_l`, :math:`G_1 X = Y`.

``sums``, nets with a polynomial activation φ, F_k the pre-activations of stage k:
``M_k (φ(F_{k-1}) + B x_k) + c_k = F_k``, ``D φ(F_K) + e = Y``.

``direct``, any net: the labels themselves, without auxiliary unknowns.  If only the encoder, only
the decoder or one layer learns, it is linear.

Mixed allocations (B, W and D together; several layers) need nothing more: a learnable cell is an
unknown wherever its matrix occurs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from algebra.errors import InputError
from algebra.networks.activated import SUMS
from algebra.networks.activation import Activation
from algebra.networks.base import Matmul, Network
from algebra.networks.chain import ChainLayout, need_chain
from algebra.polynomials.quadratic import beside, stacked
from algebra.problems.allocation import Allocation
from algebra.programs import Node
from algebra.programs.arrays import EntryArithmetic

Equations = list[tuple[str, Any]]
Matrices = Mapping[str, Any]
Shapes = dict[str, tuple[int, int]]


class LiftedForm(ABC):
    """A form of the equations of a chain.

    Matrices may be object arrays over any ring, or `QuadraticMatrix`; U is the input of the chain
    (`ChainNetwork.drive` of the samples).
    """

    name: ClassVar[str]

    @abstractmethod
    def unknowns(self, network: Any) -> Shapes:
        """The matrices of auxiliary unknowns: name to shape."""

    @abstractmethod
    def equations(
        self, network: Any, student: Matrices, lifted: Matrices, U: Any, Y: Any
    ) -> Equations:
        """Label and value of each matrix equation, as (left − right)."""

    @abstractmethod
    def values(self, network: Any, weights: Matrices, U: Any, matmul: Matmul) -> dict[str, Any]:
        """The values of the auxiliary matrices for a network with these weights."""

    @abstractmethod
    def size(self, allocation: Allocation) -> int:
        """Number of auxiliary unknowns in the rows (or columns) that learn."""

    def __str__(self) -> str:
        return self.name


class _Direct(LiftedForm):
    name = "direct"

    def unknowns(self, network: Any) -> Shapes:
        return {}

    def equations(
        self, network: Any, student: Matrices, lifted: Matrices, U: Any, Y: Any
    ) -> Equations:
        chain = network.chain()
        if chain is None:
            return [("Y", network.forward(student, U) - Y)]
        if chain.recurrent is None:
            for name in chain.steps:
                U = student[name] @ U
        else:
            W, B, b = student[chain.recurrent], student[_start(chain)], network.step_inputs
            state = B @ U[:b]
            for t in range(1, network.steps):
                state = B @ U[t * b : (t + 1) * b] + W @ state
            U = W @ state
        return [("Y", student[chain.output] @ U - Y)]

    def values(self, network: Any, weights: Matrices, U: Any, matmul: Matmul) -> dict[str, Any]:
        return {}

    def size(self, allocation: Allocation) -> int:
        return 0


class _B(LiftedForm):
    name = "B"

    def unknowns(self, network: Any) -> Shapes:
        return {"F": (network.inner_widths[0], network.steps * network.step_inputs)}

    def equations(
        self, network: Any, student: Matrices, lifted: Matrices, U: Any, Y: Any
    ) -> Equations:
        D, W, B = (student[name] for name in network.chain().names)
        F = lifted["F"]
        shifted = beside([F[:, network.step_inputs :], B]) if network.steps > 1 else B
        return [
            ("W g_B(F) = F", W @ shifted - F),
            (f"D F {network.drive_letter} = Y", D @ (F @ U) - Y),
        ]

    def values(self, network: Any, weights: Matrices, U: Any, matmul: Matmul) -> dict[str, Any]:
        _, W, B = (weights[name] for name in network.chain().names)
        steps = [B]
        for _ in range(network.steps):
            steps.append(matmul(W, steps[-1]))
        return {"F": beside(steps[:0:-1])}

    def size(self, allocation: Allocation) -> int:
        network = need_chain(allocation.network)
        rows = allocation.row_counts(network.chain().steps[0])
        return sum(c > 0 for c in rows) * network.steps * network.step_inputs


class _D(LiftedForm):
    name = "D"

    def unknowns(self, network: Any) -> Shapes:
        return {"F": (network.d, network.inner_widths[0] * network.steps)}

    def equations(
        self, network: Any, student: Matrices, lifted: Matrices, U: Any, Y: Any
    ) -> Equations:
        D, W, B = (student[name] for name in network.chain().names)
        n, b, T = network.inner_widths[0], network.step_inputs, network.steps
        F = lifted["F"]
        steps = [F[:, t * n : (t + 1) * n] for t in range(T)]
        rows = stacked(
            [after @ W - step for after, step in zip([*steps[1:], D], steps, strict=True)]
        )
        driven = stacked([B @ U[t * b : (t + 1) * b] for t in range(T)])
        return [("g_D(F) W = F", rows), (f"F (I ⊗ B) {network.drive_letter} = Y", F @ driven - Y)]

    def values(self, network: Any, weights: Matrices, U: Any, matmul: Matmul) -> dict[str, Any]:
        D, W, _ = (weights[name] for name in network.chain().names)
        steps = [D]
        for _ in range(network.steps):
            steps.append(matmul(steps[-1], W))
        return {"F": beside(steps[:0:-1])}

    def size(self, allocation: Allocation) -> int:
        network = need_chain(allocation.network)
        columns = allocation.column_counts(network.chain().steps[0])
        return sum(c > 0 for c in columns) * network.steps * network.d


class _Forward(LiftedForm):
    name = "forward"

    def unknowns(self, network: Any) -> Shapes:
        widths = enumerate(network.inner_widths, start=1)
        return {f"F{layer}": (width, network.columns) for layer, width in widths}

    def equations(
        self, network: Any, student: Matrices, lifted: Matrices, U: Any, Y: Any
    ) -> Equations:
        chain, left, symbol, made = network.chain(), U, network.drive_letter, []
        for layer, name in enumerate(chain.steps, start=1):
            F = lifted[f"F{layer}"]
            made.append((f"{name} {symbol} = F{layer}", student[name] @ left - F))
            left, symbol = F, f"F{layer}"
        return [*made, (f"{chain.output} {symbol} = Y", student[chain.output] @ left - Y)]

    def values(self, network: Any, weights: Matrices, U: Any, matmul: Matmul) -> dict[str, Any]:
        found = {}
        for layer, name in enumerate(network.chain().steps, start=1):
            U = found[f"F{layer}"] = matmul(weights[name], U)
        return found

    def size(self, allocation: Allocation) -> int:
        network = need_chain(allocation.network)
        rows = (allocation.masks[name].any(axis=1).sum() for name in network.chain().steps)
        return network.columns * int(sum(rows))


class _Backward(LiftedForm):
    name = "backward"

    def unknowns(self, network: Any) -> Shapes:
        widths = (network.step_inputs, *network.inner_widths)
        return {f"G{k}": (network.d, widths[k - 1]) for k in range(len(widths), 0, -1)}

    def equations(
        self, network: Any, student: Matrices, lifted: Matrices, U: Any, Y: Any
    ) -> Equations:
        names = network.chain().names
        right, symbol, made = None, "", []
        for layer, name in zip(range(len(names), 0, -1), names, strict=True):
            G = lifted[f"G{layer}"]
            product = student[name] if right is None else right @ student[name]
            made.append((f"{symbol}{name} = G{layer}", product - G))
            right, symbol = G, f"G{layer} "
        return [*made, (f"G1 {network.drive_letter} = Y", lifted["G1"] @ U - Y)]

    def values(self, network: Any, weights: Matrices, U: Any, matmul: Matmul) -> dict[str, Any]:
        names = network.chain().names
        right, found = None, {}
        for layer, name in zip(range(len(names), 0, -1), names, strict=True):
            right = weights[name] if right is None else matmul(right, weights[name])
            found[f"G{layer}"] = right
        return found

    def size(self, allocation: Allocation) -> int:
        names = need_chain(allocation.network).chain().names[:-1]
        columns = (allocation.masks[name].any(axis=0).sum() for name in names)
        return allocation.network.d * int(sum(columns))


class _LiftedSums(EntryArithmetic):
    """Each pre-activation is replaced by an unknown, with an equation."""

    def __init__(self, activation: Activation, lifted: Matrices) -> None:
        super().__init__(lambda node: activation)
        self.lifted, self.equations = lifted, list[tuple[str, Any]]()

    def apply(self, node: Node, name: str, a: np.ndarray) -> np.ndarray:
        unknown = f"F{len(self.equations) + 1}"
        self.equations.append((unknown, a - self.lifted[unknown]))
        return super().apply(node, name, self.lifted[unknown])


class _Sums(LiftedForm):
    """For networks with a polynomial activation: each pre-activation is an unknown."""

    name = "sums"

    def unknowns(self, network: Any) -> Shapes:
        return {
            f"F{k}": (network.shapes[stage.matrix][0], network.m)
            for k, stage in enumerate(network.stages(), start=1)
        }

    def equations(
        self, network: Any, student: Matrices, lifted: Matrices, U: Any, Y: Any
    ) -> Equations:
        sums = _LiftedSums(network.activation, lifted)
        [labels] = network.values_in(sums, student, U)
        return [*sums.equations, ("Y", labels - Y)]

    def values(self, network: Any, weights: Matrices, U: Any, matmul: Matmul) -> dict[str, Any]:
        sums = network.values_in(network.entries(matmul), weights, U, SUMS)
        return {f"F{k}": a for k, a in enumerate(sums, start=1)}

    def size(self, allocation: Allocation) -> int:
        return sum(rows * columns for rows, columns in self.unknowns(allocation.network).values())


def _start(chain: ChainLayout) -> str:
    assert chain.start is not None
    return chain.start


DIRECT = _Direct()
FORMS: dict[str, LiftedForm] = {
    form.name: form for form in (_B(), _D(), _Forward(), _Backward(), _Sums(), DIRECT)
}


def forms(network: Network, allocation: Allocation) -> tuple[str, ...]:
    """The lifted forms for a network and allocation; ("direct",) if none is useful."""
    chain = network.chain()
    if chain is None:
        return network.own_forms
    if chain.recurrent:
        lifted = chain.recurrent in allocation.matrices
        return ("B", "D") if lifted else (DIRECT.name,)
    return ("forward", "backward") if len(allocation.matrices) > 1 else (DIRECT.name,)


def form_of(allocation: Allocation, name: str) -> LiftedForm:
    """The form of this name, one of `forms` or "direct"."""
    fitting = forms(allocation.network, allocation)
    if name not in (*fitting, DIRECT.name):
        raise InputError(
            f"`form` ({name!r}) does not fit; choose from "
            + ", ".join(dict.fromkeys((*fitting, DIRECT.name)))
        )
    return FORMS[name]


def preferred_forms(network: Network, allocation: Allocation) -> tuple[str, ...]:
    """The lifted forms, the one with the smaller core first.

    The B form leaves k·Tb − dm free F-unknowns (k rows that learn), the D form k_c·Td − dm (k_c
    columns); for the forward and backward forms rows and columns of the inner layers are counted
    likewise.
    """
    return tuple(sorted(forms(network, allocation), key=lambda f: FORMS[f].size(allocation)))


def core_dimension(allocation: Allocation) -> int | None:
    """Auxiliary unknowns of a recurrent net left by the linear block; None for other nets.

    k rows of W that learn have k T b of them in the B form, k columns k T d in the D form; the
    labels determine as many as there are weights.
    """
    chain = allocation.network.chain()
    if chain is None or not chain.recurrent or allocation.matrices != (chain.recurrent,):
        return None
    least = min(FORMS[name].size(allocation) for name in ("B", "D"))
    return max(0, least - allocation.size)


# With more auxiliary unknowns elimination needs gigabytes, and no Gröbner basis ends.
_BEYOND = 1_000


def beyond_counting(allocation: Allocation) -> int | None:
    """The number of core unknowns if it is too large for any time limit; otherwise None."""
    found = core_dimension(allocation)
    return found if found is not None and found > _BEYOND else None


def unknown_count(allocation: Allocation, form: str) -> int:
    """Number of unknowns of a form: learnable weights and auxiliary ones."""
    shapes = FORMS[form].unknowns(allocation.network).values()
    return allocation.size + sum(rows * columns for rows, columns in shapes)
