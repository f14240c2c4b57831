"""Reading of the proof file of a recording; `algebra.record.result` describes its content."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from algebra.certificates.checks import CheckFailed
from algebra.certificates.parts import (
    fixed_problem,
    proof_fields,
    read_caps,
    read_price,
    read_prices,
    read_version,
)
from algebra.certificates.records import Record
from algebra.errors import InputError
from algebra.problems.problem import Problem
from algebra.record.elements import elements_of
from algebra.record.question import CAPS, RecordingQuestion, recording_question
from algebra.record.result import FORMAT, VERSION, EntryEvidence, GroupEvidence


@dataclass(frozen=True)
class RecordingProof:
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
    evidence : Record
    """

    problem: Problem
    what: tuple[str, ...]
    prices: tuple[Fraction, ...]
    must: tuple[int, ...]
    forbidden: tuple[int, ...]
    recorded: tuple[int, ...]
    caps: tuple[tuple[str, int], ...]
    rank: int
    cost: Fraction
    bound: Fraction
    evidence: Record

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
            caps=dict(self.caps), seed=seed, stream="verify-record",
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
    fields = proof_fields(data)
    problem = fixed_problem(fields.raw("problem"))
    what = fields.texts("what")
    prices = read_prices(fields)
    must, forbidden = fields.wholes("must", 0), fields.wholes("forbidden", 0)
    recorded = fields.wholes("recorded", 0)
    caps = read_caps(fields.table("caps"), CAPS)
    if [kind for kind, _ in caps] != [kind for kind in CAPS if kind in dict(caps)]:
        raise CheckFailed("caps", "are not in the order " + ", ".join(CAPS))
    rank = fields.whole("rank", 0)
    cost, bound = (read_price(fields.raw(name), name) for name in ("cost", "bound"))
    form = EntryEvidence if what == ("entries",) else GroupEvidence
    evidence: Record = form.from_dict(fields.raw("evidence"))
    fields.finish()
    return RecordingProof(
        problem, what, prices, must, forbidden, recorded, caps, rank, cost, bound, evidence
    )
