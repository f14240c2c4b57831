"""Explanations of verdicts; what would decide an open question, and what to try.

Explanations use the certificate's fields and the names of its evidence, never its
sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from algebra.certificates.certificate import (
    DISCRETE,
    INTERMEDIATE,
    MAXIMAL,
    MINIMAL,
    UNDECIDED,
    Certificate,
)
from algebra.networks.limits import plural
from algebra.problems.problem import Problem
from algebra.results import Explanation
from algebra.systems.forms import beyond_counting
from algebra.theorems.statements import what_theorems_say
from algebra.time_limits import LimitReached
from matchprob.explain.updates import explain_update_certificate


def explain_certificate(
    found: Certificate, file: str = "P.toml", timeout: float = 120.0, search: float = 2.0
) -> Explanation:
    """The explanation of a certificate.

    Parameters
    ----------
    found : Certificate
    file : str, optional
        Name of the problem's file in commands.
    timeout, search : float, optional
        The limits of the call that made it: suggested commands have larger ones.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from algebra.families import certify
    >>> from algebra.networks.recurrent import LinearRNN
    >>> from algebra.problems.problem import Problem
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> print(explain_certificate(certify(Problem(net, {"W": [[1, 1], [0, 0]]}))).known[0])
    Not minimal: the 2 learnable weights reach all 2 independent equations (rank 2).
    """
    why = _explained(found, file, timeout, search)
    return replace(why, known=(DISCRETE, *why.known)) if DISCRETE in found.notes else why


def explain_unfinished(
    problem: Problem, over: LimitReached, file: str = "P.toml", timeout: float = 120.0
) -> Explanation:
    """The explanation of an allocation whose ranks were not found in time.

    Parameters
    ----------
    problem : Problem
    over : LimitReached
        The limit that ended the work.
    file : str, optional
        Name of the problem's file in commands.
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
        said = [
            f"{name}: {word}"
            for name, word in what_theorems_say(network, problem.allocation).items()
            if word != "silent"
        ]
        if said:
            known.append("The papers' theorems as stated, which are no proof: " + "; ".join(said))
    return Explanation(
        tuple(known),
        "everything else: whether the learnable weights reach all independent equations (MP > 0)",
        "the generic rank of the Jacobian, with more time or for a smaller net",
        (
            (f"matchprob certify {file} --timeout {max(600.0, 5 * timeout):g}", "more time"),
            (f"matchprob inspect {file}", "counts of rows and columns, which need no rank"),
        ),
    )


def _explained(found: Certificate, file: str, timeout: float, search: float) -> Explanation:
    if found.problem.updates:
        return explain_update_certificate(found, file)
    if not found.problem.network.has_instances:
        return _of_program(found, file)
    more = f"--timeout {max(600.0, 5 * timeout):g}"
    longer = f"--search {max(60.0, 5 * search):g}"
    inner: Mapping[str, Any] = found.evidence.get("lowered", {}).get("evidence", found.evidence)
    # Repairs and losses apply to the problem as it is.
    is_plain = "network_rank" in found.evidence
    if found.verdict == MINIMAL:
        return _minimal(found, file, is_plain)
    if found.verdict == MAXIMAL:
        return _maximal(found, inner, file, is_plain)
    estimate = (f"matchprob estimate {file} --trials 1000", "the match probability, with bounds")
    if found.verdict == INTERMEDIATE:
        return _intermediate(found, inner, file, estimate, is_plain)
    assert found.verdict == UNDECIDED
    if "network_rank" not in inner:
        known = [*found.notes]
        open_ = (
            "whether every instance has a match: units switch between samples, and neither counts "
            "of weights and equations nor a search settled it for all instances at once"
        )
        commands = [(f"matchprob certify {file} {longer}", "a longer search"), estimate]
        if "active_rank" in inner:
            commands.append(
                (f"matchprob decide {file} --index 0", "one instance, with a proof for it")
            )
        decided = "one instance without a match that persists nearby (then MP < 1)"
        return Explanation(tuple(known), open_, decided, tuple(commands))
    known = [_reaches(found), "So MP > 0: around a teacher that is itself a student matches exist."]
    if "regular_minor" in inner:
        return Explanation(
            tuple(known),
            "whether MP = 1: an analytic network has no finite number of complex solutions, so "
            "neither parity nor a complete count can be used, and each output has weights of its "
            "own that learn",
            "an output of which nothing learns (then MP < 1), or a read-out that learns alone "
            "(then MP = 1)",
            (estimate,),
        )
    if found.learnable > found.equations:
        more_time = (f"matchprob certify {file} {more}", "parts that were cut off are counted")
        longest = (more_time,) if found.out_of_time else ()
        return Explanation(
            tuple(known),
            f"whether MP = 1: {found.learnable} weights for {found.equations} equations, so "
            "matches form families that cannot be counted, and no part of the "
            "allocation with as many weights as equations was found maximal",
            f"{found.equations} of the weights with an odd number of complex solutions (then MP = "
            "1), or one instance without a real solution (then MP < 1)",
            (
                *longest,
                (
                    f"matchprob estimate {file} --trials 1000",
                    "matches found bound MP from below; none is ever ruled out",
                ),
            ),
        )
    roots = found.generic_root_count
    if roots is not None:
        known.append(
            f"Almost every instance has N = {roots} complex solutions. N is even, so all of them "
            "may be non-real: pairs cancel, and parity says nothing."
        )
        return Explanation(
            tuple(known),
            "whether some instances have no real solution: of those searched none was shown to",
            f"one instance whose {roots} solutions are all non-real (then 0 < MP < 1)",
            ((f"matchprob certify {file} {longer}", "more instances are searched"), estimate),
        )
    more_time = (f"matchprob certify {file} {more}", "more time for the count")
    is_hopeless = beyond_counting(found.problem.allocation) is not None
    longest = () if is_hopeless else (more_time,)
    least = found.root_count_at_least
    if least is not None:
        known.append(f"N ≥ {least}: so many complex solutions were found, numerically.")
    return Explanation(
        tuple(known),
        "whether MP = 1: the number N of complex solutions is not known, so neither its parity nor "
        "a complete count of one instance can be used",
        "a complete count: N odd means MP = 1; N even, and one instance without real solutions, "
        "0 < MP < 1",
        (
            *longest,
            (f"matchprob inspect {file}", "how large the core is: fewer rows make it smaller"),
            estimate,
        ),
    )


