"""The proof file of a recording; `algebra.plugins.circuits.result` describes its content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np

from algebra.checker.checks import CheckFailed
from algebra.checker.compact import compact
from algebra.checker.duals import DualInFile, Leaves
from algebra.checker.parts import (
    FixedProblem,
    Price,
    caps_of,
)
from algebra.checker.records import Context, Converted, Counts, Record, rational_of
from algebra.checker.sparse import entries_of
from algebra.checker.tables import by_matrix
from algebra.declarations import Count
from algebra.errors import InputError, Unfinished
from algebra.linalg.sparse import SparseMatrix
from algebra.networks.activated import ActivatedNetwork
from algebra.networks.masks import LARGE, held
from algebra.networks.own_point import OwnPoint
from algebra.plugins.circuits.elements import elements_of
from algebra.plugins.circuits.question import CAPS, RecordingQuestion, recording_question
from algebra.plugins.circuits.stimulation import stimulations
from algebra.plugins.circuits.target import NEW
from algebra.problems.problem import Problem

FORMAT: Literal["matchprob-recording"] = "matchprob-recording"
VERSION: Literal[1] = 1


@dataclass(frozen=True)
class GroupEvidence(Record):
    """Evidence for the bound if elements are groups of rows: the leaves of a search."""

    leaves: Leaves = field(repr=False)


@dataclass(frozen=True)
class EntryEvidence(Record):
    """Evidence for the bound if elements are single rows."""

    dual: DualInFile = field(repr=False)


@dataclass(frozen=True)
class TargetEvidence(Record):
    """Evidence for the bound if a target is to be determined, not all that may be recorded.

    Cuts are sets of groups, one of which every recording that determines the target has.
    """

    cuts: tuple[Counts, ...] = field(repr=False)
    leaves: Leaves = field(repr=False)


# Characters of a parameter: numerators and denominators of doubles have up to 309 digits.
_RATIONAL = rational_of(1_000)
_MATRIX = entries_of(_RATIONAL)


def _written(table: np.ndarray) -> Any:
    return compact([list(map(str, row)) for row in table.tolist()])


def _samples(value: Any, place: str, context: Context) -> np.ndarray:
    """Samples of the problem's network; of a target of new samples as many again."""
    network = context["problem"].network
    rows, m = network.input_shape
    shape = rows, 2 * m if NEW in context.get("target", ()) else m
    return _MATRIX.read(value, place, {"shape": shape})  # type: ignore[no-any-return]


_WEIGHTS = by_matrix(
    Annotated[np.ndarray, Converted(_MATRIX.form, _MATRIX.read, _written)]
)  # fmt: skip


def _weights(value: Any, place: str, context: Context) -> dict[str, np.ndarray]:
    return _WEIGHTS.read(  # type: ignore[no-any-return]
        value, place, {**context, "network": context["problem"].network}
    )


@dataclass(frozen=True, eq=False)
class OwnParameters(Record):
    """The parameters and samples at which a network with ReLU has its ranks.

    The activation pattern is no part of a file: it follows from these.
    """

    weights: Annotated[
        dict[str, np.ndarray], Converted(_WEIGHTS.form, _weights, _WEIGHTS.write)
    ] = field(repr=False)
    X: Annotated[np.ndarray, Converted(_MATRIX.form, _samples, _written)] = field(repr=False)

    @classmethod
    def of(cls, own: OwnPoint | None) -> OwnParameters | None:
        """Those of a network.

        Raises
        ------
        Unfinished
            Of a large circuit: a file would list more numbers than are read.
        """
        if own is not None and any(isinstance(w, SparseMatrix) for w in own.weights.values()):
            raise Unfinished(
                "a proof file with ReLU lists all parameters, and those of a circuit with more "
                f"than {LARGE:,} entries in a matrix are too many for a file that is read"
            )
        return None if own is None else cls(dict(own.weights), own.X)

    def check(self, place: str, context: Context) -> None:
        """Every weight has a value, which is 0 if it does not exist."""
        problem = context["problem"]
        if not problem.network.has_kinks:
            raise CheckFailed(place, "are those of networks with ReLU")
        for name in problem.network.shapes:
            if name not in self.weights:
                raise CheckFailed(f"{place}.weights", f"has no {name}")
            mask = held(problem.support, name)
            if mask is not None and (self.weights[name][np.asarray(mask) == 0] != 0).any():
                text = "has a value of a weight that does not exist"
                raise CheckFailed(f"{place}.weights.{name}", text)

    def given_to(self, problem: Problem) -> Problem:
        """The problem at these parameters, with the activation pattern that follows."""
        network = problem.network
        assert isinstance(network, ActivatedNetwork)
        return replace(
            problem, network=network.at_parameters(self.weights, self.X, problem.support)
        )

    @cached_property
    def digest(self) -> str:
        """A hash of all numbers: the primes of the check depend on it."""
        tables = [*(self.weights[name] for name in sorted(self.weights)), self.X]
        text = "/".join(" ".join(map(str, table.flat)) for table in tables)
        return hashlib.sha256(text.encode()).hexdigest()


