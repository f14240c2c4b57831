"""Normalization layers tuned to a target: how near, what is proved of that, what is impossible."""

from __future__ import annotations

import math

from algebra.networks.limits import plural
from algebra.normalization.hidden_orders import NotRealized
from algebra.normalization.hidden_scales import IRRATIONAL, NOT_FOUND
from algebra.normalization.reconstruct import NarrowLayer
from algebra.normalization.scales import Obstruction
from algebra.results import Explanation
from matchprob.api.construct import DepthConstruction
from numeric.normalization.construct import CHECKED, Construction

# From here on half of a double's digits are lost.
_ILL = 1e8


def explain_construction(found: Construction, file: str = "target.npz") -> Explanation:
    """What a tuned network is.

    Parameters
    ----------
    found : Construction
    file : str, optional
        How commands are to name the target.
    """
    if found.is_exact:
        text = (
            "The tuned network is the target, for every input: scales and shifts are rationals "
            "that satisfy the layers' equations, checked without rounding."
        )
        return Explanation((text,))
    known = [
        f"For every input of length at most {found.radius:g} the outputs differ by at most "
        f"{found.error:.2e}: proved, for the exact function of these numbers."
    ]
    words = decided = ""
    exact = (f"matchprob construct {file} --exact", "rationals, with error 0")
    commands = [exact]
    if math.isfinite(found.rounding):
        known.append(
            "Evaluated in floating point they differ by at most "
            f"{found.error_in_floating_point:.2e}, in any order of operations."
        )
    else:
        words = "what rounding adds when the network is evaluated"
        decided = "a precision for which a bound exists"
    if found.measured is not None:
        known.append(f"At {CHECKED} random inputs it was {found.measured:.2e} at most.")
    impossible = [block.layer for block in found.blocks if block.impossible]
    if impossible:
        layers = ", ".join(map(str, impossible))
        known.append(
            f"The scales that were tuned cannot realize {plural(len(impossible), 'layer')} "
            f"{layers} exactly (proved modulo a prime): the error is what is left."
        )
        commands = [(f"matchprob construct {file} --second-scales", "the even layers' scales too")]
    elif notes := [block.note for block in found.blocks if block.note]:
        known.append(f"Not every layer is realized: {'; '.join(dict.fromkeys(notes))}.")
        words = "whether other scales realize the target"
        decided = "a wider network"
        commands = [
            (f"matchprob construct {file} --second-scales", "the even layers' scales too"),
            (f"matchprob construct {file}", "a random frozen network, as wide as is needed"),
        ]
    elif found.condition > _ILL:
        known.append(
            f"The worst layer's system has condition {found.condition:.1e}: so many times is an "
            "error of the data enlarged."
        )
        commands.append((f"matchprob construct {file} --seed 1", "another frozen network"))
    return Explanation(tuple(known), words, decided, tuple(commands))


def explain_depth(found: DepthConstruction, file: str = "target.npz") -> Explanation:
    """What a network tuned by depth is.

    Parameters
    ----------
    found : DepthConstruction
    file : str, optional
        How commands are to name the target.
    """
    steps = sum(len(layer.scales) for layer in found.layers)
    size = (
        f"{plural(len(found), f'{len(found)} layer')} of the target became "
        f"{plural(steps, f'{steps} frozen layer')}, with {found.k} inputs fed to each"
    )
    if found.is_exact:
        return Explanation((f"{size}: exactly the target, in rationals.",))
    text = (
        f"{size}. For every input of length at most {found.radius:g} the outputs differ by at most "
        f"{found.error:.2e}, proved."
    )
    exact = (
        f"matchprob construct {file} --skip {found.k} --exact",
        "rationals, with error 0",
    )
    return Explanation((text,), commands=(exact,))


def explain_unreachable(proof: Obstruction, file: str = "target.npz") -> Explanation:
    """Why no scales realize a target.

    Parameters
    ----------
    proof : Obstruction
    file : str, optional
        How commands are to name the target.
    """
    where = "the target" + ("" if proof.output is None else f"'s output {proof.output}")
    known = (
        f"The scales that were tuned do not realize {where} with this frozen network: the proof is "
        "a vector of rationals that is orthogonal to all that its matrices can make, and not to "
        "the target.",
    )
    return Explanation(
        known,
        commands=(
            (f"matchprob construct {file}", "a random frozen network, as wide as is needed"),
            (f"matchprob construct {file} --second-scales", "the even layers' scales too"),
        ),
    )


def explain_narrow(proof: NarrowLayer, file: str = "target.npz") -> Explanation:
    """Why no scales and shifts realize a target.

    Parameters
    ----------
    proof : NarrowLayer
    file : str, optional
        How commands are to name the target.
    """
    known = (
        "No scales and shifts make this frozen network the target: at a point of the ball the "
        f"target's Jacobian has rank {proof.rank}, and block {proof.layer} has fewer hidden units.",
    )
    wide = (f"matchprob construct {file}", "a random frozen network, as wide as is needed")
    return Explanation(known, commands=(wide,))


def explain_not_realized(failure: NotRealized, file: str = "target.npz") -> Explanation:
    """What is known of a deep target that was not realized layer by layer.

    Parameters
    ----------
    failure : NotRealized
    file : str, optional
        How commands are to name the target.
    """
    doubles = (f"matchprob construct {file} --second-scales", "in doubles, with a proved bound")
    if failure.status == IRRATIONAL:
        known = (
            "Scales that realize the target exist: real solutions of polynomial equations, in "
            "intervals that are proved to hold them. They are not rational.",
        )
        return Explanation(known, commands=(doubles,))
    wide = (f"matchprob construct {file}", "a random frozen network, as wide as is needed")
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
