"""Certificates of normalization networks checked again, from scratch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flint import fmpz

from algebra.certificates.certificate import INTERMEDIATE, MAXIMAL, MINIMAL, UNDECIDED
from algebra.certificates.checks import FAILED, PROBABLE, PROVED, TRUSTED, Check, Verification
from algebra.certificates.family import Effort
from algebra.errors import InputError
from algebra.linear.verify import verify_linear
from algebra.networks.normalization import NormNet
from algebra.normalization.blocks import block_solvable, shifts_fit
from algebra.normalization.certify import NARROW, effective_learnable, student_rank
from algebra.normalization.lowering import lowered_problem, target_rank
from algebra.problems.problem import Problem, problem_from_dict


def verify_normnet(data: Mapping[str, Any], effort: Effort) -> Verification:
    """Check a certificate of a normalization network from scratch.

    Parameters
    ----------
    data : mapping
        The content of ``cert.json``.
    effort : Effort
        New points follow from its seed.

    Returns
    -------
    Verification
    """
    verdict = str(data.get("verdict"))
    try:
        checks = _checks(data, verdict, effort)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, InputError) as error:
        checks = [Check("evidence", FAILED, f"malformed: {type(error).__name__}: {error}")]
    return Verification(verdict, tuple(checks))


def _checks(data: Mapping[str, Any], verdict: str, effort: Effort) -> list[Check]:
    seed = effort.seed
    problem = problem_from_dict(data["problem"])
    network = problem.network
    assert isinstance(network, NormNet)
    evidence = data["evidence"]
    again = target_rank(network, seed)
    if again.rank != data["equations"]:
        return [Check("equations", FAILED, f"a new point shows rank {again.rank}")]
    status = PROVED if again.is_proved else PROBABLE
    checks = [Check("equations", status, f"the target's labels have dimension {again.rank}")]
    if data["learnable"] != problem.allocation.size:
        return [*checks, Check("learnable", FAILED, f"the masks hold {problem.allocation.size}")]
    if verdict == MAXIMAL and "construction" in evidence:
        return checks + _construction_checks(problem, evidence["construction"])
    if "lowered" in evidence:
        lowered = evidence["lowered"]
        if problem_from_dict(lowered["problem"]) != lowered_problem(problem):
            return [*checks, Check("evidence.lowered", FAILED, "it is another problem's")]
        if (lowered["verdict"], lowered["equations"]) != (verdict, again.rank):
            return [*checks, Check("evidence.lowered", FAILED, "it says something else")]
        return checks + list(verify_linear(lowered, effort).checks)
    if verdict == MINIMAL and "student_rank" in evidence and network.is_linear:
        whole = student_rank(problem, seed)
        if whole.rank >= again.rank:
            return [*checks, Check("evidence.student_rank", FAILED, f"rank {whole.rank}")]
        status = PROVED if whole.is_proved else PROBABLE
        text = NARROW.format(whole.rank, again.rank)
        return [*checks, Check("evidence.student_rank", status, text)]
    if verdict == UNDECIDED:
        return [*checks, Check("verdict", TRUSTED, "undecided: nothing more is claimed")]
    r = effective_learnable(problem)
    text = f"{r} learnable weights in effect, labels of dimension {again.rank}"
    silent = problem.allocation.masks[f"b{2 * network.depth}"].all()
    good = not network.is_linear and r < again.rank
    good &= verdict == (MINIMAL if network.depth == 1 else INTERMEDIATE)
    good &= network.depth == 1 or bool(silent)
    return [*checks, Check("verdict", PROVED if good else FAILED, text)]


def _construction_checks(problem: Problem, blocks: Any) -> list[Check]:
    network = problem.network
    assert isinstance(network, NormNet)
    checks: list[Check] = []
    missing = shifts_fit(problem)
    if missing:
        return [Check("evidence.construction", FAILED, missing)]
    if [block["layer"] for block in blocks] != list(range(1, network.depth + 1)):
        return [Check("evidence.construction", FAILED, "a layer is missing")]
    for block in blocks:
        p, number = block["witness"]
        place = f"evidence.construction[{block['layer'] - 1}]"
        if not (isinstance(p, int) and 2**20 < p < 2**31 and fmpz(p).is_prime()):
            return [*checks, Check(place, FAILED, f"{p!r} is not a prime between 2^20 and 2^31")]
        good, equations, _ = block_solvable(problem, block["layer"], p, number)
        if not good or equations != block["equations"]:
            return [*checks, Check(place, FAILED, "the point does not show it")]
        checks.append(Check(place, PROVED, f"{equations} equations solved modulo {p}"))
    text = "every layer is realized for generic weights: each instance has a match"
    return [*checks, Check("verdict", PROVED, text)]
