r"""The lifted forms of a network's equations: their unknowns, equations, values and size.

With r learnable weights and everything else constant, "the student's labels equal the
teacher's" is a system of polynomials.  Written out directly it has degree T (recurrent)
or L (layers); with the dynamic steps kept as unknowns F it is at most quadratic.  All
have the same solutions: F is a function of the weights.

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

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from algebra.errors import InputError
from algebra.networks.base import LinearFeedForward, LinearRNN, Matmul, Network
from algebra.problems.allocation import Allocation
from algebra.systems.quadratic import beside, stacked

Equations = list[tuple[str, Any]]
Shapes = dict[str, tuple[int, int]]


class LiftedForm(ABC):
    """One way to write the equations of a network.

    The matrices may be object arrays over any ring, or `QuadraticMatrix`.
    """

    name: ClassVar[str]

    @abstractmethod
    def unknowns(self, network: Any) -> Shapes:
        """The matrices of auxiliary unknowns: name to shape."""

    @abstractmethod
    def equations(
        self, network: Any, student: Mapping[str, Any], lifted: Mapping[str, Any], X: Any, Y: Any
    ) -> Equations:
        """Label and value of each matrix equation, as (left − right)."""

    @abstractmethod
    def values(
        self, network: Any, weights: Mapping[str, Any], X: Any, matmul: Matmul
    ) -> dict[str, Any]:
        """The auxiliary matrices of a network with these weights."""

    @abstractmethod
    def size(self, allocation: Allocation) -> int:
        """Auxiliary unknowns in rows (or columns) that learn: what no linear equation gives."""

    def __str__(self) -> str:
        return self.name


class _Direct(LiftedForm):
    name = "direct"

    def unknowns(self, network: Network) -> Shapes:
        return {}

    def equations(
        self, network: Network, student: Mapping[str, Any], lifted: Mapping[str, Any], X: Any,
        Y: Any,
    ) -> Equations:  # fmt: skip
        return [("Y", network.forward(student, X) - Y)]

    def values(
        self, network: Network, weights: Mapping[str, Any], X: Any, matmul: Matmul
    ) -> dict[str, Any]:
        return {}

    def size(self, allocation: Allocation) -> int:
        return 0


class _B(LiftedForm):
    name = "B"

    def unknowns(self, network: LinearRNN) -> Shapes:
        return {"F": (network.n, network.T * network.b)}

    def equations(
        self, network: LinearRNN, student: Mapping[str, Any], lifted: Mapping[str, Any], X: Any,
        Y: Any,
    ) -> Equations:  # fmt: skip
        F, W, B, D = lifted["F"], student["W"], student["B"], student["D"]
        shifted = beside([F[:, network.b :], B]) if network.T > 1 else B
        return [("W g_B(F) = F", W @ shifted - F), ("D F X = Y", D @ F @ X - Y)]

    def values(
        self, network: LinearRNN, weights: Mapping[str, Any], X: Any, matmul: Matmul
    ) -> dict[str, Any]:
        steps = [weights["B"]]
        for _ in range(network.T):
            steps.append(matmul(weights["W"], steps[-1]))
        return {"F": np.concatenate(steps[:0:-1], axis=1)}

    def size(self, allocation: Allocation) -> int:
        network = allocation.network
        assert isinstance(network, LinearRNN)
        return sum(c > 0 for c in allocation.row_counts("W")) * network.T * network.b


class _D(LiftedForm):
    name = "D"

    def unknowns(self, network: LinearRNN) -> Shapes:
        return {"F": (network.d, network.n * network.T)}

    def equations(
        self, network: LinearRNN, student: Mapping[str, Any], lifted: Mapping[str, Any], X: Any,
        Y: Any,
    ) -> Equations:  # fmt: skip
        F, W, B, D = lifted["F"], student["W"], student["B"], student["D"]
        n, b, T = network.n, network.b, network.T
        steps = [F[:, t * n : (t + 1) * n] for t in range(T)]
        rows = stacked(
            [after @ W - step for after, step in zip([*steps[1:], D], steps, strict=True)]
        )
        driven = stacked([B @ X[t * b : (t + 1) * b] for t in range(T)])
        return [("g_D(F) W = F", rows), ("F (I ⊗ B) X = Y", F @ driven - Y)]

    def values(
        self, network: LinearRNN, weights: Mapping[str, Any], X: Any, matmul: Matmul
    ) -> dict[str, Any]:
        steps = [weights["D"]]
        for _ in range(network.T):
            steps.append(matmul(steps[-1], weights["W"]))
        return {"F": np.concatenate(steps[:0:-1], axis=1)}

    def size(self, allocation: Allocation) -> int:
        network = allocation.network
        assert isinstance(network, LinearRNN)
        return sum(c > 0 for c in allocation.column_counts("W")) * network.T * network.d


class _Forward(LiftedForm):
    name = "forward"

    def unknowns(self, network: LinearFeedForward) -> Shapes:
        return {f"F{layer}": (w, network.m) for layer, w in enumerate(network.widths, start=1)}

    def equations(
        self, network: LinearFeedForward, student: Mapping[str, Any], lifted: Mapping[str, Any],
        X: Any, Y: Any,
    ) -> Equations:  # fmt: skip
        L, left, made = network.layers, X, []
        for layer in range(1, L):
            product = student[f"W{layer}"] @ left
            before = "X" if layer == 1 else f"F{layer - 1}"
            made.append((f"W{layer} {before} = F{layer}", product - lifted[f"F{layer}"]))
            left = lifted[f"F{layer}"]
        return [*made, (f"W{L} F{L - 1} = Y", student[f"W{L}"] @ left - Y)]

    def values(
        self, network: LinearFeedForward, weights: Mapping[str, Any], X: Any, matmul: Matmul
    ) -> dict[str, Any]:
        left, found = X, {}
        for layer in range(1, network.layers):
            left = found[f"F{layer}"] = matmul(weights[f"W{layer}"], left)
        return found

    def size(self, allocation: Allocation) -> int:
        masks, names = allocation.masks, list(allocation.network.shapes)
        rows = sum(int(masks[name].any(axis=1).sum()) for name in names[1:])
        return allocation.network.m * rows


class _Backward(LiftedForm):
    name = "backward"

    def unknowns(self, network: LinearFeedForward) -> Shapes:
        widths = reversed(list(enumerate(network.widths, start=2)))
        return {f"G{layer}": (network.d, width) for layer, width in widths} | {
            "G1": (network.d, network.q)
        }

    def equations(
        self, network: LinearFeedForward, student: Mapping[str, Any], lifted: Mapping[str, Any],
        X: Any, Y: Any,
    ) -> Equations:  # fmt: skip
        L = network.layers
        made = [(f"W{L} = G{L}", student[f"W{L}"] - lifted[f"G{L}"])]
        for layer in range(L - 1, 0, -1):
            right = lifted[f"G{layer + 1}"] @ student[f"W{layer}"]
            made.append((f"G{layer + 1} W{layer} = G{layer}", right - lifted[f"G{layer}"]))
        return [*made, ("G1 X = Y", lifted["G1"] @ X - Y)]

    def values(
        self, network: LinearFeedForward, weights: Mapping[str, Any], X: Any, matmul: Matmul
    ) -> dict[str, Any]:
        right = weights[f"W{network.layers}"]
        found = {f"G{network.layers}": right}
        for layer in range(network.layers - 1, 0, -1):
            right = found[f"G{layer}"] = matmul(right, weights[f"W{layer}"])
        return found

    def size(self, allocation: Allocation) -> int:
        masks, names = allocation.masks, list(allocation.network.shapes)
        columns = sum(int(masks[name].any(axis=0).sum()) for name in names[:-1])
        return allocation.network.d * columns


DIRECT = _Direct()
FORMS: dict[str, LiftedForm] = {
    form.name: form for form in (_B(), _D(), _Forward(), _Backward(), DIRECT)
}


def forms(network: Network, allocation: Allocation) -> tuple[str, ...]:
    """The lifted forms that fit a network and allocation; ("direct",) where none helps."""
    need_linear(network)
    if isinstance(network, LinearRNN) and "W" in allocation.matrices:
        return ("B", "D")
    if isinstance(network, LinearFeedForward) and len(allocation.matrices) > 1:
        return ("forward", "backward")
    return (DIRECT.name,)


def form_of(allocation: Allocation, name: str) -> LiftedForm:
    """The form of this name, one of those that fit, or "direct"."""
    fitting = forms(allocation.network, allocation)
    if name not in (*fitting, DIRECT.name):
        raise InputError(
            f"`form` ({name!r}) does not fit; choose from "
            + ", ".join(dict.fromkeys((*fitting, DIRECT.name)))
        )
    return FORMS[name]


def preferred_forms(network: Network, allocation: Allocation) -> tuple[str, ...]:
    """The lifted forms, the one with the smaller core first.

    The B form leaves k·Tb − dm free F-unknowns (k rows that learn), the D form
    k_c·Td − dm (k_c columns); the forward and backward forms likewise count rows and
    columns of the layers in between.
    """
    return tuple(sorted(forms(network, allocation), key=lambda f: FORMS[f].size(allocation)))


def core_dimension(allocation: Allocation) -> int | None:
    """Auxiliary unknowns that the linear block of a recurrent net leaves; None for others.

    k rows of W that learn have k T b of them in the B form, k columns k T d in the D form;
    the labels fix as many as there are weights.
    """
    if not isinstance(allocation.network, LinearRNN) or allocation.matrices != ("W",):
        return None
    least = min(FORMS[name].size(allocation) for name in ("B", "D"))
    return max(0, least - allocation.size)


def unknown_count(allocation: Allocation, form: str) -> int:
    """Number of unknowns of a form: learnable weights and auxiliary ones."""
    shapes = FORMS[form].unknowns(allocation.network).values()
    return allocation.size + sum(rows * columns for rows, columns in shapes)


def need_linear(network: Network) -> None:
    """Refuse networks whose labels are no polynomials."""
    if not network.is_linear:
        raise InputError(
            f"a {network.title} network is not polynomial in its weights: its equations hold "
            "for one activation pattern at a time"
        )
