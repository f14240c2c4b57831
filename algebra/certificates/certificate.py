"""A verdict on an allocation and its evidence: the object, its field names and its plain data.

The families of networks reach verdicts (`algebra.families.registry`); the evidence of each verdict
is described in ``docs/verification.md``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from algebra.certificates.checks import VERDICTS as VERDICTS
from algebra.certificates.sparse import compact
from algebra.documents import Document, Explanation, Paragraph, Step, step
from algebra.linalg.rational import nearest_double
from algebra.networks.limits import plural
from algebra.problems.problem import Problem
from algebra.ranks.root_count_error import CountCertainty
from algebra.results import Result, named
from algebra.time_limits import LimitReached, Limits

FORMAT, VERSION = "matchprob-certificate", 1

MINIMAL, MAXIMAL, INTERMEDIATE, UNDECIDED = VERDICTS

# For discrete weights or inputs.
DISCRETE = "the law is discrete: this is a statement about generic instances, not about MP"


@dataclass(frozen=True, repr=False)
class Certificate(Result):
    """A verdict and its evidence.

    Attributes
    ----------
    problem : Problem
    verdict : str
        "minimal", "maximal", "intermediate" or "undecided".
    rule : str
        The argument, in a few words.
    equations : int
        Generic rank ρ of the whole network's Jacobian.
    rank : int
        Generic rank of the allocation's Jacobian.
    prime : int
        Prime of the point at which `rank` was computed; 0 if none was needed.
    error_bound : Fraction
        Bound on the probability that the verdict is wrong because of an unlucky point; 0 if it is
        proved.
    generic_root_count : int or None
    theorems : mapping of str to str
        What the papers' theorems, as stated, say: "maximal", "minimal" or "silent".
    reasons : tuple of str
        For a minimal allocation the violated budgets, in words.
    notes : tuple of str
    tried : tuple of str
        For an undecided allocation, the attempts.
    evidence : mapping
        Plain data, see `Certificate.to_dict`.
    root_count_at_least : int or None
        Number of complex solutions found if their total is unknown: numerical, not evidence, and
        not in the file.
    root_count_certainty : CountCertainty or None
        Certainty of the generic root count on which the verdict depends; not in the file, where it
        would be no evidence.
    out_of_time : bool
        Whether a time limit ended a computation that might have decided it; not in the file.
    limits : Limits
        The limits of the call that made it; not in the file.
    """

    problem: Problem
    verdict: str
    rule: str
    equations: int
    rank: int
    prime: int
    error_bound: Fraction
    generic_root_count: int | None = None
    theorems: Mapping[str, str] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict, repr=False)
    seed: int = 0
    seconds: float = 0.0
    root_count_at_least: int | None = field(default=None, compare=False)
    root_count_certainty: CountCertainty | None = field(default=None, compare=False)
    out_of_time: bool = field(default=False, compare=False)
    limits: Limits = field(default=Limits(), compare=False)

    def __hash__(self) -> int:
        return hash((self.problem, self.verdict, self.rule))

    @property
    def learnable(self) -> int:
        """Number r of learnable weights."""
        return self.problem.learning.size

    def to_dict(self) -> dict[str, Any]:
        """The certificate as plain data (the content of ``cert.json``)."""
        names = ("verdict", "rule", "equations", "rank", "learnable", "prime")
        more = ("generic_root_count", "theorems", "reasons", "notes", "tried", "seed", "evidence")
        return {
            "format": FORMAT,
            "version": VERSION,
            "problem": compact(self.problem.to_dict()),
            **named(self, *names),
            # The only inexact number here: the bound, rounded for other programs.
            "error_bound": nearest_double(self.error_bound),
            **named(self, *more),
        }

    def to_json(self) -> str:
        """The text of ``cert.json``."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def document(self) -> Document:
        """The verdict and its evidence."""
        return _document(self)


