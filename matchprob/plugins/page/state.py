"""The state of the page as plain data: a problem, the locks of its weights, a name.

The front end holds one such mapping, in the address of the page or in the notebook's model; every
message contains all of it, so that nothing is lost if a process ends::

    {"name": "diagonal.toml", "network": {"kind": "lrnn", "n": 2, …},
     "learnable": {"W": "kA"}, "support": {…}, "must": {…}, "never": {…},
     "updates": {"c": {"tied": [[1], [1]], "called": ["PV"]}},
     "distribution": {…}, "constraints": {…}}

A mask is given by its bits, row by row, eight to a byte, in URL-safe base64.  Matrices that learn
by gains, ties or low ranks have their tables of a problem file in "updates"; they are not painted.
"""

from __future__ import annotations

import base64
import binascii
import random
import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from algebra.errors import InputError, one_line, shown
from algebra.given import known_name
from algebra.networks.base import Network
from algebra.networks.kinds import KINDS, MEANINGS, network_from_dict
from algebra.networks.recurrent import LinearRNN
from algebra.problems.allocation import Cell
from algebra.problems.files import mask_of_table, problem_from_dict
from algebra.problems.problem import Problem
from algebra.problems.tables import parse_rows
from algebra.questions.premises import need_generic

# Largest number of rows and columns of a matrix that is drawn.
LARGEST = 512
MOST_CHARACTERS = 4_000_000
# Largest number of matrices on a page, and of weights in all.
MOST_MATRICES = 64
MOST_WEIGHTS = 1_000_000
# Prefixes of a text among which the longest valid TOML is searched, and their length.
_MOST_TRIED = 400
_MOST_READ = 1_000_000
# Tables of a problem file that the page does not change.
_MORE = ("distribution", "constraints", "names", "values")
_KEYS = {
    "name", "network", "learnable", "support", "must", "never", "updates", *_MORE,
    "pinned",
}  # fmt: skip


class Misplaced(InputError):
    """Bad input, and the place on the page where it was given.

    Attributes
    ----------
    place : str
        "network.n", "network", "learnable", …, "text".
    line : int or None
        Line of the problem file, from 1.
    """

    def __init__(self, error: InputError | str, place: str, line: int | None = None) -> None:
        super().__init__(str(error))
        self.place = place
        self.line = line


