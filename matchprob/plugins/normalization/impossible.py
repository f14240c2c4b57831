"""Explanations of targets that normalization layers do not realize."""

from __future__ import annotations

from typing import Any

from algebra.documents import Document, Explanation, step
from algebra.errors import Unrealized
from algebra.plugins.normalization.hidden_orders import NotRealized
from algebra.plugins.normalization.hidden_scales import IRRATIONAL, NOT_FOUND
from algebra.plugins.normalization.reconstruct import NarrowLayer, TooNarrow
from algebra.plugins.normalization.scales import Obstruction, Unreachable


def unrealized(failure: Unrealized) -> tuple[Document, dict[str, Any]]:
    """The document of a target that is not realized, and its JSON object."""
    text = f"impossible, with proof: {failure}"
    data: dict[str, Any] = {"exact": False, "reachable": False}
    if isinstance(failure, NotRealized):
        text = f"not realized ({failure.status}): {failure}"
        why = explain_not_realized(failure)
        data["reachable"] = True if failure.status == IRRATIONAL else None
        data |= {"status": failure.status, "layer": failure.layer, "note": str(failure)}
    elif isinstance(failure, TooNarrow):
        narrow = failure.obstruction
        why = explain_narrow(narrow)
        point = [str(entry) for entry in narrow.point]
        data |= {"layer": narrow.layer, "point": point, "rank": narrow.rank}
    elif isinstance(failure, Unreachable):
        proof = failure.obstruction
        why = explain_unreachable(proof)
        vector = [str(entry) for entry in proof.vector]
        data |= {"layer": proof.layer, "output": proof.output, "proof": vector}
    return Document(text, why=why), data


def what_is_missing(failure: Unrealized, second_scales: bool) -> str:
    """What was not found, with the verb in the plural after it."""
    if isinstance(failure, NotRealized):
        return "rational scales were found that"
    if isinstance(failure, Unreachable):
        return "scales" if second_scales else "scales of the odd layers"
    return "scales and shifts"


def explain_unreachable(proof: Obstruction) -> Explanation:
    """The explanation of a proof that no scales realize a target.

    Parameters
    ----------
    proof : Obstruction
    """
    where = "the target" + ("" if proof.output is None else f"'s output {proof.output}")
    known = (
        f"The scales that were tuned do not realize {where} with this frozen network: the proof is "
        "a vector of rationals that is orthogonal to all that its matrices can make, and not to "
        "the target.",
    )
    return Explanation(
        known,
        steps=(
            step("construct", "a random frozen network of sufficient width"),
            step("construct", "the even layers' scales too", second_scales=True),
        ),
    )


def explain_narrow(proof: NarrowLayer) -> Explanation:
    """The explanation of a proof that no scales and shifts realize a target.

    Parameters
    ----------
    proof : NarrowLayer
    """
    known = (
        "No scales and shifts make this frozen network the target: at a point of the ball the "
        f"target's Jacobian has rank {proof.rank}, and block {proof.layer} has fewer hidden units.",
    )
    wide = step("construct", "a random frozen network of sufficient width")
    return Explanation(known, steps=(wide,))


def explain_not_realized(failure: NotRealized) -> Explanation:
    """The explanation of a deep target that was not realized layer by layer.

    Parameters
    ----------
    failure : NotRealized
    """
    doubles = step("construct", "in doubles, with a proved bound", second_scales=True)
    if failure.status == IRRATIONAL:
        known = (
            "Scales that realize the target exist: real solutions of polynomial equations, in "
            "intervals that are proved to contain them. They are not rational.",
        )
        return Explanation(known, steps=(doubles,))
    wide = step("construct", "a random frozen network of sufficient width")
    if failure.status == NOT_FOUND:
        known = ("No scales were found; that none exist is not proved.",)
        decided = "even layers' scales tuned too, a wider network, or a proof that none exist"
        words = "whether this frozen network can be the target"
        return Explanation(known, words, decided, (doubles, wide))
    known = (
        f"Layer {failure.layer}: no order and no positive scales of the target's hidden units make "
        f"the blocks equal to its layers ({failure.status}; proved).",
    )
    words = "whether the network can be the target without being so layer by layer"
    return Explanation(known, words, "a wider network", (wide,))
