"""Data frames of results: those of pandas, or of polars if only that is installed.

Type checkers read `DataFrame` as the class of pandas; at run time it is any type, so that asking
for the type of a method loads no library of data frames.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from algebra.errors import InputError
from algebra.installing import missing

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame
else:
    DataFrame = Any


def data_frame(columns: Mapping[str, Sequence[Any]]) -> DataFrame:
    """Columns of equal length as a pandas or a polars data frame, whichever is installed.

    Raises
    ------
    InputError
        If neither is installed.
    """
    for name in ("pandas", "polars"):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        return library.DataFrame({name: list(values) for name, values in columns.items()})
    raise InputError(missing("a data frame needs", "pandas or polars", "frames"))
