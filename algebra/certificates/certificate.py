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
from algebra.certificates.trial_costs import estimate_steps, too_costly
from algebra.documents import Document, Explanation, Paragraph, Step, step
from algebra.linalg.rational import nearest_double
from algebra.networks.limits import plural
from algebra.problems.problem import Problem
from algebra.ranks.root_count_error import CountCertainty
from algebra.results import Result, named
from algebra.time_limits import LimitReached, Limits

FORMAT, VERSION = "matchprob-certificate", 1

MINIMAL, MAXIMAL, INTERMEDIATE, UNDECIDED = VERDICTS

NEAR = "MP > 0: near a teacher that is itself a student, matches exist."
NEAR_LABELS = "MP > 0: the labels of the students, for given fixed weights, contain an open set."
OPEN_VALUE = "the value of MP: no formula is known, so it has to be estimated"
# Of networks whose units may be inactive.
SILENT = "MP > 0: with positive probability all units of teacher and student are silent."
OPEN_PATTERNS = (
    "whether every instance has a match: which units are active differs between samples, and "
    "neither counts of weights and equations nor a search decided it for all instances"
)
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
    why : str
        The argument for MP = 1, or for MP < 1, in a sentence; not in the file.
    explained : Explanation or None
        A family's own explanation; by default it is made of `why` and the numbers.  Not in the
        file.
    constrained : bool
        Whether the user's problem has constraints, which this verdict leaves out; not in the file.
    """

    problem: Problem
    verdict: str
    rule: str
    equations: int
    rank: int
    prime: int
    error_bound: Fraction
    generic_root_count: int | None = None
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
    why: str = field(default="", repr=False, compare=False)
    explained: Explanation | None = field(default=None, repr=False, compare=False)
    constrained: bool = field(default=False, compare=False)

    @property
    def is_without_constraints(self) -> bool:
        """Whether the verdict need not hold with the constraints; a minimal one does."""
        return self.constrained and self.verdict != MINIMAL

    def __hash__(self) -> int:
        return hash((self.problem, self.verdict, self.rule))

    @property
    def learnable(self) -> int:
        """Number r of learnable weights."""
        return self.problem.learning.size

    def to_dict(self) -> dict[str, Any]:
        """The certificate as plain data (the content of ``cert.json``)."""
        names = ("verdict", "rule", "equations", "rank", "learnable", "prime")
        more = ("generic_root_count", "reasons", "notes", "tried", "seed", "evidence")
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
    facts = {
        "equations": found.equations,
        "rank": found.rank,
        "learnable": found.learnable,
        "generic_root_count": found.generic_root_count,
        "certainty": certainty(found),
    }
    # Reasons and notes that the explanation has are not repeated.
    why = _why(found)
    texts = [
        text
        for text in (*found.reasons, *found.notes, *found.tried)
        if text not in [known.strip() for known in why.known]
    ]
    without = " without the constraints" if found.is_without_constraints else ""
    document = Document(
        f"{found.verdict}{without}: {found.rule}",
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
    if found.is_without_constraints:
        why = _without_constraints(why, found.problem)
    return replace(why, known=(DISCRETE, *why.known)) if DISCRETE in found.notes else why


def _without_constraints(why: Explanation, problem: Problem) -> Explanation:
    """The explanation with the reservation that matches need not satisfy the constraints."""
    # That MP < 1 holds with constraints too.
    known = [
        f"Without the constraints: {text}" if "MP > 0" in text or "MP = 1" in text else text
        for text in why.known
    ]
    open_ = "the match probability with the constraints, which leave fewer matches"
    if why.open:
        open_ += f"; and without them, {why.open}"
    first = estimate_steps(problem, purpose="the match probability with the constraints")
    steps = [other for other in why.steps if other.verb != "estimate"]
    return replace(why, known=tuple(known), open=open_, steps=(*first, *steps))


def longer_search(limits: Limits) -> Step:
    """A suggestion: another search, with more time than this verdict had."""
    return step("certify", "a longer search", search=max(60.0, 5 * limits.search))


def _explained(found: Certificate) -> Explanation:
    if found.explained is not None:
        return found.explained
    more_time = max(600.0, 5 * found.limits.seconds)
    # Repairs and losses apply to the problem as it is.
    is_plain = "network_rank" in found.evidence
    if found.verdict == MINIMAL:
        return minimal(found, is_plain)
    reached = () if not found.equations else (reaches(found),)
    if found.verdict == MAXIMAL:
        robust = step("robust", "how many weights may be lost before MP drops to 0")
        steps = (robust, step("identify", "which weights the data determine"))
        return Explanation((*reached, found.why), steps=steps if is_plain else ())
    roots = found.generic_root_count
    estimate = estimate_steps(found.problem, roots)
    costly = too_costly(found.problem, roots)
    warning = (costly,) if costly else ()
    if found.verdict == INTERMEDIATE:
        repair = step("repair", "the fewest moves that make MP = 1", goal="maximal")
        more = (repair,) if is_plain and found.generic_root_count is not None else ()
        facts = (*reached, near(found), found.why, *warning)
        return Explanation(facts, OPEN_VALUE, "", (*estimate, *more))
    assert found.verdict == UNDECIDED
    known = [*reached, f"So {near(found)}", *warning]
    if "regular_minor" in found.evidence:
        return Explanation(
            tuple(known),
            "whether MP = 1: an analytic network has no finite number of complex solutions, so "
            "neither parity nor a complete count can be used, and some weights of each output "
            "learn",
            "an output with no learnable weights (then MP < 1), or an allocation in which only "
            "the read-out learns (then MP = 1)",
            estimate,
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
            *estimate,
        ),
    )


def solutions(number: int | None) -> str:
    """N solutions, in words."""
    return "exactly one complex solution" if number == 1 else f"N = {number} complex solutions"


def reaches(found: Certificate) -> str:
    """That the ranks are equal, in words."""
    return (
        f"Not minimal: the {found.learnable} learnable weights reach all {found.equations} "
        f"independent equations (rank {found.rank})."
    )


def near(found: Certificate) -> str:
    """Why MP > 0 if the ranks are equal."""
    return NEAR if found.problem.has_plain_labels else NEAR_LABELS


def too_few(found: Certificate) -> str:
    """Why MP < 1 if a match often needs more than the learnable weights reach."""
    return (
        f"MP < 1: the learnable weights change the outputs in at most {found.rank} independent "
        f"directions, and with positive probability a match needs {found.equations}."
    )


def minimal(found: Certificate, is_plain: bool) -> Explanation:
    """Why MP = 0, and what to try if the problem is one of cells (`is_plain`)."""
    lacking, plain = found.equations - found.rank, found.problem.has_plain_labels
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


# Evidence that some labels are not reached.
_OF_MISSES = ("no_real_root", "enclosed_solutions", "stuck_output")


def why_refused(problem: Problem) -> str:
    """Why there is no verdict for laws like these, on one line; "" if there is one.

    Verdicts on ReLU networks use that teacher and student may both be inactive, and that instances
    may be perturbed: with signs of synapses units may be unable to be inactive at once, and exact
    numbers cannot be perturbed.
    """
    known = problem.network.rank_decides or not (problem.values or problem.distribution.signs)
    if not known:
        return (
            "verdicts on ReLU networks are not implemented with [values] or signs: use estimate, "
            "count or decide, which treat single trials"
        )
    return ""


def is_beyond(problem: Problem) -> bool:
    """Whether "intermediate" is not known: with measured weights and bounded laws.

    A teacher near the students' labels, and one far from them, must be possible, which needs
    unbounded weights; and a witness cannot be scaled into the support of bounded laws.
    """
    return bool(problem.values) and not problem.distribution.has_full_support


def beyond(found: Certificate) -> Certificate:
    """The same ranks and counts, undecided: the witness is outside the support of bounded laws."""
    evidence = {k: v for k, v in found.evidence.items() if k not in _OF_MISSES}
    tried = "instances without real solutions: one beyond the reach of bounded laws"
    rule = "not minimal"
    if found.generic_root_count is not None:
        rule += f", {found.generic_root_count} complex solutions"
    return replace(found, verdict=UNDECIDED, rule=rule, evidence=evidence, tried=(tried,))


def settled(found: Certificate) -> Certificate:
    """A verdict restricted to what holds for the problem's laws."""
    if found.verdict == INTERMEDIATE and is_beyond(found.problem):
        return beyond(found)
    return found
