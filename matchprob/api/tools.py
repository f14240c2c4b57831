"""Numerical methods that the exact verbs pass to `algebra`, loaded when they are first used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from algebra.problems.allocation import Allocation

if TYPE_CHECKING:
    from algebra.systems.root_count import RootCount, RootCounter


def root_counter(timeout: float) -> RootCounter:
    """Monodromy with a trace test, whose compiled kernels are loaded when it is called.

    Parameters
    ----------
    timeout : float
        Seconds for one count.
    """

    def count(allocation: Allocation, support: Mapping[str, np.ndarray], seed: int) -> RootCount:
        from numeric.tracking.root_count import monodromy_root_count

        return monodromy_root_count(allocation, support, seed, timeout=timeout)

    return count


def relaxation(*arguments: Any, **options: Any) -> Any:
    """`numeric.cap_relaxation.linear_relaxation`, whose solver is loaded when it is called."""
    from numeric.cap_relaxation import linear_relaxation

    return linear_relaxation(*arguments, **options)
