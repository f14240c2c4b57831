"""Which weights do the data determine: the verb identify."""

from __future__ import annotations

from algebra.identify.identification import Identification
from algebra.identify.identification import identify as identify_problem
from algebra.time_limits import within
from matchprob.api.question import Question, as_problem


def identify(question: Question, *, seed: int = 0, timeout: float = 60.0) -> Identification:
    """Which learnable weights generic data determine, locally and globally.

    Parameters
    ----------
    question : Problem, str or Path
        With a fixed allocation, of a linear network.
    seed : int, optional
        Random points and instances follow from it.
    timeout : float, optional
        Seconds for the whole call; what is not known by then is said.

    Returns
    -------
    Identification
        `determined` and `free` cells, `groups` that make up for each other, and where matches
        are isolated the number of values of each weight.

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> mp.identify(mp.Problem(net, {"W": [[1, 1], [0, 0]]})).to_dict()["globally_determined"]
    [['W', 0, 0], ['W', 0, 1]]
    """
    problem = as_problem(question)
    with within(timeout):
        return identify_problem(problem, seed=seed, timeout=timeout)
