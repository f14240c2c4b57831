"""Capacities: what ranks say of fitting samples, and what they do not."""

from __future__ import annotations

from algebra.programs.capacity import Capacity
from algebra.results import Explanation


def explain_capacity(found: Capacity, file: str = "model.onnx") -> Explanation:
    """What capacities say.

    Parameters
    ----------
    found : Capacity
    file : str, optional
        How commands are to name the model.
    """
    known = [
        "A capacity is the largest number of generic samples for which the labels change with the "
        "parameters in as many independent directions as there are labels: all labels near the "
        "network's own can be met, and with one sample more they cannot."
    ]
    wasted = [s for s in found.subsets if s.is_whole and s.redundant and s.capacity < s.counting]
    if wasted:
        most = max(wasted, key=lambda s: s.redundant / s.learnable)
        known.append(
            f"{most.name}: {most.learnable} parameters act like {most.rank}, so they fit "
            f"{most.capacity} samples and not {most.counting}."
        )
    if found.needed:
        best = found.cheapest
        known.append(
            f"The smallest of these subsets that fits {found.needed} samples is {best.name}, with "
            f"{best.learnable} parameters."
            if best
            else f"None of these subsets fits {found.needed} samples."
        )
    if not found.exactness.is_exact:
        known.append(f"Ranks are {found.exactness.words}; that they are attained is probable.")
    return Explanation(
        tuple(known),
        "labels far from the network's own, and what training finds",
        "training, or a larger model",
        (
            (
                f"matchprob capacity {file} --lora 1,2 --needed 100",
                "the cheapest for 100 samples",
            ),
            (f"matchprob capacity {file} --learn '*.bias' --plot capacity.png", "a picture"),
        ),
    )
