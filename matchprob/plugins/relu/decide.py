"""One trial decided with a proof: the verb decide."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from algebra.errors import InputError
from algebra.time_limits import limited, positive_seconds
from matchprob.api.question import as_drawn
from matchprob.verbs import parameters as common
from matchprob.verbs.verb import Arguments, LineOption, ResultFile, verb

if TYPE_CHECKING:
    from numeric.families.activations.decision import ActivatedDecision
    from numeric.plugins.relu.decision import ReluDecision

_QUICK = "Accept floating-point results that are far beyond rounding errors."


def _undecided(found: ReluDecision | ActivatedDecision, _: Arguments) -> str:
    from numeric.plugins.relu.decision import UNDETERMINED

    return f"the trial is not decided: {found.note}" if found.verdict == UNDETERMINED else ""


def _evidence(
    found: ReluDecision | ActivatedDecision, _: Path, arguments: Arguments
) -> Mapping[str, Any]:
    return {} if _undecided(found, arguments) else found.certificate()


def _need_evidence(_: Path, arguments: Arguments) -> None:
    if not arguments["certify"]:
        raise InputError("`--quick` leaves no evidence to write: give either `--quick` or `--out`")


@verb(
    files=(ResultFile("--out", "Write the evidence (JSON).", _evidence, _need_evidence),),
    unfinished=_undecided,
)
def decide(
    question: common.Question,
    index: Annotated[int, LineOption(least=0)] = 0,
    *,
    seed: common.Seed = 0,
    instance: common.OwnInstance = None,
    certify: Annotated[bool, LineOption(flag="--quick", help=_QUICK)] = True,
    timeout: common.Timeout = math.inf,
) -> ReluDecision | ActivatedDecision:
    """Decide one trial with a proof that `verify` checks: ReLU layers, or few weights of tanh.

    Parameters
    ----------
    index : int, optional
        Number of the trial.
    certify : bool, optional
        Refute every leaf of "no match" over Q; otherwise only those that are not clear in floating
        point.
    timeout : float, optional
        Seconds for the whole call; what is known by then is reported. The trial is undetermined at
        that time.

    Returns
    -------
    ReluDecision or ActivatedDecision
        Its ``certificate()`` is the content of a file that `verify` checks. If the problem has
        constraints, matches must satisfy them.

    Notes
    -----
    Of networks with tanh, sigmoid, softplus or erf up to four learnable weights, as many as labels,
    are decided, by branch and bound over all their values; so are those of ReLU layers where
    learnable weights of several layers are multiplied. With more weights "no match" is proved where
    labels are out of reach of bounded outputs, and a match where a search ends at one.
    """
    from algebra.plugins.relu.equations import ProductOfUnknowns
    from matchprob.api.given import as_instance
    from numeric.plugins.relu.decide import decide as decide_relu
    from numeric.trials.instances import draw_instance

    problem = as_drawn(question)
    with limited(positive_seconds(timeout, "timeout")):
        if problem.network.equations_are == "analytic":
            from numeric.families.activations.decision import decide_activated

            if instance is not None:
                raise InputError("`--instance`: networks with activations are decided by trials")
            return decide_activated(draw_instance(problem, seed, index))
        if instance is not None:
            return decide_relu(as_instance(instance, problem), certify=certify)
        drawn = draw_instance(problem, seed, index)
        try:
            return decide_relu(drawn, certify=certify)
        except ProductOfUnknowns:
            from numeric.plugins.relu.products import decide_products

            return decide_products(drawn)
