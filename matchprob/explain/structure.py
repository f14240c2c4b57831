"""The structure of the equations: what follows of the match probability, and what does not."""

from __future__ import annotations

from algebra.networks.limits import plural
from algebra.results import Explanation
from algebra.systems.inspection import Inspection


def explain_structure(found: Inspection, file: str = "P.toml") -> Explanation:
    """What an inspection shows.

    Parameters
    ----------
    found : Inspection
    file : str, optional
        How commands are to name the problem.
    """
    certify = (f"matchprob certify {file}", "the verdict, with evidence")
    if found.violations:
        most = max(found.violations, key=lambda v: v.excess)
        allocation = found.allocation
        # The surplus of one budget is lost; what the others lose may be the same weights.
        left = allocation.size - most.excess
        most_labels = allocation.network.label_dimension_bound
        if left >= most_labels:
            text = (
                f"More weights learn than can matter: {most}. That by itself is no defect: "
                f"{left} that count are enough for {most_labels} equations."
            )
            return Explanation(
                (text,), "whether these are independent", "the generic rank", (certify,)
            )
        known = (
            f"At most {left} of the {allocation.size} learnable weights count: {most}. MP = 0 if "
            f"the labels' equations are {most_labels} independent ones, as they are unless "
            "structural zeros or narrow layers make them fewer.",
            "Some of its weights do what the others do already, and equations elsewhere are left.",
        )
        repair = (f"matchprob repair {file}", "the fewest moves that mend it")
        return Explanation(known, commands=(certify, repair))
    if not found.forms:
        text = "The equations were not written out: they are too many, or depend on the instance."
        if found.allocation.network.rank_decides:
            text = "Counting finds no surplus; the generic rank decides whether MP = 0."
        return Explanation((text,), commands=(certify,))
    first = found.forms[0]
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
    return Explanation(
        known,
        "whether the equations are independent, and how many of the solutions are real",
        "the generic rank (MP = 0 or not) and the number N of complex solutions",
        (certify, (f"matchprob inspect {file} --core", "the core itself")),
    )
