"""Which weights the data determine: the verb identify."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from algebra.errors import InputError, whole_number
from algebra.time_limits import limited, positive_seconds
from matchprob.api.question import as_generic
from matchprob.verbs import parameters as common
from matchprob.verbs.verb import verb

if TYPE_CHECKING:
    from algebra.questions.identify.identification import Identification

# Number of drawn activation patterns for the dimension of a network.
PATTERNS = 64


@verb(is_drawn=True)
def identify(
    question: common.Question,
    *,
    target: common.Target = (),
    noise: common.Noise = None,
    students: common.Students = 0,
    seed: common.Seed = 0,
    timeout: common.Timeout = 60.0,
) -> Identification:
    """Compute which learnable weights the data determine.

    Locally and globally, for generic data; the allocation must be fixed.

    Returns
    -------
    Identification
        `determined` and `free` cells, `groups` that compensate each other, and, if matches are
        isolated, the number of values of each weight.

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> mp.identify(mp.Problem(net, {"W": [[1, 1], [0, 0]]})).to_dict()["globally_determined"]
    [['W', 0, 0], ['W', 0, 1]]
    """
    from algebra.questions.identify.identification import identify as identify_problem

    seed = whole_number(seed, "seed", 0)
    problem = as_generic(question, "identify")
    if whole_number(students, "students", 0) and noise is None:
        raise InputError("`students` fit noisy labels: give the `noise` of recorded numbers")
    with limited(positive_seconds(timeout, "timeout")):
        if problem.network.has_kinks:
            from numeric.plugins.circuits.own_parameters import at_own_parameters

            problem = at_own_parameters(problem, seed, target)
        aim = None
        if noise is not None:
            from numeric.plugins.circuits.noise import noisy_identification, positive

            positive("noise", noise)
            if not target:
                raise InputError(
                    "`noise`: name a `target`, the activities whose error is predicted"
                )
        if target:
            from algebra.plugins.circuits.recording import states_of_target

            # Before the complex alternatives, which may take all the time.
            aim = states_of_target(problem, target, seed)
        found = replace(identify_problem(problem, seed=seed, timeout=timeout), aim=aim)
        if noise is None:
            return found
        return noisy_identification(found, problem, target, noise, seed, students)
