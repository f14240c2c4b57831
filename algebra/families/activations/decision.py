r"""Evidence for one instance of a network with activations, as a file that is checked by itself.

Verification proves a statement on the instance *in the file*: its network, learnable cells, fixed
weights, samples, and the labels of its teacher, or given ones.

* "match": near the point of the file Krawczyk's test shows a real solution of all equations.
  Labels that are the wanted ones for all weights nearby, as where ReLU networks are silent, are
  left out; where more weights learn than labels are left, some keep the values of the file.
* "no match" of any number of weights: the labels of a sample are out of reach of outputs that read
  bounded values, for the combination of outputs in the file (`algebra.families.activations.reach`).
* "no match": the boxes of all charts (`algebra.families.activations.charts`) cover the values of
  the learnable weights.  For each the file says how it is halved, coordinate by coordinate, so its
  parts cover it whatever the file contains; each part is shown to have no solution, by an enclosure
  of a label that excludes the wanted one, or by the mean value theorem.  A part for which both fail
  is halved further, some times.

With ReLU values are enclosed by intervals of rationals, also where weights are infinite
(`algebra.families.activations.rational_sets`); all else is computed in balls.  A function that
increases maps a ball into the hull of its values at the ends; of v/τ with τ ≥ 0 it is between the
value at the end nearest to 0 and its limit.
Entries of learnable cells in ``weights`` have no meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

from algebra.checker.arrays import matrices, matrix
from algebra.checker.checks import (
    FAILED,
    PROVED,
    UNCHECKED,
    Check,
    CheckEffort,
    CheckFailed,
    Checklist,
)
from algebra.checker.fields import within
from algebra.checker.formats import ProofFormat
from algebra.checker.parts import FixedProblem
from algebra.checker.reading import PROOF_LIMITS, TooLarge
from algebra.checker.records import (
    Context,
    Converted,
    Record,
    as_many,
    rational_of,
    read_form,
)
from algebra.declarations import Keyword
from algebra.errors import one_line
from algebra.families.activations.charts import ChartEquations, ChartRing, charts, first_box
from algebra.families.activations.rational_sets import SETS, RationalSet, as_sets
from algebra.families.activations.reach import LabelReach, SeparatedLabels
from algebra.linalg.krawczyk import has_solution
from algebra.networks.activated import ActivatedNetwork
from algebra.problems.problem import Problem
from algebra.programs.balls import FUNCTIONS, as_balls
from algebra.programs.homogeneous import Homogeneous, limit_of, plain
from algebra.time_limits import check_time

FORMAT: Literal["matchprob activation decision"] = "matchprob activation decision"
VERSION: Literal[1] = 1
MATCH: Literal["match"] = "match"
NO_MATCH: Literal["no match"] = "no match"
# A part of a box that is not halved.
LEAF = "."
# Largest number of parts of all boxes, and times that a part is halved further.
_MOST_PARTS = 200_000
_FURTHER = 12
_BITS = 80
_PRECISIONS = (106, 212, 424)
# Relative size of the box in which equations that are 0 are left out.
_NEAR = arb(2) ** -30
Ends = list[tuple[Fraction, Fraction]]
_Rational = rational_of(PROOF_LIMITS.digits)


def _of_network(form: Converted) -> Converted:
    """A form that is read for the network of the problem."""
    return Converted(
        form.form,
        lambda value, place, context: form.read(
            value, place, {**context, "network": context["problem"].network}
        ),
        form.write,
    )


def _labels_shape(context: Context) -> tuple[int, int]:
    network = context["network"]
    return network.d, network.columns


_Weights = Annotated[Mapping[str, np.ndarray], _of_network(matrices(_Rational))]


def _read_parts(value: Any, place: str, context: Context) -> str:
    text: str = read_form(str, value, place)
    if set(text) - {LEAF, *"0123456789"}:
        raise CheckFailed(place, "has other letters than digits and points")
    return text


_Tree = Annotated[
    str, Converted(Annotated[str, Keyword("pattern", r"^[0-9.]+$")], _read_parts, str)
]


@dataclass(frozen=True, kw_only=True)
class BoxedDecision(Record):
    """The content of a decision file of a network with activations.

    Attributes
    ----------
    problem : Problem
    weights, teacher : mapping of str to ndarray of fmpq
        The teacher is None if labels are given.
    X, Y : ndarray of fmpq
        Samples, and labels, which are None if the teacher gives them.
    verdict : str
    near : tuple of fmpq or None
        Approximations of the learnable weights of a match.
    parts : tuple of str or None
        For each chart the coordinates in which its box, and then the first and the second half in
        turn, are halved; a point for a part that is not.
    separated : SeparatedLabels or None
        Labels that are out of reach, in place of parts.
    """

    format: Literal["matchprob activation decision"]
    version: Literal[1]
    problem: FixedProblem
    weights: _Weights
    X: Annotated[
        np.ndarray, _of_network(matrix(lambda context: context["network"].input_shape, _Rational))
    ]
    verdict: Literal["match", "no match"]
    teacher: _Weights | None = None
    Y: Annotated[np.ndarray, _of_network(matrix(_labels_shape, _Rational))] | None = None
    near: (
        Annotated[
            tuple[Any, ...], as_many(lambda context: context["problem"].allocation.size, _Rational)
        ]
        | None
    ) = None
    parts: tuple[_Tree, ...] | None = None
    separated: SeparatedLabels | None = None

    def check(self, place: str, context: Context) -> None:
        """The problem is one of few weights, and the fields fit the verdict."""
        network = self.problem.network
        if self.problem.constraints or self.problem.updates or self.problem.is_random:
            raise CheckFailed(within(place, "problem"), "has constraints, updates or random cells")
        r, matches = self.problem.allocation.size, self.verdict == MATCH
        known, apart = isinstance(network, ActivatedNetwork), self.separated is not None
        few = 1 <= r == network.outputs <= network.divided_unknowns
        if not known or not (matches or apart or few):
            text = f"{r} weights for {network.outputs} labels of this network are not decided so"
            raise CheckFailed(within(place, "problem"), text)
        for name, belongs in (
            ("near", matches),
            ("parts", not matches and not apart),
            ("separated", not matches and apart),
        ):
            if (getattr(self, name) is not None) != belongs:
                text = "is missing" if belongs else "does not belong to this verdict"
                raise CheckFailed(within(place, name), text)
        if (self.teacher is None) == (self.Y is None):
            raise CheckFailed(within(place, "Y"), "either `teacher` or `Y` gives the labels")


def _match(given: BoxedDecision) -> Iterator[Check]:
    """A real solution near the given point."""
    before = ctx.prec
    try:
        for bits in _PRECISIONS:
            ctx.prec = bits
            equations, labels = _system(given)
            free = [None] * len(equations.groups)

            def at(x: Sequence[arb], own: ChartEquations = equations) -> tuple[Any, Any]:
                found = own.residuals(x, labels)  # noqa: B023
                slopes, _ = own.derivatives(x, free)  # noqa: B023
                return arb_mat([[f] for f in found]), arb_mat(slopes)

            near, least = [arb(v) for v in given.near or ()], arb(2) ** (8 - bits)
            if has_solution(at, near, _NEAR, (4, 4**6, 4**12), least):
                text = "Krawczyk's test: a real solution of all equations is near this point"
                yield Check("near", PROVED, text)
                return
    finally:
        ctx.prec = before
    yield Check("near", FAILED, "Krawczyk's test shows no solution near this point")


def _refutation(given: BoxedDecision) -> Iterator[Check]:
    """No part of the boxes of all charts has a solution."""
    before = ctx.prec
    try:
        ctx.prec = _BITS
        equations, labels = _system(given)
        sets = _system(given, as_sets, SETS) if _has_kinks(given) else None
        every, parts = list(charts(equations.groups)), given.parts or ()
        if len(parts) != len(every):
            text = f"{len(parts)} boxes are divided; {len(every)} cover all weights"
            yield Check("parts", FAILED, text)
            return
        total = sum(map(len, parts))
        if total > _MOST_PARTS:
            raise TooLarge(f"{total:,} parts of boxes are more than the {_MOST_PARTS:,} checked")
        for number, (chart, text) in enumerate(zip(every, parts, strict=True)):
            system = _Chart(equations, labels, chart, sets)
            for box in _divided(first_box(equations.groups, chart), text, f"parts[{number}]"):
                check_time()
                if not system.refutes(box, _FURTHER):
                    where = " × ".join(f"[{a}, {b}]" for a, b in box)
                    yield Check(f"parts[{number}]", FAILED, f"not refuted: {where}")
                    return
        leaves = sum(text.count(LEAF) for text in parts)
        text = f"{len(every)} boxes cover all real weights; parts without a solution: {leaves}"
        yield Check("parts", PROVED, text)
    finally:
        ctx.prec = before


def _separation(given: BoxedDecision) -> Iterator[Check]:
    """Labels that no student reaches."""
    reach, found = LabelReach.of(given.problem), given.separated
    assert found is not None
    if reach is None:
        text = "every row of the read-out learns, or nothing bounds the values that it reads"
        yield Check("separated", FAILED, text)
    elif not reach.separates(found, given.weights, given.X, given.teacher, given.Y):
        yield Check(
            "separated", FAILED, "the labels of this sample are not shown to be out of reach"
        )
    else:
        text = f"labels of sample {found.sample} are out of reach: the outputs read bounded values"
        yield Check("separated", PROVED, text)


def _divided(box: Ends, text: str, place: str) -> Iterator[Ends]:
    """The parts into which a box is halved."""
    left = [box]
    for letter in text:
        if not left:
            raise CheckFailed(place, "has more parts than its box")
        own = left.pop()
        if letter == LEAF:
            yield own
            continue
        k = int(letter)
        if k >= len(own):
            raise CheckFailed(place, f"has no coordinate {k}")
        left.extend(reversed(_halves(own, k)))
    if left:
        raise CheckFailed(place, "has fewer parts than its box")


def _halves(box: Ends, k: int) -> list[Ends]:
    """The two halves of a box along a coordinate."""
    low, high = box[k]
    middle = (low + high) / 2
    return [[*box[:k], ends, *box[k + 1 :]] for ends in ((low, middle), (middle, high))]


class _Chart:
    """The equations in one chart."""

    def __init__(
        self, equations: ChartEquations, labels: list[Any], chart: Any, sets: _Sets | None
    ) -> None:
        self._equations, self._labels, self._chart = equations, labels, chart
        self._sets = sets
        # The coordinate that is τ, of each unbounded group.
        self._scales = [None if largest is None else largest[0] for largest in chart]

    def refutes(self, box: Ends, further: int) -> bool:
        """Whether no point of a box solves the equations."""
        by_values = self._by_sets if self._sets is not None else self._by_values
        if by_values(box) or self._by_slopes(box):
            return True
        if not further:
            return False
        # The widest coordinate relative to the box of the chart.
        whole = first_box(self._equations.groups, self._chart)
        widths = [(b - a) / (d - c) for (a, b), (c, d) in zip(box, whole, strict=True)]
        k = widths.index(max(widths))
        return all(self.refutes(half, further - 1) for half in _halves(box, k))

    def _entries(self, coordinates: Sequence[arb]) -> tuple[list[Any], list[Any]]:
        """The unknowns at coordinates, and τ of each group."""
        values = list(coordinates)
        scales = [None if k is None else coordinates[k] for k in self._scales]
        for largest in self._chart:
            if largest is not None:
                values[largest[0]] = arb(largest[1])
        return self._equations.unknowns(values, scales), scales

    def _by_values(self, box: Ends) -> bool:
        unknowns, _ = self._entries([_ball(*ends) for ends in box])
        found = self._equations.residuals(unknowns, self._labels)
        return any(not plain(f).contains(0) for f in found)

    def _by_sets(self, box: Ends) -> bool:
        """By values of ReLU in rationals, weights as homogeneous entries and as quotients."""
        assert self._sets is not None
        equations, labels = self._sets
        ends = [tuple(fmpq(x.numerator, x.denominator) for x in own) for own in box]
        values, scales = [RationalSet(*own) for own in ends], list[Any]()
        quotients: list[Any] = list(values)
        for group, largest in zip(equations.groups, self._chart, strict=True):
            if largest is None:
                scales.append(None)
                continue
            place, sign = largest
            scales.append(values[place])
            values[place] = RationalSet(fmpq(sign), fmpq(sign))
            for k in group:
                quotients[k] = values[k].over(*ends[place])
        for unknowns in (equations.unknowns(values, scales), quotients):
            found = equations.residuals(unknowns, labels) + equations.minors(unknowns, labels)
            if any(plain(own).excludes_zero() for own in found):
                return True
        return False

    def _by_slopes(self, box: Ends) -> bool:
        """The mean value theorem, for each label and for an approximate inverse."""
        if any(k is not None and box[k][0] <= 0 for k in self._scales):
            return False
        slopes, by_scale = self._equations.derivatives(
            *self._entries([_ball(*ends) for ends in box])
        )
        for g, k in enumerate(self._scales):
            if k is not None:
                for a, row in enumerate(slopes):
                    row[k] = by_scale[a][g]
        centre = [_ball((a + b) / 2, (a + b) / 2) for a, b in box]
        values = self._equations.residuals(self._entries(centre)[0], self._labels)
        f, J = arb_mat([[limit_of(v)] for v in values]), arb_mat(slopes)
        radii = [_ball((b - a) / 2, (b - a) / 2) for a, b in box]
        if _excludes(f, J, radii):
            return True
        try:
            C = J.mid().inv().mid()
        except ZeroDivisionError:
            return False
        return _excludes(C * f, C * J, radii)


def _excludes(f: arb_mat, J: arb_mat, radii: Sequence[arb]) -> bool:
    """Whether some row's value at the centre is larger than its change within the box."""
    return any(
        abs(f[i, 0]) > sum((abs(J[i, j]) * q for j, q in enumerate(radii)), arb(0))
        for i in range(f.nrows())
    )


