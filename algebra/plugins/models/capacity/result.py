"""The result of the verb capacity: its numbers, its document and its explanation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from algebra.documents import Document, Explanation, Paragraph, Step, Table, step
from algebra.linalg.numbers import nearest_double
from algebra.programs.generic import Exactness
from algebra.programs.program import Program, matrix_shape
from algebra.results import Result, named

# Reasons of redundancy that are listed; all are in the plain data.
_MOST_REASONS = 8
# Directions that are so many times weaker than others are mentioned; that doubles do not resolve.
_WEAK = 1000
_LOST = 10**12
# A larger bound of the probability of an unlucky point says nothing.
LARGEST_ERROR = Fraction(1, 10**6)


@dataclass(frozen=True)
class Subset:
    """Parameters that learn together.

    Attributes
    ----------
    name : str
    weights : tuple of str
        Names of the weights that learn as a whole.
    low_rank : mapping of str to int
        Matrices that learn by W + U Vᵀ, with the rank.
    """

    name: str
    weights: tuple[str, ...] = ()
    low_rank: Mapping[str, int] | None = None

    def learnable(self, program: Program) -> int:
        """Number of learnable parameters."""
        shapes = program.weights
        total = sum(int(np.prod(shapes[name])) for name in self.weights)
        for name, k in (self.low_rank or {}).items():
            total += k * sum(matrix_shape(shapes[name]))
        return total

    @property
    def names(self) -> list[str]:
        """All parameters in the subset."""
        return [*self.weights, *(self.low_rank or {})]


@dataclass(frozen=True)
class Redundancy:
    """Parameters whose rank is smaller than their number.

    Attributes
    ----------
    names : tuple of str
    learnable : int
    rank : int
        Their rank.
    reason : str
        In words, if a reason was found.
    """

    names: tuple[str, ...]
    learnable: int
    rank: int
    reason: str

    def __str__(self) -> str:
        names = ", ".join(self.names)
        what = f"{names}: rank {self.rank} of {self.learnable}"
        return f"{what} ({self.reason})" if self.reason else what

    @property
    def on_pattern(self) -> str:
        """What is said of one activation pattern only."""
        what = f"{', '.join(self.names)}: rank {self.rank} of {self.learnable} on one pattern"
        return f"{what} ({self.reason})" if self.reason else what

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return named(self, "names", "learnable", "rank", "reason")


@dataclass(frozen=True)
class PointRank:
    """The rank and capacity of a subset at one kind of point.

    Attributes
    ----------
    at : str
        "file": the model's own weights; "data": these and given samples; "training": what is frozen
        has its values, what learns is generic; "any": weights of this architecture.
    rank, capacity : int
    exact : bool
        Whether they are no upper bounds of those at these weights (on this pattern).
    at_least : bool
        Whether other samples may increase the rank: units switch for some that were not drawn.
    smallest, largest : float or None
        Singular values of the Jacobian at these weights, of the labels of as many samples as are
        fitted; if it is not too large.
    """

    at: str
    rank: int
    capacity: int
    exact: bool = True
    at_least: bool = False
    smallest: float | None = None
    largest: float | None = None

    @property
    def is_bound(self) -> bool:
        """Whether the rank is an upper bound of that at the model's own weights."""
        return not self.exact and self.at in ("file", "data")

    @property
    def mark(self) -> str:
        """What precedes its numbers."""
        if self.exact:
            return "≥ " if self.at_least else ""
        return "≈ " if self.at_least else "≤ "

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return named(self, "at", "rank", "capacity", "exact")


