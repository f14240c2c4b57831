"""Counts of real solutions: one result class for all engines.

A count is *complete* only when every complex solution is accounted for: there are as many distinct
ones as the generic root count, and each is classified as real or non-real.  Otherwise it is
*undetermined*, never "no solution".  `Reason` says what a count rests on; the note is text for
readers only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from algebra.errors import InputError
from algebra.frames import DataFrame, data_frame
from algebra.polynomials.parametrization import Box
from algebra.problems.allocation import Cell
from algebra.results import named

COMPLETE = "complete"
UNDETERMINED = "undetermined"
# In the note of a count that is complete provided that the trace test's root count is right.
TRACE_NOTE = "N by trace test"


class Reason(StrEnum):
    """The evidence of a count; kept in the store."""

    SETTLED_MINIMAL = "settled minimal"
    """The allocation is minimal: no generic instance has a solution.  Nothing was computed."""
    SETTLED_MAXIMAL = "settled maximal"
    """The allocation is maximal: every generic instance has a real solution."""
    COUNTED = "counted"
    """Every complex solution is accounted for, or exact arithmetic found all solutions."""
    COUNTED_BY_TRACE = "counted, N by trace test"
    """The same, provided that the root count of a numerical trace test is right."""
    FOUND_ONE = "found one"
    """Some real solutions are certified; others were not searched for, or not all found."""
    SEARCHED = "searched"
    """A search that cannot prove that there is no solution found none."""
    FAILED = "failed"
    """The method did not finish, and would not finish when repeated."""
    LOST = "lost"
    """A child process ended or the time limit of the call was reached: the count says nothing
    about the instance and is not stored."""


class Solutions(tuple[tuple[float, ...], ...]):
    """Real solutions of one instance: a tuple of rows of weights, with the cell of each column.

    Parameters
    ----------
    rows : iterable of sequence of float
        One row of learnable weights for each solution.
    cells : sequence of cell, optional
        The cells of the columns, in the allocation's order.

    Examples
    --------
    >>> found = Solutions([(1.0, 2.0), (3.0, 4.0)], [("W", 0, 0), ("W", 1, 1)])
    >>> found[1], found.column("W", 1, 1)
    ((3.0, 4.0), (2.0, 4.0))
    >>> found.columns()
    {'W[0,0]': [1.0, 3.0], 'W[1,1]': [2.0, 4.0]}
    """

    cells: tuple[Cell, ...]

    def __new__(cls, rows: Iterable[Sequence[float]] = (), cells: Sequence[Cell] = ()) -> Solutions:
        """Make a table of these rows."""
        self = super().__new__(cls, (tuple(row) for row in rows))
        self.cells = tuple(cells)
        if self.cells and any(len(row) != len(self.cells) for row in self):
            raise InputError(
                f"`cells` has {len(self.cells)} entries: each of `rows` must have as many weights"
            )
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (tuple(self), self.cells)

    def column(self, matrix: str, row: int, column: int) -> tuple[float, ...]:
        """The weight of one cell in all solutions.

        Raises
        ------
        InputError
            If the cell does not learn, or the cells of the columns are unknown.
        """
        cell = (matrix, row, column)
        if cell not in self.cells:
            raise InputError(
                f"`{matrix}[{row},{column}]` is not among the {len(self.cells)} learnable weights "
                "of these solutions"
            )
        at = self.cells.index(cell)
        return tuple(weights[at] for weights in self)

    def columns(self) -> dict[str, list[float]]:
        """The weights of each cell, one row for each solution."""
        names = [f"{name}[{i},{j}]" for name, i, j in self.cells]
        if not names and self:
            names = [f"w[{k}]" for k in range(len(self[0]))]
        return {name: [row[k] for row in self] for k, name in enumerate(names)}

    def to_frame(self) -> DataFrame:
        """The table as a pandas or a polars data frame, whichever is installed."""
        return data_frame(self.columns())


@dataclass(frozen=True)
class InstanceCount:
    """Solutions of one instance.

    Attributes
    ----------
    index : int
        Number of the trial.
    real, complex : int or None
        Number of real solutions, and of all complex ones found.  Exact if `status` is "complete";
        otherwise lower bounds, or None if the engine gives none.
    status : str
        "complete" or "undetermined".
    note : str
        Why the count is undetermined, or how it was obtained.
    solutions : Solutions
        The real solutions: values of the learnable weights in the allocation's order.
    boxes : tuple of boxes
        From engines that work in rationals: for each solution and weight a pair of exact ends.
        The box contains this solution and no other.  Not kept in a store.
    paths, retried, certified : int
        Paths tracked, paths tracked again, endpoints certified.
    seconds : float
        Processor time.
    paper_match : bool or None
        Result of the first paper's procedure on the instance, if an engine follows it:
        True if one of its runs converged.  It is not evidence.
    reason : Reason, optional
        The evidence of the count.  The default is `COUNTED` for a complete count, `FOUND_ONE` for
        an undetermined one with a real solution, and `FAILED` for an undetermined one without.
    """

    index: int
    real: int | None
    complex: int | None
    status: str
    note: str = ""
    solutions: tuple[tuple[float, ...], ...] = field(default=Solutions(), repr=False)
    boxes: tuple[Box, ...] = field(default=(), repr=False, compare=False)
    paths: int = 0
    retried: int = 0
    certified: int = 0
    seconds: float = 0.0
    paper_match: bool | None = None
    reason: Reason | None = None  # never None after construction

    def __post_init__(self) -> None:
        if self.reason is None:
            found = Reason.FOUND_ONE if self.real else Reason.FAILED
            reason = Reason.COUNTED if self.status == COMPLETE else found
            object.__setattr__(self, "reason", reason)
        if not isinstance(self.solutions, Solutions):
            object.__setattr__(self, "solutions", Solutions(self.solutions))

    def with_cells(self, cells: Sequence[Cell]) -> InstanceCount:
        """The same count, with the cells of the solutions' columns."""
        rows = self.solutions
        if not rows or (isinstance(rows, Solutions) and rows.cells == cells):
            return self
        if any(len(row) != len(cells) for row in rows):
            return self
        return replace(self, solutions=Solutions(self.solutions, cells))

    @property
    def is_transient(self) -> bool:
        """Whether the count is unknown because of a failure that may not recur; not stored."""
        return self.reason is Reason.LOST

    @property
    def is_settled(self) -> bool:
        """Whether a verdict on the allocation decided the instance without computation."""
        return self.reason in (Reason.SETTLED_MINIMAL, Reason.SETTLED_MAXIMAL)

    @property
    def outcome(self) -> str:
        """ "matched", "unmatched" or "undetermined".

        One certified real solution is a match even if others may be missing.
        """
        if self.status == COMPLETE:
            return "matched" if self.real else "unmatched"
        return "matched" if self.real else "undetermined"

    @property
    def matches(self) -> bool | None:
        """The outcome as a truth value; None if it is undetermined."""
        return {"matched": True, "unmatched": False}.get(self.outcome)

    def to_dict(self) -> dict[str, Any]:
        """The keys that other programs rely on."""
        data: dict[str, Any] = {
            **named(self, "index", "real", "complex", "status"),
            "reason": str(self.reason),
        }
        if self.note:
            data["note"] = self.note
        if self.paper_match is not None:
            data["paper_match"] = self.paper_match
        return data


