"""Verdicts and determined weights where matrices learn by updates, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from algebra.certificates.certificate import INTERMEDIATE, MAXIMAL, MINIMAL, Certificate
from algebra.networks.limits import plural
from algebra.results import Explanation

if TYPE_CHECKING:
    # Loads networkx, which verdicts do without.
    from algebra.identify.identification import Identification


def explain_update_certificate(found: Certificate, file: str) -> Explanation:
    """Why a certificate says what it says, of a problem with updates.

    Parameters
    ----------
    found : Certificate
    file : str
        How commands are to name the problem.
    """
    learning = found.problem.learning
    size, gauge = learning.size, learning.size - learning.dimension
    what = plural(size, f"{size} learnable parameter")
    if gauge:
        what += f" ({gauge} of them gauge: they change no weight)"
    inspect = (f"matchprob inspect {file}", "sizes, dimensions and ranks of the updates")
    identify = (f"matchprob identify {file}", "which weights the data determine")
    if found.verdict == MINIMAL:
        lacking = found.equations - found.rank
        text = (
            f"MP = 0: a match has to satisfy "
            f"{plural(found.equations, f'{found.equations} independent equation')}, and the {what} "
            f"{'changes' if size == 1 else 'change'} the outputs in "
            f"{plural(found.rank, f'{found.rank} independent direction')} only, {lacking} too few."
        )
        return Explanation((text,), commands=(inspect,))
    reach = f"Not minimal: the {what} reach all {found.equations} independent equations."
    if found.verdict == MAXIMAL:
        if "labels_vanish" in found.evidence:
            text = "MP = 1. No path leads from an input to an output: each student matches."
            return Explanation((text,))
        if "part" in found.evidence:
            part = found.evidence["part"]["learnable"]
            why = f"MP = 1: the updates can do what {part} single cells can, and these have MP = 1."
        elif "root_count" in found.evidence and learning.dimension == found.equations:
            why = (
                f"MP = 1: almost every instance has N = {found.generic_root_count} complex "
                "solutions. Non-real ones come in pairs and N is odd, so at least one is real."
            )
        elif learning.is_affine:
            why = "MP = 1: the labels are linear in what learns, and the equations have a solution."
        else:
            why = "MP = 1: the updates reach what single cells reach, and these have MP = 1."
        return Explanation((reach, why), commands=(identify,))
    known = [reach, "So MP > 0: around a teacher that is itself a student matches exist."]
    open_ = "whether MP = 1: the number of complex solutions is not known, or not finite"
    if found.generic_root_count is not None:
        open_ = (
            f"whether MP = 1: almost every instance has N = {found.generic_root_count} complex "
            "solutions, and N is even, so all of them may be non-real"
        )
    decided = "cells within reach of the updates that are maximal (a larger rank may have some)"
    if found.verdict == INTERMEDIATE:
        known.append("MP < 1: some teachers, of positive probability, are out of reach.")
        open_, decided = "the value of MP: no formula is known", ""
    return Explanation(tuple(known), open_, decided, (inspect, identify))


def explain_update_identification(found: Identification, file: str) -> Explanation:
    """What an identification says, of a problem with updates.

    Parameters
    ----------
    found : Identification
    file : str
        How commands are to name the problem.
    """
    local, learning = found.fibre, found.problem.learning
    gauge = learning.size - learning.dimension
    known = [
        f"{plural(learning.size, f'{learning.size} parameter')} learn, and move "
        f"{learning.moving.size} weights within a set of dimension {learning.dimension}; the "
        f"labels depend on it in {local.rank.rank} independent directions."
    ]
    if gauge:
        known.append(
            "U and V themselves are never determined (U G and V G⁻ᵀ lead to the same weights); "
            "the weights can be."
        )
    if not local.dimension:
        known.append("No other match lies near the truth: all of these weights are determined.")
    else:
        number = len(local.determined)
        known.append(
            f"Near the truth the matches form a family of dimension {local.dimension}; "
            f"{plural(number, f'{number} weight')} {'is' if number == 1 else 'are'} the same in "
            "all of it."
        )
    words = "whether there are other matches, far from the truth" if not local.dimension else ""
    return Explanation(
        tuple(known),
        words,
        "",
        ((f"matchprob certify {file}", "whether every teacher is matched"),),
    )