def _of_program(found: Certificate, file: str) -> Explanation:
    """A verdict on a program that was read from a file: only ranks are known."""
    inspect = (f"matchprob inspect {file}", "the ranks, and why they are exact or not")
    if found.verdict == MINIMAL:
        why = _minimal(found, file, False)
        return replace(why, commands=(inspect,))
    if found.verdict == MAXIMAL:
        if "everything_learns" in found.evidence:
            return Explanation(
                ("MP = 1: every weight learns, so the teacher itself is a student.",)
            )
        part = ", ".join(found.evidence["affine_part"])
        why_one = (
            f"MP = 1: the labels are affine in {part}, with full rank: linear equations that have "
            "a solution."
        )
        return Explanation((_reaches(found), why_one))
    if found.rank == found.equations and "upper_bounds" not in found.evidence:
        return Explanation(
            (
                _reaches(found),
                "So MP > 0: around a teacher that is itself a student matches exist.",
            ),
            "whether MP = 1",
            "parameters that enter the labels affinely, of full rank: a last layer (then MP = 1)",
            (inspect,),
        )
    pieces = "pattern" in found.evidence
    return Explanation(
        (
            f"What learns has rank {found.rank}, the whole network {found.equations}"
            + (" on the piece that was drawn." if pieces else ", with formal values."),
        ),
        "whether MP > 0",
        "a piece on which both ranks are equal (then MP > 0)"
        if pieces
        else "a regular minor of the Jacobian in ball arithmetic",
        (inspect,),
    )


def _reaches(found: Certificate) -> str:
    return (
        f"Not minimal: the {found.learnable} learnable weights reach all {found.equations} "
        f"independent equations (rank {found.rank})."
    )


def _minimal(found: Certificate, file: str, is_plain: bool) -> Explanation:
    lacking = found.equations - found.rank
    weights = f"the {found.learnable} learnable weights change"
    if found.learnable == 1:
        weights = "the one learnable weight changes"
    known = [
        f"MP = 0: a match has to satisfy "
        f"{plural(found.equations, f'{found.equations} independent equation')}, and {weights} the "
        f"outputs in {plural(found.rank, f'{found.rank} independent direction')} only, {lacking} "
        "too few: the labels of almost no teacher are reached."
    ]
    if found.learnable < found.equations:
        least = found.equations - found.learnable
        known.append(f"At least {least} more weight{'s' * (least != 1)} must learn.")
    elif found.reasons:
        known.append("There are enough weights, but in the wrong places:")
        known += [f"  {reason}" for reason in found.reasons]
    commands = [(f"matchprob inspect {file}", "where too many equations meet too few unknowns")]
    if is_plain:
        commands.insert(0, (f"matchprob repair {file}", "the fewest moves that make MP > 0"))
    return Explanation(tuple(known), commands=tuple(commands))


