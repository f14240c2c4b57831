"""Answers to messages of the front end: reading states, immediate results, texts.

A message comes from a browser or from an address that anybody may have written, and reading one may
take minutes: a number of 200 million digits, four megabytes of TOML, a network of three thousand
layers.  So the server itself does not read messages: each function here is called in a separate
process (the job "answer" of `matchprob.plugins.page.jobs`), with a memory limit, and is killed if
it takes too long.  An answer is plain data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from matchprob.plugins.page import commands, immediate
from matchprob.plugins.page.state import (
    PageState,
    parse,
    read_sizes,
    read_state,
    resized,
    with_table,
)

# Memory limit (MiB) for reading a message and computing its answer.
MEMORY = 2048

Ask = Mapping[str, Any]
Data = dict[str, Any]


def state_data(state: PageState) -> Data:
    """A state with the shapes of its matrices, as the front end does not know the kinds of network.

    It includes the names of rows and columns of each matrix, if there are any, and of the
    parameters of updates.
    """
    problem = state.problem
    shapes = {name: list(shape) for name, shape in problem.network.shapes.items()}
    names = problem.names
    lines = {name: [names.rows(name), names.columns(name)] for name in shapes} if names else {}
    return {"state": state.to_dict(), "shapes": shapes, "lines": lines, "learns": state.learns()}


def read_data(state: PageState) -> Data:
    """A state as the server keeps it: enough to start jobs, and to recognize the problem."""
    problem = state.problem
    return {
        **state_data(state),
        "digest": problem.digest,
        "problem": problem.named_dict(),
        "size": problem.learning.size,
        "must": state.cells("must"),
        "never": state.cells("never"),
        "name": state.name,
    }


def read(ask: Ask) -> Iterator[Data]:
    """The state that the front end sent, and a second one if there are two."""
    for key in ("state", "other"):
        if ask.get(key) is not None or key == "state":
            yield read_data(read_state(ask.get(key), _folder(ask)))


def look_at_state(ask: Ask) -> Iterator[Data]:
    """The state, and then all immediate results."""
    state = read_state(ask.get("state"), _folder(ask))
    yield read_data(state)
    yield immediate.immediate_results(state, ask["seed"])


def read_text(ask: Ask) -> Iterator[Data]:
    """The state from a problem file's text."""
    yield state_data(parse(ask["text"], _folder(ask), ask["name"]))


def read_table(ask: Ask) -> Iterator[Data]:
    """The state with the mask of a matrix from a text: a matrix of 0 and 1, or an edge list."""
    state = read_state(ask.get("state"), _folder(ask))
    yield state_data(with_table(state, ask["text"], ask["matrix"], ask["table"]))


def resize(ask: Ask) -> Iterator[Data]:
    """The state on a network of other sizes."""
    network = read_sizes(ask.get("network"))
    state = read_state(ask.get("state"), _folder(ask))
    yield state_data(resized(state, network) if network != state.problem.network else state)


def texts_of_state(ask: Ask) -> Iterator[Data]:
    """The problem as TOML, Python and command."""
    yield commands.problem_texts(read_state(ask.get("state"), _folder(ask)))


def lock_files(ask: Ask) -> Iterator[Data]:
    """The problem file's text, and its locks, which commands read from separate files."""
    state = read_state(ask.get("state"), _folder(ask))
    found = {"": state.problem.to_toml()}
    for option, locks in (("must", state.must), ("forbid", state.never)):
        for matrix, mask in locks.items():
            if mask.any():
                rows = (",".join(map(str, row)) for row in mask.tolist())
                found[f"{option}_{matrix}.csv"] = "\n".join(rows) + "\n"
    yield found


def _folder(ask: Ask) -> Path:
    return Path(ask["folder"])


ANSWERS: dict[str, Callable[[Ask], Iterator[Data]]] = {
    "read": read,
    "look": look_at_state,
    "parse": read_text,
    "table": read_table,
    "resize": resize,
    "texts": texts_of_state,
    "files": lock_files,
}