@dataclass(frozen=True)
class PageState:
    """A problem and the page's additions to it.

    Attributes
    ----------
    problem : Problem
    must, never : mapping of str to mask
        Weights that must learn, or must stay fixed, in a design.
    name : str
        Name of its file, without folder.
    """

    problem: Problem
    must: Mapping[str, np.ndarray]
    never: Mapping[str, np.ndarray]
    name: str

    def cells(self, which: str) -> list[Cell]:
        """The locked weights: of "must" or "never"."""
        masks: Mapping[str, np.ndarray] = getattr(self, which)
        return [
            (name, int(i), int(j))
            for name, mask in masks.items()
            for i, j in zip(*np.nonzero(mask), strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The mapping that the front end holds."""
        problem, updates = self.problem, self.problem.updates
        data = problem.named_dict()
        state: dict[str, Any] = {"name": self.name, "network": data["network"]}
        painted = {name: mask for name, mask in problem.learnable.items() if name not in updates}
        masks = {"learnable": painted, "must": self.must, "never": self.never}
        for table, of in masks.items():
            state[table] = {name: pack(mask) for name, mask in of.items() if mask.any()}
        # A support without any weight differs from no support.
        state["support"] = {name: pack(mask) for name, mask in problem.support.items()}
        state["updates"] = {name: data["learnable"][name] for name in updates}
        state |= {table: data[table] for table in _MORE if table in data}
        return state

    def learns(self) -> dict[str, Any]:
        """For each matrix with an update its words, its parameters, and which of them move cells.

        ``index`` has the cells row by row: the number of a parameter from 1, or 0; of a low rank,
        whose parameters move all cells, -1.
        """
        found = {}
        for name, update in self.problem.updates.items():
            shape, zeros = self.problem.network.shapes[name], self.problem.support.get(name)
            index = update.moved_by(shape, zeros)
            found[name] = {
                "words": update.words(name, shape),
                "parameters": update.names(name, shape),
                "index": (index if index.any() else -update.mask(shape, zeros)).ravel().tolist(),
            }
        return found


def first_problem() -> Problem:
    """The first paper's example net, section B.1.1, with no learnable weight."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    return Problem(net, {"W": [[0, 0], [0, 0]]})


def pack(mask: np.ndarray) -> str:
    """The bits of a mask as text."""
    bits = np.packbits(np.asarray(mask, np.uint8).ravel())
    return base64.urlsafe_b64encode(bits.tobytes()).decode().rstrip("=")


def unpack(text: Any, shape: tuple[int, int], name: str) -> np.ndarray:
    """The mask encoded by a text.

    Raises
    ------
    InputError
        If it does not encode a mask of this shape.
    """
    count = shape[0] * shape[1]
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise InputError(f"`{name}` ({shown(text)}) is no mask in base64") from None
    if len(raw) != (count + 7) // 8:
        raise InputError(
            f"`{name}` holds {len(raw)} bytes, a {shape[0]}×{shape[1]} mask {(count + 7) // 8}"
        )
    return np.unpackbits(np.frombuffer(raw, np.uint8), count=count).reshape(shape).astype(np.int8)


def read_state(data: Any, folder: Path | None = None) -> PageState:
    """The state that the front end sent; it contains no file names.

    Parameters
    ----------
    data : mapping
    folder : Path, optional
        Texts that are paths must not lead out of it; the current folder by default.

    Raises
    ------
    InputError
        If it is damaged (an address can be edited); `Misplaced` if the place is known.
    """
    if not isinstance(data, Mapping) or set(data) - _KEYS:
        raise InputError(f"the state of the page ({shown(data)}) is none")
    for key in ("network", "updates", *_MORE):
        _keep_inside(data.get(key), folder or Path())
    network = read_sizes(data.get("network"))
    masks: dict[str, dict[str, np.ndarray]] = {}
    for table in ("learnable", "support", "must", "never"):
        given = data.get(table, {})
        if not isinstance(given, Mapping):
            raise Misplaced(f"`{table}` ({shown(given)}) must be a table", table)
        masks[table] = {}
        for name, text in given.items():
            if name not in network.shapes:
                raise Misplaced(f"`{table}` names `{one_line(name)}`, which is no matrix", table)
            masks[table][name] = unpack(text, network.shapes[name], f"{table}.{name}")
    tables = {key: data[key] for key in _MORE if data.get(key)}
    updates = data.get("updates", {})
    if not isinstance(updates, Mapping):
        raise Misplaced(f"`updates` ({shown(updates)}) must be a table", "learnable")
    problem = _problem(network, {**masks["learnable"], **updates}, masks["support"], tables)
    return PageState(problem, masks["must"], masks["never"], _file_name(data.get("name")))


def _problem(
    network: Network,
    learnable: Mapping[str, Any],
    support: Mapping[str, Any],
    tables: Mapping[str, Any],
) -> Problem:
    data = {"network": network.to_dict(), "learnable": learnable, "support": support, **tables}
    try:
        return problem_from_dict({key: table for key, table in data.items() if len(table)})
    except InputError as error:
        raise Misplaced(error, "learnable") from None


def read_sizes(data: Any) -> Network:
    """The network of the given sizes, if it can be shown.

    Raises
    ------
    Misplaced
        With the size that is wrong.
    """
    if not isinstance(data, Mapping):
        raise Misplaced(f"`network` ({shown(data)}) must be a table", "network")
    try:
        network = network_from_dict(data)
    except InputError as error:
        raise Misplaced(error, _wrong_size(data)) from None
    for name, (rows, columns) in network.shapes.items():
        if max(rows, columns) > LARGEST:
            raise Misplaced(
                f"{name} is {rows}×{columns}, and the page draws matrices up to "
                f"{LARGEST}×{LARGEST}: use the commands `inspect`, `certify`, `design` for it",
                "network",
            )
    weights = sum(rows * columns for rows, columns in network.shapes.values())
    if len(network.shapes) > MOST_MATRICES or weights > MOST_WEIGHTS:
        raise Misplaced(
            f"this network has {len(network.shapes)} matrices with {weights} weights, and the page "
            f"draws up to {MOST_MATRICES} with {MOST_WEIGHTS}: use the commands for it",
            "network",
        )
    return network


def _wrong_size(data: Mapping[str, Any]) -> str:
    """The size that is wrong by itself: with all others at their least, there is no network."""
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        return "network.kind"
    for field in fields(KINDS[kind]):  # type: ignore[arg-type]
        least: Any = [1] if field.name in ("widths", "hidden") else 1
        value = data.get(field.name, field.default)
        choices = [value] if field.default is not MISSING else [least]
        for other in choices:
            try:
                network_from_dict({**data, field.name: other})
            except InputError:
                continue
            if field.name in data:
                return f"network.{field.name}"
    return "network"


def parse(text: str, folder: Path, name: str = "") -> PageState:
    """The problem in a file's text.

    Parameters
    ----------
    text : str
        TOML.
    folder : Path
        The folder of the matrices that it names; a name must not lead out of it.
    name : str, optional

    Raises
    ------
    Misplaced
        With the table and the line at which the text is wrong.
    """
    if len(text) > MOST_CHARACTERS:
        raise Misplaced(f"the text has {len(text)} characters, more than {MOST_CHARACTERS}", "text")
    try:
        data = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise Misplaced(
            f"not valid TOML: {one_line(error)}", "text", _bad_line(text, error)
        ) from None
    except (RecursionError, ValueError) as error:
        raise Misplaced(f"not valid TOML: {one_line(error)}", "text") from None
    _keep_inside(data, folder)
    if isinstance(data.get("network"), Mapping):
        try:
            read_sizes(data["network"])
        except Misplaced as error:
            key = error.place.partition(".")[2]
            raise Misplaced(error, error.place, _line_of(text, "network", key)) from None
    # Tables are added one by one: the first that cannot be read is the wrong one.
    read: dict[str, Any] = {}
    order = ("network", "names", "types", "support", "learnable")
    first = [table for table in order if table in data]
    tables = [*first, *(table for table in data if table not in first)]
    for table in tables or [""]:
        if table:
            read[table] = data[table]
        if "network" in data and "network" not in read:
            continue
        try:
            problem = problem_from_dict(read, folder)
        except InputError as error:
            raise Misplaced(error, table or "text", _line_of(text, table)) from None
    return state_of(problem, name)


def state_of(problem: Problem, name: str = "") -> PageState:
    """The state that shows a problem; for a random allocation, the draw of a trial."""
    read_sizes(problem.network.to_dict())
    need_generic(problem, "the page")
    if problem.is_random:
        problem = problem.with_allocation(problem.draw(random.Random("page/0")))
    return PageState(problem, {}, {}, _file_name(name))


def with_table(state: PageState, text: Any, matrix: Any, table: Any) -> PageState:
    """The state with one mask from a text: a matrix of 0 and 1, or an edge list.

    Parameters
    ----------
    state : PageState
    text : str
    matrix : str
    table : str
        "learnable", or "support": what learns outside of it is left out.

    Raises
    ------
    Misplaced
        If it is no such table of this matrix.
    """
    problem = state.problem
    try:
        known_name(matrix, "matrix", problem.network.shapes)
        known_name(table, "table", ("learnable", "support"))
        if not isinstance(text, str) or len(text) > MOST_CHARACTERS:
            raise InputError(f"a table that is dropped has at most {MOST_CHARACTERS} characters")
        mask = mask_of_table(parse_rows(text), problem.names, matrix, table)
        given = Problem(problem.network, {matrix: mask}, names=problem.names).learnable[matrix]
        learnable, support = dict(problem.learnable), dict(problem.support)
        if table == "learnable":
            learnable[matrix] = given
        else:
            support[matrix] = given
            if matrix in learnable and matrix not in problem.updates:
                learnable[matrix] = learnable[matrix] * given
        return replace(state, problem=replace(problem, learnable=learnable, support=support))
    except InputError as error:
        raise Misplaced(error, "table") from None


def resized(state: PageState, network: Network) -> PageState:
    """The same masks on a network of other sizes, cut or extended by weights that do not learn.

    Updates are kept where the matrix has the same shape; measured weights are drawn.
    """

    def fit(masks: Mapping[str, Any], fill: int) -> dict[str, np.ndarray]:
        out = {}
        for name, mask in masks.items():
            if name in network.shapes:
                rows, columns = network.shapes[name]
                out[name] = np.full((rows, columns), fill, np.int8)
                part = mask[:rows, :columns]
                out[name][: part.shape[0], : part.shape[1]] = part
        return out

    problem, shapes = state.problem, state.problem.network.shapes
    updates = problem.updates
    support = fit(problem.support, 1)
    learnable: dict[str, Any] = fit(
        {n: mask for n, mask in problem.learnable.items() if n not in updates}, 0
    )
    learnable |= {n: own for n, own in updates.items() if network.shapes.get(n) == shapes[n]}
    # Signs may be about units that no longer exist.
    laws = replace(problem.distribution, signs=None)
    fitted = Problem(network, learnable, support, laws)
    return PageState(fitted, fit(state.must, 0), fit(state.never, 0), state.name)


def kinds() -> list[dict[str, Any]]:
    """The kinds of network that can be chosen, with the names of their sizes.

    The form of a size is "number", "numbers", "flag" (yes or no), "choice" (one of several words,
    some of which take numbers) or "text" (a word, a number, or several numbers).
    """
    out = []
    for kind, network in KINDS.items():
        # Networks read from a file have no sizes to choose and no random instances.
        if not network.has_instances or network.made_from_problems:
            continue
        sizes = []
        for field in fields(network):  # type: ignore[arg-type]
            default = None if field.default is MISSING else field.default
            size: dict[str, Any] = {"name": field.name, "form": "number", "default": default}
            size["meaning"] = MEANINGS.get(field.name, field.name)
            if field.name in network.words:
                size["form"] = "choice"
                size["words"] = list(network.words[field.name])
                size["with_numbers"] = sorted(network.words_with_numbers)
            elif isinstance(default, bool):
                size["form"] = "flag"
            elif field.name in ("widths", "hidden"):
                size["form"] = "numbers"
            elif field.name == "leak":
                size["form"] = "text"
            sizes.append(size)
        out.append({"kind": kind, "title": network.title, "sizes": sizes})
    return out


def _keep_inside(data: Any, folder: Path) -> None:
    """Reject names of files outside the folder: the text may come from another machine."""
    if isinstance(data, Mapping):
        for value in data.values():
            _keep_inside(value, folder)
    elif isinstance(data, list):
        for value in data:
            _keep_inside(value, folder)
    elif isinstance(data, str) and _leads_out(data, folder):
        raise Misplaced(
            f"{shown(data)} lies outside the folder that is served: copy it there", "text"
        )


def _leads_out(text: str, folder: Path) -> bool:
    """Whether a text, as the name of a file, leads out of the folder.

    This applies to all texts, whether or not they are used as names.
    """
    inside = folder.resolve()
    try:
        return not (inside / text).resolve().is_relative_to(inside)
    except (OSError, ValueError, RuntimeError):
        # No file can have this name.
        return False


def _file_name(name: Any) -> str:
    """A name without a folder; "P.toml" if there is none."""
    text = Path(str(name or "")).name
    return text if text and text.isprintable() and len(text) <= 100 else "P.toml"


def _line_of(text: str, table: str, key: str = "") -> int | None:
    """The line of a table's header, or of one of its keys."""
    found = None
    for number, line in enumerate(text.splitlines(), 1):
        plain = line.strip()
        if plain.startswith("["):
            if plain.strip("[] ") == table:
                found = number
            elif found is not None:
                break
        elif found is not None and key and plain.partition("=")[0].strip() == key:
            return number
    return found


def _bad_line(text: str, error: tomllib.TOMLDecodeError) -> int | None:
    """The first line that does not continue valid TOML.

    The parser's own line is where it noticed the error; an unclosed item begins earlier.
    """
    lines = text.splitlines()
    noticed = re.search(r"\(at line (\d+),", str(error))
    last = min(int(noticed[1]) - 1 if noticed else len(lines), len(lines))
    read = 0
    for number in range(last, max(0, last - _MOST_TRIED), -1):
        start = "\n".join(lines[:number])
        read += len(start)
        if read > _MOST_READ:
            return min(last + 1, len(lines))
        try:
            tomllib.loads(start)
        except (ValueError, RecursionError):
            continue
        return number + 1 if number < len(lines) else None
    return 1 if last < _MOST_TRIED else min(last + 1, len(lines))