def _maximal(
    found: Certificate, evidence: Mapping[str, Any], file: str, is_plain: bool
) -> Explanation:
    roots = found.generic_root_count
    if "labels_vanish" in evidence:
        why = (
            "No path leads from an input to an output: every label is 0, and each student matches."
        )
        return Explanation((f"MP = 1. {why}",))
    if "construction" in evidence:
        why = (
            "The learnable weights of each layer solve the linear equations of the target's layer."
        )
        return Explanation((f"MP = 1. {why}",))
    if "everything_learns" in evidence:
        return Explanation(("MP = 1: every weight learns, so the teacher itself is a student.",))
    known = [_reaches(found)]
    if not evidence.keys() & {"root_count", "teacher_reached", "whole_column", "at_infinity"}:
        known.append(
            "MP = 1: the labels are linear in the weights of the read-out that learn, and these "
            "linear equations have a solution, whatever else learns."
        )
    elif "teacher_reached" in evidence:
        known.append(
            "MP = 1: after a change of basis of the hidden units, which changes no label, the "
            "teacher differs from the student in learnable weights only."
        )
    elif "sub_allocation" in evidence:
        part = len(evidence["sub_allocation"])
        known.append(
            f"MP = 1: {part} of the weights alone have an odd number of complex solutions, and "
            "what fewer weights can do, more can."
        )
    elif "whole_column" in evidence:
        known.append(
            "MP = 1: a whole column of W learns, and it is mapped to the labels by a proper map "
            "whose real degree is not 0, so every label is reached."
        )
    elif "at_infinity" in evidence:
        known.append(
            "MP = 1: as some weights grow without bound, the equations have an odd number of "
            "complex solutions in the limit, so at least one is real, and real solutions of the "
            "equations themselves lie near it, with large weights."
        )
    elif "tied" in evidence:
        known.append(
            "MP = 1: where some weights move together, and as many groups move as there are "
            "equations, there is an odd number of complex solutions, so at least one is real."
        )
    elif roots == 1:
        known.append(
            "MP = 1: almost every instance has exactly one complex solution, which is therefore "
            "real."
        )
    else:
        known.append(
            f"MP = 1: almost every instance has N = {roots} complex solutions. Non-real ones come "
            "in pairs and N is odd, so at least one is real."
        )
    commands = (
        (f"matchprob robust {file}", "how many of the weights may be lost before MP drops to 0"),
        (f"matchprob identify {file}", "which weights the data determine"),
    )
    return Explanation(tuple(known), commands=commands if is_plain else ())


def _intermediate(
    found: Certificate,
    evidence: Mapping[str, Any],
    file: str,
    estimate: tuple[str, str],
    is_plain: bool,
) -> Explanation:
    open_ = "the value of MP: no formula is known, it has to be estimated"
    commands = [estimate]
    if evidence.keys() & {"no_real_root", "enclosed_solutions"}:
        known = [
            _reaches(found),
            "MP > 0: around a teacher that is itself a student matches exist.",
            f"MP < 1: almost every instance has N = {found.generic_root_count} complex solutions, "
            "and the certificate names one with none of them real. Solutions move continuously, "
            "so the instances around it have no match either.",
        ]
        if is_plain:
            commands.append(
                (f"matchprob repair {file} --goal maximal", "the fewest moves that make MP = 1")
            )
    elif "stuck_output" in evidence:
        known = [
            _reaches(found),
            "MP > 0: around a teacher that is itself a student matches exist.",
            f"MP < 1: too little of output {evidence['stuck_output']} learns, and hidden values "
            "are bounded: the labels of a teacher with larger read-out weights are out of reach.",
        ]
    elif "no_match" in evidence:
        known = [
            "MP > 0: with positive probability all units of teacher and student are silent.",
            "MP < 1: the certificate names an instance that no weights match, nor any near it.",
        ]
    else:
        known = [
            "MP > 0: with positive probability all units of teacher and student are silent.",
            f"MP < 1: the learnable weights change the outputs in at most {found.rank} independent "
            f"directions, and with positive probability the labels need {found.equations}.",
            *(f"  {reason}" for reason in found.reasons),
        ]
    return Explanation(tuple(known), open_, "", tuple(commands))