def _read_evidence(value: Any, place: str, context: Context) -> Record:
    form: type[Record] = EntryEvidence if context["what"] == ("entries",) else GroupEvidence
    if (
        (context.get("target") or context.get("stimulate"))
        and isinstance(value, Mapping)
        and "cuts" in value
    ):
        form = TargetEvidence
    return form.from_dict(value, place)


@dataclass(frozen=True)
class RecordingProof(Record):
    """The claim of a proof file, and its evidence.

    Attributes
    ----------
    problem : Problem
    what : tuple of str
    prices : tuple of Fraction
        Of all elements of these kinds, in their order.
    must, forbidden, recorded : tuple of int
        Numbers of elements.
    caps : tuple of (str, int)
    rank : int
    cost, bound : Fraction
    target : tuple of str
        The activities to be determined, as they were given; empty if all that may be recorded is.
    free : tuple of int
        Number of directions that the recorded elements leave free in each element of the target.
    parameters : OwnParameters or None
        With ReLU: those at which ranks are exact.
    stimulate : tuple of int
        Units that may be driven; their stimulations are the last elements, in this order.
    evidence : Record
    """

    format: Literal["matchprob-recording"]
    version: Literal[1]
    problem: FixedProblem
    what: tuple[str, ...]
    prices: tuple[Price, ...]
    must: Counts
    forbidden: Counts
    caps: Annotated[tuple[tuple[str, int], ...], caps_of(CAPS, in_order=True)]
    recorded: Counts
    rank: Count
    cost: Price
    bound: Price
    target: tuple[str, ...] = field(default=(), kw_only=True)
    free: Counts = field(default=(), kw_only=True)
    parameters: OwnParameters | None = field(default=None, kw_only=True)
    stimulate: Counts = field(default=(), kw_only=True)
    evidence: Annotated[
        Record,
        Converted(EntryEvidence | GroupEvidence | TargetEvidence, _read_evidence, Record.to_dict),
    ]

    def check(self, place: str, context: Context) -> None:
        """With ReLU there are parameters."""
        if self.problem.network.has_kinks and self.parameters is None:
            raise CheckFailed("parameters", "are missing: with ReLU ranks are those at parameters")

    def question(self, seed: int) -> RecordingQuestion:
        """The question of the file.

        Raises
        ------
        InputError
            If it is not valid.
        """
        elements, _ = elements_of(self.problem.network, self.what)
        units = elements_of(self.problem.network, ["units"])[0] if self.stimulate else ()
        if sorted(set(self.stimulate)) != list(self.stimulate) or any(
            k >= len(units) for k in self.stimulate
        ):
            raise InputError("stimulate: not each number is that of a unit, in their order")
        driven = stimulations(self.problem.network, self.stimulate) if self.stimulate else ()
        names = [element.name for element in (*elements, *driven)]
        if len(self.prices) != len(names):
            raise InputError(f"{len(self.prices)} prices for {len(names)} elements")
        for place, numbers in (
            ("must", self.must), ("forbidden", self.forbidden), ("recorded", self.recorded),
        ):  # fmt: skip
            if any(k >= len(names) for k in numbers) or len(set(numbers)) < len(numbers):
                raise InputError(f"{place}: not each number is that of an element, and only once")
        problem, stream = self.problem, "verify-record"
        if self.parameters is not None:
            problem = self.parameters.given_to(problem)
            # No numbers can be chosen for primes that follow from them.
            stream = f"{stream}/{self.parameters.digest}"
        return recording_question(
            problem, self.what, costs=dict(zip(names, self.prices, strict=True)),
            must=[names[k] for k in self.must], forbidden=[names[k] for k in self.forbidden],
            caps=dict(self.caps), target=self.target, seed=seed, stream=stream,
            stimulate=[f"unit {k}" for k in self.stimulate],
        )  # fmt: skip