def _document(found: Certificate) -> Document:
    """The document of a certificate."""
    statements = [f"{name}: {word}" for name, word in found.theorems.items() if word != "silent"]
    facts = {
        "equations": found.equations,
        "rank": found.rank,
        "learnable": found.learnable,
        "generic_root_count": found.generic_root_count,
        "certainty": certainty(found),
        "theorems": "; ".join(statements) or "silent",
    }
    # Reasons and notes that the explanation has are not repeated.
    why = _why(found)
    texts = [
        text
        for text in (*found.reasons, *found.notes, *found.tried)
        if text not in [known.strip() for known in why.known]
    ]
    document = Document(
        f"{found.verdict}: {found.rule}",
        {"verdict": found.verdict, "rule": found.rule, **facts},
        tuple(Paragraph(f"  {text}") for text in texts),
        why,
        tone=found.verdict,
    )
    names = found.problem.names
    return document.mapped(names.annotate) if names else document


def certainty(found: Certificate) -> str:
    """The certainty of the ranks, and of the number N of solutions."""
    bound = found.error_bound
    if bound:
        text = f"rank: error at most {bound.numerator / bound.denominator:.1e}"
    elif not found.prime:
        return "proved"
    else:
        text = f"rank proved modulo {found.prime}"
    if found.root_count_certainty is not None:
        text += f"; N {found.root_count_certainty.text}"
    return text


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
    from algebra.questions.theorems.statements import what_theorems_say

    network = problem.network
    known = [f"Tried: {over}."]
    if not (problem.is_random or problem.updates):
        size = problem.allocation.size
        known.append(
            f"{plural(size, f'{size} weight')} of {network.parameters} learn, for "
            f"{plural(network.outputs, f'{network.outputs} label')}."
        )
        if network.chain() is not None:
            most = network.label_dimension_bound
            known.append(
                f"By counting, at most {plural(most, f'{most} equation')} of them "
                f"{'is' if most == 1 else 'are'} independent."
            )
        statements = [
            f"{name}: {word}"
            for name, word in what_theorems_say(network, problem.allocation).items()
            if word != "silent"
        ]
        if statements:
            known.append("The papers' theorems, as stated (not a proof): " + "; ".join(statements))
    return Explanation(
        tuple(known),
        "everything else: whether the learnable weights reach all independent equations (MP > 0)",
        "the generic rank of the Jacobian, with more time or for a smaller net",
        (
            step("certify", "more time", timeout=max(600.0, 5 * timeout)),
            step("inspect", "counts of rows and columns, which need no rank"),
        ),
    )


def _why(found: Certificate) -> Explanation:
    why = _explained(found)
    return replace(why, known=(DISCRETE, *why.known)) if DISCRETE in found.notes else why


def _longer(found: Certificate) -> float:
    """Seconds for another search: more than this verdict had."""
    return max(60.0, 5 * found.limits.search)