@dataclass(frozen=True)
class SubsetCapacity:
    """The capacity of a subset where training goes: what is frozen has its values.

    Attributes
    ----------
    name : str
    learnable : int
    rank : int
        Largest rank, for as many samples as increase it (or as many as were requested).
    capacity : int
        Number of samples whose labels, arbitrary near the network's own, can be fitted locally.
    teacher_capacity : int or None
        The same for labels of another network of this kind; None for any number of samples.
    counting : int
        ⌊learnable/d⌋.
    samples : int
        Number of samples for which ranks were computed.
    is_whole : bool
        Whether more samples do not increase the rank; otherwise rank and capacities are lower
        bounds.
    growth : tuple of int
        Rank of 1, 2, … samples.
    reasons : tuple of Redundancy
    error_bound : Fraction or None
        Bound on the probability that one of these ranks is too small because of an unlucky point;
        None if there is no bound.
    exact : bool
        Whether rank and capacity are those at almost all values of what learns and almost all
        samples, on all activation patterns; otherwise they are lower bounds, or upper bounds where
        the ranks are.
    points : tuple of PointRank
        The ranks and capacities at the model's own weights, and on each activation pattern.
    at_weights, any_weights : PointRank or None
        Those at the model's own weights, and at any weights.
    on_patterns : bool
        Whether ranks depend on the activation pattern.
    of_samples : bool
        Whether the samples were drawn among finitely many (tokens), and others may give more.
    bottleneck : int
        If no sample can be fitted: the fewest numbers through which the labels of a sample depend
        on these parameters, if fewer than its labels; otherwise 0.
    """

    name: str
    learnable: int
    rank: int
    capacity: int
    teacher_capacity: int | None
    counting: int
    samples: int
    is_whole: bool
    growth: tuple[int, ...]
    reasons: tuple[Redundancy, ...]
    error_bound: Fraction | None
    exact: bool = False
    points: tuple[PointRank, ...] = ()
    at_weights: PointRank | None = None
    any_weights: PointRank | None = None
    on_patterns: bool = False
    bottleneck: int = 0
    of_samples: bool = False

    @property
    def range(self) -> str:
        """The ranks on activation patterns, from the least to the largest."""
        points = sorted(self.points, key=lambda point: (point.rank, point.exact))
        if not self.on_patterns or not points:
            return ""
        least, most = points[0].rank, points[-1].rank
        between = f"{least}" if least == most else f"{least} – {most}"
        return f"{'≤ ' if points[0].is_bound else ''}{between} ({len(points)})"

    @property
    def redundant(self) -> int:
        """Number of parameters that may be fixed without lowering the rank, once it is complete."""
        return self.learnable - self.rank

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        columns = named(
            self, "name", "learnable", "rank", "redundant", "capacity", "teacher_capacity",
            "counting", "samples", "is_whole", "growth", "reasons", "exact", "points", "bottleneck",
        )  # fmt: skip
        here, every = self.at_weights, self.any_weights
        columns["at_weights"] = here and {
            **named(here, "rank", "capacity", "smallest", "largest"),
            "exact": here.exact and not here.at_least,
        }
        if every is not None:
            columns["any_weights"] = named(every, "rank", "capacity", "exact")
        return {**columns, "error_bound": _double(self.error_bound)}


