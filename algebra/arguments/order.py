"""The arguments by name, and the order of their searches.

A new argument is a module of this folder and a line here.  Its module is loaded when it is first
searched, or found in a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from algebra.arguments.argument import KEYS, Argument
from algebra.time_limits import SHARES

ROOT_COUNT = "root_count"


@dataclass(frozen=True)
class Attempt:
    """One search.

    Attributes
    ----------
    argument : str
    divisor : int
        A Gröbner basis of this search gets the time of the call divided by this number.
    """

    argument: str
    divisor: int = SHARES.root_count


# By cost: a search that comes twice gets more time, or tries another way.
ORDER = (
    Attempt("everything_learns"),
    Attempt("affine_part"),
    Attempt("stuck_output"),
    Attempt("cells_within_reach", SHARES.cells),
    Attempt(ROOT_COUNT),
    Attempt("teacher_reached"),
    Attempt("dual_bases"),
    Attempt("whole_column"),
    Attempt("no_real_root"),
    Attempt("definite_form"),
    Attempt("enclosed_solutions"),
    Attempt("sub_allocation", SHARES.later),
    Attempt("at_infinity", SHARES.last),
    Attempt("sub_allocation", SHARES.later),
    Attempt("partial_products", SHARES.later),
    Attempt("at_infinity", SHARES.last),
    Attempt("critical_points", SHARES.last),
    Attempt("sub_allocation", SHARES.later),
)
NAMES = tuple(dict.fromkeys(attempt.argument for attempt in ORDER))
# The arguments by the names of their evidence in files.
BY_KEY = {KEYS.get(name, name): name for name in NAMES}


def argument(name: str) -> Argument:
    """The argument of a name of `NAMES`."""
    found: Argument = import_module(f"{__package__}.{name}").ARGUMENT
    return found
