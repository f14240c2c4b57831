"""As many weights as equations: maximal because the number of complex solutions is odd.

Let ρ weights learn, with a Jacobian of rank ρ, and let N be the number of complex solutions of a
generic instance (`algebra.systems.root_count`).

**Theorem.** If N is odd, in particular 1, MP = 1.

*Proof.* A generic real instance has N solutions, all of them simple.  Non-real ones occur in
conjugate pairs, so one is real. ∎

N is counted modulo primes.  If msolve is missing or too slow, a numerical counter may be used; the
rule of a verdict that depends on it names it.  Even N decides nothing by itself.

*Survey*: of the first 240 nets of `benchmarks/bench_undecided.py` it decides 31, all of them alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from algebra.arguments.argument import OF_ALL, Argument, Claimed, FoundEvidence
from algebra.checker.checks import CheckFailed
from algebra.checker.premises import ODD_COUNT, ODD_WHY
from algebra.checker.root_evidence import RootEvidence
from algebra.checker.verdicts import MAXIMAL
from algebra.declarations import LINEAR
from algebra.problems.problem import Problem
from algebra.time_limits import OutOfTime

if TYPE_CHECKING:
    from algebra.arguments.case import Case


def search(case: Case) -> FoundEvidence | None:
    """N is counted; maximal where it is odd."""
    from algebra.systems.root_count import RootCountError, generic_root_count

    if case.has_surplus:
        return None
    problem, effort = case.problem, case.effort
    try:
        roots = generic_root_count(
            problem.allocation, problem.student(), seed=effort.seed, timeout=case.seconds,
            fallback=effort.tools.root_counter, has_full_rank=True,
        )  # fmt: skip
    except (RootCountError, OutOfTime) as met:
        case.tried[ARGUMENT.name] = f"generic root count: {met}"
        case.at_least = met.at_least if isinstance(met, RootCountError) else None
        return None
    case.roots = roots
    case.counted(roots)
    if roots.is_numerical:
        case.notes.append(f"N = {roots.value}: {roots.how} ({roots.because})")
    if roots.value % 2 == 0:
        return None
    rule = f"odd generic root count{case.how}"
    if roots.value == 1:
        is_linear = roots.rule == LINEAR
        rule = (
            "linear after elimination"
            if is_linear
            else f"one solution, rational in the data{case.how}"
        )
    return FoundEvidence(MAXIMAL, rule)


def check(problem: Problem, roots: RootEvidence, claimed: Claimed) -> str:
    """N is odd, and counted again by another method."""
    from algebra.arguments.recount import check_root_count

    if roots.value % 2 == 0:
        text = f"{roots.value} is even: it does not prove MP = 1"
        raise CheckFailed("evidence.root_count", text)
    return check_root_count(problem, problem.allocation, roots, claimed)


ARGUMENT = Argument(
    name=ODD_COUNT.name,
    form=RootEvidence,
    why={MAXIMAL: ODD_WHY},
    search=search,
    check=check,
    covers={MAXIMAL: ODD_COUNT.covers},
    counts=OF_ALL,
)
