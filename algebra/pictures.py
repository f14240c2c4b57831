"""The function that draws results: `matchprob` registers it, so nothing here needs matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from algebra.errors import InputError

# Of a result, and matplotlib axes or None.
Painter = Callable[[Any, Any], Any]
_painters: list[Painter] = []


def paint_with(painter: Painter) -> None:
    """Register the function that draws results."""
    _painters[:] = [painter]


def painted(result: Any, ax: Any) -> Any:
    """Draw a result.

    Raises
    ------
    InputError
        If no function is registered.
    """
    if not _painters:
        raise InputError("pictures are drawn by matchprob: import matchprob first")
    return _painters[0](result, ax)
