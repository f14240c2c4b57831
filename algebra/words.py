"""Words of counts and lists, as results print them."""

from __future__ import annotations

from collections.abc import Sequence


def plural(count: int, text: str) -> str:
    """The noun with an s unless the count is 1.

    Examples
    --------
    >>> plural(1, "weight"), plural(2, "weight")
    ('weight', 'weights')
    """
    return text + "s" * (count != 1)


def some(names: Sequence[str], most: int) -> str:
    """The first of many names, and the number of the others.

    Examples
    --------
    >>> some(["AVAL", "AVAR"], 2), some(["AVAL", "AVAR", "AVBL"], 2)
    ('AVAL, AVAR', 'AVAL, AVAR and 1 more')
    """
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left} more" if left > 0 else "")
