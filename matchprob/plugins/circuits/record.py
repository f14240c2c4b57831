"""What has to be recorded so that the data determine the weights: the verb record."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

from algebra.errors import InputError, whole_number
from algebra.time_limits import limited, positive_seconds
from matchprob.api.question import as_generic
from matchprob.verbs import parameters as common
from matchprob.verbs.verb import Arguments, Callback, LineOption, ResultFile, verb

if TYPE_CHECKING:
    from algebra.plugins.circuits.result import FirstChoice, Recording

ElementName = Literal["outputs", "entries", "samples", "times", "units"]


def _tables(before: Arguments) -> tuple[Any, Any]:
    """The elements that may be recorded, and the names of units, with which tables are read."""
    from algebra.plugins.circuits.elements import check_kinds, elements_of
    from algebra.plugins.circuits.stimulation import stimulations_of

    problem, driven = before["question"], before.get("stimulate")
    kinds = check_kinds(before.get("what") or ("units" if before.get("target") else "outputs"))
    elements = elements_of(problem.network, kinds)[0]
    if driven:
        elements += stimulations_of(problem.network, problem.names, driven)
    return elements, problem.names


def _prices(entries: Sequence[str], before: Arguments) -> dict[str, Fraction]:
    from matchprob.plugins.circuits.elements import read_element_costs

    return read_element_costs(entries, *_tables(before))


def _marks(option: str) -> LineOption:
    def read(entries: Sequence[str], before: Arguments) -> list[str]:
        from matchprob.plugins.circuits.elements import read_marks

        return read_marks(entries, *_tables(before), option)

    return LineOption(flag=option, metavar="NAME|KIND=FILE", read=read, files=common.named_files)


def _unfinished(found: Recording, _: Arguments) -> str:
    if not found.is_stopped:
        return ""
    return (
        f"{'interrupted' if found.interrupted else 'out of time'}; the result above costs "
        f"{found.cost}, and nothing costs less than {found.bound}: whether a cheaper recording "
        "exists is open"
    )


def _print_first(found: FirstChoice) -> None:
    """Print a greedy choice on stderr if it is above its bound."""
    if found.bound < found.cost:
        print(f"matchprob: {found}; the search goes on", file=sys.stderr)


@verb(
    files=(
        ResultFile(
            "--write", "Write what is recorded, by name (CSV).", lambda found, *_: found.table()
        ),
        ResultFile(
            "--out", "Write the proof (JSON, for verify).",
            lambda found, *_: found.proof_file(),
        ),
    ),
    unfinished=_unfinished,
    is_drawn=True,
)  # fmt: skip
def record(
    question: common.Question,
    what: Annotated[
        ElementName | Sequence[ElementName], LineOption(word=str, is_repeated=True)
    ] = (),
    *,
    target: common.Target = (),
    stimulate: Annotated[
        str | Sequence[str], LineOption(word=str, is_repeated=True, metavar="PATTERN")
    ] = (),
    costs: Annotated[
        Mapping[str, Fraction | float | str] | None,
        LineOption(
            metavar="NAME=NUMBER|KIND=FILE",
            word=str,
            is_repeated=True,
            read=_prices,
            files=common.named_files,
        ),
    ] = None,
    must: Annotated[Sequence[str], _marks("--must")] = (),
    forbidden: Annotated[Sequence[str], _marks("--forbid")] = (),
    caps: Annotated[
        Mapping[str, int] | None,
        LineOption(
            word=int,
            least=0,
            parts={
                "row": "Largest number of entries of an output.",
                "column": "Largest number of entries of a sample.",
                "matrix": "Largest number of elements of a kind or layer.",
            },
        ),
    ] = None,
    noise: common.Noise = None,
    below: float | None = None,
    students: common.Students = 0,
    seconds: Annotated[float, LineOption(least=0)] = 60.0,
    timeout: common.Timeout = math.inf,
    first: Annotated[Callable[[FirstChoice], object] | None, Callback(passed=_print_first)] = None,
    seed: common.Seed = 0,
) -> Recording:
    """Choose what to record so that the data determine the weights.

    The result is the cheapest choice that determines the weights as far as recording everything
    does; with a target, the cheapest one that determines the target as far as recording everything
    does.

    Parameters
    ----------
    question : Problem, str or Path
        Problem file (TOML).  Or a `Problem`, with a fixed allocation; labels are taken to come
        from a network of this allocation.
    what : str or sequence of str, optional
        outputs (by default; units if there is a target), entries, samples, times or units;
        repeatable.  That is, "outputs"
        (each for all samples), "entries" (single labels), "samples" (each with all outputs),
        "times" (the outputs of a recurrent network at a step), "units" (hidden units, at all steps
        for all samples).
    stimulate : str or sequence of str, optional
        Units that may be driven ("unit 5", or a pattern such as ``unit *``): then it is chosen what
        to record and what to stimulate.  The stimulation of a unit repeats all samples while a
        known drive enters it at every step; in costs it is called "stimulation of unit 5".
    costs : mapping of str to number, optional
        Costs of elements, or of all elements of a kind; 1 by default. By name ("output 0", "entry
        0,3", "sample 3", "step 1", "unit 5", "layer 2 unit 5", or "unit NAME"), or by a pattern
        (``unit *``). Exact: a Fraction, int, float or text such as "5/2".
    must : sequence of str, optional
        Elements that must be recorded (0/1 CSV).  By name or pattern, as in `costs`.
    forbidden : sequence of str, optional
        Elements that must not be recorded (0/1 CSV).  By name or pattern, as in `costs`.
    caps : mapping, optional
        Largest number of elements of each population ("matrix"); of entries also of each output
        ("row") and of each sample ("column").
    below : float, optional
        With noise.  If a part of the target stays free whatever is recorded, elements are chosen
        by the predicted deviation, and the least one for each number of elements is listed.  With
        `below`: the fewest elements (a greedy choice, with a lower bound) for which the
        predicted deviation of the target is below this.
    seconds : float, optional
        Seconds for a greedy choice, which always has two, and a search; 0 for the choice alone.
        The result contains the bound that was reached. Without a `timeout` the computation of ranks
        that comes first may take as many seconds, and always up to five minutes.
    first : callable, optional
        Called with the greedy choice before the search: its names `recorded`, their `cost`, and a
        `bound` of every cost.  Not called for single entries.

    Returns
    -------
    Recording
        `recorded`, `cost` and `bound`; `is_optimal` if these are equal, `is_unique` if the match is
        locally unique.

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.RNN(n=3, T=2, b=1, d=1, m=3, activation="tanh")
    >>> problem = mp.Problem(net, {"W": [[1, 0, 1], [0, 1, 1], [0, 1, 0]]})
    >>> mp.record(problem, "units").names
    ('unit 0', 'unit 1')
    """
    from algebra.plugins.circuits.recording import record as record_problem
    from algebra.plugins.circuits.target import asks_weights
    from matchprob.api.certify import relaxation

    seed = whole_number(seed, "seed", 0)
    problem = as_generic(question, "record")
    positive_seconds(seconds, "seconds", zero=True)
    if whole_number(students, "students", 0) and noise is None:
        raise InputError("`students` fit noisy recordings: give the `noise` of recorded numbers")
    if below is not None and noise is None:
        raise InputError("`below` is a predicted deviation: give the `noise` of recorded numbers")
    what = what or ("units" if target else "outputs")
    # A recording without another target is about the weights.
    aim = () if asks_weights(target) else target
    with limited(positive_seconds(timeout, "timeout")):
        if problem.network.has_kinks:
            from numeric.plugins.circuits.own_parameters import at_own_parameters

            problem = at_own_parameters(problem, seed, aim)
        if noise is not None:
            from numeric.plugins.circuits.noise import noisy_recording

            return noisy_recording(
                problem, what, noise, below, costs=costs,
                must=must, forbidden=forbidden, caps=caps, target=target, stimulate=stimulate,
                seconds=seconds,
                relaxation=relaxation, first=first, seed=seed, students=students,
            )  # fmt: skip
        return record_problem(
            problem, what, costs=costs, must=must,
            forbidden=forbidden, caps=caps, target=aim, stimulate=stimulate,
            seconds=seconds, relaxation=relaxation, first=first, seed=seed,
        )  # fmt: skip
