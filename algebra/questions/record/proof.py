"""The proof file of a recording; `algebra.questions.record.result` describes its content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from algebra.certificates.duals import DualInFile, Leaves
from algebra.certificates.parts import (
    FixedProblem,
    Price,
    caps_of,
    read_version,
)
from algebra.certificates.records import Context, Converted, Counts, Record
from algebra.declarations import Count
from algebra.errors import InputError
from algebra.questions.record.elements import elements_of
from algebra.questions.record.question import CAPS, RecordingQuestion, recording_question

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


def _read_evidence(value: Any, place: str, context: Context) -> Record:
    form: type[Record] = EntryEvidence if context["what"] == ("entries",) else GroupEvidence
    if context.get("target") and isinstance(value, Mapping) and "cuts" in value:
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
    evidence: Annotated[
        Record,
        Converted(EntryEvidence | GroupEvidence | TargetEvidence, _read_evidence, Record.to_dict),
    ]

    def question(self, seed: int) -> RecordingQuestion:
        """The question of the file.

        Raises
        ------
        InputError
            If it is not valid.
        """
        elements, _ = elements_of(self.problem.network, self.what)
        names = [element.name for element in elements]
        if len(self.prices) != len(names):
            raise InputError(f"{len(self.prices)} prices for {len(names)} elements")
        for place, numbers in (
            ("must", self.must), ("forbidden", self.forbidden), ("recorded", self.recorded),
        ):  # fmt: skip
            if any(k >= len(names) for k in numbers) or len(set(numbers)) < len(numbers):
                raise InputError(f"{place}: not each number is that of an element, and only once")
        return recording_question(
            self.problem, self.what, costs=dict(zip(names, self.prices, strict=True)),
            must=[names[k] for k in self.must], forbidden=[names[k] for k in self.forbidden],
            caps=dict(self.caps), target=self.target, seed=seed, stream="verify-record",
        )  # fmt: skip


def read_recording_proof(data: object) -> RecordingProof:
    """Read a proof file.

    Parameters
    ----------
    data : mapping
        As made by `Recording.proof_file`.

    Raises
    ------
    InputError
        If it is not a proof file of this format.
    CheckFailed
        If a field does not have the required form; the message names the field.
    """
    read_version(data, FORMAT, (VERSION,), "the proof of a recording")
    return RecordingProof.from_dict(data, "")
