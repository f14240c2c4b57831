"""The input of a verb: a problem, or the file of one.

Modules with verbs import this one when a command starts: problems are loaded in its functions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from algebra.errors import InputError, one_line, shown, whole_number
from algebra.time_limits import limited, positive_seconds
from matchprob.verbs.parameters import Question, QuestionFile

if TYPE_CHECKING:
    from algebra.networks.base import Network
    from algebra.plugins.models.onnx import Read
    from algebra.problems.problem import Problem


def as_problem(
    question: Question, timeout: float = math.inf, *, at_parameters: bool = False
) -> Problem:
    """A problem, or the one in a problem file.

    Parameters
    ----------
    question : Problem, str or Path
    timeout : float, optional
        Seconds for reading the file.
    at_parameters : bool, optional
        Whether networks with ReLU are accepted, whose ranks are those at given parameters.

    Raises
    ------
    InputError
        If it is neither, or the file is not a problem file.
    """
    from algebra.networks.activated import kinked
    from algebra.networks.base import Network
    from algebra.problems.files import load_problem
    from algebra.problems.problem import Problem

    found: Problem | None = None
    if isinstance(question, Problem):
        found = question
    elif isinstance(question, QuestionFile):
        found = question.problem
    elif isinstance(question, (str, Path)):
        with limited(positive_seconds(timeout, "timeout")):
            found = load_problem(question)
    if found is not None:
        if found.network.has_kinks and not at_parameters:
            raise InputError(kinked("this verb"))
        return found
    hint = (
        ': give what learns, as in Problem(network, {"W": "all"})'
        if isinstance(question, Network)
        else ""
    )
    raise InputError(
        f"`question` ({shown(question)}) must be a Problem or the name of a problem file{hint}"
    )


def problem_or_model(
    question: Question,
    learn: Sequence[str] = (),
    m: int | None = None,
    sizes: Mapping[str, int | str] | None = None,
    constants: Sequence[str] = (),
    output: str = "",
) -> Problem:
    """The problem of a question, or of an ONNX file in which some parameters learn as a whole.

    Parameters
    ----------
    question : Problem, str or Path
    learn : sequence of str, optional
        Names, patterns or roles of parameters, several of them separated by commas.
    m : int, optional
        Samples.
    sizes, constants, output : optional
        As for `capacity`.

    Raises
    ------
    InputError
        Also if these are given for anything other than an ONNX file.
    """
    from algebra.plugins.models.network import ProgramNetwork
    from algebra.problems.problem import ALL, Problem

    if not isinstance(question, (str, Path)) or Path(question).suffix != ".onnx":
        if learn or m or sizes or constants or output:
            raise InputError(
                f"{one_line(question)}: `learn`, `m`, `sizes`, `constants` and `output` are for "
                "ONNX files; a problem file contains them"
            )
        return as_problem(question)
    path = question
    if m is None or not learn:
        raise InputError(
            f"{path}: for an ONNX file give `m`, the number of samples, and `learn`, the "
            "parameters that learn (such as '*.bias' or norms)"
        )
    network = ProgramNetwork(str(path), m, output=output, size=sizes or {}, constants=constants)
    names = [name.strip() for patterns in learn for name in patterns.split(",") if name.strip()]
    if not names:
        raise InputError(f"`learn` ({shown(list(learn))}) names no parameter")
    return Problem(network, dict.fromkeys(names, ALL))


def as_drawn(question: Question, timeout: float = math.inf) -> Problem:
    """The problem of a question, for verbs that draw instances.

    A model that is a feed-forward network is treated as one (`algebra.problems.as_layers`).
    """
    from algebra.problems.as_layers import AsLayers

    problem = as_problem(question, timeout)
    is_drawn = problem.network.has_instances or not AsLayers.accepts(problem)
    return problem if is_drawn else AsLayers(problem).problem


def as_generic(question: Question, verb: str) -> Problem:
    """The problem of a question, for verbs that are about generic weights.

    Raises
    ------
    InputError
        If the problem has given weights without a jitter (`algebra.questions.premises`).
    """
    from algebra.questions.premises import need_generic

    is_local = verb in ("identify", "record")
    problem = as_problem(question, at_parameters=is_local)
    if not problem.network.has_kinks:
        need_generic(problem, verb, chosen=not is_local)
    return problem


def network_of(question: Question | Network) -> Problem:
    """A problem, or one of a network alone; in a file [learnable] may be missing."""
    from algebra.networks.base import Network
    from algebra.problems.files import load_problem
    from algebra.problems.problem import Problem

    if isinstance(question, Network):
        return Problem(question, {})
    if isinstance(question, Problem):
        return question
    return load_problem(question, need_learnable=False)


def check_common(problems: Sequence[Problem]) -> None:
    """Refuse problems that have no common random instances.

    Raises
    ------
    InputError
        If networks, distributions, structural zeros or given values differ.
    """
    first = problems[0]
    for other in problems[1:]:
        if other.network != first.network:
            raise InputError(
                f"`first` ({first.network}) and `second` ({other.network}) are different "
                "networks: only allocations of the same network have common instances"
            )
        given = [p.to_dict() for p in (first, other)]
        tables = ("distribution", "support", "values", "teacher")
        if any(given[0].get(table) != given[1].get(table) for table in tables):
            raise InputError(
                "`first` and `second` differ in [distribution], [support], [values] or [teacher]"
            )


def stem_of(question: Question) -> str:
    """The default name of a study: that of the problem file."""
    if isinstance(question, QuestionFile):
        return question.path.stem
    return Path(question).stem if isinstance(question, (str, Path)) else ""


def program_problem(
    read: Read,
    m: int,
    masks: Mapping[str, Any] | None = None,
    support: Mapping[str, Any] | None = None,
    name: str = "module",
) -> Problem:
    """The problem of a program with m samples; `masks` learn, or all that require a gradient.

    Parameters of a module that do not learn keep their values.

    Parameters
    ----------
    read : Read
    m : int
    masks : mapping of str to array or mapping, optional
        For some parameters 0/1 arrays of their shape, or updates such as ``{"lora": 2}``.
    support : mapping of str to array, optional
        Structural zeros, likewise.
    name : str, optional
        Its name.

    Raises
    ------
    InputError
        Naming the entry that is wrong.
    """
    from algebra.plugins.models.network import FILE, GENERIC, ProgramNetwork
    from algebra.problems.problem import ALL, Problem

    learning = read.parameters if read.trainable is None else read.trainable
    frozen = read.parameters.keys() - set(learning) - set(masks or {})
    updated = any(isinstance(own, Mapping) for own in (masks or {}).values())
    keeps = bool(frozen) and bool(read.values) and not updated
    network = ProgramNetwork.of(
        read, whole_number(m, "m", 1), name, FILE if keeps else GENERIC
    )  # fmt: skip
    learnable = {name: ALL for name in network.shapes if name in learning}
    learnable |= {k: _entry(read, k, v, "masks") for k, v in (masks or {}).items()}
    exists = {k: _entry(read, k, v, "support") for k, v in (support or {}).items()}
    return Problem(network, learnable, exists)


def detached(value: Any) -> Any:
    """A tensor of torch as an array; anything else as it is."""
    for method in ("detach", "cpu", "numpy"):
        if hasattr(value, method):
            value = getattr(value, method)()
    return value


def _entry(read: Read, name: str, value: Any, table: str) -> Any:
    """A mask in the shape of the parameter's matrix; updates are not changed."""
    import numpy as np

    from algebra.programs.program import matrix_shape

    shape = read.parameters.get(name)
    if shape is None:
        known = ", ".join(read.parameters)
        raise InputError(f"`{table}` names `{one_line(name)}`, but the parameters are {known}")
    if isinstance(value, Mapping | str):
        return value
    array = np.asarray(detached(value))
    if array.shape != tuple(shape):
        raise InputError(f"{table}.{name} has the shape {array.shape}, and the parameter {shape}")
    return array.reshape(matrix_shape(shape))
