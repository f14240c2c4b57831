"""The dimension of the set of a network's functions: the verb dimension."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from algebra.errors import ErrorsAt, InputError
from algebra.time_limits import limited, positive_seconds
from matchprob.api.question import network_of
from matchprob.plugins.models.models import as_read
from matchprob.verbs import parameters as common
from matchprob.verbs.verb import LineArgument, LineOption, ResultFile, verb

if TYPE_CHECKING:
    from algebra.networks.base import Network
    from algebra.plugins.models.capacity import Piece
    from algebra.plugins.models.dimension import Dimension
    from algebra.plugins.models.onnx import Read
    from algebra.problems.problem import Problem
    from algebra.programs.generic import Model

# Number of drawn activation patterns for the dimension of a network.
PATTERNS = 64


@verb(
    files=(
        ResultFile(
            "--out", "Write the proof (JSON, for verify).",
            lambda found, *_: found.proof_file(),
        ),
    ),
    unfinished=lambda found, _: (
        f"the rank still grew at {found.samples} samples: {found.at_least} is a lower bound"
        if found.is_stopped
        else ""
    ),
    is_drawn=True,
)  # fmt: skip
def dimension(
    question: Annotated[
        Problem | Network | Read | str | Path, LineArgument(name="network", word=Path)
    ],
    *,
    filling: bool = False,
    most_width: Annotated[int, LineOption(least=1)] = 8,
    data: common.Data = None,
    sizes: common.Sizes = None,
    constants: common.Constants = (),
    output: common.OutputName = "",
    seed: common.Seed = 0,
    timeout: common.Timeout = math.inf,
) -> Dimension:
    """Compute the dimension of the set of a network's functions.

    Parameters
    ----------
    question : Network, Problem, Read, torch.nn.Module, str or Path
        Problem file (TOML; only the network counts, `m` may be missing) or ONNX file. Or a network,
        a `Problem`, the program that `matchprob.from_torch` reads from a module, or a module that
        says what its `forward` takes.
    filling : bool, optional
        Search for the smallest filling hidden widths. Their functions fill the ambient space.
    most_width : int, optional
        The largest width that is tried.

    Returns
    -------
    Dimension
        `dimension`, `expected`, `ambient`, `defect`, `filling`; its ``proof_file()`` is the content
        of a file that `verify` checks.

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.FeedForward(q=5, widths=(5, 3), d=1, m=1, activation={"polynomial": [0, 0, 1]})
    >>> found = mp.dimension(net)
    >>> found.dimension, found.expected, found.defect
    (32, 35, 3)
    """
    import numpy as np

    from algebra.plugins.models.dimension import (
        dimension_of,
        dimension_on_pieces,
        filling_widths,
    )
    from algebra.plugins.models.onnx import Read, read_onnx

    with limited(positive_seconds(timeout, "timeout")):
        if isinstance(question, (str, Path)) and Path(question).suffix == ".onnx":
            read = read_onnx(question, sizes=sizes, constants=constants, output=output)
            return _of_model(read, str(question), data, seed)
        if hasattr(question, "named_parameters"):
            question = as_read(question)
        if isinstance(question, Read):
            return _of_model(question, "module", data, seed)
        if data is not None:
            raise InputError("`data` are samples of a model: an ONNX file or a torch module")
        problem = _without_samples(question)
        if not filling:
            support = {name: np.asarray(mask, bool) for name, mask in problem.support.items()}
            size = problem.network.parameters - sum(int((~m).sum()) for m in support.values())
            drawn = problem.network.drawn_model(support)
            if drawn is not None:
                name, names = str(problem.network).split(", m =")[0], tuple(problem.network.shapes)
                return dimension_on_pieces(_drawn(drawn, seed), names, name, size, seed=seed)
        found = dimension_of(problem.network, problem.support, seed=seed)
        if filling:
            widths = filling_widths(problem.network, most=most_width, seed=seed)
            found = replace(found, filling_widths=widths)
        return found


def _without_samples(question: common.Question | Network) -> Problem:
    """The problem of a network whose file need not contain the number of samples."""
    if not isinstance(question, (str, Path)):
        return network_of(question)
    from algebra.problems.files import problem_from_dict, read_toml

    path = Path(question)
    data = read_toml(path)
    network = data.get("network")
    if not isinstance(network, dict):
        return network_of(question)
    tables = {"network": {"m": 1, **network}}
    # Edge lists name units, and leaks types.
    tables |= {name: data[name] for name in ("support", "names", "types") if name in data}
    with ErrorsAt(path):
        return problem_from_dict(tables, path.parent)


def _of_model(read: Read, name: str, data: Any, seed: int) -> Dimension:
    from algebra.plugins.models.dimension import dimension_on_pieces
    from matchprob.plugins.models.pieces import pieces

    names = tuple(read.parameters)
    if not names:
        raise InputError(f"{name}: it has no parameters, so its functions are one")
    size = sum(math.prod(shape) for shape in read.parameters.values())
    found = dimension_on_pieces(pieces(read, data, seed=seed), names, name, size, seed=seed)
    assumed = "".join(f"; {text}" for text in read.assumed)
    return replace(found, known=found.known + assumed)


def _drawn(model: Model, seed: int) -> Iterator[Piece]:
    """The patterns of a network, which has no weights of its own."""
    from algebra.plugins.models.capacity import Piece
    from algebra.plugins.models.capacity.pieces import ANY
    from numeric.programs.patterns import drawn_patterns

    for k in range(PATTERNS if "choose" in model.functions else 1):
        patterns = drawn_patterns(
            model.program, tokens=model.tokens, support=model.support, seed=seed + k
        )
        yield Piece(ANY, replace(model, patterns=patterns, order=seed + k))
