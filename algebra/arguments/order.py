"""The arguments by name, and the order of their searches.

A new argument is a module of this folder and a line here.  Its module is loaded when it is first
searched, or found in a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from algebra.arguments.argument import KEYS, Argument

ROOT_COUNT = "root_count"


@dataclass(frozen=True)
class Attempt:
    """One search.

    Attributes
    ----------
    argument : str
    share : str
        The part of the call that a Gröbner basis of this search gets: a field of
        `algebra.work.Shares`.
    """

    argument: str
    share: str = "root_count"


# By cost: a search that comes twice gets more time, or tries another way.
ORDER = (
    Attempt("everything_learns"),
    Attempt("affine_part"),
    Attempt("stuck_output"),
    Attempt("cells_within_reach", "cells"),
    Attempt(ROOT_COUNT),
    Attempt("teacher_reached"),
    Attempt("dual_bases"),
    Attempt("whole_column"),
    Attempt("no_real_root"),
    Attempt("definite_form"),
    Attempt("enclosed_solutions"),
    Attempt("sub_allocation", "later"),
    Attempt("at_infinity", "last"),
    Attempt("sub_allocation", "later"),
    Attempt("partial_products", "later"),
    Attempt("at_infinity", "last"),
    Attempt("critical_points", "last"),
    Attempt("sub_allocation", "later"),
)
NAMES = tuple(dict.fromkeys(attempt.argument for attempt in ORDER))
# The arguments by the names of their evidence in files.
BY_KEY = {KEYS.get(name, name): name for name in NAMES}


def argument(name: str) -> Argument:
    """The argument of a name of `NAMES`."""
    found: Argument = import_module(f"{__package__}.{name}").ARGUMENT
    return found
