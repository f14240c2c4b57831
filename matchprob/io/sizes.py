"""Size of a picture: its width with unit, its resolution."""

from __future__ import annotations

import re

from algebra.errors import InputError, shown

DPI = 150
# Accepted widths in inches, and resolutions in dots per inch.
_WIDTHS = (1.5, 40.0)
_DPIS = (30, 2400)
_UNITS = {"mm": 25.4, "cm": 2.54, "in": 1.0, "pt": 72.0}


def inches(text: str) -> float:
    """A width with unit, in inches.

    Parameters
    ----------
    text : str
        A number and mm, cm, in or pt.

    Raises
    ------
    InputError

    Examples
    --------
    >>> round(inches("85mm"), 2), inches("3.5 in")
    (3.35, 3.5)
    """
    parts = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(mm|cm|in|pt)\s*", text, re.ASCII)
    if parts is None:
        raise InputError(
            f"a width ({shown(text)}) is a number with its unit, mm, cm, in or pt: 85mm"
        )
    width = float(parts[1]) / _UNITS[parts[2]]
    least, most = _WIDTHS
    if not least <= width <= most:
        raise InputError(
            f"a width ({shown(text)}) must be between {25.4 * least:g} mm and {25.4 * most:g} mm"
        )
    return width


def check_dpi(dpi: int) -> int:
    """Dots per inch; raises InputError if they are out of range."""
    least, most = _DPIS
    if not least <= dpi <= most:
        raise InputError(f"dpi ({dpi}) must be between {least} and {most}")
    return dpi
