"""What an argument for a verdict is: evidence, search, check, sentence.

Each module of this folder that is named in `order` has one, as ``ARGUMENT``.  `search` makes the
evidence and `check` verifies it from the file; they have the declared form of the evidence in
common, and the theorem in the module's docstring, but no code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from algebra.checker.checks import CheckEffort, Say
from algebra.checker.root_evidence import RootEvidence, solutions
from algebra.networks.base import POLYNOMIAL_LABELS, Cell
from algebra.problems.premises import Covers, Premises
from algebra.problems.problem import Problem

if TYPE_CHECKING:
    from algebra.arguments.case import Case
    from algebra.ranks.minors import Minor
    from algebra.systems.root_count import RootCount

# Names of evidence in files that are not those of modules.
KEYS = {"cells_within_reach": "part"}
# The root count that an argument needs beside its evidence: none, or N of the whole allocation, or
# N of the part that its evidence names.
NO_COUNT, OF_ALL, OF_PART = "none", "of all", "of a part"


@dataclass(frozen=True)
class FoundEvidence:
    """What a search found.

    Attributes
    ----------
    verdict : str
    rule : str
        The argument with its numbers, in a few words.
    evidence : object
        Of the argument's form; None if the root count is all.
    roots : RootCount or None
        The count of a part.
    note : str
        What is known of a number that stands for itself.
    cells : sequence of cells or None
        Weights that learn and whose rank ρ the argument needs; by default all that learn.
    error : Fraction or None
        A bound on the probability of an error; by default that of ρ.
    """

    verdict: str
    rule: str
    evidence: Any = None
    roots: RootCount | None = None
    note: str = ""
    cells: Sequence[Cell] | None = None
    error: Fraction | None = None


@dataclass(frozen=True)
class Claimed:
    """What a check knows of a certificate besides the problem and the evidence of the argument.

    Attributes
    ----------
    verdict : str
    equations : int
        Generic rank ρ of the whole network, and of the allocation.
    roots : RootEvidence or None
        The root count of the file.
    minor : Minor or None
        The regular minor of the file, which was checked.
    why_exact : str
        Why ranks modulo primes are the generic ranks; "" if only the minor shows it.
    effort : CheckEffort
        Primes, points and instances follow from its seed.
    say : callable
        Takes place, status and text of what was found.
    """

    verdict: str
    equations: int
    roots: RootEvidence | None
    effort: CheckEffort
    say: Say
    why_exact: str = POLYNOMIAL_LABELS
    minor: Minor | None = None

    @property
    def seed(self) -> int:
        """The verifier's seed."""
        return self.effort.seed

    @property
    def seconds(self) -> float:
        """Time for a Gröbner basis."""
        return self.effort.basis


@dataclass(frozen=True)
class Argument:
    """An argument for some verdicts on allocations of full rank.

    Attributes
    ----------
    name : str
        Of its module, and of its evidence in a file unless `KEYS` has another name for it.
    form : type
        Of its evidence: see `algebra.checker.records`.
    why : mapping of str to str
        The verdicts that it is for, and a sentence for each: why it follows.  ``{equations}`` is ρ,
        ``{solutions}`` names N solutions, ``{what}`` is the evidence in words.
    search : callable
        Of a `Case`: what was found, or None.
    check : callable
        Of the problem, the evidence that was read, and what else is claimed: the status of the
        argument.  It raises `CheckFailed`.
    counts : str
        `NO_COUNT`: it stands alone, at most beside N.  `OF_ALL`, `OF_PART`: it needs this N.
    covers : mapping of str to mapping
        For each verdict the features of problems for which the theorem is proved, with the sentence
        of the proof that covers each (`algebra.checker.premises`).
    needs_ranks : bool
        Whether it uses that the learnable weights have the generic rank of the whole network.
    what : callable
        The words of evidence in a sentence.
    """

    name: str
    form: Any
    why: Mapping[str, str]
    search: Callable[[Case], FoundEvidence | None]
    check: Callable[[Problem, Any, Claimed], str]
    covers: Mapping[str, Covers]
    counts: str = NO_COUNT
    needs_ranks: bool = True
    what: Callable[[Any], str] = str

    @property
    def needs_count(self) -> bool:
        """Whether it needs the number of solutions, of the allocation or of a part."""
        return self.counts != NO_COUNT

    @property
    def counts_part(self) -> bool:
        """Whether it needs the number of solutions of a part."""
        return self.counts == OF_PART

    @property
    def key(self) -> str:
        """The name of its evidence in a file."""
        return KEYS.get(self.name, self.name)

    def __post_init__(self) -> None:
        assert self.covers.keys() == self.why.keys(), self.name

    def theorem(self, verdict: str) -> Premises:
        """What one of its verdicts follows from."""
        return Premises(self.name, verdict, self.covers[verdict])

    def sentence(self, verdict: str, equations: int, roots: int | None, value: Any = None) -> str:
        """Why the verdict follows."""
        text = self.why[verdict]
        what = self.what(value) if "{what}" in text else ""
        return text.format(equations=equations, solutions=solutions(roots), what=what)


def counted_note(number: str, primes: tuple[int, ...]) -> str:
    """The note on a number that was counted modulo primes and has no bound of its error."""
    return (
        f"{number}, counted modulo {' and '.join(map(str, primes))}; no bound is known on the "
        "probability that this is wrong because of a prime or a point"
    )
