"""The programs that make proof files here, written into them: see `algebra.checker.maker`."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from algebra.checker.maker import KEY, Maker
from algebra.errors import InputError


@cache
def maker() -> Maker:
    """The programs that make files here."""
    from algebra.installing import NAME
    from algebra.polynomials.msolve.process import MsolveFailed, version

    try:
        own = importlib.metadata.version(NAME)
    except importlib.metadata.PackageNotFoundError:
        own = "not installed"
    try:
        return Maker(own, version())
    except (InputError, MsolveFailed):
        return Maker(own)


def signed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Plain data of a file or a result, with the programs that made it.

    Parameters
    ----------
    data : mapping of str to object

    Examples
    --------
    >>> sorted(signed({"format": "matchprob-design"}))
    ['format', 'made_by']
    """
    return {**data, KEY: maker().to_dict()}


def file_text(data: Mapping[str, Any], *, indent: int | None = None) -> str:
    """The text of a JSON file, with the programs that made it."""
    return json.dumps(signed(data), indent=indent) + "\n"