def _ball(low: Fraction, high: Fraction) -> arb:
    """The ball with rational ends."""
    a, b = (arb(fmpq(x.numerator, x.denominator)) for x in (low, high))
    return a if low == high else a.union(b)


_Sets = tuple[ChartEquations, list[Any]]


def _has_kinks(given: BoxedDecision) -> bool:
    network = given.problem.network
    assert isinstance(network, ActivatedNetwork)
    return bool(network.activation.is_piecewise)


def _system(
    given: BoxedDecision,
    entries: Callable[[Any], np.ndarray] = as_balls,
    ring: ChartRing | None = None,
) -> tuple[ChartEquations, list[Any]]:
    """The equations of the instance, and its labels, in balls or in another ring."""
    problem: Problem = given.problem
    network = problem.network
    assert isinstance(network, ActivatedNetwork)
    equations = ChartEquations(
        network, problem.allocation.cells,
        {name: entries(value) for name, value in given.weights.items()},
        entries(given.X), ring or BALLS,
    )  # fmt: skip
    if given.teacher is None:
        return equations, list(entries(np.asarray(given.Y, dtype=object)).ravel())
    teacher = {name: entries(value) for name, value in given.teacher.items()}
    return equations, equations.labels(teacher)


# -- functions of balls that may be wide, or near infinity ------------------------------------


