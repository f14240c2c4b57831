"""Parameters that several verbs share, each described once, and how a command reads them.

The first sentence of a description is the help of the option. Modules that read files are loaded
when a file is read.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from algebra.errors import InputError, shown
from matchprob.verbs.verb import Arguments, Callback, LineArgument, LineOption

if TYPE_CHECKING:
    from algebra.networks.base import Network
    from algebra.problems.allocation import Cell
    from algebra.problems.instance_files import GivenNumbers
    from algebra.problems.names import Names
    from algebra.problems.problem import Problem
    from numeric.studies.store import Store
    from numeric.trials.counts import InstanceCount


def _problem(path: Path, _: Arguments) -> Problem:
    from algebra.problems.files import load_problem

    return warned(load_problem(path))


def warned(problem: Problem) -> Problem:
    """The problem; if nothing learns in it, a message on stderr says so."""
    if not problem.is_random and not problem.learning.size:
        print("matchprob: no weight learns: every mask in [learnable] is 0", file=sys.stderr)
    return problem


@dataclass(frozen=True)
class QuestionFile:
    """A problem file that was read, with its path: a study has the name of its file."""

    path: Path
    problem: Problem


def _problem_files(given: Path | Sequence[Path], _: Arguments) -> QuestionFile | list[QuestionFile]:
    if isinstance(given, Path):
        return QuestionFile(given, _problem(given, _))
    return [QuestionFile(path, _problem(path, _)) for path in given]


def _network(path: Path, _: Arguments) -> Problem:
    from algebra.problems.files import load_problem

    return load_problem(path, need_learnable=False)


def _engine_names(incomplete: str) -> list[str]:
    from numeric.engines.base import engines

    return [name for name in engines() if name.startswith(incomplete)]


def _sizes(entries: Sequence[str], _: Arguments) -> dict[str, int | str]:
    sizes: dict[str, int | str] = {}
    for text in entries:
        name, _equals, number = text.partition("=")
        if not number.isdecimal() and number != "samples":
            raise InputError(
                f"--size {shown(text)} must be NAME=NUMBER, such as seq=16, or NAME=samples"
            )
        sizes[name] = int(number) if number.isdecimal() else number
    return sizes


def parameter_names(problem: Problem) -> Names:
    """Names of the units, and of the parameters of updates."""
    from algebra.ranks.parametrized import by_parameters

    return by_parameters(problem).names


def _cell_costs(entries: Sequence[str], before: Arguments) -> dict[Cell, Fraction]:
    from matchprob.io.costs import read_costs

    return dict(read_costs(entries, parameter_names(before["question"])))


def _cells(option: str) -> Callable[[Sequence[str], Arguments], list[Cell]]:
    def read(entries: Sequence[str], before: Arguments) -> list[Cell]:
        from matchprob.io.costs import read_cells

        return read_cells(entries, parameter_names(before["question"]), option)

    return read


def named_files(entries: Sequence[str]) -> list[Path]:
    """The files of entries ``NAME=FILE``."""
    return [Path(name) for name in (entry.partition("=")[2] for entry in entries) if name]


# -- what a verb is about ---------------------------------------------------------------------

Question = Annotated[
    "Problem | str | Path",
    LineArgument(
        "Problem file (TOML).  Or a `Problem`.",
        kind="Problem, str or Path", name="problem", word=Path, read=_problem,
    ),
]  # fmt: skip
NetworkQuestion = Annotated[
    "Problem | Network | str | Path",
    LineArgument(
        "Problem file (TOML); only the network and its support count.  Or a `Problem` or a "
        "network.",
        kind="Problem, Network, str or Path", name="problem", word=Path, read=_network,
    ),
]  # fmt: skip
# The study has the name of the file.
StudyQuestion = Annotated[
    "Problem | str | Path",
    LineArgument(
        "Problem file (TOML).  Or a `Problem`.",
        kind="Problem, str or Path", name="problem", word=Path, read=_problem_files,
    ),
]  # fmt: skip
OWN_INSTANCE = LineOption(
    "A given instance (TOML) in place of random ones: weights, samples, and a teacher or labels.",
    kind="GivenNumbers, mapping, str or Path", metavar="FILE", word=Path,
    files=lambda path: [path],
)  # fmt: skip
OwnInstance = Annotated["GivenNumbers | Mapping[str, Any] | str | Path | None", OWN_INSTANCE]

# -- randomness, time, processes ----------------------------------------------------------------

Seed = Annotated[int, LineOption("Seed of all random numbers.", least=0)]
Timeout = Annotated[
    float,
    LineOption("Seconds for the whole call; what is known at the end of that time is reported."),
]
TrialTimeout = Annotated[float, LineOption("Seconds for one trial in the engine.")]
SearchSeconds = Annotated[
    float,
    LineOption("Seconds for a search; the result contains the bound that was reached.", least=0.1),
]
CountTimeout = Annotated[float, LineOption("Seconds for one root count.", least=0.1)]
Workers = Annotated[int, LineOption("Number of processes on this machine.", least=1)]
Scheduler = Annotated[
    str | None,
    LineOption("Dask scheduler (tcp://…) instead of local processes.", metavar="ADDRESS"),
]

# -- trials -------------------------------------------------------------------------------------

Trials = Annotated[int, LineOption("Number of random trials.", least=1)]
EngineName = Annotated[
    str | None,
    LineOption(
        "Solver of the instances; by default the one for this kind of network.",
        help="Solver of the instances; by default the one for this kind of network. {engines}",
        complete=_engine_names,
    ),
]
Confidence = Annotated[float, LineOption("Level of the interval.")]
StoreFile = Annotated[
    "str | Path | Store | None",
    LineOption(
        "Keep trials in this file, and continue from those it contains.  An SQLite database.",
        kind="str, Path or Store", metavar="FILE", word=Path, is_store=True,
    ),
]  # fmt: skip
Certifies = Annotated[
    bool,
    LineOption(
        "Whether the certificate of a minimal or maximal allocation settles all its trials, "
        "without computing them.",
        help="Compute the trials of certified allocations too.",
    ),
]
Complete = Annotated[bool, LineOption("Count every solution, even where one decides the match.")]
CountProgress = Annotated[
    "Callable[[InstanceCount], None] | bool | None",
    Callback(
        "Called with each count as it is made.  True shows the progress, False does not; by "
        "default it is shown in a notebook and in a terminal.",
        kind="callable or bool",
    ),
]
WorkProgress = Annotated[
    "Callable[[int, int], None] | bool | None",
    Callback(
        "Called with (done, all) during the work.  True shows the progress, False does not; by "
        "default it is shown in a notebook and in a terminal.",
        kind="callable or bool",
    ),
]

# -- what may be chosen, and what it costs ------------------------------------------------------

CellCosts = Annotated[
    "Mapping[Cell, Fraction | float | str] | None",
    LineOption(
        "Costs of a matrix's weights (CSV); 1 each by default.  By cell, exact: a Fraction, int, "
        'float or text such as "5/2".',
        kind="mapping of cell to number", metavar="MATRIX=FILE", word=str, is_repeated=True,
        read=_cell_costs, files=named_files,
    ),
]  # fmt: skip
MustCells = Annotated[
    "Sequence[Cell]",
    LineOption(
        "Weights that learn in any case (0/1 CSV).",
        kind="sequence of cells", metavar="MATRIX=FILE", word=str, is_repeated=True,
        read=_cells("--must"), files=named_files,
    ),
]  # fmt: skip
ForbiddenCells = Annotated[
    "Sequence[Cell]",
    LineOption(
        "Weights that must not learn (0/1 CSV).",
        kind="sequence of cells", flag="--forbid", metavar="MATRIX=FILE", word=str,
        is_repeated=True, read=_cells("--forbid"), files=named_files,
    ),
]  # fmt: skip
Caps = Annotated[
    "Mapping[str, int] | None",
    LineOption(
        'Largest number in each "row", "column" or "matrix"; several may be given.',
        kind="mapping", word=int, least=0,
        parts={
            "row": "Largest number in a row.",
            "column": "Largest number in a column.",
            "matrix": "Largest number in a matrix.",
        },
    ),
]  # fmt: skip
Matrices = Annotated[
    Sequence[str],
    LineOption(
        "Only weights of this matrix learn; may be repeated.  All by default.", flag="--matrix"
    ),
]

# -- how the file of a model is read ------------------------------------------------------------

Sizes = Annotated[
    "Mapping[str, int | str] | None",
    LineOption(
        "Of an ONNX file: the value of a size that has only a name in it; x.1=samples if axis 1 of "
        "the input x is that of the samples; samples=1 if the file labels one sample; mask=1 if "
        "all numbers of the input mask are 1.",
        kind="mapping of str to int or str", flag="--size", metavar="NAME=NUMBER", word=str,
        is_repeated=True, read=_sizes,
    ),
]  # fmt: skip
Data = Annotated[
    "Any",
    LineOption(
        "Samples of a model (.npy, or .npz with one array for each input): ranks at the model's "
        "own weights and these samples come first.",
        kind="array, mapping of str to array, str or Path", metavar="FILE", word=Path,
    ),
]  # fmt: skip
Target = Annotated[
    str | Sequence[str],
    LineOption(
        "Activities to be determined, whether or not the weights are: units, outputs, times=A:B "
        "(steps A to B - 1), samples=new (outputs for inputs that were not shown), names such "
        'as "unit 5", or (of record) weights.  Steps, samples and elements named here are not '
        "recorded.",
        kind="str or sequence of str", metavar="TARGET", word=str, is_repeated=True,
    ),
]  # fmt: skip
Noise = Annotated[
    float | None,
    LineOption(
        "Standard deviation of the noise of recorded numbers: predicts that of the target, and "
        "gives the singular values, at the circuit's own parameters (instance 0 of the seed).",
        kind="float, optional",
    ),
]
Students = Annotated[
    int,
    LineOption(
        "With noise: number of simulated fits, each with its own start and noise; the share of "
        "those that end far from the truth is estimated.",
        kind="int, optional", least=0,
    ),
]  # fmt: skip
Constants = Annotated[
    Sequence[str],
    LineOption(
        "Of an ONNX file: tensors that are constants, not parameters.  Names or patterns.",
        kind="sequence of str", flag="--constant", metavar="PATTERN",
    ),
]  # fmt: skip
Learning = Annotated[
    Sequence[str],
    LineOption(
        "Of an ONNX file: parameters that learn; repeatable.  Names, patterns or roles (biases, "
        "norms, last layer), several of them separated by commas.",
        kind="sequence of str", metavar="PATTERN",
    ),
]  # fmt: skip
ModelSamples = Annotated[int | None, LineOption("Of an ONNX file: number of samples.", least=1)]
OutputName = Annotated[
    str,
    LineOption(
        "The output whose values are the labels, or another value by its name in an ONNX file, or "
        "a part of a module by its name: hidden states.  The first output by default."
    ),
]
