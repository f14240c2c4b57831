"""A generic root count in a file: its form, and the relations between its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import prod
from typing import Annotated, Any

from flint import fmpz

from algebra.checker.checks import PROVED, CheckFailed
from algebra.checker.fields import PRIMES
from algebra.checker.records import Context, Primes, Record
from algebra.declarations import DEGREE, LINEAR, TRACE, Keyword, Size
from algebra.errors import one_line


@dataclass(frozen=True)
class Recount:
    """The result of counting again.

    Attributes
    ----------
    value : int or None
        None if no method finished.
    how : str
        The method, or the reason why none finished.
    is_proved : bool
        Whether it is proved; otherwise it is a count modulo a prime, or a numerical one.
    at_least : int or None
        The number of solutions found, if no method finished.
    """

    value: int | None
    how: str
    is_proved: bool = False
    at_least: int | None = None


@dataclass(frozen=True)
class RootEvidence(Record):
    """A claimed generic root count: see `algebra.systems.root_count.RootCount`."""

    value: Size
    rule: Annotated[str, Keyword("enum", (LINEAR, DEGREE, TRACE))]
    form: str
    blocks: tuple[Size, ...]
    primes: Primes
    seed: int
    trace: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, roots: Any) -> RootEvidence:
        """The evidence of an `algebra.systems.root_count.RootCount`."""
        trace = None if roots.trace is None else asdict(roots.trace)
        return cls(
            roots.value, roots.rule, roots.form, roots.blocks, roots.primes, roots.seed, trace
        )

    @property
    def source(self) -> str:
        """The source of the claim, in words."""
        return f"modulo {', '.join(map(str, self.primes))}" if self.primes else self.rule

    def given(self, status: str) -> str:
        """What a verdict of this status takes from the count, in words."""
        if status == PROVED:
            return ""
        numerical = ", from a trace test of the certifying program: numerical, not a proof"
        return " (given N" + numerical * (self.rule == TRACE) + ")"

    def check(self, place: str, context: Context) -> None:
        """The fields must fit the method of counting."""
        rule, value = self.rule, self.value
        if rule == TRACE and self.trace is None:
            raise CheckFailed(f"{place}.trace", "is missing")
        if rule == DEGREE and prod(self.blocks) != value:
            raise CheckFailed(f"{place}.blocks", f"their product is not {value}")
        if rule != DEGREE and self.blocks:
            raise CheckFailed(f"{place}.blocks", f"by {rule} there are none")
        for k, p in enumerate(self.primes):
            if rule == TRACE or not (PRIMES[0] < p < PRIMES[1] and fmpz(p).is_prime()):
                text = f"by {rule}: no prime {one_line(p)}"
                raise CheckFailed(f"{place}.primes[{k}]", text)
        if rule == LINEAR and value != 1:
            text = f"a linear system has one solution, not {value}"
            raise CheckFailed(f"{place}.value", text)


def solutions(number: int | None) -> str:
    """N solutions, in words."""
    return "exactly one complex solution" if number == 1 else f"N = {number} complex solutions"
