r"""Linear networks as chains of matrix products.

States ``S_0, …, S_K`` follow from ``S_k = M_k S_{k-1}``; the labels are ``Y = D Z``.

============ ======= ============== ======= =====================================
network      S_0     M_k            D       Z
============ ======= ============== ======= =====================================
linear RNN   B       W, k = 1 … T   D       ``Σ_k S_k P_k``, P_k = U_{T-k+1}
multi-layer  X       W_k, k < L     W_L     S_{L-1}
estimator    X       none           W       X
============ ======= ============== ======= =====================================

U (Tb × columns) is the input of the steps, T blocks of b rows: the samples X themselves, unless a
kind defines another (`ChainNetwork.drive`).  A chain network defines its sizes, its shapes and its
`ChainLayout`; all else is computed from these.

**Jacobian.**  The derivative of the labels by the cell (i, j) of a matrix is :math:`\sum_s
L_s[:, i] ⊗ R_s[j, :]`, with a term for each place s at which the matrix acts
(`ChainNetwork.tangents`):

- if Z is the last state, L_s is the product of the later matrices, R_s the state before;
- if all states are read, the sum over k is evaluated by Horner's scheme,
  ``h_t = W h_{t-1} + B U_t``, Z = W h_T.  For W: L_s = D W^{T-s}, R_s = h_s; for B: L_s = D
  W^{T-s+1}, R_s = U_s; for D: L = I, R = Z.

**Sizes of the entries**, for the error bounds of ranks modulo a prime (`entry_bound`).  A label is
a polynomial of degree K + 2 in weights and samples together (K + 3 if S_0 is a weight matrix), and
a derivative has one degree less.  Its coefficients are 1 or, if a weight acts at several places, at
most their number: the sum of absolute coefficients is at most the number of paths through the
hidden units times this number.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from algebra.linalg.primes import EntryBound
from algebra.networks.base import (
    LABELS,
    STATES,
    TRACES,
    Axis,
    Factors,
    Matmul,
    Matrix,
    Network,
    Point,
    Reading,
)
from algebra.networks.chain_layout import ChainLayout
from algebra.networks.protocols import HasJacobian, HasLimits, HasUnits, not_known

if TYPE_CHECKING:
    from algebra.networks.limits import MatrixLimits
    from algebra.programs.jacobian import Sweep
    from algebra.programs.program import Program


def _same(value: Any) -> Any:
    return value


class ChainNetwork(HasUnits, HasLimits, HasJacobian):
    """A network whose labels are a chain of matrix products, with all that follows from `chain`."""

    family: ClassVar[str] = "linear"

    @abstractmethod
    def chain(self) -> ChainLayout:
        """The network as a product of matrices."""

    @property
    def read_out(self) -> str:
        return self.chain().output

    @property
    def steps(self) -> int:
        """Number K of matrices between S_0 and the last state."""
        return len(self.chain().steps)

    @property
    def step_inputs(self) -> int:
        """Number of columns of S_0: the inputs of one step, or of the network."""
        return self.shapes[self.chain().names[-1]][1]

    @property
    def inner_widths(self) -> tuple[int, ...]:
        """Widths of the hidden layers, from the input on; one width for a recurrent net."""
        chain = self.chain()
        if chain.recurrent:
            return (self.shapes[chain.recurrent][0],)
        return tuple(self.shapes[name][0] for name in chain.steps)

    @property
    def input_shape(self) -> tuple[int, int]:
        return (self.step_inputs * (self.steps if self.chain().recurrent else 1), self.m)

    def states(
        self, weights: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> list[Matrix]:
        """The states in order of evaluation; the output matrix reads the last one.

        Recurrent: h_1, …, h_T and ``W h_T``.  Otherwise: the samples and the hidden layers.
        """
        chain, U, b = self.chain(), self.drive(X), self.step_inputs
        if chain.start is None:
            states = [U]
            for name in chain.steps:
                states.append(matmul(weights[name], states[-1]))
            return states
        states = []
        for t, name in enumerate(chain.steps):
            h = matmul(weights[chain.start], U[t * b : (t + 1) * b])
            states.append(h + matmul(weights[name], states[-1]) if states else h)
        return [*states, matmul(weights[chain.steps[-1]], states[-1])]

    def build(self) -> Program:
        return self._unrolled(every_step=False)

    def _unrolled(self, *, every_step: bool) -> Program:
        from algebra.networks.chain_program import unrolled

        return unrolled(self, every_step=every_step)

    def forward(
        self, weights: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> Matrix:
        return matmul(weights[self.chain().output], self.states(weights, X, matmul)[-1])

    def tangents(
        self,
        weights: Mapping[str, np.ndarray],
        X: np.ndarray,
        names: Sequence[str] | None = None,
        matmul: Matmul = operator.matmul,
        reduced: Callable[[Any], Any] = _same,
    ) -> Factors:
        """The factors L and R of the derivatives; see the module.

        Parameters
        ----------
        weights : mapping of str to ndarray
        X : ndarray
        names : sequence of str, optional
            The matrices to differentiate by; all by default.
        matmul, reduced : callable, optional
            Product of two matrices, and reduction of a sum to canonical form (modulo p).

        Returns
        -------
        dict of str to (ndarray, ndarray)
            L of shape (S, d, rows) and R of shape (S, columns, label columns) for each matrix.
        """
        chain = self.chain()
        wanted = set(chain.names if names is None else names)
        identity = np.eye(self.d, dtype=np.int64)
        states = [reduced(state) for state in self.states(weights, X, matmul)]
        factors: Factors = {}
        if chain.output in wanted:
            factors[chain.output] = (identity[None], states[-1][None])
        left = reduced(weights[chain.output])
        if chain.recurrent is None:
            for k, name in reversed(list(enumerate(chain.steps))):
                if name in wanted:
                    factors[name] = (left[None], states[k][None])
                left = matmul(left, weights[name])
            return factors
        W, B, T = chain.recurrent, chain.start, self.steps
        if wanted & {W, B}:
            # powers[k] = D W^k
            powers = [left]
            for _ in range(T):
                powers.append(matmul(powers[-1], weights[W]))
            if W in wanted:
                factors[W] = (np.stack(powers[T - 1 :: -1]), np.stack(states[:-1]))
            if B in wanted and B is not None:
                U = self.drive(X).reshape(T, self.step_inputs, -1)
                factors[B] = (np.stack(powers[T:0:-1]), U)
        return factors

    def affine_in(self, names: Collection[str]) -> bool:
        return len(names) == 1 and self.chain().recurrent not in names

    def modular_tangents(self, point: Point, names: Sequence[str] | None) -> Factors:
        """`tangents` over GF(p); the seed is not used."""
        return self.tangents(point.weights, point.X, names, point.matmul, point.reduced)

    def factors_of(self, sweep: Sweep, names: Collection[str]) -> Factors:
        from algebra.programs.jacobian import factors

        return factors(sweep, names)

    def modular_forward(self, point: Point) -> Matrix:
        """`forward`, over matrices of dual numbers."""
        return self.forward(point.weights, point.X)

    # -- what can be recorded ----------------------------------------------------------

    @property
    def label_steps(self) -> tuple[int | None, ...]:
        return (self.steps - 1,) if self.chain().recurrent else (None,)

    def readings(self, what: str) -> tuple[Reading, ...]:
        """The states h_1, …, h_T and W h_T (the one that D reads) of a recurrent net are those of
        steps 0, …, T."""
        if what != STATES or not self.steps:
            return super().readings(what)
        if self.chain().recurrent:
            n = self.inner_widths[0]
            return tuple(Reading("hidden units", t, n) for t in range(self.steps + 1))
        return tuple(
            Reading(f"hidden layer {k}", None, width)
            for k, width in enumerate(self.inner_widths, 1)
        )

    @property
    def label_dimension_bound(self) -> int:
        """An upper bound on the rank ρ of the whole Jacobian, from counting.

        The labels are Y = A U with A a d×k matrix, so ρ ≤ dκ, κ the rank of U; through a layer
        of width w the labels have rank at most w, a variety of dimension w(d + κ − w); and ρ is
        at most the number of parameters that matter (Theorem B.1: n(d + b) for recurrent nets).
        """
        kappa = self.independent_columns
        bound = min(self.d * kappa, self.parameters)
        if self.chain().recurrent:
            bound = min(bound, self.inner_widths[0] * (self.d + self.step_inputs))
        w = min(*self.inner_widths, self.d, kappa)
        return min(bound, w * (self.d + kappa - w))

    @property
    def entry_bound(self) -> EntryBound:
        """From the closed form: see the module."""
        if self.chain().recurrent is None:
            norm = prod(self.inner_widths, start=self.step_inputs) if self.steps else 1
            return EntryBound(self.steps + 1, norm.bit_length())
        T = self.steps
        norm = T**2 * self.step_inputs * self.inner_widths[0] ** (T + 1)
        return EntryBound(T + 2, int(norm).bit_length())

    def axes(self) -> tuple[Axis, ...]:
        from algebra.networks.chain_units import axes_of_chain

        return axes_of_chain(self)

    def transposed(self) -> dict[str, str]:
        """See `algebra.networks.chain_units.becomes_transposed`."""
        from algebra.networks.chain_units import becomes_transposed

        return becomes_transposed(self)

    def limits(self) -> dict[str, MatrixLimits]:
        from algebra.networks.chain_units import limits_of_chain

        return limits_of_chain(self)

    def enough_rank(self, name: str) -> int:
        """See `HasJacobian.enough_rank`, and `algebra.networks.chain_units.enough_rank_of`."""
        from algebra.networks.chain_units import enough_rank_of

        return enough_rank_of(self, name)

    def population(self, name: str, line: str) -> str:
        """For a recurrent net "input", "hidden" or "output"; otherwise the matrix."""
        chain = self.chain()
        if chain.recurrent is None:
            return name
        if line == "row":
            return "output" if name == chain.output else "hidden"
        return "input" if name == chain.start else "hidden"


def need_chain(network: Network) -> ChainNetwork:
    """The network as a chain.

    Raises
    ------
    InputError
        If it is not a chain.
    """
    if isinstance(network, ChainNetwork):
        return network
    raise not_known(network, "the lifted equations", "a linear network is needed")


@dataclass(frozen=True)
class RecurrentChain(ChainNetwork):
    """Base class of linear RNNs: h_t = W h_{t-1} + B x_t, read by D.

    Parameters
    ----------
    n, T, b, d, m : int
        Hidden units, time steps, inputs per step, outputs, samples.
    """

    bounded_by_support: ClassVar[frozenset[str]] = frozenset({"W"})

    n: int
    T: int
    b: int
    d: int
    m: int

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        return {"D": (self.d, self.n), "W": (self.n, self.n), "B": (self.n, self.b)}

    def with_input(self) -> Self:
        return replace(self, b=self.b + 1)

    def chain(self) -> ChainLayout:
        return self._chain

    @cached_property
    def _chain(self) -> ChainLayout:
        return ChainLayout("B", ("W",) * self.T, "D", "all")

    def readings(self, what: str) -> tuple[Reading, ...]:
        if what == TRACES:
            return tuple(Reading("outputs", t, self.d) for t in range(self.T))
        return super().readings(what)

    def recorded(self, what: str) -> tuple[Program, list[int]]:
        if what == LABELS and len(self.label_steps) == 1:
            return super().recorded(what)
        # Of samples, not of the columns of U.
        from algebra.networks.chain_program import READ

        program, count = self._every_step, range(self.T)
        if what == STATES:
            return program, [*(program.named[f"{STATES} {t}"] for t in count), program.named[READ]]
        return program, [program.named[f"{TRACES} {t}"] for t in count]

    @cached_property
    def _every_step(self) -> Program:
        return self._unrolled(every_step=True)
