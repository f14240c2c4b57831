r"""Ranges of the values of a program, for all real weights and samples.

Weights and samples may be any real numbers; the operations and the bounds of functions restrict
what follows from them: squares are not negative, values of tanh are between −1 and 1, and so are
gates and states of leaking units.  A range is an interval with rational ends, or without, that
contains all entries of a value; besides, whether all entries are positive.

If every square root and every divisor is positive, the labels are analytic functions of all real
weights and samples: norms with ε, softmax.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from algebra.programs.evaluate import evaluate
from algebra.programs.program import Node, Program


@dataclass(frozen=True)
class Range:
    """An interval that contains all entries of a value.

    Attributes
    ----------
    low, high : Fraction or None
        Its ends; None where no bound is known.
    positive : bool
        Whether all entries are greater than 0.
    """

    low: Fraction | None = None
    high: Fraction | None = None
    positive: bool = False

    @property
    def is_nonnegative(self) -> bool:
        """Whether no entry is negative."""
        return self.positive or (self.low is not None and self.low >= 0)

    @property
    def is_bounded(self) -> bool:
        """Whether both ends are known."""
        return self.low is not None and self.high is not None

    def hull(self, other: Range) -> Range:
        """The least range that contains both."""
        low = None if None in (self.low, other.low) else min(self.low, other.low)  # type: ignore[type-var]
        high = None if None in (self.high, other.high) else max(self.high, other.high)  # type: ignore[type-var]
        return Range(low, high, self.positive and other.positive)

    def plus(self, other: Range) -> Range:
        """Sums of an entry of each."""
        nonnegative = self.is_nonnegative and other.is_nonnegative
        return Range(
            _sum(self.low, other.low),
            _sum(self.high, other.high),
            nonnegative and (self.positive or other.positive),
        )

    def times(self, other: Range) -> Range:
        """Products of an entry of each."""
        positive = self.positive and other.positive
        if self.is_bounded and other.is_bounded:
            ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]  # type: ignore[operator]
            return Range(min(ends), max(ends), positive)
        nonnegative = self.is_nonnegative and other.is_nonnegative
        return Range(_ZERO if nonnegative else None, None, positive)

    def scaled(self, factor: Fraction) -> Range:
        """Entries times a number."""
        if factor == 0:
            return Range(_ZERO, _ZERO)
        ends = [None if end is None else factor * end for end in (self.low, self.high)]
        low, high = ends if factor > 0 else ends[::-1]
        return Range(low, high, self.positive and factor > 0)

    def power(self, exponent: int) -> Range:
        """Entries to a power, at least 0."""
        if exponent == 0:
            return Range(Fraction(1), Fraction(1), positive=True)
        ends = [None if end is None else end**exponent for end in (self.low, self.high)]
        if exponent % 2 or self.is_nonnegative:
            return Range(ends[0], ends[1], self.positive)
        most = None if None in ends else max(ends)  # type: ignore[type-var]
        return Range(_ZERO, most)


Bounds = Callable[[Node], tuple[int | Fraction | None, int | Fraction | None]]
_ZERO = Fraction(0)
ANY, UNIT = Range(), Range(Fraction(0), Fraction(1))
# Of functions that programs from files apply: the bounds of their values.
_BOUNDS = {
    "tanh": Range(Fraction(-1), Fraction(1)),
    "erf": Range(Fraction(-1), Fraction(1)),
    "sigmoid": Range(Fraction(0), Fraction(1), positive=True),
    "softplus": Range(Fraction(0), None, positive=True),
    "exp": Range(Fraction(0), None, positive=True),
    "sin": Range(Fraction(-1), Fraction(1)),
    "cos": Range(Fraction(-1), Fraction(1)),
}
# Functions whose value has the sign of their argument.
_OF_THE_SAME_SIGN = ("tanh", "erf")


def polynomial_range(coefficients: Sequence[Fraction]) -> Range:
    """Bounds of the values of a polynomial in one variable, on the side where it has any.

    Beyond Cauchy's bound of its roots a polynomial has the sign of its first coefficient.

    Parameters
    ----------
    coefficients : sequence of Fraction
        The constant first; the last one is not 0.

    Examples
    --------
    >>> polynomial_range([Fraction(0), Fraction(1), Fraction(1)]).low
    Fraction(-6, 1)
    """
    first, degree = coefficients[-1], len(coefficients) - 1
    if degree % 2:
        return ANY
    radius = 1 + max(abs(c / first) for c in coefficients)
    most = sum((abs(c) * radius**k for k, c in enumerate(coefficients)), _ZERO)
    return Range(-most, None) if first > 0 else Range(None, most)


class RangeArithmetic:
    """Ranges of values, as far as the operations determine them.

    Parameters
    ----------
    program : Program
        Whose nodes are evaluated.
    bounds : callable, optional
        Of a node: bounds of the function that it applies, if this has no common name.
    """

    def __init__(self, program: Program, bounds: Bounds | None = None) -> None:
        self.program, self.bounds = program, bounds

    def constant(self, table: np.ndarray, denominator: int) -> Range:
        entries = table.ravel().tolist()
        if not entries:
            return Range(_ZERO, _ZERO)
        low, high = (Fraction(end, denominator) for end in (min(entries), max(entries)))
        return Range(low, high, low > 0)

    def add(self, node: Node, *terms: Range) -> Range:
        total = terms[0]
        for term in terms[1:]:
            total = total.plus(term)
        if total.is_bounded:
            return total
        own = self._polynomial(node)
        low = own.low if total.low is None else total.low
        high = own.high if total.high is None else total.high
        return Range(low, high, total.positive)

    def _polynomial(self, node: Node) -> Range:
        """The range of a sum of multiples of powers of one value, for any values of it."""
        coefficients: dict[int, Fraction] = {}
        bases = set[int]()
        for number in node.inputs:
            term, factor = self.program.nodes[number], Fraction(1)
            while term.op == "scale" and term.number is not None:
                factor *= term.number
                number = term.inputs[0]
                term = self.program.nodes[number]
            base, exponent = number, 1
            if term.op == "power" and term.number is not None:
                base, exponent = term.inputs[0], int(term.number)
            elif term.op == "multiply" and term.inputs[0] == term.inputs[1]:
                base, exponent = term.inputs[0], 2
            elif term.op == "constant" and term.table is not None and term.number is not None:
                entries = set(term.table.ravel().tolist())
                if len(entries) != 1:
                    return ANY
                exponent, factor = 0, factor * Fraction(entries.pop()) / term.number
            bases |= {base} if exponent else set()
            coefficients[exponent] = coefficients.get(exponent, _ZERO) + factor
        if len(bases) != 1:
            return ANY
        dense = [coefficients.get(k, _ZERO) for k in range(max(coefficients) + 1)]
        while dense and not dense[-1]:
            dense.pop()
        return polynomial_range(dense) if dense else ANY

    def multiply(self, node: Node, a: Range, b: Range) -> Range:
        return a.power(2) if node.inputs[0] == node.inputs[1] else a.times(b)

    def scale(self, node: Node, a: Range, factor: Fraction) -> Range:
        return a.scaled(factor)

    def contract(self, node: Node, letters: str, *factors: Range) -> Range:
        groups, _, result = letters.partition("->")
        own = groups.split(",")
        shapes = [self.program.nodes[k].shape for k in node.inputs]
        sizes = {
            letter: size
            for group, shape in zip(own, shapes, strict=True)
            for letter, size in zip(group, shape, strict=True)
        }
        terms = math.prod(size for letter, size in sizes.items() if letter not in result)
        if len(own) == 2 and own[0] == own[1] and node.inputs[0] == node.inputs[1]:
            one = factors[0].power(2)
        else:
            one = factors[0]
            for factor in factors[1:]:
                one = one.times(factor)
        return one.scaled(Fraction(terms))

    def index(self, node: Node, where: np.ndarray, *parts: Range) -> Range:
        found = parts[0]
        for part in parts[1:]:
            found = found.hull(part)
        if where.size and where.min() < 0:
            return found.hull(Range(_ZERO, _ZERO))
        return found

    def power(self, node: Node, a: Range, exponent: int) -> Range:
        return a.power(exponent)

    def invert(self, node: Node, a: Range) -> Range:
        if not a.positive:
            return ANY
        ends = [None if not end else 1 / end for end in (a.high, a.low)]
        return Range(ends[0] or _ZERO, ends[1], positive=True)

    def root(self, node: Node, a: Range) -> Range:
        high = None if a.high is None else max(a.high, Fraction(1))
        return Range(_ZERO, high, a.positive)

    def apply(self, node: Node, name: str, a: Range) -> Range:
        if name not in _BOUNDS:
            low, high = (None, None) if self.bounds is None else self.bounds(node)
            return Range(
                None if low is None else Fraction(low), None if high is None else Fraction(high)
            )
        found = _BOUNDS[name]
        if name in _OF_THE_SAME_SIGN and a.is_nonnegative:
            return Range(_ZERO, found.high, a.positive)
        return found

    def choose(self, node: Node, sign: Range, positive: Range, other: Range) -> Range:
        chooses, first, second = node.inputs
        if chooses == first:
            positive = Range(max(positive.low or _ZERO, _ZERO), positive.high, positive=True)
        below = self.program.nodes[second]
        if below.op == "scale" and below.inputs[0] == chooses and below.number is not None:
            other = Range(sign.low, _ZERO).scaled(below.number)
        return positive.hull(other)


def ranges(
    program: Program,
    wanted: Collection[int],
    blocks: Mapping[str, Range] | None = None,
    bounds: Bounds | None = None,
) -> dict[int, Range]:
    """The ranges of some values.

    Parameters
    ----------
    program : Program
    wanted : collection of int
        Numbers of nodes.
    blocks : mapping of str to Range, optional
        Of weights and samples that cannot be any real number.
    bounds : callable, optional
        As for `RangeArithmetic`.

    Examples
    --------
    >>> from algebra.programs.program import Builder
    >>> build = Builder()
    >>> gate = build.apply("sigmoid", build.sample("X", (2,)))
    >>> state = build.multiply(gate, build.apply("tanh", build.weight("c", (2,))))
    >>> found = ranges(build.program(state), [state.number])[state.number]
    >>> print(found.low, found.high, found.positive)
    -1 1 False
    """
    every = dict.fromkeys([block.name for block in program.blocks], ANY) | dict(blocks or {})
    return evaluate(program, RangeArithmetic(program, bounds), every, wanted)


def is_analytic(program: Program) -> bool:
    """Whether roots and logarithms are of positive values, and with them all divisors are positive.

    Without roots and logarithms (softplus is one) the labels are single-valued on the complex
    numbers minus a hypersurface, which is connected: then divisors may be any values that are not
    identically 0.  Programs that choose by signs are not analytic.

    Examples
    --------
    >>> from algebra.programs.program import Builder
    >>> build = Builder()
    >>> x = build.contract("ij,j->i", build.weight("W", (2, 2)), build.sample("X", (2,)))
    >>> square = build.contract("i,i->", x, x)
    >>> is_analytic(build.program(build.root(square)))
    False
    >>> is_analytic(build.program(build.root(build.add(square, build.constant(1)))))
    True
    """
    needed = [program.nodes[k] for k in sorted(program.needed([program.output]))]
    if any(node.op == "choose" for node in needed):
        return False
    if not any(node.op == "root" or node.name in ("softplus", "log") for node in needed):
        return True
    below = {n.inputs[0] for n in needed if n.op in ("root", "invert") or n.name == "log"}
    return all(found.positive for found in ranges(program, below).values())


def _sum(a: Fraction | None, b: Fraction | None) -> Fraction | None:
    return None if a is None or b is None else a + b
