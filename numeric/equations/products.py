r"""Labels as sums of products: values of degree two in earlier ones.

A program whose operations are polynomial (`algebra.programs`) is evaluated once for one sample, in
an arithmetic that records what it does; a chain of matrices records its states
(`numeric.equations.chain`).  Every value becomes

.. math:: v = \sum_q a_q b_q,

where each factor is an earlier value, an entry of a weight or a sample, a rational constant or 1.
Products of degree three and more are split by values of their own, so that the equations
``v - Σ a_q b_q = 0`` are the labels *lifted* to degree two in weights and values.  Taylor
coefficients of a path are then convolutions, and derivatives follow by one sweep from the labels
back (`numeric.equations.lanes.products`).

All values are computed for each sample (or, in a recurrent linear net, each column of its states);
weights are the same for all samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import fmpq

from algebra.programs.arrays import EntryArithmetic
from algebra.programs.evaluate import evaluate
from algebra.programs.program import Node
from algebra.programs.programmed import Programmed

VALUE, PARAMETER, CONSTANT, ONE = range(4)


class Factor(NamedTuple):
    """A factor of a product.

    Attributes
    ----------
    kind : int
        `VALUE`, `PARAMETER`, `CONSTANT` or `ONE`.
    at : int
        Number of the value, or place in the parameter vector.
    batched : bool
        Whether the factor differs between samples; a parameter's entries follow one another then.
    """

    kind: int
    at: int
    batched: bool


Product = tuple[Factor, Factor]
_ONE = Factor(ONE, 0, False)


class LabelRow(NamedTuple):
    """Equations ``v_s = y_s`` of one value, for the first samples s.

    Attributes
    ----------
    value : int
    y_at : int or None
        Place of the y_s in the parameter vector; None if they are 0.
    samples : int
        Number of samples.
    """

    value: int
    y_at: int | None
    samples: int


@dataclass(frozen=True)
class ProductForm:
    """A square system of equations whose values are sums of products.

    Attributes
    ----------
    samples : int
        m.
    values : tuple of tuple of (Factor, Factor)
        The products of each value.  Values that do not depend on one another follow each other.
    levels : tuple of range
        Values of one level depend on those of earlier levels only; those of the labels are the last
        level.
    places : tuple of int
        Place of each unknown in the parameter vector; unknowns may have places after its end.
    rows : tuple of LabelRow
        The equations, in their order.
    size : int
        Length of the parameter vector.
    groups : tuple of int
        The group of each value for the error norms of the tracker, −1 for values that are not
        measured.  If any is measured, the values are coordinates of the tracker.
    """

    samples: int
    values: tuple[tuple[Product, ...], ...]
    levels: tuple[range, ...]
    places: tuple[int, ...]
    rows: tuple[LabelRow, ...]
    size: int
    groups: tuple[int, ...]

    @property
    def equations(self) -> int:
        """Number of equations."""
        return sum(row.samples for row in self.rows)


class FormBuilder:
    """Records sums of products.

    Parameters
    ----------
    constants_at : int
        Place of the first constant in the parameter vector.
    """

    def __init__(self, constants_at: int) -> None:
        self._constants_at = constants_at
        self.constants: dict[Fraction, int] = {}
        self._values: list[tuple[Product, ...]] = []
        self._groups: list[int] = []
        self._copies: dict[Factor, Factor] = {}

    def parameter(self, at: int, batched: bool = False) -> RecordedSum:
        """An entry of the parameter vector, or one for each sample."""
        return RecordedSum(self, ((Factor(PARAMETER, at, batched), _ONE),))

    def constant(self, number: Fraction) -> Factor:
        """A rational number."""
        if number == 1:
            return _ONE
        place = self.constants.setdefault(number, len(self.constants))
        return Factor(CONSTANT, self._constants_at + place, False)

    def value(self, terms: Sequence[Product], group: int = -1) -> Factor:
        """A new value, the sum of some products; for the group see `ProductForm`."""
        products = tuple(self._ordered(*term) for term in terms)
        self._values.append(products)
        self._groups.append(group)
        return Factor(VALUE, len(self._values) - 1, True)

    def derivatives(self, total: RecordedSum, places: Sequence[int]) -> list[RecordedSum]:
        """The derivatives of a sum by entries of the parameter vector, by one sweep back.

        Parameters
        ----------
        total : RecordedSum
            Of values for a single sample.
        places : sequence of int
            The entries' places.
        """
        found = {at: RecordedSum(self, ()) for at in places}
        depends: list[bool] = []
        for terms in self._values:
            depends.append(
                any(
                    depends[f.at] if f.kind == VALUE else f.kind == PARAMETER and f.at in found
                    for term in terms
                    for f in term
                )
            )
        adjoints: dict[int, RecordedSum] = {}

        def pass_back(terms: Sequence[Product], adjoint: RecordedSum) -> None:
            for one, two in terms:
                for own, other in ((one, two), (two, one)):
                    to = adjoints if own.kind == VALUE and depends[own.at] else None
                    if own.kind == PARAMETER and own.at in found:
                        to = found
                    if to is not None:
                        part = adjoint * RecordedSum(self, ((other, _ONE),))
                        to[own.at] = part + to[own.at] if own.at in to else part

        pass_back(total.terms, RecordedSum(self, ((_ONE, _ONE),)))
        for at in reversed(range(len(depends))):
            if at in adjoints:
                pass_back(self._values[at], adjoints[at].kept())
        return list(found.values())

    def _ordered(self, a: Factor, b: Factor) -> Product:
        """A product as (parameter or constant, value or 1), (value, value) or (value, 1).

        Of two parameters one is copied to a value, whose series is known as that of all values.
        """
        if ONE in (a.kind, b.kind):
            return (b, a) if a.kind == ONE else (a, b)
        if a.kind != VALUE and b.kind != VALUE:
            if a.batched or b.kind == CONSTANT:
                a, b = b, a
            if b not in self._copies:
                self._copies[b] = self.value([(b, _ONE)])
            b = self._copies[b]
        return (b, a) if a.kind == VALUE else (a, b)

    def form(
        self, outputs: Sequence[tuple[RecordedSum, int | None, int]], samples: int,
        places: Sequence[int], size: int,
    ) -> ProductForm:  # fmt: skip
        """The system of equations.

        Parameters
        ----------
        outputs : sequence of (RecordedSum, int or None, int)
            Values, with place and number of their labels: see `LabelRow`.
        samples, places, size
            See `ProductForm`.
        """
        rows = [(self.value(out.terms).at, y_at, count) for out, y_at, count in outputs]
        # No value needs those of the labels, the last level.  Each other one is computed as late as
        # possible: so those of the steps of a recurrent net have slots of constant distance.
        left = [1] * len(self._values)
        for value, _, _ in rows:
            left[value] = 0
        for c in reversed(range(len(left))):
            for factor in (f for term in self._values[c] for f in term if f.kind == VALUE):
                left[factor.at] = max(left[factor.at], left[c] + 1)
        level = [max(left, default=0) - count for count in left]
        order = sorted(range(len(level)), key=lambda k: level[k])
        new = {old: k for k, old in enumerate(order)}
        values = tuple(
            tuple(
                tuple(f._replace(at=new[f.at]) if f.kind == VALUE else f for f in term)
                for term in self._values[old]
            )
            for old in order
        )
        ends = np.cumsum(np.bincount(level)).tolist() if level else []
        levels = tuple(range(a, b) for a, b in zip([0, *ends], ends, strict=False))
        return ProductForm(
            samples, values, levels, tuple(places),  # type: ignore[arg-type]
            tuple(LabelRow(new[v], y_at, count) for v, y_at, count in rows), size,
            tuple(self._groups[old] for old in order),
        )  # fmt: skip


class RecordedSum:
    """A sum of products, as an entry of arrays.

    Parameters
    ----------
    builder : FormBuilder
    terms : tuple of (Factor, Factor)
    """

    __slots__ = ("_factor", "builder", "terms")

    def __init__(self, builder: FormBuilder, terms: tuple[Product, ...]) -> None:
        self.builder, self.terms = builder, terms
        self._factor: Factor | None = None

    def factor(self) -> Factor:
        """The sum as one factor, by a new value if it is none yet."""
        if self._factor is None:
            single = len(self.terms) == 1 and self.terms[0][1].kind == ONE
            self._factor = self.terms[0][0] if single else self.builder.value(self.terms)
        return self._factor

    def kept(self, group: int = -1) -> RecordedSum:
        """The sum as a value of its own; for the group see `ProductForm`."""
        return RecordedSum(self.builder, ((self.builder.value(self.terms, group), _ONE),))

    def __add__(self, other: Any) -> RecordedSum:
        return RecordedSum(self.builder, self.terms + self._read(other).terms)

    __radd__ = __add__

    def __mul__(self, other: Any) -> RecordedSum:
        other = self._read(other)
        if not self.terms or not other.terms:
            return RecordedSum(self.builder, ())
        # Sums of factors are multiplied out by a single factor; other sums become values.
        many, one = (self, other) if len(self.terms) > 1 else (other, self)
        factor = one.factor()
        if all(b.kind == ONE for _, b in many.terms):
            terms = tuple((a, factor) for a, _ in many.terms)
        else:
            terms = ((many.factor(), factor),)
        return RecordedSum(self.builder, terms)

    __rmul__ = __mul__

    def __neg__(self) -> RecordedSum:
        return self * Fraction(-1)

    def __sub__(self, other: Any) -> RecordedSum:
        return self + self._read(other) * Fraction(-1)

    def __rsub__(self, other: Any) -> RecordedSum:
        return -self + other

    def __truediv__(self, other: Any) -> RecordedSum:
        return self * (1 / _rational(other))

    def __pow__(self, exponent: int) -> RecordedSum:
        found = self._read(1)
        for _ in range(exponent):
            found = self * found
        return found

    def _read(self, other: Any) -> RecordedSum:
        if isinstance(other, RecordedSum):
            return other
        number = _rational(other)
        return RecordedSum(self.builder, ((self.builder.constant(number), _ONE),) if number else ())


def _rational(number: Any) -> Fraction:
    if isinstance(number, fmpq):
        return Fraction(int(number.p), int(number.q))
    return Fraction(number)


class _Trace(EntryArithmetic):
    """The arithmetic of `RecordedSum` entries."""

    def scale(self, node: Node, a: np.ndarray, factor: Fraction) -> np.ndarray:
        return np.asarray(a * factor)


def traced_labels(
    network: Programmed, builder: FormBuilder, weights: Mapping[str, np.ndarray], x: np.ndarray
) -> list[RecordedSum]:
    """The labels of one sample, in their order.

    Parameters
    ----------
    network : Programmed
        Its program's operations must be polynomial.
    builder : FormBuilder
    weights : mapping of str to ndarray
        Entries: `RecordedSum`, or 0 where a weight does not exist.
    x : ndarray
        The entries of a sample.

    Raises
    ------
    TypeError
        If an operation is not polynomial.
    """
    arithmetic = _Trace(network.function, number=Fraction)
    blocks = network.placed(weights, x.reshape(-1, 1))
    program = network.program()
    found = evaluate(program, arithmetic, blocks)[program.output]
    nothing = RecordedSum(builder, ())
    return [nothing + entry for entry in found.ravel().tolist()]