def _explained(found: Certificate) -> Explanation:
    if found.problem.updates:
        return _of_updates(found)
    if not found.problem.network.has_instances:
        return _of_program(found)
    more_time = max(600.0, 5 * found.limits.seconds)
    longer = step("certify", "a search of more instances", search=_longer(found))
    inner: Mapping[str, Any] = found.evidence.get("lowered", {}).get("evidence", found.evidence)
    # Repairs and losses apply to the problem as it is.
    is_plain = "network_rank" in found.evidence
    if found.verdict == MINIMAL:
        return _minimal(found, is_plain)
    if found.verdict == MAXIMAL:
        return _maximal(found, inner, is_plain)
    estimate = step("estimate", "the match probability, with bounds", trials=1000)
    if found.verdict == INTERMEDIATE:
        return _intermediate(found, inner, estimate, is_plain)
    assert found.verdict == UNDECIDED
    if "network_rank" not in inner:
        known = [*found.notes]
        open_ = (
            "whether every instance has a match: which units are active differs between samples, "
            "and neither counts of weights and equations nor a search decided it for all instances"
        )
        steps = [step("certify", "a longer search", search=_longer(found)), estimate]
        if "active_rank" in inner:
            steps.append(step("decide", "one instance, with a proof for it"))
        decided = "one instance without a match that persists nearby (then MP < 1)"
        return Explanation(tuple(known), open_, decided, tuple(steps))
    known = [_reaches(found), f"So {_NEAR}"]
    if "regular_minor" in inner:
        return Explanation(
            tuple(known),
            "whether MP = 1: an analytic network has no finite number of complex solutions, so "
            "neither parity nor a complete count can be used, and some weights of each output "
            "learn",
            "an output with no learnable weights (then MP < 1), or an allocation in which only "
            "the read-out learns (then MP = 1)",
            (estimate,),
        )
    if found.learnable > found.equations:
        cut = step("certify", "time for the counts that were cut off", timeout=more_time)
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
                step(
                    "estimate",
                    "a lower bound of MP: matches are found, but never excluded",
                    trials=1000,
                ),
            ),
        )
    roots = found.generic_root_count
    if roots is not None:
        known.append(
            f"Almost every instance has N = {roots} complex solutions. N is even, so all of them "
            "may be non-real, in conjugate pairs: parity does not decide."
        )
        return Explanation(
            tuple(known),
            "whether some instances have no real solution: none was found among those searched",
            f"one instance whose {roots} solutions are all non-real (then 0 < MP < 1)",
            (longer, estimate),
        )
    # Loaded here, as below: few verdicts need it.
    from algebra.systems.forms import beyond_counting

    is_beyond = beyond_counting(found.problem.allocation) is not None
    longest = () if is_beyond else (step("certify", "more time for the count", timeout=more_time),)
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
            estimate,
        ),
    )


def _of_program(found: Certificate) -> Explanation:
    """The explanation of a verdict on a program that was read from a file: only ranks are known."""
    inspect = step("inspect", "the ranks, and why they are exact or not")
    if found.verdict == MINIMAL:
        why = _minimal(found, False)
        return replace(why, steps=(inspect,))
    if found.verdict == MAXIMAL:
        if "everything_learns" in found.evidence:
            return Explanation((_AT_ONCE["everything_learns"],))
        part = ", ".join(found.evidence["affine_part"])
        why_one = (
            f"MP = 1: the labels are affine in {part}, with full rank, so the equations are linear "
            "and have a solution."
        )
        return Explanation((_reaches(found), why_one))
    pieces = "pattern" in found.evidence
    if found.rank == found.equations and "upper_bounds" not in found.evidence:
        return Explanation(
            (_reaches(found), f"So {_NEAR}"),
            "whether MP = 1",
            "a proof for all activation patterns: where a unit is off, weights before it do not "
            "change the labels"
            if pieces
            else "parameters in which the labels are affine with full rank, as in a last layer "
            "(then MP = 1)",
            (inspect,),
        )
    return Explanation(
        (
            f"The learnable weights have rank {found.rank}, the whole network {found.equations}"
            + (" on the activation pattern that was drawn." if pieces else ", with formal values."),
        ),
        "whether MP > 0",
        "an activation pattern on which both ranks are equal (then MP > 0)"
        if pieces
        else "a regular minor of the Jacobian in ball arithmetic",
        (inspect,),
    )


def _reaches(found: Certificate) -> str:
    return (
        f"Not minimal: the {found.learnable} learnable weights reach all {found.equations} "
        f"independent equations (rank {found.rank})."
    )


