"""Tables of Apache Arrow, Feather and Parquet files, by pyarrow (the extra `frames`).

Whole-brain tables are published so: ``pre_pt_root_id, post_pt_root_id, neuropil, syn_count, …``.  A
file is read in parts of some hundred thousand lines, of which the columns that count are taken as
their different words and the place of each line's word among these (Arrow's dictionaries).  A cell
is the text that a CSV file would have: whole numbers stay whole, and a number with a point keeps
it, so ids that were rounded are refused as elsewhere (`algebra.problems.edges.check_units`).  A
missing value is an empty cell; columns of lists and the like are left out.  Arrow's own checks
(`validate`) come before anything in a part is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from algebra.errors import InputError, one_line, shown
from algebra.files.opening import check_regular
from algebra.installing import missing
from algebra.memory_limits import check_memory
from algebra.time_limits import check_time

# Lines of a part of a Parquet file.
_LINES = 1 << 18
# Bytes of a line's place among the words of a column, in Arrow and here.
_PLACE = 12


class Coded(NamedTuple):
    """A column of some lines: different words, and for each line the place of its word."""

    words: Sequence[str]
    codes: np.ndarray


class ArrowTable:
    """A Feather or Parquet file.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    header : list of str
        The columns, without those whose values are no single cells.

    Raises
    ------
    InputError
        If pyarrow is not installed, or it is no such file; OSError if it is missing.
    """

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise InputError(
                missing("a Feather or Parquet file needs", "pyarrow", "frames")
                + ", or save the table as .csv"
            ) from None
        check_regular(path)
        self._path, self._arrow = path, pyarrow
        with self._errors():
            schema = self._schema()
        self._places = [k for k, field in enumerate(schema) if not field.type.num_fields]
        self.header = [schema.field(k).name.strip() for k in self._places]
        if not self.header:
            raise InputError("none of its columns has single cells")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """What Arrow says of a damaged file as what is wrong with the input."""
        try:
            yield
        except FileNotFoundError:
            raise
        except (self._arrow.ArrowException, OSError, MemoryError) as error:
            raise InputError(f"Arrow cannot read it: {one_line(error)}") from None

    @property
    def _is_parquet(self) -> bool:
        return self._path.suffix == ".parquet"

    def _schema(self) -> Any:
        if self._is_parquet:
            return self._arrow.parquet.read_schema(self._path)
        with self._arrow.ipc.open_file(self._arrow.memory_map(str(self._path))) as file:
            return file.schema

    def parts(self, wanted: Sequence[int]) -> Iterator[list[Coded]]:
        """Some columns of the lines, in parts.

        Parameters
        ----------
        wanted : sequence of int
            Numbers of columns in the header.

        Raises
        ------
        InputError
            If the file is damaged, or a part needs more memory than there is.
        """
        at = [self._places[k] for k in wanted]
        with self._errors():
            for batch in self._batches(at):
                check_time()
                check_memory(_PLACE * batch.num_rows * len(at), "reading a part of a table")
                batch.validate(full=True)
                # The columns of a part are in the order of the file.
                rank = {k: i for i, k in enumerate(sorted(set(at)))}
                yield [_coded(batch.column(rank[k])) for k in at]

    def _batches(self, at: Sequence[int]) -> Iterator[Any]:
        arrow, columns = self._arrow, sorted(set(at))
        if not self._is_parquet:
            options = arrow.ipc.IpcReadOptions(included_fields=columns)
            with arrow.ipc.open_file(arrow.memory_map(str(self._path)), options=options) as file:
                for k in range(file.num_record_batches):
                    yield file.get_batch(k)
            return
        names = [self._schema().field(k).name for k in columns]
        # Texts stay dictionaries: a long one that many lines repeat is held once.
        with arrow.parquet.ParquetFile(self._path, read_dictionary=names) as file:
            if len(set(names)) < len(names):
                raise InputError(f"two of its columns are named alike: {shown(', '.join(names))}")
            yield from file.iter_batches(batch_size=_LINES, columns=names)


def _coded(column: Any) -> Coded:
    """A column of a part."""
    found = column if hasattr(column, "dictionary") else column.dictionary_encode()
    words = [_text(value) for value in found.dictionary.to_pylist()]
    codes = found.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
    return Coded([*words, ""], codes.astype(np.int64))


def _text(value: Any) -> str:
    """The text of a cell."""
    # What is no number differs from itself.
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        raise InputError(f"a cell ({shown(value)}) is bytes, no text")
    return str(value).strip()
