"""Samples and labels that are given instead of drawn: a row of numbers for each sample.

``[distribution] inputs`` and ``labels`` may be rows of exact numbers; every trial then has these
samples, or these labels, and only weights are drawn.  A row of inputs has the numbers of one
sample, of recurrent networks those of the first step first; a row of labels has its outputs, of
networks that are read at every step those of the first step first.

Statements about generic samples, or about labels with a density, do not hold for given ones: no
theorem covers them (`algebra.problems.features`), and each trial is decided by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from algebra.errors import ErrorsAt, InputError, shown
from algebra.linalg.numbers import exact_number
from algebra.networks.base import Network

# A row for each sample.
Data = tuple[tuple[Fraction, ...], ...]
# Most numbers of a table of samples.
MOST_NUMBERS = 1_000_000


def as_data(value: Any, where: str) -> Data:
    """Rows of exact numbers, of equal length.

    Parameters
    ----------
    value : sequence of sequences of numbers
        Doubles count as the decimals that they print.
    where : str
        What they are, for messages.

    Raises
    ------
    InputError
        It names the row and the column, counted from 0.

    Examples
    --------
    >>> as_data([[1, "1/2"], [0.1, -3]], "inputs")[1]
    (Fraction(1, 10), Fraction(-3, 1))
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    is_rows = isinstance(value, Sequence) and not isinstance(value, str) and len(value)
    if not is_rows or not all(isinstance(row, Sequence) and len(row) for row in value):
        raise InputError(
            f"{where} ({shown(value)}) must be a word, or rows of numbers, one for each sample"
        )
    widths = {len(row) for row in value}
    if len(widths) > 1:
        k = next(k for k, row in enumerate(value) if len(row) != len(value[0]))
        raise InputError(
            f"`{where}[{k}]` has {len(value[k])} numbers, but the first row has {len(value[0])}"
        )
    if len(value) * max(widths) > MOST_NUMBERS:
        raise InputError(
            f"`{where}` has {len(value)}×{max(widths)} numbers; at most {MOST_NUMBERS:,} are read"
        )
    found = []
    for k, row in enumerate(value):
        numbers = []
        for j, number in enumerate(row):
            with ErrorsAt(f"`{where}[{k}][{j}]`"):
                exact = isinstance(number, bool | int | str | Fraction)
                numbers.append(exact_number(number if exact else str(number)))
        found.append(tuple(numbers))
    return tuple(found)


def check_data(inputs: str | Data, labels: str | Data, network: Network) -> None:
    """Refuse samples or labels of another number, or width, than a network has; words are laws.

    Raises
    ------
    InputError
    """
    rows, m = network.input_shape
    widths = {"inputs": rows, "labels": network.d * network.columns // m}
    for key, data in (("inputs", inputs), ("labels", labels)):
        if isinstance(data, str) or (len(data), len(data[0])) == (m, widths[key]):
            continue
        raise InputError(
            f"`distribution.{key}` has {len(data)} rows of {len(data[0])} numbers; this "
            f"{network.title} network needs {m} rows, one for each sample (m), of {widths[key]} "
            "numbers"
        )
