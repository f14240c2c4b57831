"""The result of the verb capacity: its numbers, its document and its explanation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from algebra.documents import Document, Explanation, Paragraph, Table, step
from algebra.linalg.rational import nearest_double
from algebra.programs.generic import Exactness
from algebra.programs.program import Program
from algebra.results import Result, named

# Reasons of redundancy that are listed; all are in the plain data.
_MOST_REASONS = 8


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
        what = f"{names}: {self.learnable} numbers count for {self.rank}"
        return f"{what} ({self.reason})" if self.reason else what

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return named(self, "names", "learnable", "rank", "reason")


@dataclass(frozen=True)
class SubsetCapacity:
    """The capacity of a subset.

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

    @property
    def redundant(self) -> int:
        """Number of parameters that may be fixed without lowering the rank, once it is complete."""
        return self.learnable - self.rank

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        columns = named(
            self, "name", "learnable", "rank", "redundant", "capacity", "teacher_capacity",
            "counting", "samples", "is_whole", "growth", "reasons",
        )  # fmt: skip
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
    """

    model: str
    outputs: int
    parameters: int
    subsets: tuple[SubsetCapacity, ...]
    exactness: Exactness
    seed: int
    needed: int | None = None

    @property
    def error_bound(self) -> Fraction | None:
        """Bound on the probability that any of the ranks is too small; None if unknown."""
        bounds = [subset.error_bound for subset in self.subsets]
        known = [bound for bound in bounds if bound is not None]
        return sum(known, Fraction(0)) if len(known) == len(bounds) else None

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
            "exact": self.exactness.is_exact,
            "ranks": self.exactness.words,
            "error_bound": _double(self.error_bound),
            "needed": self.needed,
            "cheapest": found.name if found else None,
        }


def _document(found: Capacity) -> Document:
    """The document of capacities."""
    best = max(found.subsets, key=lambda s: s.capacity)
    facts = {
        "model": found.model,
        "parameters": found.parameters,
        "outputs": found.outputs,
        "subsets": len(found.subsets),
        "largest_capacity": f"{best.capacity} ({best.name})",
        "ranks": found.exactness.words,
        "certainty": _odds(found.error_bound),
    }
    columns: dict[str, Sequence[Any]] = {
        "subset": [s.name for s in found.subsets],
        "learnable": [s.learnable for s in found.subsets],
        "rank": [f"{s.rank}" if s.is_whole else f"≥ {s.rank}" for s in found.subsets],
        "redundant": [
            f"{s.redundant}" if s.is_whole else f"≤ {s.redundant}" for s in found.subsets
        ],
        "capacity": [_at_least(s, s.capacity) for s in found.subsets],
        "of a teacher": [_at_least(s, s.teacher_capacity) for s in found.subsets],
        "by counting": [s.counting for s in found.subsets],
    }
    reasons = [f"{s.name}: {reason}" for s in found.subsets for reason in s.reasons]
    if len(reasons) > _MOST_REASONS:
        reasons[_MOST_REASONS:] = [f"… and {len(reasons) - _MOST_REASONS} more such reasons"]
    title = f"{found.parameters} parameters, {found.outputs} labels a sample"
    return Document(
        title, facts, (Table(columns), *map(Paragraph, reasons)), _why(found), tone="strong"
    )


def _why(found: Capacity) -> Explanation:
    """The explanation of capacities."""
    known = [
        "A capacity is the largest number of generic samples for which the labels change with the "
        "parameters in as many independent directions as there are labels: then all labels near "
        "those of the network can be fitted, and with one sample more they cannot."
    ]
    wasted = [s for s in found.subsets if s.is_whole and s.redundant and s.capacity < s.counting]
    if wasted:
        most = max(wasted, key=lambda s: s.redundant / s.learnable)
        known.append(
            f"{most.name}: {most.learnable} parameters have the effect of {most.rank}, so they fit "
            f"{most.capacity} samples and not {most.counting}."
        )
    if found.needed:
        best = found.cheapest
        known.append(
            f"The smallest of these subsets that fits {found.needed} samples is {best.name}, "
            f"with {best.learnable} parameters."
            if best
            else f"None of these subsets fits {found.needed} samples."
        )
    if not found.exactness.is_exact:
        known.append(f"Ranks are {found.exactness.words}; that they are attained is probable.")
    return Explanation(
        tuple(known),
        "labels far from the network's own, and what training finds",
        "training, or a larger model",
        (
            step("capacity", "the cheapest for 100 samples", lora="1,2", needed=100),
            step("capacity", "a picture", learn="*.bias", plot="capacity.png"),
        ),
    )


def _at_least(subset: SubsetCapacity, value: int | None) -> str:
    if value is None:
        return "any"
    return f"{value}" if subset.is_whole or value < subset.samples else f"≥ {value}"


def _odds(bound: Fraction | None) -> str:
    if bound is None:
        return "the probability of an unlucky point is not bounded"
    if not bound:
        return "proved: no rank is too small"
    return f"one is too small with probability {bound.numerator / bound.denominator:.0e} at most"


def _double(bound: Fraction | None) -> Any:
    return None if bound is None else nearest_double(bound)


def matrix_shape(shape: Sequence[int]) -> tuple[int, int]:
    """A parameter as a matrix: its first axis, and all others."""
    rest = 1
    for size in shape[1:]:
        rest *= size
    return (shape[0] if shape else 1), rest
