"""The size of a Jacobian: refused before it is computed, with an estimate of memory and time.

Every exact verb begins with the Jacobian of some weights at a random point, so sizes that
exceed the memory limit (`algebra.memory_limits`) are refused here, before memory is allocated.

Bytes for each entry were measured (peaks of 56 for a rank and up to 105 for an echelon form besides
the table itself, because python-flint uses lists of Python's integers).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable

from algebra.errors import LargeMemory, Unfinished
from algebra.linalg.ranks import LARGE
from algebra.networks.base import LABELS, Network
from algebra.networks.protocols import jacobian_of
from algebra.time_limits import TooSlow, check_time, time_left

# Total bytes for each entry of the table: for its rank, for its echelon form, and for a choice
# among groups of rows.
FOR_RANK = 72
FOR_ECHELON = 112
FOR_GROUPS = 144
# The same for large tables, whose rank is computed by blocks, and multiplications per second.
FOR_BLOCKS = 24
_BLOCK_RATE = 4e10
# Bytes that are less than any limit of memory, and bytes that cause a warning.
_NEGLIGIBLE = 1 << 16
_WORTH_SAYING = 4e9
# Multiplications modulo p per second on one core.
_RATE = 1e9
# Seconds for a step of a recurrent network of any size.
_STEP = 6e-5
# The factor by which an estimate may be wrong.
_SLACK = 4.0


def check_memory(needed: float, what: str, hint: str) -> None:
    """Refuse a computation beyond the memory limit; warn if it needs much memory.

    Parameters
    ----------
    needed : float
        Bytes.
    what : str
        The subject of the sentence.
    hint : str
        A hint at an alternative.

    Raises
    ------
    Unfinished

    Warns
    -----
    LargeMemory
    """
    if needed <= _NEGLIGIBLE:
        return
    from algebra.memory_limits import in_units, limit_in_words, memory_limit

    here = memory_limit()
    if needed > here:
        raise Unfinished(
            f"{what} would take about {in_units(needed)} of memory, and the limit is "
            f"{limit_in_words()} (by default half of what is free): {hint}, or raise `memory`"
        )
    if needed > _WORTH_SAYING:
        warnings.warn(
            f"{what} takes about {in_units(needed)} of memory, of {in_units(here)}",
            LargeMemory,
            stacklevel=2,
        )


def check_size(
    network: Network,
    columns: int,
    rows: int | None = None,
    *,
    per_entry: int = FOR_RANK,
    reading: str | Iterable[str] = LABELS,
    share: float = 1.0,
    at_once: float = math.inf,
) -> None:
    """Refuse a Jacobian that does not fit, or whose rank takes far longer than the time left.

    Parameters
    ----------
    network : Network
    columns : int
        Number of weights whose columns are computed at once.
    rows : int, optional
        Number of differentiated values; the labels by default.
    per_entry : int, optional
        Bytes for each entry of the table.
    reading : str or iterable of str, optional
        The differentiated values: see `algebra.networks.base`.
    share : float, optional
        The share of their units that is differentiated.
    at_once : float, optional
        The largest number of entries of factors that are in memory at once.

    Raises
    ------
    Unfinished
        With the estimate, and the size to reduce.
    """
    check_time()
    rows = network.outputs if rows is None else rows
    readings = {reading} if isinstance(reading, str) else set(reading)
    factors = share * sum(map(jacobian_of(network).factor_entries, readings))
    factors = min(factors, at_once)
    table = _matrix(rows, columns)
    # Factors are collected step by step, then stacked.
    rate = _RATE
    if per_entry == FOR_BLOCKS:
        large = min(rows, columns) >= LARGE
        per_entry, rate = (FOR_BLOCKS, _BLOCK_RATE) if large else (FOR_RANK, _RATE)
    needed = per_entry * rows * columns + 2 * 8 * factors
    check_memory(needed, table, "use fewer learnable weights or fewer samples")
    seconds = rows * columns * min(rows, columns) / rate
    chain = network.chain()
    steps = 0 if chain is None else len(chain.steps)
    left = time_left()
    if seconds + _STEP * steps > _SLACK * left:
        through = f" through {steps} steps" if _STEP * steps > seconds else ""
        raise TooSlow(
            f"the rank of {table}{through} would take "
            f"{in_time(seconds + _STEP * steps)}, the time left is {in_time(left)}: a longer "
            f"`timeout`, {'fewer steps' if through else 'fewer samples or fewer weights'}"
        )


def _matrix(rows: int, columns: int) -> str:
    return f"the Jacobian of {columns} weights for {rows} numbers"


def in_time(seconds: float) -> str:
    """
    >>> in_time(0.2), in_time(20), in_time(600), in_time(1e6)
    ('less than 1 s', 'about 20 s', 'about 10 min', 'about 12 days')
    """
    if seconds < 1:
        return "less than 1 s"
    for unit, one in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * one:
            return f"about {seconds / one:.0f} {unit}"
    return f"about {seconds:.0f} s"
