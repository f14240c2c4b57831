"""Long edge lists by columns: the words of a list, and their numbers for each line.

A list of 10^6 synapses has 10^6 lines and some ten thousand different words.  If it has the plain
form that programs write (a header, one separator without quotation marks, equally many cells in
each line, no types or regions of synapses), its columns are split and coded at once, and what
depends on a word is asked once for each word.  Anything else, and every list with an error, is left
to the reader of single lines (`algebra.problems.tables`), whose messages name the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from algebra.errors import InputError
from algebra.linalg.rational import exact_number
from algebra.problems.edges import Edge, Edges, LongList, check_units
from algebra.problems.file_entries import POST, PRE
from algebra.problems.headers import VALUES, columns_of, is_header
from algebra.problems.names import Names
from algebra.problems.sheets import separated, separator
from algebra.time_limits import check_time

# Characters of a text from which on its columns are coded.
LONG = 1 << 18
# Lines by which the separator is recognized, and the longest line.
_SAMPLE = 60
_LONGEST_LINE = 1 << 16
# What a plain list does not contain: quotation marks, comments, other ends of lines.
_SPECIAL = ('"', "#", "%", "\r")


class EdgeColumns(LongList):
    """The edges of a list, made one by one when they are asked for.

    Parameters
    ----------
    words : sequence of str
        The units, in the order of the list.
    pre, post : ndarray of int
        For each edge the numbers of its units.
    texts : sequence of str
        The different numbers of edges; empty if the list has none.
    values : ndarray of int
        For each edge the place of its number among the texts.
    """

    def __init__(
        self, words: Sequence[str], pre: np.ndarray, post: np.ndarray, texts: Sequence[str],
        values: np.ndarray,
    ) -> None:  # fmt: skip
        self.words, self.pre, self.post = tuple(words), pre, post
        self.texts, self.values = tuple(texts), values

    def __len__(self) -> int:
        return len(self.pre)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return tuple(self[i] for i in range(*k.indices(len(self))))
        text = self.texts[self.values[k]] if self.texts else ""
        place = f"row {range(2, len(self) + 2)[k]}"
        return Edge(self.words[self.post[k]], self.words[self.pre[k]], text, place=place)

    def __iter__(self) -> Iterator[Edge]:
        return (self[k] for k in range(len(self)))

    @property
    def units(self) -> tuple[str, ...]:
        return self.words

    def places(
        self, names: Names, matrix: str, skips: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        sides = []
        for axis, codes in enumerate((self.post, self.pre)):
            index = np.full(len(self.words), -1, np.int64)
            for k in np.unique(codes).tolist():
                try:
                    index[k] = names.index(matrix, axis, self.words[k])
                except InputError:
                    if not skips:
                        return None
            sides.append(index[codes])
        rows, columns = sides
        kept = np.flatnonzero((rows >= 0) & (columns >= 0))
        rows, columns = rows[kept], columns[kept]
        width = names.network.shapes[matrix][1]
        if not len(kept) or len(np.unique(rows * width + columns)) < len(kept):
            return None
        return rows, columns, kept


def edges_by_columns(text: str) -> Edges | None:
    """The edges of a long plain list; None if it is short, not plain, or has an error.

    Parameters
    ----------
    text : str
        Of a file.
    """
    if len(text) < LONG:
        return None
    text = text.replace("\r\n", "\n").rstrip("\n")
    if any(mark in text for mark in _SPECIAL):
        return None
    lines = text.split("\n")
    sample = list(enumerate(lines[:_SAMPLE], 1))
    if any(not line.strip() for _, line in sample):
        return None
    mark = separator(sample, "", is_header, 0)
    [header] = separated(sample[:1], mark)[0]
    if mark == " " or not is_header(header) or not header[-1]:
        return None
    try:
        at = columns_of(header)
    except InputError:
        return None
    column = next((name for name in VALUES if name in at), "")
    if set(at) - {PRE, POST, column}:
        return None
    check_time()
    width = len(header)
    if {line.count(mark) for line in lines} != {width - 1} or len(lines) < 2:
        return None
    if max(map(len, lines)) > _LONGEST_LINE:
        return None
    cells = mark.join(lines[1:]).split(mark)
    del lines
    check_time()
    pre, post = cells[at[PRE] :: width], cells[at[POST] :: width]
    words, (pre_codes, post_codes) = _coded(chain.from_iterable(zip(pre, post, strict=True)),
                                            (pre, post))  # fmt: skip
    texts, values = list[str](), np.zeros(0, np.int64)
    if column:
        given = cells[at[column] :: width]
        texts, [values] = _coded(given, (given,))
    check_time()
    if any(not word or word != word.strip() for word in words):
        return None
    if any("," in text or text != text.strip() for text in texts):
        return None
    try:
        for number in texts if column == "weight" else ():
            exact_number(number, "weight")
    except InputError:
        return None

    def place(unit: str) -> str:
        code = words.index(unit)
        return f"row {np.flatnonzero((pre_codes == code) | (post_codes == code))[0] + 2}"

    check_units(words, place)
    return Edges(EdgeColumns(words, pre_codes, post_codes, texts, values), column)


def _coded(
    every: Iterable[str], columns: Sequence[Sequence[str]]
) -> tuple[list[str], list[np.ndarray]]:
    """The different words in their order, and for columns of them their numbers."""
    known: dict[str, int] = dict.fromkeys(every, 0)
    words = list(known)
    known.update(zip(words, range(len(words)), strict=True))
    return words, [
        np.fromiter(map(known.__getitem__, column), np.int64, len(column)) for column in columns
    ]
