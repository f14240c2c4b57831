"""How large a Jacobian is: refused before it is made, with what it would take.

Every exact verb begins with the Jacobian of some weights at a random point, so this is where
sizes that no machine holds are noticed: before memory is claimed, in a few words.
"""

from __future__ import annotations

import os

from algebra.errors import Unfinished
from algebra.networks.base import Network
from algebra.time_limits import TooSlow, time_left

# Bytes of a residue; copies that are there at one time (columns, their product, the echelon).
_BYTES, _COPIES = 8, 3
# Multiplications modulo p in a second, of one core, seconds for a step of a recurrent network
# however small it is, and how far an estimate may be wrong.
_RATE, _STEP, _SLACK = 1e9, 6e-5, 4.0


def memory() -> int:
    """Bytes of the machine's memory; what is unknown is large."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError, AttributeError):
        return 1 << 62


def check_size(network: Network, columns: int, rows: int | None = None) -> None:
    """Refuse a Jacobian that does not fit, or whose rank takes far longer than there is time.

    Parameters
    ----------
    network : Network
    columns : int
        How many weights' columns are wanted at once.
    rows : int, optional
        How many numbers are differentiated; the labels by default.

    Raises
    ------
    Unfinished
        With what it would take, and which size to change.
    """
    rows = network.outputs if rows is None else rows
    needed = _BYTES * _COPIES * rows * columns
    here = memory()
    if needed > here:
        raise Unfinished(
            f"{_matrix(rows, columns)} would take {in_units(needed)} of memory, this machine has "
            f"{in_units(here)}: let fewer weights learn, or take fewer samples"
        )
    seconds = rows * columns * min(rows, columns) / _RATE
    chain = network.chain()
    steps = 0 if chain is None else len(chain.steps)
    left = time_left()
    if seconds + _STEP * steps > _SLACK * left:
        through = f" through {steps} steps" if _STEP * steps > seconds else ""
        raise TooSlow(
            f"the rank of {_matrix(rows, columns)}{through} would take about "
            f"{in_time(seconds + _STEP * steps)}, and there are {in_time(left)}: a longer "
            f"--timeout, {'fewer steps' if through else 'fewer samples or fewer weights'}"
        )


def _matrix(rows: int, columns: int) -> str:
    return f"the Jacobian of {columns} weights for {rows} labels"


def in_units(size: float) -> str:
    """
    >>> in_units(3.2e11), in_units(5e6)
    ('320 GB', '5 MB')
    """
    for unit, one in (("TB", 1e12), ("GB", 1e9)):
        if size >= one:
            return f"{size / one:.3g} {unit}"
    return f"{size / 1e6:.3g} MB"


def in_time(seconds: float) -> str:
    """
    >>> in_time(20), in_time(600), in_time(1e6)
    ('20 s', '10 min', '12 days')
    """
    for unit, one in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * one:
            return f"{seconds / one:.0f} {unit}"
    return f"{seconds:.0f} s"
