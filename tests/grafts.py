"""Grafts: evidence of a genuine file in a valid envelope of a problem with other features.

A theorem holds for the features that it lists (`algebra.checker.premises`).  Here options are
added to the problem of a genuine certificate, in every place where they can stand: in the problem,
in its teacher, in the part or the lowered problem inside the evidence.  The envelope is made
honestly for the changed problem: ranks, their witnesses, numbers, notes; the argument is kept.  An
accepted graft is judged independently: `certify` reaches the same verdict, or trials do not
contradict it.

``python -m tests.grafts SEED COUNT`` makes and judges COUNT grafts and prints their number by
feature; it ends with status 1 if a false claim holds.
"""

import copy
import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import matchprob as mp
from algebra.arguments.case import Case
from algebra.arguments.certify import generic_ranks
from algebra.certificates.tools import Effort
from algebra.checker.checks import CheckFailed
from algebra.checker.problem_tables import read_problem
from algebra.checker.verdicts import DISCRETE
from algebra.errors import InputError, Unfinished
from algebra.families.arbitrary_labels import certify_by_number
from algebra.families.verify import verify
from algebra.problems.files import problem_from_dict
from algebra.problems.premises import Feature
from tests.forgeries import genuine
from tests.tampering import intermediate_file, maximal_file

Data = dict[str, Any]
Change = Callable[[random.Random, Data], None]

# -- options -----------------------------------------------------------------------------


def _network(problem: Data) -> Any:
    return problem_from_dict({"network": problem["network"], "learnable": {}}).network


def _laws(problem: Data) -> Data:
    return problem.setdefault("distribution", {})


def _law(rng: random.Random, problem: Data) -> None:
    _laws(problem)[rng.choice(("weights", "inputs", "teacher"))] = rng.choice(
        ("uniform", "uniform", "rademacher")
    )


def _labels(rng: random.Random, problem: Data) -> None:
    laws = _laws(problem)
    laws["labels"] = "normal"
    laws.pop("teacher", None)


def _scale(rng: random.Random, problem: Data) -> None:
    _laws(problem)["scale"] = {rng.choice(list(_network(problem).shapes)): "3/2"}


def _signs(rng: random.Random, problem: Data) -> None:
    name, (rows, columns) = rng.choice(list(_network(problem).shapes.items()))
    entries = [[rng.choice((1, -1, 0)) for _ in range(columns)] for _ in range(rows)]
    _laws(problem)["signs"] = {name: entries}


def _values(rng: random.Random, problem: Data) -> None:
    name, (rows, columns) = rng.choice(list(_network(problem).shapes.items()))
    numbers = ("0", "1", "-2", "1/3", "")
    entries = [[rng.choice(numbers) for _ in range(columns)] for _ in range(rows)]
    problem["values"] = {name: entries}
    if rng.random() < 0.3:
        problem["values"]["jitter"] = "1/10"


def _zeros(rng: random.Random, problem: Data) -> None:
    """Structural zeros outside what learns, sometimes everything that does not learn."""
    name, (rows, columns) = rng.choice(list(_network(problem).shapes.items()))
    learns = problem["learnable"].get(name)
    if isinstance(learns, dict):
        return
    share = rng.choice((0.0, 0.5, 0.8))
    mask = [
        [int(bool(learns and learns[i][j]) or rng.random() < share) for j in range(columns)]
        for i in range(rows)
    ]
    problem.setdefault("support", {})[name] = mask


def _update(rng: random.Random, problem: Data) -> None:
    """A matrix that learns by an update, in place of its cells or beside the others."""
    name, (rows, columns) = rng.choice(list(_network(problem).shapes.items()))
    tied = [[rng.randint(0, 2) for _ in range(columns)] for _ in range(rows)]
    problem["learnable"][name] = rng.choice(
        ({"lora": 1}, {"gain": "rows"}, {"gain": "columns"}, {"tied": tied})
    )


def _teacher(rng: random.Random, problem: Data) -> None:
    """A teacher of the same kind and another size, or of another law."""
    network = copy.deepcopy(problem["network"])
    for key in ("n", "widths"):
        if key in network:
            more = rng.choice((-1, 0, 1, 2))
            wide = lambda size, more=more: max(1, size + more)  # noqa: E731
            old = network[key]
            network[key] = [wide(k) for k in old] if isinstance(old, list) else wide(old)
    problem["teacher"] = {"network": network}
    if rng.random() < 0.3:
        problem["teacher"]["distribution"] = {"weights": rng.choice(("uniform", "rademacher"))}
    _laws(problem).pop("labels", None)
    _laws(problem).pop("teacher", None)


CHANGES: tuple[Change, ...] = (
    _law, _labels, _scale, _signs, _values, _zeros, _update, _teacher,
)  # fmt: skip

# -- envelopes ---------------------------------------------------------------------------

_RANKS = ("network_rank", "allocation_rank")


def _envelope(claim: Data) -> None:
    """Ranks, numbers and notes that are right for the changed problem; the argument is kept."""
    problem = read_problem(json.loads(json.dumps(claim["problem"])))
    claim["learnable"] = problem.learning.size
    claim["notes"] = [note for note in claim["notes"] if note != DISCRETE]
    if Feature.DISCRETE in problem.features:
        claim["notes"].append(DISCRETE)
    if problem.teacher is not None or problem.updates or "allocation_rank" not in claim["evidence"]:
        return
    made = Case(problem, Effort(), generic_ranks(problem, 0), problem.features)
    kept = {k: v for k, v in claim["evidence"].items() if k not in _RANKS}
    claim["evidence"] = {**made.evidence, **kept}
    claim |= {"equations": made.whole.rank, "rank": made.own.rank, "prime": made.own.p}


