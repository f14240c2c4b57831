"""The papers' figures and tables, made again: ``matchprob reproduce NAME``.

Each figure is a function that computes its trials through a store, draws, and says in words
what agrees with the paper and what does not.  `FIGURES` lists them; a new one registers
itself with `register_figure`, in a module named in `_MODULES`.

points                    Points of a figure: estimates of many problems through one store
paper1_small_nets         First paper: section B.1.1 and the warm-up
paper1_linear             First paper: figures of linear networks
paper1_relu               First paper: figures of shallow ReLU networks
paper1_digits             First paper: allocations on digits
paper1_weights            First paper: its allocations under bounds, and found by training
paper2_training           Second paper, Appendix E: constructed against trained
paper2_sparse             Second paper, Theorem 3: how sparse frozen weights may be
paper2_match_probability  Second paper: match probability of normalization layers
activations               Which verdicts of linear networks carry over to tanh and polynomials
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.figure import Figure as Picture

from algebra.errors import InputError


@dataclass(frozen=True)
class Run:
    """How a figure is to be computed.

    Attributes
    ----------
    trials : int
        For each point.
    seed : int
    store : Path
        SQLite file of the trials; the same run goes on from there.
    workers : int
    baseline : int
        Trials for each point that the paper's own method is given too; 0 for none.
    say : callable
        Told what is being done, a line at a time.
    data : Path or None
        Folder of the user's own data, for figures on structured data.
    """

    trials: int
    seed: int
    store: Path
    workers: int
    baseline: int
    say: Callable[[str], None]
    data: Path | None = None


@dataclass(frozen=True)
class Reproduction:
    """A figure made again.

    Attributes
    ----------
    picture : matplotlib Figure
    rows : list of dict
        The numbers, one row a point, all with the same keys.
    text : str
        Markdown: what agrees with the paper, what does not, and why.
    finished : bool
        Whether every point has its trials.
    more : mapping of str to matplotlib Figure
        Further pictures, by the names that the figure is registered with.
    """

    picture: Picture
    rows: list[dict[str, object]] = field(repr=False)
    text: str = field(repr=False)
    finished: bool = True
    more: Mapping[str, Picture] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Figure:
    """A figure that can be made.

    Attributes
    ----------
    name : str
    title : str
    make : callable
        From a `Run` to a `Reproduction`.
    trials : int
        Default for each point: minutes on two cores.
    more : tuple of str
        Names of further pictures: NAME-MORE beside NAME.
    """

    name: str
    title: str
    make: Callable[[Run], Reproduction]
    trials: int
    more: tuple[str, ...] = ()


FIGURES: dict[str, Figure] = {}
# Modules that register figures when they are imported.
_MODULES = (
    "paper1_small_nets",
    "paper1_linear",
    "paper1_relu",
    "paper1_digits",
    "paper1_weights",
    "paper2_training",
    "paper2_sparse",
    "paper2_match_probability",
    "activations",
)


def register_figure(
    name: str, title: str, trials: int, more: tuple[str, ...] = ()
) -> Callable[[Callable[[Run], Reproduction]], Callable[[Run], Reproduction]]:
    """Decorator: the function makes the figure of that name."""

    def add(make: Callable[[Run], Reproduction]) -> Callable[[Run], Reproduction]:
        FIGURES[name] = Figure(name, title, make, trials, more)
        return make

    return add


def figures() -> dict[str, Figure]:
    """All figures by name."""
    for module in _MODULES:
        importlib.import_module(f"matchprob.figures.{module}")
    return FIGURES


def find_figure(name: str) -> Figure:
    """The figure of that name."""
    known = figures()
    if name not in known:
        raise InputError(f"no figure {name!r}: one of " + ", ".join(known))
    return known[name]
