"""Random problems over all options: what `certify` writes is verified, and trials agree with it.

``python -m tests.options SEED COUNT`` prints the number of problems by verdict, by feature, and by
theorem and feature, then the features that a theorem covers and no problem had; it ends with status
1 if `verify` does not accept a file, or if trials contradict a verdict.
"""

import copy
import json
import random
import sys
from collections import Counter
from contextlib import suppress
from typing import Any

import matchprob as mp
from algebra.checker.checks import CheckFailed
from algebra.errors import InputError
from algebra.families.certify import certify
from algebra.families.theorems import theorems
from algebra.families.verify import verify
from algebra.problems.files import problem_from_dict
from algebra.problems.premises import Feature
from algebra.time_limits import LimitReached
from tests.forgeries import _random_question
from tests.grafts import CHANGES

Data = dict[str, Any]
# More unknowns than a search for a match decides in the time of one trial.
MOST_WEIGHTS = 9


def _bound(rng: random.Random, problem: Data) -> None:
    """A bound on the weights of a match, or their signs."""
    rule = rng.choice(({"max_abs": 1.5}, {"max_change": 0.5}, {"sign": "+"}))
    problem["constraints"] = rule


def random_options(rng: random.Random) -> mp.Problem:
    """A random small problem with up to four options."""
    while True:
        with suppress(InputError, CheckFailed, KeyError, TypeError):
            data = copy.deepcopy(_random_question(rng, rng.randrange(7)).to_dict())
            for change in rng.sample((*CHANGES, _bound), rng.randrange(5)):
                change(rng, data)
            problem = problem_from_dict(data)
            if problem.learning.size <= MOST_WEIGHTS:
                return problem


def contradiction(problem: mp.Problem, verdict: str, trials: int, timeout: float) -> str:
    """What trials say against a verdict of maximal or minimal; "" if nothing."""
    if verdict not in ("maximal", "minimal") or Feature.DISCRETE in problem.features:
        return ""
    if problem.constraints and verdict == "maximal":
        # The verdict is about all weights, and says so.
        problem = problem.without_constraints()
    searched = {"complete": True} if verdict == "maximal" else {}
    try:
        found = mp.estimate(problem, trials, seed=5, timeout=timeout, certify=False, **searched)
    except (InputError, mp.LimitReached):
        return ""
    against = found.unmatched if verdict == "maximal" else found.matched
    return f"{against} of {found.trials} trials contradict {verdict!r}" if against else ""


def run(seed: int, count: int) -> tuple[Counter[str], list[tuple[Data, str]]]:
    """Certify, verify and try random problems; print each wrong one, and progress, at once.

    Returns
    -------
    numbers : Counter
        The problems by verdict, by feature, and by theorem and feature.
    wrong : list of (problem, reason)
    """
    rng = random.Random(f"options/{seed}")
    numbers: Counter[str] = Counter()
    wrong = []
    while numbers["problems"] < count:
        problem = random_options(rng)
        try:
            found = certify(
                problem, seed=rng.randrange(9), timeout=20, search=rng.choice((0.0, 0.3))
            )
        except (InputError, LimitReached):
            numbers["refused"] += 1
            continue
        numbers["problems"] += 1
        numbers[found.verdict] += 1
        numbers.update(str(feature) for feature in problem.features)
        if found.theorem is not None:
            name, claim = found.theorem.name, found.theorem.claim
            numbers[f"{name}, {claim}"] += 1
            numbers.update(f"{name}, {claim}: {feature}" for feature in problem.features)
        checks = verify(json.loads(found.to_json()), seed=rng.randrange(9), timeout=60)
        numbers["unfinished"] += checks.is_unfinished
        reason = "" if checks.holds or checks.is_unfinished else f"verify: {checks}"
        reason = reason or contradiction(problem, found.verdict, 20, 5)
        if reason:
            wrong.append((problem.to_dict(), reason))
            print("WRONG", reason, json.dumps(problem.to_dict())[:2_000], flush=True)
        if numbers["problems"] % 100 == 0:
            done = f"{numbers['problems']} problems, {len(wrong)} wrong"
            print(done, file=sys.stderr, flush=True)
    return numbers, wrong


if __name__ == "__main__":
    made, false = run(int(sys.argv[1]), int(sys.argv[2]))
    for name, number in made.most_common():
        print(f"{number:7d}  {name}")
    for theorem in theorems():
        names = [f"{theorem.name}, {theorem.claim}: {feature}" for feature in theorem.covers]
        print("untried", *(name for name in names if not made[name]), sep="\n        ")
    sys.exit(1 if false else 0)
