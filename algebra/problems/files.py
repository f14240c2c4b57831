"""Problem files: TOML, with matrices in CSV or NPY files beside it.

The format is in docs/problem-files.md::

    [network]
    kind = "lrnn"
    n = 2
    T = 2
    b = 1
    d = 1
    m = 2

    [learnable]
    W = [[1, 0], [0, 1]]

A matrix is a list of rows, the name of a file beside the problem file (a matrix, an edge list or a
graph: `algebra.problems.tables`), ``{ edges = "…", type = "chemical" }`` (such a file with options:
`algebra.problems.tables.read_edges`), ``"all"`` (all its weights learn),
``{ random = { budget = …, rows = … } }`` (see `algebra.problems.random_cells`), or an update
(`algebra.problems.updates`): ``{ lora = 2 }``, ``{ gain = "rows" }``,
``{ gain = "rows", groups = [1, 1] }``, ``{ tied = [[1, 1], [2, 0]] }``.
Bounds and signs of ``[constraints]`` (`algebra.problems.constraints`) are numbers, words, or
matrices in the same forms; so are the numbers of ``[values]`` (`algebra.problems.laws.values`) and
the signs of ``[distribution]`` (`algebra.problems.laws.distribution`), which may also be a list
with a sign for each unit.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from algebra.declarations import declared, read_declared, read_keys, read_tables
from algebra.errors import ErrorsAt, InputError, one_line, shown
from algebra.files.arrays import dense
from algebra.files.opening import FILE_LIMITS, check_ending, path_text, read_text, within_time
from algebra.given import given_mapping, known_name
from algebra.linalg.numbers import DOUBLE_DIGITS, exact_number
from algebra.networks.kinds import network_from_dict
from algebra.networks.masks import held, is_mask
from algebra.problems.cell_types import Types
from algebra.problems.constraint_entries import SIGN_WORDS
from algebra.problems.constraints import Constraints
from algebra.problems.edges import Edges, given_mask, is_sparse_matrix
from algebra.problems.file_entries import (
    FREE,
    NAME_ENDINGS,
    OWN,
    REFUSE,
    SAMPLE_TABLES,
    UNIT_TABLES,
    UNKNOWN,
    EdgesTable,
    NamesOfTable,
    SampleTable,
    SignsOfTable,
    TypesOfTable,
)
from algebra.problems.laws.distribution import Distribution
from algebra.problems.laws.signs import sign_of
from algebra.problems.laws.values import JITTER
from algebra.problems.names import Names
from algebra.problems.populations import by_population, populations
from algebra.problems.problem import ALL, Problem
from algebra.problems.random_cells import RandomCells
from algebra.problems.sample_tables import read_samples
from algebra.problems.schema import LEARNING_TABLES, ProblemFile, RandomTable, TeacherTable
from algebra.problems.sheets import decimal_of, ending
from algebra.problems.tables import (
    FORMATS,
    Rows,
    read_edges,
    read_matrix_file,
    read_names,
    read_types,
)
from algebra.problems.unit_tables import own_types, read_column, words_of_units
from algebra.problems.updates import CALLED, GROUPS, Gain, Tied, Update, is_by_cells, read_update
from algebra.programs.leaks import read_leak
from algebra.time_limits import checked

SIGNS_TEXT = "rows of 1, -1 and 0"
# Cells of a matrix for which signs or measured weights are read.
_MOST_CELLS = 1 << 26
# Characters from which on reading a file takes a while.
_LONG = 1 << 20


def problem_from_dict(data: Mapping[str, Any], folder: Path | None = None) -> Problem:
    """A problem from the tables of a problem file.

    Parameters
    ----------
    data : mapping
        Tables ``network``, ``learnable`` and, optionally, ``support``, ``distribution``,
        ``constraints``, ``names``, ``values``.
    folder : Path, optional
        The folder of matrices that are given by file name; None: file names are refused.

    Raises
    ------
    InputError
        Naming the table and key that is wrong.
    """
    read_tables(ProblemFile, data)
    table = _with_leaks(data["network"], folder)
    given = _names(data["names"], folder) if "names" in data else {}
    if isinstance(table, Mapping) and isinstance(table.get("leak"), Mapping):
        table = _with_leaks_of_types(table, data, given, folder)
    network = network_from_dict(table, folder)
    names = Names(network, given)
    support: Mapping[str, Any]
    support, learnable = (
        {
            name: mask_of_table(
                _matrix(value, f"{table}.{one_line(name)}", folder), names, name, table
            )
            for name, value in data.get(table, {}).items()
        }
        for table in ("support", "learnable")
    )
    for name, value in support.items():
        if isinstance(value, RandomCells):
            raise InputError(f"support.{one_line(name)} is random: a support must be fixed")
        if isinstance(value, Update):
            raise InputError(
                f"support.{one_line(name)} ({shown(value.to_dict())}) must be a mask of 0 and 1: "
                "updates belong into [learnable]"
            )
    laws = read_declared(Distribution, data.get("distribution", {}), "[distribution]")
    types, together = _types(data.get("types") or {}, names, folder)
    if "signs" in laws and isinstance(laws["signs"], Mapping) and "file" in laws["signs"]:
        laws["signs"] = _units_signs(
            laws["signs"], "distribution.signs", "neurons", names, folder
        )  # fmt: skip
    elif "signs" in laws:
        laws["signs"] = _signs(types.of_units(laws["signs"]), names, folder)
    for key in ("inputs", "labels"):
        if key in laws:
            laws[key] = _data(laws[key], f"distribution.{key}", folder)
    rules = read_declared(Constraints, data.get("constraints", {}), "[constraints]")
    if data.get("types"):
        scaled = {name for name, value in learnable.items() if together and is_by_cells(value)}
        given = learnable | dict.fromkeys(scaled, ALL)
        problem = Problem(network, given, support, names=names)
        support, masks = problem.support, problem.learnable
        if isinstance(sign := rules.get("sign"), Mapping):
            known = {n: masks[n] for n in masks if is_mask(held(masks, n))}
            rules = {**rules, "sign": types.signs(sign, known)}
        if together:
            learnable = {
                name: types.together(name, held(masks, name), name in scaled) for name in masks
            }
    learning = list(learnable)
    constraints = Constraints(
        **{key: _rule(value, key, folder, names, learning) for key, value in rules.items()}
    )
    values = {
        key: _measured(value, key, names, folder) for key, value in data.get("values", {}).items()
    }
    teacher = _teacher(data["teacher"], folder) if "teacher" in data else None
    return Problem(
        network, learnable, support, Distribution(**laws), constraints, names, values=values,
        teacher=teacher,
    )  # fmt: skip


def _teacher(table: Any, folder: Path | None) -> Problem:
    """The problem whose network gives the labels, from the table [teacher]."""
    given = read_declared(TeacherTable, table, "[teacher]")
    file = given.pop("file", None)
    if (file is None) == ("network" not in given) or (file is not None and given):
        raise InputError(
            '[teacher] must have either `file = "other.toml"` or the tables of another problem, '
            "`network` and perhaps `support` and `distribution`"
        )
    if file is None:
        with ErrorsAt("[teacher]"):
            return problem_from_dict(given, folder)
    if folder is None:
        raise InputError(f"teacher.file ({shown(file)}): file names are not known here")
    if not isinstance(file, str) or Path(file).suffix != ".toml":
        raise InputError(f"teacher.file ({shown(file)}) must be the name of a .toml file")
    with ErrorsAt("`teacher.file`"):
        data = read_toml(folder / file)
        with ErrorsAt(path_text(folder / file)):
            if isinstance(data, Mapping) and "teacher" in data:
                raise InputError("a teacher has no [teacher]: name the network that gives labels")
            return replace(problem_from_dict(data, (folder / file).parent), learnable={})


def _data(value: Any, name: str, folder: Path | None) -> Any:
    """Samples or labels with a file's contents in place of its name; a law is unchanged."""
    if isinstance(value, list):
        return [[_written(v) for v in row] if isinstance(row, list) else row for row in value]
    if not isinstance(value, Mapping) and (
        not isinstance(value, str) or ending(Path(value)) not in SAMPLE_TABLES
    ):
        return value
    given = {"file": value} if isinstance(value, str) else value
    given = read_declared(SampleTable, given, f"`{name}`")
    text, columns = given["file"], given.get("columns")
    if "column" in given:
        if columns is not None:
            raise InputError(f"`{name}` has `column` and `columns`: give one of them")
        columns = [given["column"]]
    if not isinstance(text, str) or ending(Path(text)) not in SAMPLE_TABLES:
        known = ", ".join(SAMPLE_TABLES)
        raise InputError(f"`{name}.file` ({shown(text)}) must be a table that ends in {known}")
    if columns is not None and (
        not isinstance(columns, list) or not columns or not all(isinstance(c, str) for c in columns)
    ):
        raise InputError(f"`{name}.columns` ({shown(columns)}) must be words of the header")
    if folder is None:
        raise InputError(f"`{name}` ({shown(text)}): there is no folder to read it from")
    with ErrorsAt(f"`{name}`"):
        return read_samples(folder / text, columns)


