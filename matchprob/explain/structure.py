"""The structure of the equations: what follows of the match probability, and what does not."""

from __future__ import annotations

from algebra.networks.limits import plural
from algebra.ranks.budgets.cover import rank_bound
from algebra.ranks.budgets.lines import sentences
from algebra.results import Explanation
from algebra.systems.inspection import Inspection


def explain_structure(
    found: Inspection, file: str = "P.toml", *, core_shown: bool = False
) -> Explanation:
    """What an inspection shows.

    Parameters
    ----------
    found : Inspection
    file : str, optional
        How commands are to name the problem.
    core_shown : bool, optional
        Whether the core itself is shown already: then the command for it is omitted.
    """
    certify = (f"matchprob certify {file}", "the verdict, with evidence")
    if found.violations:
        return _wasted(found, file, certify)
    if found.updates:
        return Explanation(
            (f"What decides whether MP = 0: {found.skipped[0]}.",), commands=(certify,)
        )
    if not found.forms:
        text = "The equations were not written out: they are too many, or depend on the instance."
        if found.allocation.network.rank_decides:
            text = "Counting finds no surplus; the generic rank decides whether MP = 0."
        return Explanation((text,), commands=(certify,))
    first = found.forms[0]
    if found.labels:
        return _one_of_ones_own(found, certify)
    if not first.consistent:
        text = (
            "Elimination of what is linear ends in 1 = 0: a generic instance has no solution, so "
            "MP = 0."
        )
        return Explanation((text,), commands=(certify,))
    if first.core_unknowns == 0:
        text = "Everything is linear after elimination: one solution, so MP = 1 if not minimal."
        return Explanation((text,), commands=(certify,))
    if first.core_equations < first.core_unknowns:
        text = (
            f"The core has {first.core_unknowns} unknowns and {first.core_equations} equations: "
            "solutions come in families."
        )
        words = "whether they are real"
        return Explanation((text,), words, "a verdict on a part of the weights", (certify,))
    size = (
        f"{plural(first.core_equations, f'{first.core_equations} equation')} in "
        f"{plural(first.core_unknowns, f'{first.core_unknowns} unknown')}"
    )
    known = (
        f"Elimination leaves {size}, of degree at most {first.core_degree}: N is at most "
        f"{first.bezout} (Bézout).",
        "Counting rows, columns and crosses finds no surplus; that is necessary for MP > 0, not "
        "sufficient.",
    )
    shows_core = (f"matchprob inspect {file} --core", "the core itself")
    return Explanation(
        known,
        "whether the equations are independent, and how many of the solutions are real",
        "the generic rank (MP = 0 or not) and the number N of complex solutions",
        (certify,) if core_shown else (certify, shows_core),
    )


def _wasted(found: Inspection, file: str, certify: tuple[str, str]) -> Explanation:
    """What budgets that are exceeded say: how far the rank is bounded."""
    allocation = found.allocation
    limit, labels = rank_bound(allocation), allocation.network.label_dimension_bound
    known = ["By counting, some of the learnable weights are wasted:"]
    known += [f"  {text}" for text in sentences(found.violations)[:3]]
    known.append(
        f"Together they change the labels in at most {limit} independent directions; a match "
        f"takes {labels}, where the labels' equations are independent."
    )
    if limit >= labels:
        return Explanation(
            tuple(known),
            "whether the rest is enough: the bound is necessary, not sufficient",
            "the generic rank",
            (certify,),
        )
    return Explanation(
        tuple(known),
        "whether MP = 0: it is, unless structural zeros or narrow layers make these fewer",
        "the generic rank of the whole network",
        (certify, (f"matchprob repair {file}", "the fewest moves that mend it")),
    )


def _one_of_ones_own(found: Inspection, certify: tuple[str, str]) -> Explanation:
    """What the equations of one instance say of it."""
    first = found.forms[0]
    about = (
        "These are the equations of one instance; what holds for almost every one is certify's."
        if found.labels != "given"
        else "The labels are given as they are, not a teacher's: nothing here is about MP."
    )
    if not first.consistent:
        text = "Elimination over Q ends in 1 = 0: this instance has no solution, not even complex."
        return Explanation((text, about), commands=(certify,))
    if first.core_unknowns == 0:
        text = "Everything is linear after elimination over Q: this instance has one solution."
        return Explanation((text, about), commands=(certify,))
    equations = plural(first.core_equations, f"{first.core_equations} equation")
    unknowns = plural(first.core_unknowns, f"{first.core_unknowns} unknown")
    return Explanation(
        (f"Elimination over Q leaves {equations} in {unknowns}.", about),
        "how many solutions it has, and how many of them are real",
        "an exact count: `count` with the same --instance",
        (certify,),
    )
