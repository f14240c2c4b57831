"""What has to be recorded so that the data determine the weights: the verb record."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from algebra.record.recording import record as record_problem
from algebra.record.result import FirstChoice, Recording
from algebra.time_limits import limited, positive_seconds
from matchprob.api.question import Question, as_generic
from matchprob.api.tools import relaxation


def record(
    question: Question,
    what: str | Sequence[str] = "outputs",
    *,
    costs: Mapping[str, Fraction | float | str] | None = None,
    must: Sequence[str] = (),
    forbidden: Sequence[str] = (),
    caps: Mapping[str, int] | None = None,
    seconds: float = 60.0,
    timeout: float = math.inf,
    first: Callable[[FirstChoice], object] | None = None,
    seed: int = 0,
) -> Recording:
    """The cheapest things to record that determine the weights as far as everything does.

    Parameters
    ----------
    question : Problem, str or Path
        With a fixed allocation; labels are taken to come from a network of this allocation.
    what : str or sequence of str, optional
        What may be recorded: "outputs" (each for all samples), "entries" (single labels),
        "samples" (each with all outputs), "times" (the outputs of a recurrent network at a step),
        "units" (hidden units, at all steps for all samples); several kinds at once too.
    costs : mapping of str to number, optional
        By name ("output 0", "entry 0,3", "sample 3", "step 1", "unit 5", "layer 2 unit 5"; names
        of units in place of indices, where they have some).  Exact: a Fraction, int, float or
        text such as "5/2"; 1 by default.
    must, forbidden : sequence of str, optional
        Names of things that are recorded in any case, or never.
    caps : mapping, optional
        At most so many of each population ("matrix"); of entries also of each output ("row") and
        of each sample ("column").
    seconds : float, optional
        Time for the search that follows a greedy choice; 0 for none.  The result says how far it
        got.  Without a `timeout` the ranks, and then that choice, may take as long, and two minutes
        in any case.
    timeout : float, optional
        Seconds for the whole call.
    first : callable, optional
        Gets the greedy choice as soon as it is there: its names `recorded`, their `cost`, and a
        `bound` of every cost.  Of single entries there is none.
    seed : int, optional

    Returns
    -------
    Recording
        `recorded`, `cost` and `bound`; `is_optimal` where they meet, `is_unique` where the match
        is locally unique.

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.RNN(n=3, T=2, b=1, d=1, m=3, activation="tanh")
    >>> problem = mp.Problem(net, {"W": [[1, 0, 1], [0, 1, 1], [0, 1, 0]]})
    >>> mp.record(problem, "units").names
    ('unit 0', 'unit 1')
    """
    problem = as_generic(question, "record")
    positive_seconds(seconds, "seconds", zero=True)
    with limited(positive_seconds(timeout, "timeout")):
        return record_problem(
            problem, what, costs=costs, must=must, forbidden=forbidden, caps=caps,
            seconds=seconds, relaxation=relaxation, first=first, seed=seed,
        )  # fmt: skip
