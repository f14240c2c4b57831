"""Capacities and dimensions: consequences of ranks for samples and functions."""

from __future__ import annotations

from algebra.identify.dimension import Dimension
from algebra.programs.capacity import Capacity
from algebra.results import Explanation


def explain_capacity(found: Capacity, file: str = "model.onnx") -> Explanation:
    """The explanation of capacities.

    Parameters
    ----------
    found : Capacity
    file : str, optional
        Name of the model's file in commands.
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


def explain_dimension(found: Dimension, file: str = "N.toml") -> Explanation:
    """The explanation of a dimension.

    Parameters
    ----------
    found : Dimension
    file : str, optional
        Name of the network's file in commands.
    """
    known = [
        f"Near almost all weights the function moves in {found.dimension} independent directions "
        f"when its {found.parameters} weights do."
    ]
    if found.defect:
        known.append(
            f"Counting weights and scales promises {found.expected}: {found.defect} directions are "
            "lost to relations that counting does not see."
        )
    if found.ambient is not None:
        fills = "fills" if found.filling else "does not fill"
        known.append(f"It {fills} the space of polynomial maps, of dimension {found.ambient}.")
    known.append(f"The dimension is {found.known}.")
    commands: tuple[tuple[str, str], ...] = ()
    if found.network is not None:
        commands = ((f"matchprob dimension {file} --out proof.json", "a proof for verify"),)
    return Explanation(tuple(known), commands=commands)
