"""Pictures of all results, for `Result.plot` and ``--plot``.

A module with drawings has a table of them, by the name of the result's class; it is loaded with the
first picture of one of these.  Classes from outside are registered (`register_picture`).
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from algebra.errors import InputError, shown
from algebra.results import Result
from matchprob.io.sizes import DPI, inches
from matchprob.report.drawing.drawing import Drawing
from matchprob.report.drawing.style import crop, grow, new_figure, remove_titles, save

# The project's classes of results, and the modules with their drawings.
MODULES = {
    name: f"matchprob.{module}"
    for module, names in {
        "plugins.circuits.pictures": ("Recording",),
        "plugins.normalization.pictures": ("Construction", "DepthConstruction"),
        "plugins.models.pictures": ("Capacity", "Dimension"),
        "plugins.papers.pictures": ("PrincipleSurvey",),
        "plugins.training.pictures": ("ProfileResult",),
        "report.drawing.allocations": (
            "Certificate", "DesignResult", "Identification", "RepairResult", "Robustness",
        ),
        "report.drawing.atlas": ("Atlas",),
        "report.drawing.checks": ("Audit", "AuditResult", "Verification"),
        "report.drawing.pictures": ("Inspection",),
        "report.drawing.solutions": ("ActivatedDecision", "ReluDecision"),
        "report.drawing.trials": (
            "Comparison", "CountResult", "Estimate", "SweepResult", "TrainResult",
        ),
    }.items()
    for name in names
}  # fmt: skip
_OURS = ("matchprob", "numeric", "algebra")
_REGISTERED: dict[type[Result], Drawing] = {}


def register_picture(kind: type[Result], drawing: Drawing) -> None:
    """Let results of a class be drawn, with ``plot`` and ``--plot``.

    Parameters
    ----------
    kind : type
        A class of results; results of its subclasses are drawn alike.
    drawing : Drawing
    """
    _REGISTERED[kind] = drawing


def paint(found: Result, ax: Axes | None = None) -> Axes:
    """Draw a result, in a new pyplot figure if no axes are given."""
    picture = _picture(found)
    if ax is not None and not isinstance(ax, Axes):
        raise InputError(
            f"`ax` ({shown(ax)}) must be axes of matplotlib; to write a file: "
            "result.plot().figure.savefig(name)"
        )
    if ax is None:
        # Through pyplot, so that a notebook shows the figure and `plt.show()` finds it.
        figure, ax = plt.subplots(figsize=picture.inches(found), layout="constrained")
        try:
            picture.draw(ax, found)
        except InputError:
            plt.close(figure)
            raise
        (crop if picture.is_cropped else grow)(figure)
    else:
        picture.draw(ax, found)
    return ax


def figure_of(found: Result, width: float | None = None, *, has_title: bool = True) -> Figure:
    """A figure for a file, not registered in pyplot.

    Parameters
    ----------
    found : Result
    width : float, optional
        In inches; by default from the drawing.
    has_title : bool, optional
        False leaves the title to a caption.
    """
    picture = _picture(found)
    figure = new_figure(*picture.inches(found, width))
    picture.draw(figure.subplots(), found)
    if not has_title:
        remove_titles(figure)
    (crop if picture.is_cropped else grow)(figure)
    return figure


def write_picture(
    found: Result,
    path: Path,
    width: str | None = None,
    dpi: int = DPI,
    *,
    has_title: bool = True,
) -> None:
    """Draw a result into a file.

    Parameters
    ----------
    found : Result
    path : Path
        .png, .svg (text stays text) or .pdf (fonts embedded).
    width : str, optional
        On paper, with its unit: 85mm.
    dpi : int, optional
        Dots per inch, of .png files.
    has_title : bool, optional
        False leaves the title to a caption.

    Raises
    ------
    InputError
    """
    figure = figure_of(found, None if width is None else inches(width), has_title=has_title)
    save(figure, path, dpi)


def _picture(found: Result) -> Drawing:
    for kind in type(found).__mro__:
        if kind in _REGISTERED:
            return _REGISTERED[kind]
        if kind.__name__ in MODULES and kind.__module__.partition(".")[0] in _OURS:
            drawings: dict[str, Drawing] = import_module(MODULES[kind.__name__]).DRAWINGS
            return drawings[kind.__name__]
    raise InputError(f"there is no picture of a {type(found).__name__}")
