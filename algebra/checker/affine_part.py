"""Linear networks with MP = 1, since the labels are affine in a matrix that learns: the check.

The theorems are those of `algebra.arguments.affine_part`, and of `algebra.arguments.root_count` for
N = 1: if ρ weights of a matrix that acts once learn, of rank ρ, they solve a linear system.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from algebra.checker.checks import PROVED, CheckFailed
from algebra.checker.claim import Conclusion
from algebra.checker.premises import AFFINE_PART, AFFINE_WHY, ODD_COUNT, ODD_WHY, need_covered
from algebra.checker.root_evidence import solutions
from algebra.declarations import LINEAR

if TYPE_CHECKING:
    from algebra.checker.linear import LinearChecker, LinearProblem


def affine_matrix(evidence: Mapping[str, Any], problem: LinearProblem) -> str:
    """The matrix in whose weights the labels are affine, by a file; "" if it argues otherwise.

    Parameters
    ----------
    evidence : mapping
        Plain data.
    problem : LinearProblem
    """
    learning = sorted({cell[0] for cell in problem.cells})
    if "affine_part" in evidence:
        names = evidence["affine_part"]
        fits = type(names) is list and len(names) == 1 and names[0] in learning
    else:
        names, roots = learning, evidence.get("root_count")
        told = roots if isinstance(roots, Mapping) else {}
        fits = (told.get("rule"), told.get("form"), len(names)) == (LINEAR, "direct", 1)
    return names[0] if fits and problem.network.acts_once(names[0]) else ""


def check_affine(checker: LinearChecker, known: str) -> Conclusion:
    """MP = 1, from ranks that were checked.

    Parameters
    ----------
    checker : LinearChecker
    known : str
        Status of ρ.

    Raises
    ------
    CheckFailed
    """
    claim, problem, roots = checker.claim, checker.problem, checker.evidence.root_count
    theorem = AFFINE_PART if roots is None else ODD_COUNT
    need_covered(claim.verdict, theorem, problem.features)
    name = affine_matrix(claim.evidence, problem)
    text = f"the labels are affine in {name}, of full rank"
    if roots is None:
        part = [cell for cell in problem.cells if cell[0] == name]
        rank, _ = replace(checker.learning, cells=part).rank_again(claim.equations, checker.seed)
        if rank < claim.equations:
            raise CheckFailed("evidence.affine_part", f"has rank {rank}, not {claim.equations}")
        checker.say("evidence.affine_part", PROVED, text)
        checker.say("verdict", known, AFFINE_WHY.format(what=name))
        return Conclusion(known, theorem)
    size = checker.learning.size
    if size != claim.equations:
        text = f"{size} weights for {claim.equations} equations: N is not finite"
        raise CheckFailed("learnable", text)
    checker.say("evidence.root_count", PROVED, f"N = {roots.value} again, {text}")
    why = ODD_WHY.format(solutions=solutions(roots.value))
    checker.say("verdict", known, why + roots.given(known))
    return Conclusion(known, theorem)
