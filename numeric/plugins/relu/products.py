"""ReLU instances in which learnable weights of several layers are multiplied by one another.

The equations of a pattern are then polynomials.  Three methods, each with its proof:

* *Some weights are kept*: with all weights but those of one layer at fixed values the instance is
  one of linear patterns (`numeric.plugins.relu.decide`), and a match of it is a match.  The values
  are the drawn ones, the teacher's, random ones and those at which a search ended.
* *Krawczyk's test* where a search converged; labels that are the wanted ones for all weights nearby
  are left out, as where both networks are silent.
* *Boxes*: up to four weights, as many as labels, are divided into boxes that cover all real weights
  (`numeric.families.activations.boxes`): each part has no solution, or Krawczyk's test proves one.

If none ends the instance is undetermined.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from algebra.families.activations.decision import LEAF
from algebra.networks.rectified import HasRectifiedLayers
from algebra.problems.allocation import Allocation, Cell
from numeric.families.activations.boxes import BoxSearch, is_decidable
from numeric.families.activations.decision import ActivatedDecision, parts_of
from numeric.families.activations.krawczyk import is_near_a_match
from numeric.linalg.levenberg_marquardt import Damping, levenberg_marquardt
from numeric.plugins.relu.decide import decide
from numeric.plugins.relu.decision import MATCH, NONE, UNDETERMINED, ReluDecision
from numeric.programs.losses import Loss
from numeric.programs.students import Students
from numeric.trials.instances import Instance

# Values of the weights that are kept, and nodes of a tree with each.
_KEPT = 24
_NODES = 200
# Starts of a search and their steps; the cost of a match, and ends that are tried to be proved.
_STARTS = 160
_STEPS = 100
_ENOUGH = 1e-24
_PROVED = 8
# Boxes: where a proof ends it has few parts.
_MOST_BOXES = 6_000


def decide_products(instance: Instance) -> ReluDecision | ActivatedDecision:
    """Decide an instance in which a learnable weight multiplies a unit that moves, if possible.

    Parameters
    ----------
    instance : Instance
        Of a network with ReLU layers.

    Returns
    -------
    ReluDecision
        A match of the weights of one layer, the others kept at values that are part of its proof;
        or undetermined.
    ActivatedDecision
        By boxes.
    """
    began = time.perf_counter()
    found = None if instance.box else _match(instance)
    if found is not None:
        return replace(found, seconds=_since(began))
    size, labels = instance.allocation.size, instance.problem.network.outputs
    if not is_decidable(instance):
        note = f"learnable weights are multiplied, and {size} for {labels} labels are not divided"
        return ReluDecision(UNDETERMINED, note=f"{note} into boxes", seconds=_since(began))
    search = BoxSearch(instance)
    search.run(_MOST_BOXES, enough=1)
    found = ActivatedDecision(UNDETERMINED, None, search.boxes, instance=instance)
    if search.solutions and not instance.box:
        found = replace(
            found, verdict=MATCH, witness=tuple(search.solutions[0].middle.tolist()),
            note="certified by Krawczyk's test; other solutions not counted",
        )  # fmt: skip
    elif search.is_over and not search.solutions:
        parts = parts_of(search)
        note = f"parts without a solution: {sum(text.count(LEAF) for text in parts)}"
        found = replace(found, verdict=NONE, parts=parts, note=note)
    else:
        found = replace(found, note=f"{search.boxes} boxes are not enough")
    return replace(found, seconds=_since(began))


def _since(began: float) -> float:
    return time.perf_counter() - began


def _match(instance: Instance) -> ReluDecision | ActivatedDecision | None:
    """A match by the weights of one layer, else one to which a search converged, or None."""
    known, ends, costs, others = _kept_values(instance)
    found = match_with_kept_weights(instance, known)
    for weights in ends[costs < _ENOUGH][:_PROVED] if found is None else ():
        if is_near_a_match(instance, weights):
            return ActivatedDecision(
                MATCH, tuple(weights.tolist()), instance=instance,
                note="certified by Krawczyk's test; other solutions not counted",
            )  # fmt: skip
    return found or match_with_kept_weights(instance, [*ends[:_KEPT], *others])


def match_with_kept_weights(instance: Instance, kept: Iterable[np.ndarray]) -> ReluDecision | None:
    """A match in which only the weights of one layer are changed from some values, or None.

    Its system is that of the instance in which the others do not learn.
    """
    network = instance.problem.network
    layers = layers_of(instance.allocation)
    for values in kept:
        student = instance.with_weights(values)
        for own in layers:
            part = Allocation.from_cells(network, own)
            sub = replace(
                instance, problem=instance.problem.with_allocation(part), allocation=part,
                weights=student,
            )  # fmt: skip
            found = decide(sub, most_nodes=_NODES)
            if found.verdict == MATCH:
                names = " and ".join(part.matrices)
                note = f"a match that changes only {names}, the other weights kept at given values"
                return replace(found, note=note)
    return None


def layers_of(allocation: Allocation) -> list[list[Cell]]:
    """The learnable weights of each layer that has some."""
    network = allocation.network
    assert isinstance(network, HasRectifiedLayers)
    found = [[c for c in allocation.cells if c[0] in names] for names in network.rectified_layers]
    return [own for own in found if own]


def _kept_values(
    instance: Instance,
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray, np.ndarray]:
    """Values of the learnable weights: known ones, ends of searches, their costs, random ones."""
    known = [instance.before]
    if instance.known_teacher is not None:
        own = instance.known_teacher
        known.append(np.array([own[name][i, j] for name, i, j in instance.allocation.cells]))
    key = (instance.index, 0x0DEE)
    rng = np.random.default_rng(np.random.SeedSequence(instance.seed, spawn_key=key))
    starts = rng.standard_normal((_STARTS, instance.allocation.size)) * instance.spread
    starts *= 2.0 ** rng.uniform(-1.0, 3.0, (_STARTS, 1))
    loss = Loss(Students.of([instance], _STARTS))
    runs = levenberg_marquardt(loss.at, starts, _STEPS, enough=_ENOUGH / 100, damping=Damping())
    order = np.argsort(runs.cost)
    return known, runs.ends[order], runs.cost[order], starts[:_KEPT]
