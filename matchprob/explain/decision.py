"""One ReLU instance: why there is a match or none, or why that is not known."""

from __future__ import annotations

from algebra.networks.limits import plural
from algebra.results import Explanation
from numeric.relu.decision import MATCH, NONE, ReluDecision


def explain_decision(
    found: ReluDecision, file: str = "P.toml", trial: str = "--index 0"
) -> Explanation:
    """What a decision says.

    Parameters
    ----------
    found : ReluDecision
    file : str, optional
        How commands are to name the problem.
    trial : str, optional
        The options that name the instance.
    """
    keep = (
        f"matchprob decide {file} {trial} --out decision.json && matchprob verify decision.json",
        "the evidence, checked by a program that shares nothing with the search",
    )
    estimate = (f"matchprob estimate {file} --trials 1000", "how often instances have a match")
    leaves = "1 leaf" if found.leaf_count == 1 else f"{found.leaf_count} leaves"
    one = "Of other instances this says nothing."
    if found.verdict == MATCH:
        known = (
            "A match exists: rational weights that reproduce every label exactly, put through the "
            "whole network over Q.",
            one,
        )
        return Explanation(known, commands=(keep, estimate))
    if found.verdict == NONE and found.is_certified:
        known = (
            f"There is no match: the activation patterns are divided into {leaves}, and in each "
            "the linear equations and inequalities contradict each other (a Farkas vector over Q).",
            one,
        )
        return Explanation(known, commands=(keep, estimate))
    if found.verdict == NONE:
        text = f"No match was found in any of {leaves}; rounding leaves no doubt, and is no proof."
        return Explanation(
            (text,), "a proof", "each leaf refuted over Q",
            ((f"matchprob decide {file} {trial}", "without --quick: with a proof"),),
        )  # fmt: skip
    text = f"Neither a match nor a proof that there is none: {found.note or 'no reason given'}."
    return Explanation(
        (text,),
        f"the instance: after {plural(found.nodes, f'{found.nodes} node')} the search had neither "
        "a witness that holds over Q nor a refutation of every activation pattern",
        "fewer learnable weights or samples (the patterns grow exponentially with units times "
        "samples), or another engine on the same instance",
        ((f"matchprob count {file} --engine scip --instances 1", "SCIP on trial 0"), estimate),
    )
