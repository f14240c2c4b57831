"""The papers' figures and tables, computed by ``matchprob reproduce NAME``.

A figure has two parts.  A function computes its numbers, using a store: tables, and a text that
compares them with the paper (`Numbers`).  Panels draw the tables alone:
each takes axes and returns them.  So a picture can be drawn again from the tables that
an earlier run wrote, in another size or style, without computing anything.

A new figure needs only a module in `papers` that calls `register_figure`.

tables       Tables: rows of numbers, read and written
points       Points of a figure: estimates of many problems through one store
curves       Points of a figure, drawn
experiments  Experiments other than trials, kept in the run's store
papers       The figures themselves, in the folder of examples
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from algebra.errors import InputError
from matchprob.plugins.papers.figures.curves import FigureLayout
from matchprob.plugins.papers.figures.tables import Rows, Tables, read_table
from numeric.studies.study import MOST_TRIALS

Item = TypeVar("Item")


@dataclass(frozen=True)
class Run:
    """The settings with which a figure is computed.

    Attributes
    ----------
    trials : int
        For each point.
    seed : int
    store : Path
        SQLite file of the trials; a repeated run continues from them.
    workers : int
    baseline : int
        Number of trials for each point by the paper's own method; 0 for none.
    say : callable
        Called with one line of text for each step.
    data : Path or None
        Folder of the user's own data, for figures on structured data.
    points : int or None
        Largest number of points on each curve; None for all.
    curve_trials : mapping of str to int
        Numbers of trials for each point of single curves, by the curve's name.
    """

    trials: int
    seed: int
    store: Path
    workers: int
    baseline: int
    say: Callable[[str], None]
    data: Path | None = None
    points: int | None = None
    curve_trials: Mapping[str, int] = field(default_factory=dict)

    def some(self, points: Sequence[Item]) -> list[Item]:
        """The points of a curve to compute: the first, the last, and others at even distances.

        Examples
        --------
        >>> run = Run(1, 0, Path("s.sqlite"), 1, 0, print, points=3)
        >>> run.some(range(8))
        [0, 4, 7]
        """
        if self.points is None or len(points) <= self.points:
            return list(points)
        if self.points == 1:
            return [points[0]]
        step = (len(points) - 1) / (self.points - 1)
        return [points[int(k * step + 0.5)] for k in range(self.points)]


@dataclass(frozen=True)
class Numbers:
    """The numbers of a figure.

    Attributes
    ----------
    rows : list of dict
        One row a point, all with the same keys.
    text : str
        Markdown: the agreements with the paper, the differences, and their reasons.
    finished : bool
        Whether every point has its trials.
    more : mapping of str to list of dict
        Further tables that pictures are drawn from, by name.
    """

    rows: Rows = field(repr=False)
    text: str = field(repr=False)
    finished: bool = True
    more: Mapping[str, Rows] = field(default_factory=dict, repr=False)

    @property
    def tables(self) -> Tables:
        """All tables by name, the first one's empty."""
        return {"": self.rows, **self.more}


@dataclass(frozen=True)
class Figure:
    """A figure that can be made.

    Attributes
    ----------
    name : str
    title : str
    compute : callable
        From a `Run` to `Numbers`.
    trials : int
        Default for each point: a few minutes on two cores.
    pictures : tuple of FigureLayout
        Each drawn from the tables; files are NAME, and NAME-MORE for those that have a name.
    tables : tuple of str
        Names of further tables: NAME-MORE.csv beside NAME.csv.
    curves : tuple of str
        Names of curves that may have numbers of trials of their own.
    """

    name: str
    title: str
    compute: Callable[[Run], Numbers]
    trials: int
    pictures: tuple[FigureLayout, ...]
    tables: tuple[str, ...] = ()
    curves: tuple[str, ...] = ()

    def trials_of(self, given: Sequence[str]) -> tuple[int, dict[str, int]]:
        """Numbers of trials from words such as "40" and "n=16:1000": of all, and of single curves.

        Parameters
        ----------
        given : sequence of str
            Each may hold several, separated by commas; blanks in a name do not matter.

        Raises
        ------
        InputError
            If one is no number of trials, or names no curve of this figure.
        """
        every, single = self.trials, dict[str, int]()
        known = {"".join(name.split()): name for name in self.curves}
        for word in (part for text in given for part in text.split(",")):
            name, colon, number = word.rpartition(":")
            short = "".join(name.split())
            if not number.strip().isdecimal() or not 1 <= int(number) <= MOST_TRIALS:
                raise InputError(
                    f"`trials` ({word!r}) must be a number of trials from 1 to {MOST_TRIALS}, such "
                    "as 300, or that of one curve, such as n=16:1000"
                )
            if colon and short not in known:
                has = f"its curves are {', '.join(known)}" if known else "it has no such curves"
                raise InputError(f"`trials` ({word!r}) names no curve of {self.name}: {has}")
            if colon:
                single[known[short]] = int(number)
            else:
                every = int(number)
        return every, single

    def file(self, folder: Path, part: str, suffix: str) -> Path:
        """The file of a picture or table of that name."""
        return folder / f"{self.name}{'-' if part else ''}{part}.{suffix}"

    def read(self, folder: Path) -> Tables:
        """The tables that an earlier run wrote.

        Raises
        ------
        InputError
            If one is missing or damaged.
        """
        return {part: read_table(self.file(folder, part, "csv")) for part in ("", *self.tables)}


FIGURES: dict[str, Figure] = {}


def register_figure(
    name: str,
    title: str,
    trials: int,
    *pictures: FigureLayout,
    tables: tuple[str, ...] = (),
    curves: tuple[str, ...] = (),
) -> Callable[[Callable[[Run], Numbers]], Callable[[Run], Numbers]]:
    """Decorator: the function computes the numbers of the figure of that name.

    Parameters
    ----------
    name, title : str
    trials : int
    *pictures : FigureLayout
    tables : tuple of str, optional
        Names of tables besides the first.
    curves : tuple of str, optional
        Names of curves that may have numbers of trials of their own.
    """

    def add(compute: Callable[[Run], Numbers]) -> Callable[[Run], Numbers]:
        FIGURES[name] = Figure(name, title, compute, trials, pictures, tables, curves)
        return compute

    return add


def figures() -> dict[str, Figure]:
    """All figures by name."""
    from matchprob.plugins.papers.figures import papers

    for module in sorted(m.name for m in pkgutil.iter_modules(papers.__path__)):
        importlib.import_module(f"{papers.__name__}.{module}")
    return FIGURES


def find_figure(name: str) -> Figure:
    """The figure of that name."""
    known = figures()
    if name not in known:
        raise InputError(f"no figure {name!r}; known are " + ", ".join(known))
    return known[name]
