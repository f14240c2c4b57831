"""Why a verdict is known, what stays open, and what would decide it, in sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from algebra.certificates.sentences import OPEN_VALUE, near, reaches
from algebra.certificates.trial_costs import estimate_steps, too_costly
from algebra.checker.verdicts import DISCRETE, INTERMEDIATE, MAXIMAL, MINIMAL, UNDECIDED
from algebra.documents import Explanation, Step, step
from algebra.networks.protocols import HasJacobian
from algebra.problems.premises import Feature
from algebra.time_limits import LimitReached
from algebra.words import plural
from algebra.work import Limits

if TYPE_CHECKING:
    from algebra.certificates.certificate import Certificate
    from algebra.problems.problem import Problem


def explanation(found: Certificate) -> Explanation:
    """The explanation of a verdict, with its reservations."""
    why = _explained(found)
    if found.is_without_constraints:
        why = _without_constraints(why, found)
    return replace(why, known=(DISCRETE, *why.known)) if DISCRETE in found.notes else why


def _without_constraints(why: Explanation, found: Certificate) -> Explanation:
    """The explanation with the reservation that matches need not satisfy the constraints."""
    head = "Without the constraints, which leave fewer matches"
    if found.verdict == INTERMEDIATE:
        head += " (so MP < 1 holds with them too)"
    open_ = "the match probability with the constraints, which leave fewer matches"
    if why.open:
        open_ += f"; and without them, {why.open}"
    first = estimate_steps(found.problem, purpose="the match probability with the constraints")
    steps = [other for other in why.steps if other.verb != "estimate"]
    return replace(why, known=(f"{head}:", *why.known), open=open_, steps=(*first, *steps))


def longer_search(limits: Limits, purpose: str = "a longer search") -> Step:
    """A suggestion: another search, with more work and more time than this verdict had."""
    more_time = max(600.0, 5 * limits.seconds)
    return step("certify", purpose, effort=10 * limits.effort, timeout=more_time)


def _explained(found: Certificate) -> Explanation:
    if found.explained is not None:
        return found.explained
    network = found.problem.network
    # Trials, repairs and losses are known of kinds, not of models.
    is_plain = found.is_plain and network.has_instances
    inspect = (step("inspect", "the ranks, and why they are exact or not"),)
    if found.verdict == MINIMAL:
        why = minimal(found, is_plain)
        return why if network.has_instances else replace(why, steps=inspect)
    reached = () if not found.equations else (reaches(found),)
    if found.verdict == MAXIMAL:
        robust = step("robust", "how many weights may be lost before MP drops to 0")
        steps = (robust, step("identify", "which weights the data determine"))
        return Explanation((*reached, found.why), steps=steps if is_plain else ())
    if found.bounds_only or found.rank < found.equations:
        return _only_bounds(found, inspect)
    if not network.has_instances and found.verdict == INTERMEDIATE:
        return Explanation((*reached, near(found), found.why), OPEN_VALUE, "", inspect)
    if found.verdict == UNDECIDED and (found.on_piece or network.equations_are == "analytic"):
        return _analytic(found, inspect)
    roots = found.generic_root_count
    estimate = estimate_steps(found.problem, roots)
    warning = too_costly(found.problem, roots)
    if found.verdict == INTERMEDIATE:
        repair = step("repair", "the fewest moves that make MP = 1", goal="maximal")
        more = (repair,) if is_plain and found.generic_root_count is not None else ()
        facts = (*reached, near(found), found.why, *warning)
        return Explanation(facts, OPEN_VALUE, "", (*estimate, *more))
    assert found.verdict == UNDECIDED
    known = [*reached, f"So {near(found)}", *warning]
    if found.learnable > found.equations:
        cut = longer_search(found.limits, "the counts that were cut off")
        longest = (cut,) if found.out_of_time else ()
        return Explanation(
            tuple(known),
            f"whether MP = 1: {found.learnable} weights for {found.equations} equations, so "
            "matches form families, whose number is infinite, and no part of the "
            "allocation with as many weights as equations was shown to be maximal",
            f"{found.equations} of the weights with an odd number of complex solutions (then MP = "
            "1), or one instance without a real solution (then MP < 1)",
            (
                *longest,
                *estimate_steps(
                    found.problem,
                    purpose="a lower bound of MP: matches are found, but never excluded",
                ),
            ),
        )
    if roots is not None:
        known.append(
            f"Almost every instance has N = {roots} complex solutions. N is even, so all of them "
            "may be non-real, in conjugate pairs: parity does not decide."
        )
        return Explanation(
            tuple(known),
            "whether some instances have no real solution: none was found among those searched",
            f"one instance whose {roots} solutions are all non-real (then 0 < MP < 1)",
            (longer_search(found.limits), *estimate),
        )
    # Loaded here, as below: few verdicts need it.
    from algebra.systems.forms import beyond_counting

    is_beyond = beyond_counting(found.problem.allocation) is not None
    longest = () if is_beyond else (longer_search(found.limits, "more work for the count"),)
    least = found.root_count_at_least
    if least is not None:
        known.append(f"N ≥ {least}: this many complex solutions were found numerically.")
    return Explanation(
        tuple(known),
        "whether MP = 1: the number N of complex solutions is not known, so neither its parity nor "
        "a complete count of one instance can be used",
        "a complete count: MP = 1 if N is odd; 0 < MP < 1 if N is even and some instance has no "
        "real solution",
        (
            *longest,
            step("inspect", "the size of the core, which is smaller if fewer rows learn"),
            *estimate,
        ),
    )


def _only_bounds(found: Certificate, inspect: tuple[Step, ...]) -> Explanation:
    """What stays open if the generic ranks are not known, or only on one piece."""
    where = " on the activation pattern that was drawn" if found.on_piece else ""
    values = "" if found.on_piece else ", with formal values"
    return Explanation(
        (
            f"The learnable weights have rank {found.rank}, the whole network {found.equations}"
            f"{where}{values}.",
        ),
        "whether MP > 0",
        "an activation pattern on which both ranks are equal (then MP > 0)"
        if found.on_piece
        else "a regular minor of the Jacobian in ball arithmetic",
        inspect,
    )


def _analytic(found: Certificate, inspect: tuple[Step, ...]) -> Explanation:
    """What stays open for analytic labels of full rank, on all weights or on a piece."""
    known = (reaches(found), f"So {near(found)}")
    if found.on_piece:
        return Explanation(
            known,
            "whether MP = 1",
            "a proof for all activation patterns: where a unit is off, weights before it do not "
            "change the labels",
            inspect,
        )
    open_ = (
        "whether MP = 1: an analytic network has no finite number of complex solutions, so neither "
        "parity nor a complete count can be used, and some weights of each output learn"
    )
    decided = (
        "an output with no learnable weights whose units are bounded (then MP < 1), or parameters "
        "in which the labels are affine with full rank, such as a read-out (then MP = 1)"
    )
    if not found.problem.network.has_instances:
        return Explanation(known, open_, decided, inspect)
    steps = estimate_steps(found.problem)
    return Explanation((*known, *too_costly(found.problem)), open_, decided, steps)


def minimal(found: Certificate, is_plain: bool) -> Explanation:
    """Why MP = 0, and what to try if the problem is one of cells (`is_plain`)."""
    lacking = found.equations - found.rank
    plain = Feature.ARBITRARY_LABELS not in found.problem.features
    weights = f"the {found.learnable} learnable weights change"
    if found.learnable == 1:
        weights = "the one learnable weight changes"
    known = [
        f"MP = 0: a match has to satisfy "
        f"{plural(found.equations, f'{found.equations} independent equation')}, and {weights} the "
        f"outputs in {plural(found.rank, f'{found.rank} independent direction')} only, {lacking} "
        f"too few: {'the labels of almost every teacher' if plain else 'almost all labels'} are "
        "out of reach."
    ]
    if found.learnable < found.equations:
        least = found.equations - found.learnable
        known.append(f"At least {least} more weight{'s' * (least != 1)} must learn.")
    elif found.reasons:
        known.append("There are enough weights, but in the wrong places:")
        known += [f"  {reason}" for reason in found.reasons]
    steps = [step("inspect", "the blocks with more equations than unknowns")]
    if is_plain:
        steps.insert(0, step("repair", "the fewest moves that make MP > 0"))
    return Explanation(tuple(known), steps=tuple(steps))


def explain_unfinished(problem: Problem, over: LimitReached, timeout: float = 120.0) -> Explanation:
    """The explanation of an allocation whose ranks were not found in time.

    Parameters
    ----------
    problem : Problem
    over : LimitReached
        The limit that ended the work.
    timeout : float, optional
        The time limit of the call.
    """
    network = problem.network
    known = [f"Tried: {over}."]
    if not (problem.is_random or problem.updates):
        size = problem.allocation.size
        known.append(
            f"{plural(size, f'{size} weight')} of {network.parameters} learn, for "
            f"{plural(network.outputs, f'{network.outputs} label')}."
        )
        if isinstance(network, HasJacobian) and network.chain() is not None:
            most = network.label_dimension_bound
            known.append(
                f"By counting, at most {plural(most, f'{most} equation')} of them "
                f"{'is' if most == 1 else 'are'} independent."
            )
    return Explanation(
        tuple(known),
        "everything else: whether the learnable weights reach all independent equations (MP > 0)",
        "the generic rank of the Jacobian, with more time or for a smaller net",
        (
            step("certify", "more time", timeout=max(600.0, 5 * timeout)),
            step("inspect", "counts of rows and columns, which need no rank"),
        ),
    )
