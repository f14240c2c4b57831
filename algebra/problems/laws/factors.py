"""Standard deviations that are given: of noise, and factors of those of matrices."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from algebra.errors import ErrorsAt, InputError, one_line, shown
from algebra.linalg.numbers import exact_number

# Largest factor of a standard deviation.
_LARGEST_FACTOR = Fraction(1_000_000)


def given_noise(given: Any) -> Fraction:
    """A standard deviation, exact, at least 0 and at most `_LARGEST_FACTOR`."""
    with ErrorsAt("`distribution.noise`"):
        found = exact_number(given if isinstance(given, int | str | Fraction) else str(given))
    if not 0 <= found <= _LARGEST_FACTOR:
        raise InputError(
            f"`distribution.noise` is {shown(given)}: a standard deviation must be at least 0, "
            f"and at most {_LARGEST_FACTOR}"
        )
    return found


def given_factors(given: Any) -> dict[str, Fraction] | None:
    """Factors of standard deviations: exact, positive, at most `_LARGEST_FACTOR`, and not 1."""
    if not isinstance(given, Mapping):
        raise InputError(
            f"`distribution.scale` ({shown(given)}) must map matrices to factors, as in "
            "{ W = 1.5 }"
        )
    found = {}
    for name, value in given.items():
        where = f"`distribution.scale.{one_line(name)}`"
        with ErrorsAt(where):
            # The number that was written, such as 1e-6, not the double next to it.
            factor = exact_number(value if isinstance(value, int | str | Fraction) else str(value))
        if not 1 / _LARGEST_FACTOR <= factor <= _LARGEST_FACTOR:
            raise InputError(
                f"{where} is {shown(value)}: the factor of a standard deviation must be positive, "
                f"between 1/{_LARGEST_FACTOR} and {_LARGEST_FACTOR}"
            )
        if factor != 1:
            found[str(name)] = factor
    return found or None
