r"""The limit of large linear RNNs in which few weights learn: kind ``limit``.

A linear RNN with n units, :math:`A_t = D W^t B`, labels :math:`Y = \sum_t A_t X_{T-t}`, t = 1 … T,
entries normal with variances 1/n (D, W) and 1 (B, X).  The cells (i_k, j_k) of W learn; they are a
digraph, and n grows.  Let :math:`W = W_0 + \sum_k w_k e_{i_k} e_{j_k}^T` (what a cell had before is
part of its w_k).  A product with l learnable weights in A_t is

.. math:: D W_0^{a_0} e_{i_1} w_1 \, (e_{j_1}^T W_0^{a_1} e_{i_2}) \, w_2 ⋯ w_l \,
          (e_{j_l}^T W_0^{a_l} B), \quad a_0 + ⋯ + a_l + l = t,

and by the lemma below √n D W_0^a e_i, e_j^T W_0^a B, √n e_j^T W_0^a e_i (a ≥ 1) and D W_0^t B
tend to independent standard normal numbers P, Q, G, H, while e_j^T e_i is 1 if a cell's *tail* j is
another's *head* i (the cells are *joined*), and else 0.  With :math:`w_k = n^{g_k} ξ_k` the product
has the size n^s times a monomial in P, Q, G and ξ, s = Σ (g_k − 1/2) + (number of joins)/2.  The
network of this kind has the products of the largest s in each A_t, and H where s = 0: its weights
are D (P), B (Q), G, H, and W (ξ).  If no cells are joined, g = 1/2 and every s is 0: it is the
limit itself.

**Lemma.**  For fixed units and steps the numbers listed above tend in law, jointly, to independent
standard normal ones.  (Given the images W_0^s x of the units and of the columns of B, W_0 is a
fresh normal matrix on their complement.)

**Theorem 16 (the match probability has a limit).**  Let the learnable cells, T, b, d, m be fixed.
MP of the networks with n units converges as n → ∞.

*Proof, in short* (in full with that of the lemma, and of Theorem 19 on layers, on the page
docs/large-networks-proofs.md).  With ε = n^{-1/2} the equations are, for every n, one polynomial
system F(ξ, c, ε) = 0, with c the finitely many numbers of the lemma, X, and the teacher's A_t.  The
set S of (ε, c), 0 < ε < 1, with a real solution ξ is semialgebraic.  Where (0, c) is a limit of
points of S and of its complement it is in the closure of the boundary of S, so that such c have a
smaller dimension [1]_.  For all others "(ε', c') ∈ S" is constant near (0, c), and c_n tends in law
to c, which has a density. ∎

Nothing is assumed of multiple solutions, vanishing coefficients or solutions that go to infinity.
Other laws are refused by `algebra.systems.growth`.

**A uniformly random allocation** of r cells of W has no joins and 2r different units with
probability tending to 1: its MP tends to that of disjoint cells.

References
----------
.. [1] J. Bochnak, M. Coste, M.-F. Roy, "Real algebraic geometry" (Springer, 1998), 2.8.13.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from algebra.declarations import InFile, Keyword
from algebra.errors import InputError, shown, whole_number
from algebra.networks.base import MAX_CELLS
from algebra.networks.protocols import HasJacobian
from algebra.programs.program import Builder, Program, Value

HALF = Fraction(1, 2)
# Entries of the values of a program (times 64), and the largest numerators of growths.
_ROOM = 50_000
_LARGEST = 100
_Growth = Annotated[str, Keyword("pattern", r"^-?[0-9]+(/[0-9]+)?$")]
# A value by its size, an exponent of n.
Sized = dict[Fraction, Value]


@dataclass(frozen=True)
class LimitNetwork(HasJacobian):
    """The equations of large linear RNNs in which these cells of W learn.

    Parameters
    ----------
    cells : sequence of (int, int)
        Row and column of each, as in W; only which of them are equal matters.
    T, b, d, m : int
        Time steps, inputs a step, outputs, samples.
    growth : sequence of str, optional
        The exponents g of w = n^g ξ, fractions; 1/2 by default.
    labels : sequence of int, optional
        Of a teacher, which has no cells: the steps t of its labels; all by default.

    Examples
    --------
    >>> net = LimitNetwork(cells=((0, 1), (2, 3)), T=2, b=1, d=1, m=2)
    >>> net.shapes
    {'H': (2, 1), 'D': (4, 1), 'G': (4, 1), 'B': (4, 1), 'W': (2, 1)}
    """

    kind: ClassVar[str] = "limit"
    made_from_problems: ClassVar[bool] = True
    family: ClassVar[str] = "linear"
    title: ClassVar[str] = "limit of large linear RNNs"
    needs_entries: ClassVar[bool] = True
    untaught: ClassVar[frozenset[str]] = frozenset({"W"})
    meanings: ClassVar[Mapping[str, str]] = {
        "cells": "row and column of each learnable weight of W",
        "growth": "the exponents g of the weights n^g: fractions as texts; 1/2 by default",
        "labels": "of a teacher without cells: the steps t of its labels D W^t B; all by default",
    }

    cells: Annotated[Any, InFile(list[list[Annotated[int, Keyword("minimum", 0)]]])]
    T: int
    b: int
    d: int
    m: int
    growth: Annotated[Any, InFile(list[_Growth])] = ()
    labels: Annotated[Any, InFile(list[Annotated[int, Keyword("minimum", 1)]])] = None

    @classmethod
    def choices(cls) -> frozenset[str]:
        return frozenset({"cells", "growth", "labels"})

    def __post_init__(self) -> None:
        for name in ("T", "b", "d", "m"):
            object.__setattr__(self, name, whole_number(getattr(self, name), name, 1, MAX_CELLS))
        object.__setattr__(self, "cells", tuple(self._pairs()))
        object.__setattr__(self, "growth", tuple(self._growths()))
        if self.labels is not None:
            labels = {whole_number(t, "labels", 1, self.T) for t in self._list("labels")}
            if self.cells:
                raise InputError(
                    f"`labels` ({shown(self.labels)}) are those of a teacher, which has no cells"
                )
            object.__setattr__(self, "labels", tuple(sorted(labels)))
        super().__post_init__()
        self.program()
        if self.m < self.T * self.b and any(self.sizes_of_labels):
            raise InputError(
                f"with `growth` = {shown([str(g) for g in self.growth])} some steps are larger "
                f"than the labels; then there must be at least T·b = {self.T * self.b} samples: "
                f"each of m = {self.m} mixes steps of different sizes"
            )

    def _list(self, name: str) -> Sequence[Any]:
        value = getattr(self, name)
        if not isinstance(value, (list, tuple)):
            raise InputError(f"`{name}` ({shown(value)}) must be a list")
        return value

    def _pairs(self) -> Iterator[tuple[int, int]]:
        seen = set()
        for k, cell in enumerate(self._list("cells")):
            if not isinstance(cell, (list, tuple)) or len(cell) != 2:
                raise InputError(f"`cells[{k}]` ({shown(cell)}) must be a row and a column of W")
            pair = tuple(whole_number(unit, f"cells[{k}]", 0, MAX_CELLS) for unit in cell)
            if pair in seen:
                raise InputError(f"`cells[{k}]` ({shown(cell)}) is given twice")
            seen.add(pair)
            yield pair[0], pair[1]

    def _growths(self) -> Iterator[Fraction]:
        given = self._list("growth") or [HALF] * len(self.cells)
        if len(given) != len(self.cells):
            raise InputError(
                f"`growth` ({shown(given)}) must have one exponent for each of the "
                f"{len(self.cells)} cells"
            )
        for k, text in enumerate(given):
            try:
                value = text if isinstance(text, Fraction) else Fraction(str(text)[:20])
            except (ValueError, ZeroDivisionError):
                value = None
            if value is None or max(abs(value.numerator), value.denominator) > _LARGEST:
                raise InputError(
                    f'`growth[{k}]` ({shown(text)}) must be a fraction such as "1/2", with '
                    f"numbers up to {_LARGEST}"
                )
            yield value

    # -- sizes -----------------------------------------------------------------------------

    @property
    def heads(self) -> tuple[int, ...]:
        """The rows of W with a learnable cell."""
        return tuple(sorted({i for i, _ in self.cells}))

    @property
    def tails(self) -> tuple[int, ...]:
        """The columns of W with a learnable cell."""
        return tuple(sorted({j for _, j in self.cells}))

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Columns, so that all weights are drawn with variance 1."""
        heads, tails = len(self.heads), len(self.tails)
        sizes = {
            # First, so that teachers with and without cells draw the same numbers.
            "H": self.T * self.d * self.b, "D": self.T * heads * self.d,
            "G": (self.T - 1) * heads * tails, "B": self.T * tails * self.b, "W": len(self.cells),
        }  # fmt: skip
        return {name: (size, 1) for name, size in sizes.items() if size}

    @property
    def input_shape(self) -> tuple[int, int]:
        return self.T * self.b, self.m

    @property
    def sizes(self) -> dict[str, Any]:
        found = super().sizes
        found["growth"] = [str(g) for g in self.growth]
        if set(self.growth) <= {HALF}:
            del found["growth"]
        if self.labels is None:
            del found["labels"]
        return found

    @property
    def equations_are(self) -> str:
        return "polynomial"

    # -- the equations ---------------------------------------------------------------------

    def build(self) -> Program:
        build, blocks = Builder(_ROOM), []
        X = build.sample("X", (self.T * self.b,))
        for name, shape in self.shapes.items():
            build.weight(name, shape)
        H = self._table(build, "H", (self.T, self.d, self.b))
        for t, products in enumerate(self._products(build), start=1):
            parts = list(products.get(self.sizes_of_labels[t - 1], ()))
            if t in self.own_steps:
                parts.append(H[t - 1])
            # A step without labels: 0.
            value = build.add(*parts) if parts else build.scale(H[t - 1], 0)
            x = build.index(np.arange((self.T - t) * self.b, (self.T - t + 1) * self.b), X)
            blocks.append(build.contract("ij,j->i", value, x))
        return build.program(build.add(*blocks))

    @cached_property
    def sizes_of_labels(self) -> tuple[Fraction, ...]:
        """For each step the exponent of n of what D W^t B is largest in; at least 0."""
        found = [max(products, default=Fraction()) for products in self._products(Builder(_ROOM))]
        return tuple(max(Fraction(), size) for size in found)

    @property
    def own_steps(self) -> tuple[int, ...]:
        """The steps t at which the labels D W^t B without learnable weights are not too small."""
        sizes = enumerate(self.sizes_of_labels, start=1)
        if self.labels is not None:
            return tuple(self.labels)
        return tuple(t for t, size in sizes if not size)

    @property
    def needs_teacher(self) -> str:
        larger = [t for t in range(1, self.T + 1) if t not in self.own_steps]
        if not (larger and self.cells):
            return ""
        return (
            f"with these growths the products of step {larger[0]} are larger than the labels: a "
            f"[teacher] of kind limit with cells = [], labels = {list(self.own_steps)} has those "
            "that remain (estimate --limit finds the growths)"
        )

    def _table(self, build: Builder, name: str, shape: tuple[int, ...]) -> list[Value]:
        """The entries of a column, along the first axis of a shape."""
        block = build.weight(name, self.shapes[name])
        return [build.index(at, block) for at in np.arange(np.prod(shape)).reshape(shape)]

    def _joined(self, build: Builder, value: Value, size: Fraction) -> tuple[Value, Fraction]:
        """A product with one more join."""
        return value, size + HALF

    def _products(self, build: Builder) -> list[dict[Fraction, list[Value]]]:
        """For each step the products in D W^t B with learnable weights, d×b, by their sizes."""
        T, heads, tails, cells = self.T, self.heads, self.tails, self.cells
        if not cells:
            return [{} for _ in range(T)]
        D = self._table(build, "D", (T * len(heads), self.d))
        B = self._table(build, "B", (T * len(tails), self.b))
        count = (T - 1) * len(heads) * len(tails)
        G = self._table(build, "G", (count,)) if count else []
        W = self._table(build, "W", (len(cells),))

        def times(a: Value, b: Value) -> Value:
            return build.contract(",i->i", a, b)

        def sums(parts: dict[Fraction, list[Value]]) -> Sized:
            return {size: build.add(*values) for size, values in parts.items()}

        # sent[t][k]: w_k e_{j_k}^T W^t B, by size; inputs come last, weights before them.
        sent: list[list[Sized]] = []
        for t in range(T):
            received = []
            for J, tail in enumerate(tails):
                parts: dict[Fraction, list[Value]] = {Fraction(): [B[t * len(tails) + J]]}
                for s in range(t):
                    for k, (head, _) in enumerate(cells):
                        for size, value in sent[t - 1 - s][k].items():
                            if s:
                                at = ((s - 1) * len(heads) + heads.index(head)) * len(tails) + J
                                parts.setdefault(size, []).append(times(G[at], value))
                            elif head == tail:
                                value, larger = self._joined(build, value, size)
                                parts.setdefault(larger, []).append(value)
                received.append(sums(parts))
            own = []
            for k, (_, tail) in enumerate(cells):
                grown = self.growth[k] - HALF
                values = received[tails.index(tail)].items()
                own.append({size + grown: times(W[k], value) for size, value in values})
            sent.append(own)
        found = []
        for t in range(1, T + 1):
            made: dict[Fraction, list[Value]] = {}
            for s in range(t):
                for k, (head, _) in enumerate(cells):
                    left = D[s * len(heads) + heads.index(head)]
                    for size, value in sent[t - 1 - s][k].items():
                        made.setdefault(size, []).append(build.contract("i,j->ij", left, value))
            found.append(made)
        return found

    @property
    def label_dimension_bound(self) -> int:
        return min(self.d * self.independent_columns, self.parameters)


@dataclass(frozen=True)
class LargeNetwork(LimitNetwork):
    """The equations with all products, as at n = root² units with normal numbers P, Q, G, H.

    It has no name in problem files: its number of solutions is that of the networks themselves at
    large n, and it shows how solutions grow (`algebra.systems.growth`).

    Parameters
    ----------
    root : int
        √n.
    """

    root: int = 1

    @classmethod
    def choices(cls) -> frozenset[str]:
        return super().choices() | {"root"}

    def _joined(self, build: Builder, value: Value, size: Fraction) -> tuple[Value, Fraction]:
        return build.scale(value, self.root), size
