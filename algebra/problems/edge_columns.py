"""Long edge lists by columns: the words of a list, and their numbers for each line.

A list of 10^7 synapses has 10^7 lines and some ten thousand different words.  If it has the plain
form that programs write (a header, one separator without quotation marks, equally many cells in
each line, no types of synapses), it is read in parts: the columns of a part are split and coded at
once, only the codes are kept, and what depends on a word is asked once for each word.  So the limit
of memory binds, not the length of the file.  The columns of Feather and Parquet files are coded
already, and are read in parts likewise (`algebra.problems.arrow_tables`).  Anything else is left to
the reader of single lines (`algebra.problems.tables`).  An error in a list that is read by columns
is the one that the reader of single lines finds in the lines that cause it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import lcm
from typing import Any

import numpy as np

from algebra.errors import InputError
from algebra.linalg.numbers import exact_number
from algebra.memory_limits import check_memory
from algebra.problems.arrow_tables import ArrowTable, Coded
from algebra.problems.edges import Edge, Edges, LongList, Pairs, check_units, none_between
from algebra.problems.file_entries import POST, PRE, SUM
from algebra.problems.headers import VALUES, columns_of, is_header
from algebra.problems.names import Names
from algebra.problems.sheets import separated, separator, wanted_rows
from algebra.time_limits import check_time, checked

# Characters of a text from which on its columns are coded.
LONG = 1 << 18
# Lines by which the separator is recognized, and the longest line.
_SAMPLE = 60
_LONGEST_LINE = 1 << 16
# What a plain list does not contain: quotation marks, comments, other ends of lines.
_SPECIAL = ('"', "#", "%", "\r", "\0")
# Bytes that a character of a part takes while its cells are split.
_SPLIT = 24
# Bytes that a line takes: its codes, the pairs that are made of them, and their order.
_HELD = 100
_REGION = "region"


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
    regions : sequence of str
        The different regions; empty if the list has none.
    places : ndarray of int
        For each edge the place of its region.
    rows : ndarray of int
        The number of each edge's line in the file.
    """

    def __init__(
        self, words: Sequence[str], pre: np.ndarray, post: np.ndarray, texts: Sequence[str],
        values: np.ndarray, regions: Sequence[str], places: np.ndarray, rows: np.ndarray,
    ) -> None:  # fmt: skip
        self.words, self.pre, self.post = tuple(words), pre, post
        self.texts, self.values = tuple(texts), values
        self.regions, self.places, self.rows = tuple(regions), places, rows

    def __len__(self) -> int:
        return len(self.pre)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return tuple(self[i] for i in range(*k.indices(len(self))))
        text = self.texts[self.values[k]] if self.texts else ""
        region = self.regions[self.places[k]] if self.regions else ""
        pre, post = self.words[self.pre[k]], self.words[self.post[k]]
        return Edge(post, pre, text, region=region, place=f"row {self.rows[k]}")

    def __iter__(self) -> Iterator[Edge]:
        return (self[k] for k in range(len(self)))

    @property
    def units(self) -> tuple[str, ...]:
        return self.words

    def pairs(self, of: Edges, names: Names, matrix: str, skips: bool) -> Pairs | Sequence[Edge]:
        sides = []
        for axis, codes in enumerate((self.post, self.pre)):
            index = np.full(len(self.words), -1, np.int64)
            for k in checked(np.unique(codes).tolist()):
                index[k] = names.find(matrix, axis, self.words[k])
                if index[k] < 0 and not skips:
                    return [self[int(np.argmax(codes == k))]]
            sides.append(index[codes])
        rows, columns = sides
        kept = np.flatnonzero((rows >= 0) & (columns >= 0))
        if not len(kept):
            raise none_between(self, matrix)
        check_time()
        width = names.network.shapes[matrix][1]
        cells = rows[kept] * width + columns[kept]
        # Lines of one pair and region are repeated, in others they add up.
        count = max(1, len(self.regions))
        lines = cells * count + (self.places[kept] if self.regions else 0)
        order = np.argsort(lines, kind="stable")
        is_first = np.concatenate([[True], np.diff(lines[order]) != 0])
        if not is_first.all() and not of.repeated:
            k = int(np.argmin(is_first))
            return [self[int(kept[order[at]])] for at in (k - 1, k)]
        if of.repeated != SUM:
            order = order[is_first]
        check_time()
        cells, found = cells[order], kept[order]
        starts = np.flatnonzero(np.concatenate([[True], np.diff(cells) != 0]))
        single = np.diff(np.append(starts, len(cells))) == 1
        if not single.all() and of.measures not in ("", "weight"):
            k = int(starts[np.argmin(single)])
            return [self[int(found[at])] for at in (k, k + 1)]
        scale, sums = self._sums(of, found, starts)
        texts = self.values[found[starts]] if self.texts else np.zeros(len(starts), np.int64)
        is_sum = ~single & (of.measures != "") if of.repeated != SUM else np.ones_like(single)
        at = cells[starts]
        return Pairs(at // width, at % width, sums, scale, np.where(is_sum, -1, texts), self.texts)

    def _sums(
        self, of: Edges, found: np.ndarray, starts: np.ndarray
    ) -> tuple[int, np.ndarray]:  # fmt: skip
        """The sum of the numbers of each pair, in units of 1/scale; the number of lines if none."""
        if of.measures != "weight":
            return 1, np.ones(len(starts), np.int64)
        if not self.texts:
            return 1, np.add.reduceat(np.ones(len(found), np.int64), starts)
        exact = [exact_number(text, "weight") for text in self.texts]
        scale = lcm(*(number.denominator for number in exact))
        whole = [int(number * scale) for number in exact]
        big = max(map(abs, whole), default=0) * len(found) >= 1 << 62
        amounts = np.array(whole, object if big else np.int64)[self.values[found]]
        return scale, np.add.reduceat(amounts, starts)


class _Codes:
    """The different words of columns in their order, and the numbers of a column's words."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.parts: dict[str, list[np.ndarray]] = {}

    def add(self, columns: Mapping[str, Coded]) -> None:
        """Code the next lines of some columns; words are numbered as lines name them."""
        firsts = list[tuple[int, int, str]]()
        for order, (words, codes) in enumerate(columns.values()):
            of, at = np.unique(codes, return_index=True)
            listed = zip(at.tolist(), of.tolist(), strict=True)
            firsts += [(k, order, words[code]) for k, code in listed]
        for _, _, word in sorted(firsts):
            self.known.setdefault(word, len(self.known))
        for name, (words, codes) in columns.items():
            number = np.array([self.known.get(word, -1) for word in words], np.int32)
            self.parts.setdefault(name, []).append(number[codes])

    def column(self, name: str) -> np.ndarray:
        """The codes of a column."""
        return np.concatenate(self.parts.get(name) or [np.zeros(0, np.int32)]).astype(np.int64)


class _Lines:
    """The lines of a list, of which the words and numbers are collected part by part.

    Parameters
    ----------
    at : mapping of str to int
        The columns that are known: units, one number and a region.
    chosen : mapping of int to set of str
        The words of the lines that count, by column.
    first : int
        The number of the first line.
    """

    def __init__(
        self, at: Mapping[str, int], chosen: Mapping[int, frozenset[str]], first: int
    ) -> None:  # fmt: skip
        self.at, self.chosen = at, chosen
        self.column = next((name for name in VALUES if name in at), "")
        self.row, self.rows = first, list[np.ndarray]()
        self.units, self.numbers, self.regions = _Codes(), _Codes(), _Codes()

    @property
    def needed(self) -> list[int]:
        """The columns that `add` needs."""
        return sorted({*self.at.values(), *self.chosen})

    def add(self, columns: Mapping[int, Coded], count: int) -> None:
        """The next lines, by their columns."""
        check_memory(_HELD * (self.row + count), "a list of synapses")
        kept: Any = slice(None)
        if self.chosen:
            is_kept = np.ones(count, bool)
            for k, wanted in self.chosen.items():
                words, codes = columns[k]
                is_kept &= np.array([word.strip() in wanted for word in words], bool)[codes]
            kept = np.flatnonzero(is_kept)

        def of(*names: str) -> dict[str, Coded]:
            found = {name: columns[self.at[name]] for name in names if name in self.at}
            return {name: Coded(own.words, own.codes[kept]) for name, own in found.items()}

        self.units.add(of(PRE, POST))
        self.numbers.add(of(self.column))
        self.regions.add(of(_REGION))
        self.rows.append(np.arange(self.row, self.row + count, dtype=np.int32)[kept])
        self.row += count

    def edges(self) -> Edges | None:
        """The list; None if a line has an error."""
        units, numbers, regions = self.units, self.numbers, self.regions
        every = (*units.known, *regions.known)
        if not self.rows or not all(units.known) or any(word != word.strip() for word in every):
            return None
        if any("," in text or text != text.strip() for text in numbers.known):
            return None
        try:
            for number in numbers.known if self.column == "weight" else ():
                exact_number(number, "weight")
        except InputError:
            return None
        pre, post, found = units.column(PRE), units.column(POST), np.concatenate(self.rows)

        def place(unit: str) -> str:
            code = units.known[unit]
            return f"row {found[np.argmax((pre == code) | (post == code))]}"

        check_units(units.known, place)
        return Edges(
            EdgeColumns(
                list(units.known), pre, post, list(numbers.known), numbers.column(self.column),
                list(regions.known), regions.column(_REGION), found,
            ),
            self.column,
        )  # fmt: skip


def edges_by_columns(
    parts: Iterable[str], where: Mapping[str, Sequence[str]] | None = None
) -> Edges | None:
    """The edges of a long plain list; None if it is short, not plain, or has an error.

    Parameters
    ----------
    parts : iterable of str
        The text of a file, in parts of any length.
    where : mapping of str to sequence of str, optional
        As of `algebra.problems.sheets.wanted_rows`.

    Raises
    ------
    InputError
        If the header has no column of `where`.
    """
    texts = _whole_lines(parts)
    first = next(texts, "")
    if len(first) < LONG:
        return None
    lines = first.split("\n", _SAMPLE)[:_SAMPLE]
    sample = list(enumerate(lines, 1))
    if any(mark in first for mark in _SPECIAL) or any(not line.strip() for line in lines):
        return None
    mark = separator(sample, "", is_header, 0)
    [header] = separated(sample[:1], mark)[0]
    if mark == " " or not is_header(header) or not header[-1]:
        return None
    try:
        at = columns_of(header)
    except InputError:
        return None
    if not _is_plain(at):
        return None
    width, found = len(header), _Lines(at, wanted_rows(header, where or {}), 2)
    for text in chain([first.partition("\n")[2]], texts):
        check_time()
        check_memory(_SPLIT * len(text), "reading a list of synapses")
        if not text:
            continue
        if any(special in text for special in _SPECIAL):
            return None
        lines = text.split("\n")
        marks = {line.count(mark) for line in lines}
        if marks != {width - 1} or max(map(len, lines)) > _LONGEST_LINE:
            return None
        cells = text.replace("\n", mark).split(mark)
        found.add({k: _coded(cells[k::width]) for k in found.needed}, len(lines))
    return found.edges()


def _is_plain(at: Mapping[str, int]) -> bool:
    """Whether a list has no other known columns than units, one number and a region."""
    return not set(at) - {PRE, POST, _REGION, *VALUES}


def _coded(cells: Sequence[str]) -> Coded:
    """The cells of a column as their different words, and the place of each among these."""
    place = {word: k for k, word in enumerate(dict.fromkeys(cells))}
    return Coded(list(place), np.fromiter(map(place.__getitem__, cells), np.int32, len(cells)))


def edges_of_arrow(table: ArrowTable, where: Mapping[str, Any] | None = None) -> Edges | None:
    """The edges of a Feather or Parquet file, of any length.

    Parameters
    ----------
    table : ArrowTable
    where : mapping, optional
        As of `algebra.problems.sheets.wanted_rows`.

    Returns
    -------
    Edges or None
        None if its columns are no plain list, or a line has an error, which the reader of single
        lines names.

    Raises
    ------
    InputError
        If the header has no column of `where`, or two of one meaning.
    """
    if not is_header(table.header) or not _is_plain(at := columns_of(table.header)):
        return None
    found = _Lines(at, wanted_rows(table.header, where or {}), 1)
    for part in table.parts(found.needed):
        found.add(dict(zip(found.needed, part, strict=True)), len(part[0].codes))
    return found.edges()


def _whole_lines(parts: Iterable[str]) -> Iterator[str]:
    """The text in parts that end with a line, whose last newline is left out."""
    rest = ""
    for part in parts:
        text = rest + part
        # A carriage return at the end may belong to a newline that follows.
        held = text.endswith("\r")
        text = (text[:-1] if held else text).replace("\r\n", "\n")
        whole, newline, rest = text.rpartition("\n")
        rest += "\r" * held
        if newline and whole:
            yield whole
    if rest := rest.rstrip("\r\n"):
        yield rest
