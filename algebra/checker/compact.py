"""Large matrices of proof files written in sparse form: see `algebra.checker.sparse`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

# Entries of the largest matrix that is always written as rows.
MOST_ENTRIES = 10_000


def compact(data: Any) -> Any:
    """Plain data with its large matrices in sparse form, if that is shorter.

    Parameters
    ----------
    data : plain data
        Tables within tables; a matrix is a list of equally long lists.

    Examples
    --------
    >>> rows = [[0] * 200 for _ in range(100)]
    >>> rows[1][7] = 1
    >>> compact({"W": rows})["W"]["columns"][:3]
    [[], [7], []]
    """
    if isinstance(data, Mapping):
        return {key: compact(value) for key, value in data.items()}
    return _sparse(data) if _is_large(data) else data


def _is_large(data: Any) -> bool:
    return (
        isinstance(data, list)
        and bool(data)
        and all(isinstance(row, list) for row in data)
        and len({len(row) for row in data}) == 1
        and len(data) * len(data[0]) > MOST_ENTRIES
    )


def _sparse(rows: list[list[Any]]) -> Any:
    counts = Counter(v for row in rows for v in row)
    [(rest, number)] = counts.most_common(1)
    size = len(rows) * len(rows[0])
    # A column for each other entry, and its value if there are several.
    if (size - number) * (1 if len(counts) <= 2 else 2) >= size:
        return rows
    columns = [[j for j, v in enumerate(row) if v != rest] for row in rows]
    out: dict[str, Any] = {"shape": [len(rows), len(rows[0])], "rest": rest}
    if len(counts) > 2:
        values = [[v for v in row if v != rest] for row in rows]
        return {**out, "columns": columns, "values": values}
    others = [v for v in counts if v != rest]
    return {**out, "value": others[0] if others else rest, "columns": columns}