def _minimal(found: Certificate, is_plain: bool) -> Explanation:
    lacking = found.equations - found.rank
    weights = f"the {found.learnable} learnable weights change"
    if found.learnable == 1:
        weights = "the one learnable weight changes"
    known = [
        f"MP = 0: a match has to satisfy "
        f"{plural(found.equations, f'{found.equations} independent equation')}, and {weights} the "
        f"outputs in {plural(found.rank, f'{found.rank} independent direction')} only, {lacking} "
        "too few: the labels of almost every teacher are out of reach."
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


# Why MP = 1, by the evidence: without further words on ranks and steps.
_AT_ONCE = {
    "labels_vanish": "MP = 1. No path leads from an input to an output: every label is 0, and each "
    "student matches.",
    "construction": "MP = 1. The learnable weights of each layer solve the linear equations of the "
    "target's layer.",
    "everything_learns": "MP = 1: every weight learns, so the teacher itself is a student.",
}
_REACHED = (
    "MP = 1: after a change of basis of the hidden units, which changes no label, the teacher "
    "differs from the student in learnable weights only."
)
# Why MP = 1, by the evidence, for allocations that are not minimal.
_WHY_ONE = {
    "teacher_reached": _REACHED,
    "dual_bases": _REACHED,
    "sub_allocation": "MP = 1: for {} of the weights alone the number of complex solutions is odd, "
    "and a match of these weights is a match of all learnable weights.",
    "whole_column": "MP = 1: a whole column of W learns, and it is mapped to the labels by a "
    "proper map whose real degree is not 0, so every label is reached.",
    "at_infinity": "MP = 1: in the limit in which some weights grow without bound, the equations "
    "have an odd number of complex solutions, so at least one is real. Near it lie real solutions "
    "of the equations themselves, with large weights.",
    "partial_products": "MP = 1: if as many entries of products of weight matrices as there are "
    "surplus weights are given any values, the number of complex solutions is odd, so at least one "
    "is real.",
    "critical_points": "MP = 1: the distance of a student from a given point has an odd number of "
    "complex critical points among all students of an instance, so at least one of them is real.",
    "tied": "MP = 1: with weights tied into as many groups as there are equations, the number of "
    "complex solutions is odd, so at least one is real.",
}
_READ_OUT = (
    "MP = 1: the labels are linear in the weights of the read-out that learn, and these linear "
    "equations have a solution, whichever other weights learn."
)


def _odd(found: Certificate) -> str:
    """Why an odd number of complex solutions implies MP = 1."""
    if found.generic_root_count == 1:
        return (
            "MP = 1: almost every instance has exactly one complex solution, which is therefore "
            "real."
        )
    return (
        f"MP = 1: almost every instance has N = {found.generic_root_count} complex solutions. "
        "Non-real ones come in pairs and N is odd, so at least one is real."
    )


def _maximal(found: Certificate, evidence: Mapping[str, Any], is_plain: bool) -> Explanation:
    for key, text in _AT_ONCE.items():
        if key in evidence:
            return Explanation((text,))
    why = next((text for key, text in _WHY_ONE.items() if key in evidence), "")
    if not why:
        why = _odd(found) if "root_count" in evidence else _READ_OUT
    steps = (
        step("robust", "how many weights may be lost before MP drops to 0"),
        step("identify", "which weights the data determine"),
    )
    known = (_reaches(found), why.format(len(evidence.get("sub_allocation", ()))))
    return Explanation(known, steps=steps if is_plain else ())


_PERSISTS = (
    "MP < 1: almost every instance has N = {roots} complex solutions, and the certificate contains "
    "an instance with no real solution. Solutions depend continuously on the instance, so nearby "
    "instances have no match either."
)
_NEAR = "MP > 0: near a teacher that is itself a student, matches exist."
# Why MP < 1, by the evidence, for allocations that are not minimal.
_WHY_LESS = {
    "no_real_root": _PERSISTS,
    "enclosed_solutions": _PERSISTS,
    "definite_form": "MP < 1: for some fixed weights and samples a combination of the labels is a "
    "positive definite quadratic form of the learnable weights, and teachers exist for which it "
    "would have to be negative. The same holds for all instances near these.",
    "critical_points": "MP < 1: the student nearest to a given point would be a real critical "
    "point of the distance, and the certificate contains an instance in which none of these is "
    "real. The same holds for all instances near it.",
    "normal_form": "MP < 1: a change of basis of the hidden units makes B and D diagonal and fixes "
    "the surplus weight, and the certificate contains an instance of that form with no real "
    "solution. Almost no instance near it has a match.",
    "stuck_output": "MP < 1: too few weights of output {row} learn, and hidden values are bounded: "
    "the labels of a teacher with larger read-out weights are out of reach.",
}


def _intermediate(
    found: Certificate,
    evidence: Mapping[str, Any],
    estimate: Step,
    is_plain: bool,
) -> Explanation:
    steps = [estimate]
    why = next((text for key, text in _WHY_LESS.items() if key in evidence), None)
    if why is not None:
        row, roots = evidence.get("stuck_output"), found.generic_root_count
        known = [_reaches(found), _NEAR, why.format(row=row, roots=roots)]
        if why is _PERSISTS and is_plain:
            steps.append(step("repair", "the fewest moves that make MP = 1", goal="maximal"))
    else:
        known = ["MP > 0: with positive probability all units of teacher and student are silent."]
        if "no_match" in evidence:
            known.append(
                "MP < 1: the certificate contains an instance for which no weights match; the same "
                "holds for all instances near it."
            )
        else:
            known += [
                f"MP < 1: the learnable weights change the outputs in at most {found.rank} "
                "independent directions, and with positive probability a match needs "
                f"{found.equations}.",
                *(f"  {reason}" for reason in found.reasons),
            ]
    open_ = "the value of MP: no formula is known, so it has to be estimated"
    return Explanation(tuple(known), open_, "", tuple(steps))


def _of_updates(found: Certificate) -> Explanation:
    """The explanation of a verdict on a problem in which matrices learn by updates."""
    learning = found.problem.learning
    size, gauge = learning.size, learning.size - learning.dimension
    what = plural(size, f"{size} learnable parameter")
    if gauge:
        what += f" ({gauge} of them gauge: they change no weight)"
    inspect = step("inspect", "sizes, dimensions and ranks of the updates")
    identify = step("identify", "which weights the data determine")
    if found.verdict == MINIMAL:
        lacking = found.equations - found.rank
        text = (
            f"MP = 0: a match has to satisfy "
            f"{plural(found.equations, f'{found.equations} independent equation')}, and the {what} "
            f"{'changes' if size == 1 else 'change'} the outputs in "
            f"{plural(found.rank, f'{found.rank} independent direction')} only, {lacking} too few."
        )
        return Explanation((text,), steps=(inspect,))
    reach = f"Not minimal: the {what} reach all {found.equations} independent equations."
    if found.verdict == MAXIMAL:
        if "labels_vanish" in found.evidence:
            text = "MP = 1. No path leads from an input to an output: each student matches."
            return Explanation((text,))
        if "part" in found.evidence:
            part = found.evidence["part"]["learnable"]
            why = f"MP = 1: the updates reach all that {part} single cells reach, for which MP = 1."
        elif "root_count" in found.evidence and learning.dimension == found.equations:
            why = _odd(found)
        elif learning.is_affine:
            why = "MP = 1: the labels are linear in what learns, and the equations have a solution."
        else:
            why = "MP = 1: the updates reach all that certain single cells reach, for which MP = 1."
        return Explanation((reach, why), steps=(identify,))
    known = [reach, f"So {_NEAR}"]
    open_ = "whether MP = 1: the number of complex solutions is unknown or infinite"
    if found.generic_root_count is not None:
        open_ = (
            f"whether MP = 1: almost every instance has N = {found.generic_root_count} complex "
            "solutions, and N is even, so all of them may be non-real"
        )
    decided = (
        "a maximal allocation of cells that the updates can change freely (a larger rank may have "
        "one)"
    )
    if found.verdict == INTERMEDIATE:
        known.append("MP < 1: some teachers, of positive probability, are out of reach.")
        open_, decided = "the value of MP: no formula is known", ""
    return Explanation(tuple(known), open_, decided, (inspect, identify))
