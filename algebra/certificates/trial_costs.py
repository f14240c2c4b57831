"""Whether an estimate is worth suggesting: the processor time of one trial, from sizes alone.

Measured, and right within a factor of about three (on one core of a loaded machine, ms a trial):

* All N solutions of a linear network: N paths of about r² / 50 ms each (N = 753, r = 12: 2 s).
* Without N a search follows up to 2,000 paths and runs Newton's method 400 times from random
  starts, and ends where the first solution is found, which for large networks is seldom.  With
  random cells, where most trials match, a recurrent net of n hidden units takes n² / 2 ms
  (n = 16: 80 ms, 24: 0.2 s, 32: 0.5 s).
* Networks with other activations and up to four weights, as many as labels: branch and bound over
  all weights, 100 to 700 ms.  With more: 64 damped runs of up to 200 steps each, 150 + dm² · 4/5 ms
  (dm = 10: 0.37 s, 20: 0.65 s, 40: 1.7 s, 80: 5.2 s).
* ReLU and normalization networks are decided over their activation patterns by branch and bound,
  see their `pattern_milliseconds`; there the time of single trials varies most.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from algebra.documents import Step, step
from algebra.networks.protocols import HasPatternCost
from algebra.problems.problem import Problem


@dataclass(frozen=True)
class Suggested:
    """The estimate that is suggested.

    Attributes
    ----------
    seconds : int
        That it may take.
    most, fewest : int
        Its numbers of trials.
    """

    seconds: int = 600
    most: int = 1000
    fewest: int = 10


SUGGESTED = Suggested()
# Paths and runs of a search without N.
_SEARCHED = 2400
# Labels beyond which searches of such networks seldom find a match.
_HARD = 6
LOWER_BOUND = (
    "bounds of MP: of networks with such activations, and so many weights, matches are found, and "
    "excluded only where labels are out of reach"
)
MOSTLY_OPEN = "; most other trials stay undetermined"


def trial_milliseconds(problem: Problem, root_count: int | None = None) -> int | None:
    """The processor time of a trial in ms; None if sizes do not tell.

    Parameters
    ----------
    problem : Problem
    root_count : int, optional
        N, if it is known.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> trial_milliseconds(Problem(net, {"W": [[1, 0], [0, 1]]}), 2)
    1
    """
    network = problem.network
    if not network.equations_are and not network.is_linear:
        if problem.updates or not isinstance(network, HasPatternCost):
            return None
        return network.pattern_milliseconds(problem.draw(random.Random(0)).masks)
    size = min(_size(problem), network.outputs)
    if network.equations_are == "analytic":
        return 150 + size * size * 4 // 5
    if root_count is None and problem.is_random and network.chain() is not None:
        widest = max(max(shape) for shape in network.shapes.values())
        return widest**2 // 2 + 1
    return max(1, (root_count or _SEARCHED) * size * size // 50)


def _size(problem: Problem) -> int:
    """The number of learnable weights; of random cells that of a draw."""
    return problem.draw(random.Random(0)).size if problem.is_random else problem.learning.size


def affordable_trials(problem: Problem, root_count: int | None = None) -> int:
    """The trials to suggest: as many of 1,000 as ten minutes allow, 0 if that is too few."""
    cost = trial_milliseconds(problem, root_count)
    if cost is None:
        return SUGGESTED.most
    number = min(SUGGESTED.most, SUGGESTED.seconds * 1000 // cost)
    if number < SUGGESTED.fewest:
        return 0
    # One digit, rounded down.
    unit = 10 ** (len(str(number)) - 1)
    return int(number // unit * unit)


def is_lower_bound(problem: Problem) -> bool:
    """Whether trials without a match are shown to have none only where labels are out of reach.

    This holds for analytic activations, except with few weights and as many labels, where all
    values of the weights are searched.
    """
    network = problem.network
    square = _size(problem) == network.outputs <= network.divided_unknowns
    return network.equations_are == "analytic" and not square


def is_mostly_open(problem: Problem) -> bool:
    """Whether searches from random starts seldom end at a match, as measured."""
    labels = problem.network.outputs
    return is_lower_bound(problem) and (labels > _HARD or _size(problem) != labels)


def estimate_steps(
    problem: Problem, root_count: int | None = None, purpose: str = "", *, seed: int = 0
) -> tuple[Step, ...]:
    """The suggestion of an estimate that ends within ten minutes; none if a trial takes too long.

    Parameters
    ----------
    problem : Problem
    root_count : int, optional
    purpose : str, optional
        By default the match probability; its lower bound if matches are not excluded.
    seed : int, optional
    """
    trials = affordable_trials(problem, root_count)
    if not trials:
        return ()
    if is_lower_bound(problem):
        purpose = LOWER_BOUND + MOSTLY_OPEN * is_mostly_open(problem)
    purpose = purpose or "the match probability, with bounds"
    return (step("estimate", purpose, trials=trials, seed=seed),)


def expectation(problem: Problem) -> str:
    """What trials of a network can show at best, before they begin; "" if they show everything."""
    if not is_lower_bound(problem) or not problem.network.has_instances:
        return ""
    r, labels = _size(problem), problem.network.outputs
    text = (
        "equations with such activations have no finite number of complex solutions: unless at "
        f"most {problem.network.divided_unknowns} weights face as many labels, trials show "
        "matches, and that there is none only where labels are out of reach of outputs that read "
        "bounded values"
    )
    if is_mostly_open(problem):
        text += (
            f"; at {r} weights for {labels} labels most other trials stay undetermined, since "
            "searches from random starts seldom end at a match"
        )
    return text


def too_costly(problem: Problem, root_count: int | None = None) -> tuple[str, ...]:
    """Why no estimate is suggested, as a sentence; none if one is."""
    cost = trial_milliseconds(problem, root_count)
    if cost is None or affordable_trials(problem, root_count):
        return ()
    minutes = max(1, cost // 60_000)
    time = f"about {minutes} min" if minutes < 600 else "more than ten hours"
    return (
        f"One random trial would take {time} of processor time, so no estimate is suggested; fewer "
        "learnable weights or samples make it possible.",
    )
