"""Statements of proof files: each is checked with a seed, and is proved, probable or unfinished.

Verdicts, designs and recordings consist of statements, which have one form and are said by one
function (`Statement.stated`), the bound of the error of what is probable included.  A number of
solutions is `algebra.arguments.recount.SolutionCount`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from algebra.checker.checks import PROBABLE, PROVED, CheckFailed, Say


@dataclass(frozen=True)
class StatementShown:
    """What the check of a statement showed.

    Attributes
    ----------
    status : str
        "proved", "probable" or "unfinished".
    text : str
    error : Fraction or None
        A bound on the probability that what is probable is wrong; the words end with it.
    """

    status: str
    text: str
    error: Fraction | None = None

    @property
    def words(self) -> str:
        """The text, with the bound of the error."""
        return self.text if self.error is None else f"{self.text} {error_words(self.error)}"


class Statement(ABC):
    """A statement of a proof file, which is checked without the program that made the file.

    Attributes
    ----------
    place : str
        Its place in the file.
    """

    place: str

    @abstractmethod
    def check(self, seed: int) -> StatementShown:
        """Check it at points and primes that follow from a seed.

        Raises
        ------
        CheckFailed
            If it is false, or does not follow.
        """

    def stated(self, seed: int, say: Say) -> str:
        """Check it and say what was shown; return the status."""
        shown = self.check(seed)
        say(self.place, shown.status, shown.words)
        return shown.status


@dataclass(frozen=True)
class RankAtMost(Statement):
    """A generic rank is at most the claimed one, since it is so at new points.

    Attributes
    ----------
    place, text : str
    rank : int
    again : callable
        The rank at new points, which follow from a seed, and the bound of its error.
    """

    place: str
    text: str
    rank: int
    again: Callable[[int], tuple[int, Fraction]]

    def check(self, seed: int) -> StatementShown:
        rank, error = self.again(seed)
        if rank > self.rank:
            raise CheckFailed(self.place, f"a new point shows rank {rank} > {self.rank}")
        return StatementShown(PROBABLE if error else PROVED, self.text, error)


@dataclass(frozen=True)
class AtNewPoints(Statement):
    """What holds generically if it holds at random points.

    Attributes
    ----------
    place, text : str
    points : iterable of (int, int)
        Prime and number of each, without end; they follow from the seed of the check.
    miss : callable
        Of a point: raises `CheckFailed` if the statement is false there; otherwise the probability
        that a false one is not noticed there.
    target : Fraction
        Points are added until the error is below this.
    """

    place: str
    text: str
    points: Iterable[tuple[int, int]]
    miss: Callable[[int, int], Fraction]
    target: Fraction

    def check(self, seed: int = 0) -> StatementShown:
        error, count = over_points(self.points, self.target, self.miss)
        return StatementShown(PROBABLE, f"{self.text}: {count} new points,", error)


def over_points(
    points: Iterable[tuple[int, int]], target: Fraction, check: Callable[[int, int], Fraction]
) -> tuple[Fraction, int]:
    """Run a check at as many points as an error bound needs; return the bound and their number.

    Parameters
    ----------
    points : iterable of (int, int)
        Prime and number of each; they do not end before the bound is reached.
    target : Fraction
    check : callable
        Raises if a claim fails at a point; otherwise returns the probability of an error at it.
    """
    error, count = Fraction(1), 0
    for p, number in points:
        if error < target:
            break
        error *= check(p, number)
        count += 1
    return error, count


def error_words(error: Fraction) -> str:
    """The bound of an error in words."""
    return f"error at most {bound_text(error)}" if error else "proved"


def bound_text(error: Fraction) -> str:
    """An error bound as a short text, rounded up to a power of two.

    Examples
    --------
    >>> bound_text(Fraction(0)), bound_text(Fraction(3, 1 << 32))
    ('0', '2^-30')
    """
    if not error:
        return "0"
    return f"2^-{(error.denominator // error.numerator).bit_length() - 1}"