@dataclass(frozen=True, repr=False)
class Capacity(Result):
    """Result of the verb capacity.

    Attributes
    ----------
    model : str
        The source of the program.
    outputs : int
        Labels d of a sample.
    parameters : int
    subsets : tuple of SubsetCapacity
    exactness : Exactness
    seed : int
    needed : int or None
        Number of samples that are to be fitted.
    unfinished : tuple of str
        Subsets whose ranks were not finished, because of a limit of time or memory or an interrupt.
    assumed : tuple of str
        Assumptions about samples with which the model was read, each a sentence.
    """

    model: str
    outputs: int
    parameters: int
    subsets: tuple[SubsetCapacity, ...]
    exactness: Exactness
    seed: int
    needed: int | None = None
    unfinished: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()

    @property
    def error_bound(self) -> Fraction | None:
        """Bound on the probability that any of the ranks is too small; None if unknown."""
        bounds = [subset.error_bound for subset in self.subsets]
        known = [bound for bound in bounds if bound is not None]
        return sum(known, Fraction(0)) if len(known) == len(bounds) else None

    @property
    def in_words(self) -> str:
        """Whether the ranks are exact, and of what: tokens that were drawn are not all samples."""
        drawn = self.exactness.is_exact and any(s.of_samples for s in self.subsets)
        return f"{'for the samples drawn, ' if drawn else ''}{self.exactness.words}"

    @property
    def cheapest(self) -> SubsetCapacity | None:
        """The smallest subset that fits the needed number of samples."""
        enough = [s for s in self.subsets if self.needed and s.capacity >= self.needed]
        return min(enough, key=lambda s: s.learnable, default=None)

    def document(self) -> Document:
        """The subsets, reasons of redundancy, and the certainty of the ranks."""
        return _document(self)

    def columns(self) -> dict[str, list[Any]]:
        """One row for each subset."""
        names = (
            "name", "learnable", "rank", "redundant", "capacity", "teacher_capacity", "counting",
        )  # fmt: skip
        return {name: [getattr(subset, name) for subset in self.subsets] for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        found = self.cheapest
        return {
            **named(self, "model", "parameters", "outputs", "subsets"),
            "exact": all(subset.exact for subset in self.subsets),
            "ranks": self.in_words,
            "error_bound": _double(self.error_bound),
            "needed": self.needed,
            "unfinished": self.unfinished,
            "assumed": self.assumed,
            "cheapest": found.name if found else None,
        }


def _document(found: Capacity) -> Document:
    """The document of capacities."""
    best = max(found.subsets, key=lambda s: s.capacity)
    marks = {s.name: _mark(found, s) for s in found.subsets}
    facts = {
        "model": found.model,
        "parameters": found.parameters,
        "outputs": found.outputs,
        "subsets": len(found.subsets),
        "largest_capacity": f"{marks[best.name]}{best.capacity} ({best.name})",
        "ranks": found.in_words,
        "certainty": _odds(found),
    }
    columns: dict[str, Sequence[Any]] = {
        "subset": [s.name for s in found.subsets],
        "learnable": [s.learnable for s in found.subsets],
        "rank here": [_number(s.at_weights, "rank") for s in found.subsets],
        "fits here": [_number(s.at_weights, "capacity") for s in found.subsets],
        "rank": [f"{_rank_mark(found, s)}{s.rank}" for s in found.subsets],
        "redundant": [f"{_OPPOSITE[_rank_mark(found, s)]}{s.redundant}" for s in found.subsets],
        "capacity": [_fitted(s, s.capacity, marks[s.name]) for s in found.subsets],
        "teacher": [_fitted(s, s.teacher_capacity, marks[s.name]) for s in found.subsets],
        "counting": [s.counting for s in found.subsets],
    }
    if any(s.on_patterns for s in found.subsets):
        columns["ranks on patterns"] = [s.range for s in found.subsets]
    if any(s.any_weights for s in found.subsets):
        columns["rank anywhere"] = [_number(s.any_weights, "rank") for s in found.subsets]
        columns["fits anywhere"] = [_number(s.any_weights, "capacity") for s in found.subsets]
    for name in ("rank here", "fits here"):
        if not any(columns[name]):
            del columns[name]
    reasons = [
        f"{s.name}: {reason.on_pattern if _of_pattern(s) else reason}"
        for s in found.subsets
        for reason in s.reasons
    ]
    reasons += [
        f"{s.name}: no sample can be fitted, because the {found.outputs} labels of a sample depend "
        f"on these parameters through {s.bottleneck} numbers only"
        for s in found.subsets
        if s.bottleneck and not s.capacity
    ]
    if len(reasons) > _MOST_REASONS:
        reasons[_MOST_REASONS:] = [f"… and {len(reasons) - _MOST_REASONS} more such reasons"]
    if found.unfinished:
        reasons.append(
            "Not finished, because of a limit of time or memory or an interrupt: "
            + ", ".join(found.unfinished)
        )
    reasons += _answered(found)
    title = f"{found.parameters} parameters, {found.outputs} labels a sample"
    return Document(
        title, facts, (Table(columns), *map(Paragraph, reasons)), _why(found), tone="strong"
    )


def _answered(found: Capacity) -> list[str]:
    """The answer to the number of samples that are to be fitted."""
    if not found.needed:
        return []
    best = found.cheapest
    if best is not None:
        return [
            f"The smallest of these subsets that fits {found.needed} samples is {best.name}, "
            f"with {best.learnable} parameters."
        ]
    sure = not any(s.on_patterns or s.of_samples for s in found.subsets)
    return [
        f"None of these subsets {'fits' if sure else 'was found to fit'} {found.needed} samples."
    ]


def _of_pattern(subset: SubsetCapacity) -> bool:
    """Whether reasons are those of one activation pattern."""
    return subset.on_patterns and not subset.exact


def _number(point: PointRank | None, key: str) -> str:
    """A number at some weights; where it is not known, nothing."""
    return "" if point is None else f"{point.mark}{getattr(point, key)}"


# What is said of a number of redundant parameters, by the mark of the rank.
_OPPOSITE = {"": "", "≥ ": "≤ ", "≤ ": "≥ ", "≈ ": "≈ "}


def _mark(found: Capacity, subset: SubsetCapacity) -> str:
    """Whether a rank is exact, a lower or an upper bound, or, of a pattern, an upper bound."""
    if subset.exact:
        return ""
    others = subset.on_patterns or subset.of_samples or not subset.is_whole
    if found.exactness.is_exact:
        return "≥ " if others else ""
    return "≈ " if others else "≤ "


def _rank_mark(found: Capacity, subset: SubsetCapacity) -> str:
    """The same of the rank: no lower bound where all parameters count."""
    mark = _mark(found, subset)
    return "" if mark == "≥ " and not subset.redundant else mark


def _weakest(found: Capacity) -> list[str]:
    """A sentence about the subset whose weakest direction at the model's own weights is weakest."""
    rows = [(s, s.at_weights) for s in found.subsets]
    ratios = [
        (here.largest / here.smallest if here.smallest else math.inf, s.name, here.capacity)
        for s, here in rows
        if here is not None and here.smallest is not None and here.largest
    ]
    if not ratios:
        return []
    ratio, name, fits = max(ratios)
    if ratio < _WEAK:
        return []
    if ratio > _LOST:
        return [
            f"Of the directions by which {name} fits {fits} samples at your weights some are more "
            f"than {_LOST:,} times weaker than others, as those that exist by the small number in "
            "a normalization only: do not count on them."
        ]
    return [
        f"The weakest of the directions by which {name} fits {fits} samples at your weights is "
        f"{round(ratio):,} times weaker than the strongest."
    ]


def _why(found: Capacity) -> Explanation:
    """The explanation of capacities."""
    whole = all(subset.is_whole for subset in found.subsets)
    smooth = not any(subset.on_patterns for subset in found.subsets)
    drawn = any(subset.of_samples for subset in found.subsets)
    known = [
        "A capacity is the largest number of generic samples for which the labels change with the "
        "parameters in as many independent directions as there are labels: then all labels near "
        "those of the network can be fitted"
        + (", and with one sample more they cannot." if smooth and whole and not drawn else ".")
    ]
    data = any(point.at == "data" for s in found.subsets for point in s.points)
    if any(s.at_weights for s in found.subsets):
        known.append(
            f"Here: at your weights{' and samples' if data else ''}. The other numbers are where "
            "training goes: what is frozen keeps its values, and what learns is generic."
        )
    special = [
        (s, s.at_weights.rank)
        for s in found.subsets
        if s.exact and s.at_weights and not s.at_weights.mark and s.at_weights.at == "file"
        and s.at_weights.rank < s.rank
    ]  # fmt: skip
    if special:
        first, rank = min(special, key=lambda one: Fraction(one[1], one[0].rank))
        known.append(
            f"Training starts at a special point: {first.name} has rank {rank} at your weights and "
            f"{first.rank} at almost all others."
        )
    known += _weakest(found)
    if any(s.any_weights for s in found.subsets):
        known.append("Anywhere: at any weights of this architecture, frozen ones included.")
    known += [f"Assumed: {text}." for text in found.assumed]
    if drawn:
        known.append(
            "Some inputs are tokens, of which there are finitely many, so no sample is generic: "
            "ranks are those of different samples that were drawn, and a capacity is a number of "
            "these whose labels are independent. Other samples may have larger ones."
        )
    if not smooth:
        known.append(
            "The labels are one function on each activation pattern, and ranks differ between "
            "patterns. The largest is shown, and how they range over how many patterns. Where no "
            "bound for all patterns is met it is a lower bound: other patterns may have larger "
            "ranks, and some have smaller ones."
        )
    bounds = [s.name for s in found.subsets if any(point.is_bound for point in s.points)]
    if bounds:
        known.append(
            "At your weights exponentials, roots and other functions count as numbers "
            "that are equal, opposite or 0 where their arguments are, and otherwise arbitrary. "
            "That the functions' own values have the same rank was not shown of "
            f"{', '.join(bounds)}: the rank here is at most the one that was found."
        )
    wasted = [s for s in found.subsets if s.exact and s.redundant and s.capacity < s.counting]
    if wasted:
        most = max(wasted, key=lambda s: s.redundant / s.learnable)
        known.append(
            f"{most.name}: {most.learnable} parameters have the effect of {most.rank}, so they fit "
            f"{most.capacity} samples and not {most.counting}."
        )
    if not found.exactness.is_exact:
        known.append(f"Ranks are {found.exactness.words}; that they are attained is probable.")
    known.append(
        "Where training goes most subsets fit nearly as many samples as their parameters permit by "
        "counting: what these numbers find are parameters without effect and redundant ones, not "
        "which subset learns best."
    )
    return Explanation(
        tuple(known),
        "labels far from the network's own, and what training finds",
        "training, or a larger model",
        _steps(found),
    )


def _steps(found: Capacity) -> tuple[Step, ...]:
    """The cheapest subset for a number of samples; if none fits them, all; a picture."""
    picture = step("capacity", "a picture", plot="capacity.png")
    if not found.needed:
        return step("capacity", "the cheapest for 100 samples", lora="1,2", needed=100), picture
    if found.cheapest or any(s.learnable >= found.parameters for s in found.subsets):
        return (picture,)
    whole = step("capacity", f"whether all parameters fit {found.needed} samples", learn="all")
    return whole, picture


def _fitted(subset: SubsetCapacity, value: int | None, mark: str) -> str:
    """A number of samples; below the last that was tried that of a smooth network is definite."""
    if value is None:
        return "any"
    drawn = subset.on_patterns or subset.of_samples
    if mark in ("≥ ", "≈ ") and not drawn and value < subset.samples:
        mark = "" if mark == "≥ " else "≤ "
    return f"{mark}{value}"


def _odds(found: Capacity) -> str:
    bound = found.error_bound
    if bound is None or bound > LARGEST_ERROR:
        return "the probability of an unlucky point is not bounded"
    if not bound:
        return "proved: no rank is too small"
    where = " for its pattern" if any(s.on_patterns for s in found.subsets) else ""
    odds = f"{bound.numerator / bound.denominator:.0e}"
    return f"one is too small{where} with probability {odds} at most"


def _double(bound: Fraction | None) -> Any:
    return None if bound is None else nearest_double(bound)