def _with_teacher(rng: random.Random, claim: Data) -> Data:
    """The claim of a problem with a teacher, whose evidence is the graft on arbitrary labels."""
    inner = copy.deepcopy(claim)
    del inner["problem"]["teacher"]
    _labels(rng, inner["problem"])
    with suppress(InputError, CheckFailed):
        _envelope(inner)
    problem = read_problem(json.loads(json.dumps(claim["problem"])))
    found = problem.teacher.network
    with suppress(InputError):
        tau = generic_ranks(problem.teacher, 0)[0].rank if found.rank_decides else 0
        return {
            **claim, "equations": tau, "rank": inner["rank"], "prime": inner["prime"],
            "generic_root_count": None, "error_bound": inner["error_bound"],
            "evidence": {"arbitrary": inner},
        }  # fmt: skip
    return claim


def _inside(rng: random.Random, claim: Data) -> bool:
    """Whether an option was hidden in the certificate inside the evidence."""
    for key in ("part", "lowered", "arbitrary"):
        own = claim["evidence"].get(key)
        if isinstance(own, dict) and rng.random() < 0.6:
            rng.choice(CHANGES)(rng, own["problem"])
            with suppress(InputError, CheckFailed):
                _envelope(own)
            return True
    return False


def _by_number(claim: Data) -> None:
    """The evidence of a count of parameters, in place of the file's."""
    problem = read_problem(json.loads(json.dumps(claim["problem"])))
    found = certify_by_number(problem, Effort()).to_dict()
    claim |= {k: found[k] for k in ("equations", "rank", "prime", "error_bound", "evidence")}


def graft(rng: random.Random, data: Data) -> Data | None:
    """A claim made of a genuine file's argument for a problem with more features; None: no claim.

    Parameters
    ----------
    rng : random.Random
    data : dict
        The content of a genuine certificate.
    """
    claim: Data = copy.deepcopy(data)
    if _inside(rng, claim):
        return claim
    with suppress(InputError, CheckFailed, KeyError, TypeError):
        for change in rng.sample(CHANGES, rng.choice((1, 1, 2, 3))):
            change(rng, claim["problem"])
        if "teacher" in claim["problem"]:
            return _with_teacher(rng, claim)
        _envelope(claim)
        if rng.random() < 0.05:
            _by_number(claim)
        return claim
    return None


# -- truth -------------------------------------------------------------------------------


def is_false(claim: Data) -> str:
    """Why a claim that holds is false; "" if nothing contradicts it."""
    problem = problem_from_dict(claim["problem"])
    verdict = claim["verdict"]
    if verdict == "undecided":
        return ""
    found = mp.certify(problem, seed=77, timeout=20, search=0.5)
    if found.verdict == verdict:
        return ""
    if found.verdict != "undecided":
        return f"certify says {found.verdict}"
    if problem.updates or Feature.DISCRETE in problem.features:
        return ""
    trials = mp.estimate(problem, 100, seed=77, timeout=60, complete=True)
    if verdict == "maximal" and trials.unmatched:
        return f"{trials.unmatched} of {trials.trials} trials have no match"
    if verdict == "minimal" and trials.matched:
        return f"{trials.matched} of {trials.trials} trials have a match"
    return ""


def files(seed: int, number: int) -> list[Data]:
    """Genuine certificates with every argument."""
    makers = (genuine, maximal_file, intermediate_file, genuine)
    return [makers[k % 4](seed * 10_000 * (k % 4 in (0, 3)) + k) for k in range(number)]


def run(seed: int, count: int) -> tuple[Counter[str], list[tuple[Data, str]]]:
    """Make, verify and judge grafts; print each false one, and progress, at once.

    Returns
    -------
    numbers : Counter
        The grafts that were made, those that hold, and those with each feature.
    wrong : list of (claim, reason)
        False claims that hold.
    """
    rng = random.Random(f"grafts/{seed}")
    given = files(seed, max(8, min(200, count // 20)))
    numbers: Counter[str] = Counter()
    wrong = []
    while numbers["grafts"] < count:
        claim = graft(rng, rng.choice(given))
        if claim is None:
            continue
        numbers["grafts"] += 1
        with suppress(CheckFailed, InputError):
            features = read_problem(json.loads(json.dumps(claim["problem"]))).features
            numbers.update(str(feature) for feature in features)
        try:
            found = verify(json.loads(json.dumps(claim)), seed=rng.randrange(100), timeout=20)
        except (InputError, Unfinished):
            numbers["refused"] += 1
            continue
        if found.holds:
            numbers["hold"] += 1
            reason = is_false(claim)
            if reason:
                wrong.append((claim, reason))
                print("FALSE", reason, json.dumps(claim)[:2_000], flush=True)
        if numbers["grafts"] % 500 == 0:
            print(f"{numbers['grafts']} grafts, {len(wrong)} false", file=sys.stderr, flush=True)
    return numbers, wrong


if __name__ == "__main__":
    made, false = run(int(sys.argv[1]), int(sys.argv[2]))
    for name, number in made.most_common():
        print(f"{number:7d}  {name}")
    sys.exit(1 if false else 0)