def lower_bound(
    index: int, solutions: Sequence[Sequence[float]], note: str, **more: Any
) -> InstanceCount:
    """The count of a search: certified real solutions, of which there may be more.

    Parameters
    ----------
    index : int
    solutions : sequence of sequence of float
    note : str
    **more
        Further fields of `InstanceCount`.
    """
    found = len(solutions)
    return InstanceCount(
        index, found, found, UNDETERMINED, note, Solutions(solutions), certified=found,
        reason=None if found else Reason.SEARCHED, **more,
    )  # fmt: skip


def count_columns(counts: Sequence[InstanceCount]) -> dict[str, list[Any]]:
    """A table of counts, one row per count."""
    return {
        "index": [c.index for c in counts],
        "outcome": [c.outcome for c in counts],
        "real": [c.real for c in counts],
        "complex": [c.complex for c in counts],
        "status": [c.status for c in counts],
        "reason": [str(c.reason) for c in counts],
        "note": [c.note for c in counts],
        "seconds": [c.seconds for c in counts],
    }


def real_root_histogram(counts: Iterable[InstanceCount]) -> dict[int, int]:
    """Number of complete instances for each number of real solutions, sorted by the latter."""
    tally = Counter(c.real for c in counts if c.status == COMPLETE and c.real is not None)
    return dict(sorted(tally.items()))
