"""Rational numbers that users give and reports print: from numbers and texts, to short texts."""

from __future__ import annotations

import re
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING

from algebra.errors import InputError

if TYPE_CHECKING:
    from flint import fmpq

# Numbers that users give: most digits, and the powers of ten between which all but 0 lie, so that
# each verb can compute with them, whether exactly or in binary64.
MOST_DIGITS = 1_000
MOST_EXPONENT = 300
# Digits that a decimal keeps in binary64.
DOUBLE_DIGITS = 15
_NUMBER = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?(?:/(\d+))?", re.ASCII)
_LEAST = Fraction(1, 10**MOST_EXPONENT)
_MOST = Fraction(10**MOST_EXPONENT)
_BEYOND = f"has too many digits: numbers between 1e-{MOST_EXPONENT} and 1e{MOST_EXPONENT} are read"
_TOO_LONG = f"has more than {MOST_DIGITS} digits, the most that are read"


def exact_number(value: object, noun: str = "number") -> Fraction:
    """A number as an exact rational, of limited length.

    Parameters
    ----------
    value : Fraction, int, float or str
        A text is a decimal number, with or without an exponent, or a fraction a/b.
    noun : str, optional
        Its name in messages.

    Raises
    ------
    InputError
        If it is none of these, not finite, has more than 1,000 digits, or is beyond 10^±300:
        "1e1000000000" is rejected before it is expanded.

    Examples
    --------
    >>> exact_number("2.5e-1"), exact_number("1/3"), exact_number(2)
    (Fraction(1, 4), Fraction(1, 3), Fraction(2, 1))
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        raise InputError(f"{value!r} is no {noun}: give a number, or a text such as '5/2'")
    if isinstance(value, str):
        shown = repr(value if len(value) <= 40 else value[:37] + "…")
        parts = _NUMBER.fullmatch(value.strip())
        if len(value) > 2 * MOST_DIGITS + 10:
            raise InputError(f"the {noun} {shown} {_TOO_LONG}")
        if parts is None or not (parts[2] or parts[3]):
            raise InputError(f"{shown} is no number")
        if parts[5] is not None and not (parts[3] is None and parts[4] is None):
            raise InputError(f"{shown} is no number: a fraction is a/b with whole a and b")
        if parts[5] is not None and not int(parts[5]):
            raise InputError(f"{shown} is no number: it divides by 0")
        if len(parts[4] or "") > 6 or abs(int(parts[4] or 0)) > MOST_DIGITS:
            raise InputError(f"the {noun} {shown} {_TOO_LONG}")
        value = value.strip()
    elif isinstance(value, float) and not isfinite(value):
        raise InputError(f"the {noun} {value!r} is not finite")
    exact = Fraction(value)
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > MOST_DIGITS * 10 // 3:
        raise InputError(f"a {noun} {_TOO_LONG}")
    if exact and not _LEAST <= abs(exact) <= _MOST:
        text = repr(value) if len(str(value)) <= 40 else f"{str(value)[:37]}…"
        raise InputError(f"the {noun} {text} {_BEYOND}")
    return exact


def nearest_double(value: Fraction | fmpq) -> float:
    """A rational as a decimal text, rounded to nearest: for reports only.

    Examples
    --------
    >>> nearest_double(Fraction(1, 3))
    0.3333333333333333
    """
    return int(value.numerator) / int(value.denominator)


def certainty_text(error: Fraction) -> str:
    """How sure a statement is, from a bound of the probability that it is wrong.

    Examples
    --------
    >>> certainty_text(Fraction(0)), certainty_text(Fraction(1, 1024))
    ('proved', 'wrong with probability at most 9.8e-4')
    """
    return f"wrong with probability at most {float_text(error)}" if error else "proved"


def float_text(value: Fraction) -> str:
    """A bound as a short decimal text, rounded up.

    Examples
    --------
    >>> float_text(Fraction(1, 3)), float_text(Fraction(0))
    ('3.4e-1', '0')
    """
    if value == 0:
        return "0"
    exponent = 0
    while value < 1:
        value, exponent = value * 10, exponent + 1
    return f"{-(-value.numerator * 10 // value.denominator) / 10:.1f}e-{exponent}"
