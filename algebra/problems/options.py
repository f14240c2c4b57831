"""Options of a problem that do not go together: a teacher, updates, measured weights, signs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from algebra.errors import InputError, shown
from algebra.networks.masks import held
from algebra.networks.protocols import HasUnits
from algebra.problems.allocation import Allocation

if TYPE_CHECKING:
    from algebra.problems.laws.values import Values
    from algebra.problems.problem import Problem


def check_teacher(problem: Problem, given: Problem) -> None:
    """Refuse a teacher that cannot label the samples, or beside another source of labels."""
    own, other, laws = problem.network, given.network, problem.distribution
    sizes = [(n.input_shape, n.d, n.columns) for n in (own, other)]
    if sizes[0] != sizes[1]:
        (rows, m), d, columns = sizes[1]
        (own_rows, own_m), own_d, own_columns = sizes[0]
        raise InputError(
            f"[teacher] has {rows}×{m} samples and {d}×{columns} labels, the network "
            f"{own_rows}×{own_m} and {own_d}×{own_columns}: both must have the same"
        )
    if laws.noise:
        raise InputError(
            f"distribution.noise ({laws.noise}) is added to labels of a teacher of the same "
            "network; remove it or [teacher]"
        )
    if laws.has_own_labels or laws.teacher != "normal":
        key = "labels" if laws.has_own_labels else "teacher"
        raise InputError(
            f"distribution.{key} ({shown(getattr(laws, key))}): the labels are those of "
            "[teacher], whose own file has its law; remove one of them"
        )
    for table in ("values", "constraints", "updates", "teacher"):
        if getattr(given, table):
            raise InputError(f"[teacher] must not have [{table}]: its weights are drawn")
    if given.distribution.has_own_labels or given.distribution.noise:
        raise InputError("[teacher] must not have labels, or noise: it gives labels")
    if given.distribution.has_given_inputs:
        raise InputError("[teacher] must not have `inputs`: the samples are the student's")


def check_updates(problem: Problem) -> None:
    """Refuse updates together with random cells, constraints or exact fixed weights.

    Gains, amounts of ties and low ranks are parameters beside the drawn weights, and (W, θ) ↦
    (updated W, θ) is invertible.  At the start (gains 1, amounts 0) W is the updated matrix: so
    for weights in an open orthant (signs), or with a density around a measured value (values
    with a jitter), W and the updated matrix lie in it together on an open set of (W, θ), and
    generic ranks are those without signs and values, also if a type has cells of both signs.
    Exact numbers are no generic point; a network with ReLU is treated at its own parameters.
    """
    if problem.constraints:
        raise InputError(
            f"[constraints] are about single weights, but {problem.updated}: remove one of them"
        )
    if problem.is_random:
        raise InputError(
            f"random cells are drawn for each trial, but {problem.updated}, which verbs with "
            "trials do not support: write fixed masks beside updates"
        )
    if problem.values and not problem.network.has_kinks:
        masks = {
            n: held(problem.learnable, n) for n in problem.learnable if n not in problem.updates
        }
        if problem.values.pinned(Allocation.from_masks(problem.network, masks).cells):
            raise InputError(
                f"[values] without jitter makes weights exact numbers, but {problem.updated}, "
                "and what updates change is decided at generic weights: add a jitter, such as "
                "1e-6"
            )


def checked_values(problem: Problem, values: Values) -> Values:
    """Measured weights, checked against structural zeros, signs and the kind of network."""
    network = problem.network
    other = network.lower() is not None or not isinstance(network, HasUnits)
    if other or dict(network.teacher_shapes) != dict(network.shapes):
        raise InputError(
            f"[values] and signs are not implemented for this {network.title} network, which "
            "has no layers of units, is solved as another network or has another teacher: "
            "write it with kind lrnn or lffn, or with an activation that is not linear"
        )
    given = {*problem.distribution.masks, *(name for name, _, _ in values.numbers)}
    for name in sorted(given.intersection(network.rates)):
        raise InputError(
            f"{name} are leaks, between 0 and 1: give them in [network], not in [values] or "
            "with signs"
        )
    numbers = {}
    for (name, i, j), value in values.numbers.items():
        if name in problem.support and not problem.support[name][i, j]:
            if value:
                raise InputError(
                    f"values.{name}[{i}][{j}] is {value}, but support.{name}[{i}][{j}] is 0: a "
                    "weight that does not exist is 0"
                )
            continue
        sign = (
            int(problem.distribution.masks[name][i, j]) if name in problem.distribution.masks else 0
        )
        if sign * value < 0:
            raise InputError(
                f"values.{name}[{i}][{j}] is {value}, but its sign in [distribution] is {sign}"
            )
        numbers[name, i, j] = value
    return replace(values, numbers=numbers)