def _hull(function: Callable[[arb], arb], a: arb) -> arb:
    """The values of an increasing function over a ball."""
    return function(a.lower()).union(function(a.upper()))


class _Rectifier:
    """ReLU over balls; its derivatives hold the slopes between any two points of a ball.

    A Lipschitz function has the mean value theorem with these.  The sign of v/τ is that of v.
    """

    def values(self, a: np.ndarray) -> np.ndarray:
        """Entrywise, of homogeneous entries too."""
        return np.asarray(np.frompyfunc(self._at, 1, 1)(a))

    def slopes(self, a: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Entrywise."""
        return np.asarray(np.frompyfunc(lambda x: self._slope(arb(plain(x))), 1, 1)(a))

    def _slope(self, v: arb) -> arb:
        return arb(1) if v > 0 else arb(0) if v < 0 else arb(0).union(arb(1))

    def _at(self, entry: Any) -> Any:
        v = arb(plain(entry))
        if v <= 0:
            return arb(0)
        if not v > 0:
            v = arb(0).union(v.upper())
        if isinstance(entry, Homogeneous) and any(entry.degrees):
            return Homogeneous(v, entry.degrees, entry.scales)
        return v


@dataclass(frozen=True)
class _Wide:
    """An increasing function over wide balls, with its derivative.

    Attributes
    ----------
    name : str
    limits : (int, int or None)
        Infimum and supremum; None for softplus.
    slope : callable
        From the argument and the value.
    """

    name: str
    limits: tuple[int, int | None]
    slope: Callable[[arb, arb], arb]

    def values(self, a: np.ndarray) -> np.ndarray:
        """Entrywise, of homogeneous entries too."""
        return np.asarray(np.frompyfunc(self._at, 1, 1)(a))

    def slopes(self, a: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Entrywise, where every τ is positive."""
        return np.asarray(np.frompyfunc(lambda x, y: self.slope(limit_of(x), y), 2, 1)(a, z))

    def _at(self, entry: Any) -> Any:
        value = FUNCTIONS[self.name].value
        if not isinstance(entry, Homogeneous) or not any(entry.degrees):
            return _hull(value, arb(plain(entry)))
        v, tau = entry.value, entry.scale
        if tau > 0:
            return _hull(value, v / tau)
        low, high = self.limits
        most = tau.upper()
        if v < 0:
            return value(v.upper() / most).union(arb(low))
        if high is not None:
            return value(v.lower() / most).union(arb(high)) if v > 0 else arb(low).union(arb(high))
        if v > 0:
            # Between v/τ and v/τ + log 2.
            return Homogeneous(v + tau * arb(0).union(value(arb(0))), entry.degrees, entry.scales)
        return arb(0, "inf")


def _square(a: arb) -> arb:
    """a² over a wide ball."""
    return (a.abs_lower() ** 2).union(a.abs_upper() ** 2)


def _bell(a: arb) -> arb:
    """The derivative of erf, which falls with |a|."""
    slope = FUNCTIONS["erf"].slope
    return slope(a.abs_lower()).union(slope(a.abs_upper()))


BALLS = ChartRing(
    lambda numerator, denominator: arb(fmpq(numerator, denominator)),
    {
        "tanh": _Wide("tanh", (-1, 1), lambda a, z: 1 - _square(z)),
        "sigmoid": _Wide("sigmoid", (0, 1), lambda a, z: arb(1) / 4 - _square(z - arb(1) / 2)),
        "softplus": _Wide("softplus", (0, None), lambda a, z: _hull(FUNCTIONS["sigmoid"].value, a)),
        "relu": _Rectifier(),
        "erf": _Wide("erf", (-1, 1), lambda a, z: _bell(a)),
    },
)


def _check(data: Mapping[str, Any], checklist: Checklist, effort: CheckEffort) -> None:
    """Check a decision of a network with activations; the module says what is proved."""
    given: BoxedDecision = BOXED_DECISION.read(data)
    if given.Y is None:
        checklist.say("teacher", PROVED, "the labels are those of the teacher in the file")
    else:
        text = "the question is about these labels, as they stand in the file"
        checklist.say("Y", UNCHECKED, text)
    refute = _refutation if given.separated is None else _separation
    find = _match if given.verdict == MATCH else refute
    for check in find(given):
        checklist.say(check.place, check.status, check.text)


BOXED_DECISION = ProofFormat(
    FORMAT, (VERSION,), "a decision of a network with activations", BoxedDecision, _check,
    lambda data: one_line(data.get("verdict")),
)  # fmt: skip