def _signs(value: Any, names: Names, folder: Path | None) -> Any:
    """The signs of [distribution], with the contents of files in place of their names."""
    if not isinstance(value, Mapping):
        return _units_signs(value, "distribution.signs", "neurons", names, folder)
    signs = {}
    for key, entry in value.items():
        name = f"distribution.signs.{one_line(key)}"
        if key in names.network.shapes and _is_file(entry):
            signs[key] = _numbers_file(entry, name, folder, names, key, "sign", SIGNS_TEXT)
        else:
            signs[key] = _units_signs(entry, name, key, names, folder)
    return signs


def _units_signs(value: Any, name: str, units: str, names: Names, folder: Path | None) -> Any:
    """A list of units' signs from a file; each line is a sign, or a name and a sign.

    Or from a column of a table, each of whose words has a sign.
    """
    if isinstance(value, Mapping) and "file" in value:
        words = {k: v for k, v in value.items() if k not in declared(SignsOfTable)}
        table = {k: v for k, v in value.items() if k not in words}
        signs = {word: sign_of(sign, f"`{name}.{one_line(word)}`") for word, sign in words.items()}
        if not signs:
            raise InputError(f'`{name}` gives no word a sign, as in ACH = "+", GABA = "-"')
        listed = _of_table(table, SignsOfTable, "column", name, units, names, folder)
        for unit, word in zip(_population(names, units), listed, strict=True):
            if not word and table.get("missing", REFUSE) == REFUSE:
                raise InputError(
                    f"`{name}`: {shown(unit)} has no word in the column {shown(table['column'])}; "
                    f'missing = "{FREE}" gives such units no sign'
                )
        return [signs.get(word, 0) for word in listed]
    if not isinstance(value, str):
        return value
    rows = _matrix_file(value, name, folder, "a list of signs", _entry)
    if not isinstance(rows, (Edges, Rows)):
        with ErrorsAt(f"`{name}`"):
            rows = np.atleast_1d(dense(rows))
        rows = [list(row) for row in rows.reshape(len(rows), rows.size // max(len(rows), 1))]
    axis = populations(names.network).get(units)
    if isinstance(rows, Rows) and rows.row_names and axis is not None:
        matrix, side = axis.places[0]
        given = names.rows(matrix) if side == 0 else names.columns(matrix)
        with ErrorsAt(f"`{name}`"):
            rows = Rows(rows, rows.row_names).in_order(given, units)
    if isinstance(rows, Edges) or any(len(row) != 1 for row in rows):
        raise InputError(
            f"`{name}`: {value} must have a sign, or a name and a sign, a line; for signs of "
            'single synapses name the matrix, as in signs = { W = "signs.csv" }'
        )
    return [_sign_word(row[0]) for row in rows]


def _population(names: Names, units: str) -> Sequence[str]:
    """The names of a population of units; empty if they have none."""
    axis = populations(names.network).get(units)
    return (None if axis is None else names.population(axis)) or ()


def _of_table(
    value: Mapping[str, Any], form: type, column: str, name: str, units: str, names: Names,
    folder: Path | None,
) -> list[str]:  # fmt: skip
    """The word of each unit in a column of a table (`algebra.problems.unit_tables`)."""
    given = read_declared(form, value, f"`{name}`")
    for key, known in (("unknown", UNKNOWN), ("missing", (REFUSE, OWN, FREE))):
        if key in given:
            known_name(given[key], f"{name}.{key}", known)
    path = _table_path(given["file"], name, folder)
    with ErrorsAt(f"{name}: {path_text(path)}"):
        lines = _lines_of_table(path, given, given[column])
        own = _population(names, units) or None
        return words_of_units(lines, own, given.get("unknown", REFUSE))


def _table_path(text: Any, name: str, folder: Path | None) -> Path:
    """The path of a table of units."""
    if not isinstance(text, str) or ending(Path(text)) not in UNIT_TABLES:
        known = ", ".join(UNIT_TABLES)
        raise InputError(f"{name}.file ({shown(text)}) must be a table that ends in {known}")
    if folder is None:
        raise InputError(f"{name}.file ({shown(text)}): there is no folder to read it from")
    return folder / text


def _lines_of_table(path: Path, given: Mapping[str, Any], column: str) -> Any:
    """The lines of a table of units; errors of the file system as what is wrong with the input."""
    try:
        where = given_mapping(given.get("where"), "where", '{"role": "neuron"}')
        return read_column(path, given.get("name", ""), column, where)
    except FileNotFoundError:
        raise InputError("it does not exist") from None
    except OSError as error:
        raise InputError(f"it cannot be read: {one_line(error.strerror)}") from None


def _sign_word(cell: Any) -> Any:
    """A sign as an integer if it is one; other words are returned unchanged and refused later."""
    found = decimal_of(str(cell))
    return int(found) if found in (-1, 0, 1) else str(cell)


def _measured(value: Any, key: str, names: Names, folder: Path | None) -> Any:
    """The numbers of [values]; those of a file are exact decimals."""
    if key == JITTER:
        return (
            {k: _written(v) for k, v in value.items()}
            if isinstance(value, Mapping)
            else (_written(value))
        )
    if _is_file(value):
        names.network.shape_of(key, f"values.{one_line(key)}: ")
        return _numbers_file(
            value, f"values.{key}", folder, names, key, "weight", "rows of numbers"
        )
    if isinstance(value, list):
        return [[_written(v) for v in row] if isinstance(row, list) else row for row in value]
    return value


def _written(value: Any) -> Any:
    """A number of a TOML file as text; the text of a double has the digits of the file."""
    return repr(value) if isinstance(value, float) else value


def _is_file(value: Any) -> bool:
    """Whether a value names a file, or is a table with options for an edge list."""
    return isinstance(value, str) or (isinstance(value, Mapping) and "edges" in value)


def _numbers_file(
    value: Any, name: str, folder: Path | None, names: Names, matrix: str, column: str, what: str
) -> Any:
    """The entries of a matrix from a file of rows, or from an edge list with a column of this kind.

    A cell without an edge has None as its weight, or 0 as its sign.
    """
    found = (
        _matrix_file(value, name, folder, what, _entry)
        if isinstance(value, str)
        else _edges(value, name, folder)
    )
    with ErrorsAt(f"`{name}`"):
        if isinstance(found, Edges):
            if found.measures != column:
                raise InputError(
                    f"{shown(value)} is an edge list without a column `{column}`: write "
                    f"pre,post,{column}"
                )
            rows, columns = names.network.shapes[matrix]
            if rows * columns > _MOST_CELLS:
                raise InputError(
                    f"{matrix} has {rows}×{columns} cells, and numbers of single synapses are "
                    f"read for at most {_MOST_CELLS}: give signs of neurons or of types, and no "
                    "[values]"
                )
            cells = found.cells(names, matrix)
            if column == "sign":
                return [
                    [_sign_word(cells.get((i, j), 0)) for j in range(columns)] for i in range(rows)
                ]
            return [[cells.get((i, j)) for j in range(columns)] for i in range(rows)]
        if isinstance(found, Rows):
            if found.has_words and found.header and column == "weight":
                raise InputError(found.header)
            found = found.arranged(names, matrix)
            return [[_sign_word(c) if column == "sign" else c for c in row] for row in found]
        return dense(found)


def _types(table: Mapping[str, Any], names: Names, folder: Path | None) -> tuple[Types, bool]:
    """The table [types] with its files read, and whether parameters of a type move together."""
    given = by_population(table, "types")
    together = given.pop("together", True)
    if not isinstance(together, bool):
        raise InputError(f"types.together ({shown(together)}) must be true or false")
    # Populations that are not there are refused before their files are read.
    Types(names.network, {key: () for key in given if key not in populations(names.network)})

    def read(key: str, path: Path) -> list[str]:
        axis = populations(names.network).get(key)
        return read_types(path, None if axis is None else names.population(axis), key)

    for key, value in given.items():
        if isinstance(value, Mapping):
            name = f"types.{one_line(key)}"
            words = _of_table(value, TypesOfTable, "type", name, key, names, folder)
            units = _population(names, key)
            if value.get("missing", REFUSE) == OWN:
                words = own_types(words, units)
            elif "" in words:
                raise InputError(
                    f'{name}: {shown(units[words.index("")])} has no type; missing = "{OWN}" '
                    "gives such units types of their own"
                )
            given[key] = words
    what = (
        "a list of types, or the name of a .csv or .txt file with a type, or a unit's name and its "
        "type, a line"
    )
    found = _with_lists("types", given, folder, what, (".csv", ".txt"), read)
    return Types(names.network, found), together


def _names(table: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
    """The table [names] with its files read."""
    what = "a list of names, or the name of a file with one name a line or with edges, which ends "
    what += "in " + ", ".join(NAME_ENDINGS)
    listed = {}
    for key, value in table.items():
        name = f"names.{one_line(key)}"
        if isinstance(value, Mapping) and "file" in value:
            # There are no names yet by which units are known.
            listed[key] = _listed_names(value, name, folder)
            continue
        if not (isinstance(value, Mapping) and "edges" in value):
            listed[key] = value
            continue
        edges = _edges(value, name, folder)
        with ErrorsAt(f"`{name}`"):
            listed[key] = list(edges.units)
    return _with_lists(
        "names", listed, folder, what, NAME_ENDINGS, lambda key, path: read_names(path, key)
    )


def _listed_names(value: Mapping[str, Any], name: str, folder: Path | None) -> list[str]:
    """The names of units from a column of a table."""
    given = read_declared(NamesOfTable, value, f"`{name}`")
    path = _table_path(given["file"], name, folder)
    with ErrorsAt(f"{name}: {path_text(path)}"):
        return [unit for _, unit, _ in _lines_of_table(path, given, "")]


def _with_lists(
    table: str, given: Mapping[str, Any], folder: Path | None, what: str,
    endings: Sequence[str], read: Callable[[str, Path], list[str]],
) -> dict[str, Any]:  # fmt: skip
    """A table of lists, one for each population of units, with the lists of its files."""
    found = dict(given)
    for key, value in given.items():
        if not isinstance(value, str):
            continue
        name, path = f"{table}.{one_line(key)}", (folder or Path()) / value
        if ending(path) not in endings:
            raise InputError(f"{name} ({shown(value)}) must be {what}")
        try:
            found[key] = read(key, path)
        except FileNotFoundError:
            raise InputError(f"{name} names {path_text(path)}, which does not exist") from None
        except InputError as error:
            raise InputError(f"{name}: {path_text(path)}: {error}") from None
        except Exception as error:
            # networkx raises exceptions of many classes for a damaged GraphML file.
            reason = error.strerror if isinstance(error, OSError) else error
            raise InputError(f"{name}: {path_text(path)}: {one_line(reason)}") from None
    return found


def _with_leaks(table: Any, folder: Path | None) -> Any:
    """The [network] table with a file of leaks read, one number a row (or all in one)."""
    given = table.get("leak") if isinstance(table, Mapping) else None
    if not isinstance(given, str) or Path(given).suffix not in (".csv", ".npy"):
        return table
    rows = _matrix_file(given, "network.leak", folder, "a number, a list of numbers", str)
    if isinstance(rows, Edges):
        raise InputError(f"`network.leak`: {given} is an edge list; leaks are a column of numbers")
    entries = [(k, entry) for k, row in enumerate(np.atleast_2d(rows).tolist()) for entry in row]
    for k, entry in entries:
        with ErrorsAt(f"`network.leak`: {given}, row {k}"):
            read_leak(entry, 1)
    return {**table, "leak": [entry for _, entry in entries]}


def _with_leaks_of_types(
    table: Mapping[str, Any], data: Mapping[str, Any], given: Mapping[str, Any],
    folder: Path | None,
) -> dict[str, Any]:  # fmt: skip
    """The [network] table with a leak for each neuron, from those of types."""
    rates = table["leak"]
    network = network_from_dict({k: v for k, v in table.items() if k != "leak"}, folder)
    names = Names(network, given)
    types = _types(data.get("types", {}), names, folder)[0].given.get("neurons")
    if types is None:
        raise InputError("network.leak gives leaks of types: name those of neurons in [types]")
    for kind, rate in rates.items():
        if kind not in types:
            known = ", ".join(sorted(set(types)))
            raise InputError(f"network.leak.{one_line(kind)}: no neuron is of this type; {known}")
        with ErrorsAt(f"network.leak.{one_line(kind)}"):
            read_leak(rate, 1)
    missing = next((kind for kind in types if kind not in rates), None)
    if missing is not None:
        raise InputError(f"network.leak has no number for the type {shown(missing)}")
    return {**table, "leak": [rates[kind] for kind in types]}


def load_problem(path: str | Path, *, need_learnable: bool = True) -> Problem:
    """Read a problem file.

    Parameters
    ----------
    path : str or Path
    need_learnable : bool, optional
        Whether a file without a [learnable] table is refused.

    Raises
    ------
    InputError
        If the file is missing, is not TOML, or is inconsistent; the message begins with the file's
        name.
    """
    if not isinstance(path, (str, Path)):
        raise InputError(f"`path` ({shown(path)}) must be the name of a problem file")
    path = Path(path)
    with ErrorsAt(path_text(path)):
        check_ending(path, "a problem file (TOML)", ".toml")
    data = read_toml(path)
    with ErrorsAt(path_text(path)):
        problem = problem_from_dict(data, path.parent)
        if need_learnable and "learnable" not in data:
            raise InputError("there is no [learnable] table: say which weights may learn")
    return problem


def read_toml(
    path: Path, *, most: int = FILE_LIMITS.problem, decimal: Callable[[str], Any] | None = None
) -> Any:
    """The tables of a TOML file.

    Parameters
    ----------
    path : Path
    most : int, optional
        A longer file, in bytes, is refused.
    decimal : callable, optional
        Converts the text of a decimal; by default decimals become doubles, and one with more digits
        than a double holds is refused.

    Raises
    ------
    InputError
        If the file is missing, too long or not TOML; the message begins with its name.
    """
    where = path_text(path)
    try:
        try:
            text = read_text(path, most)
        except InputError as error:
            raise InputError(f"cannot be read: {error}") from None
        load = partial(tomllib.loads, text, parse_float=partial(_decimal, text, decimal or _double))
        return load() if len(text) < _LONG else within_time(load)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    except FileNotFoundError:
        raise InputError(f"{where}: no such file") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where}: not valid TOML: {one_line(error)}") from None
    except RecursionError:
        raise InputError(f"{where}: not valid TOML: brackets are nested too deeply") from None
    except OSError as error:
        raise InputError(f"{where}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        # Not text, a NUL character in the name, or an integer with thousands of digits.
        raise InputError(f"{where}: cannot be read: {one_line(error)}") from None


def _decimal(whole: str, convert: Callable[[str], Any], word: str) -> Any:
    """A decimal of a file; if it is refused, with its line."""
    try:
        return convert(word.replace("_", ""))
    except InputError as error:
        line = whole.count("\n", 0, max(whole.find(word), 0)) + 1
        raise InputError(f"line {line}: {error}") from None


def _double(text: str) -> float:
    """The double that prints with the digits of a decimal; refused if there is none."""
    if text.lstrip("+-") in ("inf", "nan"):
        return float(text)
    exact, value = exact_number(text), float(text)
    if exact_number(repr(value)) != exact:
        raise InputError(
            f"the number {one_line(text)} is not the double {value!r}, it has too many digits: up "
            f"to {DOUBLE_DIGITS} are kept; a text in quotes is exact where numbers are rational"
        )
    return value


def _matrix(value: Any, name: str, folder: Path | None) -> Any:
    if isinstance(value, RandomCells):
        return value
    if isinstance(value, Mapping):
        if "edges" in value:
            return _edges(value, name, folder)
        known = {key for table in LEARNING_TABLES for key in declared(table)}
        read_keys(value, {"edges", *known}, f"`{name}`")
        if not value:
            keys = ", ".join(sorted({"edges", *known} - {GROUPS, CALLED}))
            raise InputError(f"`{name}` ({{}}) must have one of the keys {keys}")
        if "random" not in value:
            return read_update(_with_files(value, name, folder), name)
        drawn = read_declared(RandomTable, value, f"`{name}`")["random"]
        spec = read_declared(RandomCells, drawn, f"`{name}`.random")
        with ErrorsAt(name):
            return RandomCells(**spec)
    if isinstance(value, str) and value != ALL:
        return _matrix_file(value, name, folder, "rows of 0 and 1", _entry)
    return value


def _with_files(value: Mapping[str, Any], name: str, folder: Path | None) -> dict[str, Any]:
    """An update with the contents of a file in place of its name."""
    read = dict(value)
    for key in (Tied.keyword, GROUPS):
        if not isinstance(given := read.get(key), str):
            continue
        what = "rows of whole numbers"
        rows = _matrix_file(given, f"{name}.{key}", folder, what, _number)
        if isinstance(rows, Edges):
            raise InputError(
                f"`{name}.{key}`: {given} is an edge list; groups are a matrix of numbers"
            )
        read[key] = [[_plain(v) for v in row] for row in np.atleast_2d(rows)]
        if key == GROUPS and read.get(Gain.keyword) != "cells":
            # A number for each line, in a row or in a column.
            read[key] = [v for row in read[key] for v in row]
    return read


def _plain(value: Any) -> Any:
    """An integral number as an int; anything else is returned unchanged and refused later."""
    try:
        # The rows of an array with three axes are arrays, not numbers.
        return int(value) if np.ndim(value) == 0 and value == int(value) else value
    except (TypeError, ValueError, OverflowError):
        return value


def mask_of_table(value: Any, names: Names, name: str, table: str) -> Any:
    """The mask of a matrix from a file's contents; anything else is returned unchanged."""
    if not isinstance(value, (Edges, Rows)) and (
        isinstance(value, (list, str)) or not is_sparse_matrix(value)
    ):
        return value
    names.network.shape_of(name, f"{table}.{one_line(name)}: ")
    with ErrorsAt(f"{table}.{name}"):
        if not isinstance(value, Rows):
            return given_mask(value, name, names)
        shape = names.network.shapes[name]
        if value.header and (value.has_words or {len(row) for row in value} != {shape[1]}):
            raise InputError(value.header)
        if value.header and len(value) != shape[0]:
            raise InputError(
                f"it has {len(value)} rows of {shape[1]} entries, and {name} is "
                f"{shape[0]}×{shape[1]}; if it is an edge list, {value.header}"
            )
        rows = value.arranged(names, name)
        # Most entries have the same text.
        known = {cell: _entry(cell) for row in checked(rows) for cell in set(row)}
        return [list(map(known.__getitem__, row)) for row in checked(rows)]


def _rule(value: Any, key: str, folder: Path | None, names: Names, learning: Sequence[str]) -> Any:
    """A value of [constraints] with its files read; its entries are checked later."""
    name = f"constraints.{key}"
    if isinstance(value, Mapping):
        return {
            k: _rule_entry(v, key, f"{name}.{one_line(k)}", folder, names, k)
            for k, v in value.items()
        }
    only = learning[0] if len(learning) == 1 else ""
    return _rule_entry(value, key, name, folder, names, only)


def _rule_entry(
    value: Any, key: str, name: str, folder: Path | None, names: Names, matrix: str
) -> Any:
    if not _is_file(value) or value in (*SIGN_WORDS, "inf"):
        return value
    what = "a number, " if key != "sign" else '"keep", "+", "-", '
    if key == "sign" and matrix in names.network.shapes:
        return _numbers_file(value, name, folder, names, matrix, "sign", f"{what}rows of numbers")
    found = (
        _matrix_file(value, name, folder, f"{what}rows of numbers", _number)
        if isinstance(value, str)
        else _edges(value, name, folder)
    )
    if isinstance(found, Edges):
        raise InputError(
            f"`{name}`: {value} is an edge list, of no single matrix"
            if key == "sign"
            else f"`{name}`: {value} is an edge list; a bound is a matrix of numbers"
        )
    return found


def _matrix_file(
    text: str, name: str, folder: Path | None, what: str, entry: Callable[[str], Any]
) -> Any:
    path = _file(text, name, folder, what)
    with ErrorsAt(f"`{name}`"):
        found = read_matrix_file(path)
        if entry is _entry:
            return found
        if isinstance(found, Rows):
            return [[entry(cell) for cell in row] for row in found]
        return found if isinstance(found, Edges) else dense(found)


def _file(text: Any, name: str, folder: Path | None, what: str) -> Path:
    """The path of the file that a text names."""
    suffix = ending(Path(text)) if isinstance(text, str) else ""
    if suffix not in FORMATS:
        raise InputError(
            f"`{name}` ({shown(text)}) must be {what}, or the name of a file that ends in "
            + ", ".join(FORMATS)
        )
    if folder is None:
        raise InputError(
            f"`{name}` ({shown(text)}) names a file, and there is no folder to read it from: "
            f"give {what}"
        )
    return folder / text


def _edges(value: Mapping[str, Any], name: str, folder: Path | None) -> Edges:
    """A table ``{ edges = FILE, … }``."""
    options = read_declared(EdgesTable, value, f"`{name}`")
    path = _file(options.pop("edges"), f"{name}.edges", folder, "an edge list")
    with ErrorsAt(f"`{name}`"):
        return read_edges(path, **options)


def _entry(cell: str) -> Any:
    # A word is returned unchanged, so that the check of the mask can quote it.
    text, found = cell.strip(), decimal_of(cell)
    return int(found) if found in (0, 1) else text


def _number(cell: str) -> Any:
    found = decimal_of(cell)
    return cell if found is None or not found.is_finite() else exact_number(cell)
