r"""Degrees of programs: error bounds for ranks at random points, and degrees in some weights.

**Bounds.**  `entry_bound` bounds the entries of a program's Jacobian as rational functions of all
random quantities of a point: weights, samples, and formal values (`algebra.programs.formal`,
`algebra.networks.activation`), which are variables of their own.  A value is represented as N/D:
the numerators N of its entries, of degree at most `degree`, with sum of absolute values of their
(integer) coefficients at most 2^`bits`; and one denominator D for all entries, a product of
*factors*.  A factor is a denominator of rational numbers (degree 0), or is introduced by one node:
the product of all entries that it inverts, of the values T or 1 + T or 1 + T² of its exponentials,
of its roots.  Sums take the least common multiple of their denominators, factor by factor, so that
shared ones (residual connections) count once.

Derivatives are computed in forward mode.  Their denominator is the same for all weights, so it is
common to a row of the Jacobian, and a minor of k rows times the rows' denominators is a polynomial
of degree at most k times that of the numerators.  If denominators are not 0 (an operation that
would divide by 0 raises an error) the minor is 0 only at zeros of that polynomial: the lemma of
Schwartz and Zippel (`algebra.ranks.generic_rank`).

**Values that coincide.**  Formal values at equal arguments are equal.  If two different arguments
a, b are equal or opposite at the point by chance (a numerator of a ± b vanishes), or one is 0,
values that should be independent are not.  `EntryBound.meetings` is the sum of the degrees, and
bits, of all these numerators for m samples; roots count as arguments, and so do 1 + T and 1 + T²,
which may be 0.

Whether values coincide can also be *seen* at a point: if all its arguments are different, no two
opposite and none 0 (`algebra.programs.generic.arguments_differ`), then no difference vanishes
there.  Let every argument have a value of its own, drawn independently, in an imagined second
experiment; as long as no arguments meet, both experiments have the same values.  So the
probability that a rank is too small *and* that nothing met is at most that of too small a rank in
the second experiment, where `meetings` counts only 1 + T, which may be 0 there as well.

**Degrees in some weights.**  `degree_in` is 0 or 1 if the labels are affine functions of all these
weights jointly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from algebra.linalg.primes import EntryBound
from algebra.programs.evaluate import evaluate
from algebra.programs.formal import EXPONENTIAL
from algebra.programs.program import Node, Program

# A factor: "rational" with its number, or the kind of inverted value with the number of the node.
Factor = tuple[str, int]
# The least and the greatest degree of a polynomial's terms.
Degrees = tuple[int, float] | None
# Bounds of a function's values and derivatives: see `DegreeArithmetic`.
Sized = Callable[["DegreeArithmetic", Node, "Differential"], "Differential"]


@dataclass(frozen=True)
class Quotient:
    """Entries N/D: degree and bits of the numerators, and the factors of D with exponents."""

    degree: int
    bits: int
    below: Mapping[Factor, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Differential:
    """Entries with all their derivatives by weights; None if all derivatives are 0."""

    value: Quotient
    tangent: Quotient | None


@dataclass(eq=False)
class DegreeArithmetic:
    """Degrees and bits of values and derivatives.

    Attributes
    ----------
    program : Program
    sizes : dict of factors to (int, int)
        Degree and bits of each factor encountered.
    arguments : list of (Quotient, int)
        Arguments of formal values, and the number of entries of each node, for one sample or (as a
        negative number) for all.
    sized : callable, optional
        The bounds of a function's values and derivatives, from this arithmetic, the node and its
        argument; by default those of `algebra.programs.formal`.
    """

    program: Program
    sized: Sized | None = None
    sizes: dict[Factor, tuple[int, int]] = field(default_factory=dict)
    arguments: list[tuple[Quotient, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._numbers = {id(node): k for k, node in enumerate(self.program.nodes)}

    # -- quotients -------------------------------------------------------------------------

    def denominator(self, below: Mapping[Factor, int]) -> tuple[int, int]:
        """Degree and bits of a product of factors."""
        parts = [(self.sizes[key], count) for key, count in below.items()]
        return sum(d * c for (d, _), c in parts), sum(b * c for (_, b), c in parts)

    def common(self, terms: Collection[Quotient], added: bool) -> Quotient:
        """Entries of several values over one denominator, or (`added`) their sums."""
        below: dict[Factor, int] = {}
        for term in terms:
            for key, count in term.below.items():
                below[key] = max(below.get(key, 0), count)
        degree = bits = 0
        for term in terms:
            left = {key: count - term.below.get(key, 0) for key, count in below.items()}
            more = self.denominator(left)
            degree, bits = max(degree, term.degree + more[0]), max(bits, term.bits + more[1])
        return Quotient(degree, bits + (len(terms) - 1).bit_length() * added, below)

    def product(self, *factors: Quotient, terms: int = 1) -> Quotient:
        """Products of entries, and sums of `terms` of them."""
        below: dict[Factor, int] = {}
        for factor in factors:
            for key, count in factor.below.items():
                below[key] = below.get(key, 0) + count
        bits = sum(factor.bits for factor in factors) + (terms - 1).bit_length()
        return Quotient(sum(factor.degree for factor in factors), bits, below)

    def over(self, kind: str, node: Node, degree: int, bits: int) -> Factor:
        """The factor that a node introduces: the product of those of all its entries."""
        key = (kind, self._numbers[id(node)])
        self.sizes[key] = (degree * node.size, bits * node.size)
        return key

    def rational(self, number: int) -> Mapping[Factor, int]:
        """A denominator of rational numbers."""
        if number == 1:
            return {}
        self.sizes["rational", number] = (0, number.bit_length())
        return {("rational", number): 1}

    # -- operations ------------------------------------------------------------------------

    def constant(self, table: np.ndarray, denominator: int) -> Differential:
        # Least and largest entries, as the absolute value of the least integer is none of 64 bits.
        ends = (int(table.min()), int(table.max())) if table.size else (0, 0)
        largest = max(map(abs, ends))
        value = Quotient(0, largest.bit_length(), self.rational(denominator))
        return Differential(value, None)

    def _sum(self, terms: Collection[Differential], added: bool) -> Differential:
        moved = [term.tangent for term in terms if term.tangent is not None]
        value = self.common([term.value for term in terms], added)
        return Differential(value, self.common(moved, added) if moved else None)

    def add(self, node: Node, *terms: Differential) -> Differential:
        return self._sum(terms, True)

    def _products(self, factors: tuple[Differential, ...], terms: int) -> Differential:
        values = [factor.value for factor in factors]
        moved = [
            self.product(*values[:k], factor.tangent, *values[k + 1 :], terms=terms)
            for k, factor in enumerate(factors)
            if factor.tangent is not None
        ]
        tangent = self.common(moved, True) if moved else None
        return Differential(self.product(*values, terms=terms), tangent)

    def multiply(self, node: Node, a: Differential, b: Differential) -> Differential:
        return self._products((a, b), 1)

    def scale(self, node: Node, a: Differential, factor: Fraction) -> Differential:
        number = Quotient(0, abs(factor.numerator).bit_length(), self.rational(factor.denominator))
        return self._products((a, Differential(number, None)), 1)

    def contract(self, node: Node, letters: str, *factors: Differential) -> Differential:
        groups, _, result = letters.partition("->")
        sizes: dict[str, int] = {}
        for group, k in zip(groups.split(","), node.inputs, strict=True):
            sizes |= dict(zip(group, self.program.nodes[k].shape, strict=True))
        return self._products(factors, math.prod(n for c, n in sizes.items() if c not in result))

    def index(self, node: Node, where: np.ndarray, *parts: Differential) -> Differential:
        return self._sum(parts, False)

    def choose(
        self, node: Node, sign: Differential, positive: Differential, other: Differential
    ) -> Differential:
        return self._sum((positive, other), False)

    def power(self, node: Node, a: Differential, exponent: int) -> Differential:
        if not exponent:
            return Differential(Quotient(0, 0), None)
        return self._products((a,) * exponent, 1)

    def invert(self, node: Node, a: Differential) -> Differential:
        key = self.over("invert", node, a.value.degree, a.value.bits)
        degree, bits = self.denominator(a.value.below)
        others = node.size - 1
        value = Quotient(degree + others * a.value.degree, bits + others * a.value.bits, {key: 1})
        return self.mapped(a, value, self.product(value, value))

    def root(self, node: Node, a: Differential) -> Differential:
        self._met(node, a.value)
        key, half = self.over("root", node, 1, 0), self.rational(2)
        return self.mapped(a, Quotient(1, 0), Quotient(node.size - 1, 0, {key: 1, **half}))

    def polynomial(
        self, node: Node, coefficients: Sequence[Fraction], a: Differential
    ) -> Differential:
        """Values of a polynomial."""
        terms = [
            self.scale(node, self.power(node, a, k), Fraction(c))
            for k, c in enumerate(coefficients)
            if c
        ]
        return self._sum(terms or [Differential(Quotient(0, 0), None)], True)

    def drawn(self, or_number: Fraction | None) -> Differential:
        """Residues that are drawn, or, where an argument is 0, a number."""
        number = or_number or Fraction()
        own = Quotient(0, abs(number.numerator).bit_length(), self.rational(number.denominator))
        return Differential(self.common((Quotient(1, 0), own), False), None)

    def mapped(self, a: Differential, value: Quotient, slope: Quotient) -> Differential:
        """Values with a slope."""
        moved = None if a.tangent is None else self.product(slope, a.tangent)
        return Differential(value, moved)

    def apply(self, node: Node, name: str, a: Differential) -> Differential:
        if self.sized is not None:
            return self.sized(self, node, a)
        self._met(node, a.value)
        count = node.size
        if name == "log":
            # The slope is 1/a.
            return self.mapped(a, Quotient(1, 0), self.invert(node, a).value)
        if name not in EXPONENTIAL:
            return self.mapped(a, Quotient(1, 0), Quotient(1, 0))
        if name == "exp":
            # T or, if −a occurs elsewhere, 1/T.
            key = self.over("exp", node, 1, 0)
            value = Quotient(count + 1, 0, {key: 1})
            return self.mapped(a, value, value)
        if name in ("sin", "cos"):
            # 2t or 1 − t² over 1 + t², t being a residue up to sign.
            key = self.over("circle", node, 2, 1)
            value = Quotient(2 * count, count, {key: 1})
            return self.mapped(a, value, value)
        if name == "tanh":
            key = self.over("tanh", node, 2, 1)
            value = Quotient(2 * count, count, {key: 1})
            return self.mapped(a, value, Quotient(4 * count, 2 * count, {key: 2}))
        key = self.over("sigmoid", node, 1, 1)
        share = Quotient(count, count, {key: 1})
        if name == "softplus":
            return self.mapped(a, self.common((Quotient(1, 0), a.value), True), share)
        return self.mapped(a, share, Quotient(2 * count, 2 * count, {key: 2}))

    def _met(self, node: Node, argument: Quotient) -> None:
        self.arguments.append((argument, node.size if node.batched else -node.size))

    def meetings(self, m: int, differ: bool = False) -> int:
        """Degrees and bits of the differences of all arguments of m samples, unless they differ."""
        if not self.arguments:
            return 0
        count = sum(size * m if size > 0 else -size for _, size in self.arguments)
        if differ:
            return 2 * count
        most = self.common([argument for argument, _ in self.arguments], True)
        degree, bits = self.denominator(most.below)
        # For two samples: the product of their denominators.
        own = most.degree + degree + most.bits + bits + 1
        return count * (count + 1) * own + 2 * count


def entry_bound(
    program: Program,
    m: int,
    values: Mapping[str, tuple[np.ndarray, int]] | None = None,
    updates: Mapping[str, int] | None = None,
    sized: Sized | None = None,
    differ: bool = False,
) -> EntryBound:
    """Degree and bits of the entries of a Jacobian with respect to all weights.

    Parameters
    ----------
    program : Program
    m : int
        Samples.
    values : mapping of str to (ndarray of int, int), optional
        Weights with given values: integers over a denominator.  Single entries may still be drawn.
    updates : mapping of str to int, optional
        Weights to which a drawn product U Vᵀ of so many columns is added.
    sized : callable, optional
        As for `DegreeArithmetic`.
    differ : bool, optional
        Whether the arguments of formal values are seen to differ at the point.

    Returns
    -------
    EntryBound
        Of the numerators in a row.

    Examples
    --------
    >>> from algebra.programs.program import Builder
    >>> build = Builder()
    >>> U, V, x = build.weight("U", (3, 2)), build.weight("V", (1, 3)), build.sample("X", (2,))
    >>> hidden = build.power(build.contract("ij,j->i", U, x), 2)
    >>> entry_bound(build.program(build.contract("ij,j->i", V, hidden)), 4)
    EntryBound(degree=4, bits=6, meetings=0)
    """
    arithmetic = DegreeArithmetic(program, sized)
    one = Quotient(1, 0)
    blocks = {name: Differential(one, None) for name in program.samples}
    for name in program.weights:
        given = arithmetic.constant(*values[name]).value if values and name in values else one
        drawn = Quotient(1, given.bits, given.below)
        if updates and name in updates:
            drawn = arithmetic.common([drawn, Quotient(2, updates[name].bit_length())], True)
        blocks[name] = Differential(drawn, Quotient(0, 0))
    labels = evaluate(program, arithmetic, blocks)[program.output]
    found = labels.tangent or Quotient(0, 0)
    return EntryBound(found.degree, found.bits, arithmetic.meetings(m, differ))


@dataclass(frozen=True)
class _TermDegrees:
    """The least and the greatest degree of the terms of polynomials; None for 0.

    The greatest is infinite if it is no polynomial: functions have terms with these exponents, or
    are none.
    """

    exponents: Sequence[int] = ()

    def constant(self, table: np.ndarray, denominator: int) -> Degrees:
        return (0, 0) if table.any() else None

    def add(self, node: Node, *terms: Degrees) -> Degrees:
        found = [term for term in terms if term is not None]
        least, most = [low for low, _ in found], [high for _, high in found]
        return (min(least), max(most)) if found else None

    def multiply(self, node: Node, a: Degrees, b: Degrees) -> Degrees:
        return None if a is None or b is None else (a[0] + b[0], a[1] + b[1])

    def scale(self, node: Node, a: Degrees, factor: Fraction) -> Degrees:
        return a if factor else None

    def contract(self, node: Node, letters: str, *factors: Degrees) -> Degrees:
        found: Degrees = (0, 0)
        for factor in factors:
            found = self.multiply(node, found, factor)
        return found

    def index(self, node: Node, where: np.ndarray, *parts: Degrees) -> Degrees:
        return self.add(node, *parts)

    def power(self, node: Node, a: Degrees, exponent: int) -> Degrees:
        return (0, 0) if not exponent else a and (a[0] * exponent, a[1] * exponent)

    def invert(self, node: Node, a: Degrees) -> Degrees:
        return (0, math.inf if a and a[1] else 0)

    root = invert

    def apply(self, node: Node, name: str, a: Degrees) -> Degrees:
        if not self.exponents:
            return self.invert(node, a)
        return self.add(node, *(self.power(node, a, k) for k in self.exponents))

    def choose(self, node: Node, sign: Degrees, positive: Degrees, other: Degrees) -> Degrees:
        return self.invert(node, sign) if sign and sign[1] else self.add(node, positive, other)


def term_degrees(
    program: Program, names: Collection[str], exponents: Sequence[int] = ()
) -> Degrees:
    """The least and the greatest degree of the labels' terms in the blocks of these names.

    Parameters
    ----------
    program : Program
    names : collection of str
        Weights or samples.
    exponents : sequence of int, optional
        Those of the terms of the functions that are applied, if these are polynomials.

    Returns
    -------
    (int, int) or None
        The greatest is infinite if the labels are no polynomials, None if they are 0.
    """
    blocks = {block.name: (own := int(block.name in names), own) for block in program.blocks}
    return evaluate(program, _TermDegrees(exponents), blocks)[program.output]


def degree_in(program: Program, names: Collection[str]) -> float:
    """Degree of the labels in all weights of these names jointly; infinite if not a polynomial.

    Examples
    --------
    >>> from algebra.programs.program import Builder
    >>> build = Builder()
    >>> U, V, x = build.weight("U", (3, 2)), build.weight("V", (1, 3)), build.sample("X", (2,))
    >>> hidden = build.apply("tanh", build.contract("ij,j->i", U, x))
    >>> program = build.program(build.contract("ij,j->i", V, hidden))
    >>> degree_in(program, ["V"]), degree_in(program, ["U", "V"])
    (1, inf)
    """
    found = term_degrees(program, names)
    return 0 if found is None else found[1]
