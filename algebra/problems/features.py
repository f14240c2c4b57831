"""The features of a problem: what a theorem has to cover before a statement follows from it.

Every field of a problem, of its laws, values and constraints is mapped here to the features that it
can bring.  A field without an entry is an error when these modules are loaded: a new option must
first be given a feature, and a theorem covers only the features that it lists
(`algebra.checker.premises`).  So nothing follows for a new option until somebody proves it.

Some pairs of options meet in one premise; such a pair is a feature of its own (a bounded law
together with measured weights, or with labels that are no homogeneous function of the weights).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from algebra.networks.base import Network
from algebra.networks.masks import is_mask
from algebra.problems.constraints import Constraints
from algebra.problems.laws.distribution import Distribution
from algebra.problems.laws.values import Values
from algebra.problems.premises import Feature, Features

if TYPE_CHECKING:
    from algebra.problems.problem import Problem


_RESTRICTED = frozenset(
    (Feature.BOUNDED, Feature.SCALES, Feature.SIGNS, Feature.ZEROS, Feature.MEASURED)
)


def _of_network(problem: Problem) -> Iterator[Feature]:
    network = problem.network
    if network.teacher_shapes != network.shapes:
        yield Feature.DENSE_TARGET
    if is_on_pieces(network):
        yield Feature.PIECES
    elif network.untaught or not (network.is_linear or network.lower()):
        is_polynomial = network.equations_are == "polynomial"
        yield Feature.POLYNOMIAL if is_polynomial else Feature.ANALYTIC
    if network.has_given_weights:
        yield Feature.OWN_WEIGHTS
    if network.untaught:
        yield Feature.RESTING_TEACHER


def is_on_pieces(network: Network) -> bool:
    """Whether the labels are not one analytic function of the weights."""
    return network.has_kinks or not network.rank_decides


def _of_learning(problem: Problem) -> Iterator[Feature]:
    for value in problem.learnable.values():
        if not is_mask(value):
            # Random cells and updates have their own.
            yield value.feature


def _of_teacher(problem: Problem) -> Iterator[Feature]:
    other = problem.teacher
    if other is None:
        return
    yield Feature.OTHER_TEACHER
    yield from of_laws(other)
    if is_on_pieces(other.network):
        yield Feature.TEACHER_ON_PIECES
    if not _is_contained(problem, other):
        yield Feature.NOT_CONTAINED


# The sizes that may be larger in a network that contains another one.
_WIDTHS = ("n", "widths")


def _is_contained(problem: Problem, other: Problem) -> bool:
    """Whether a teacher's network has the student's labels at weights that it can be drawn with.

    It is of the same kind, and differs only in having as many or more units in each layer: more
    units may have outgoing weights 0.
    """
    laws = other.distribution
    if other.support or laws.signs or not laws.has_full_support:
        return False
    own, its = problem.network.to_dict(), other.network.to_dict()
    if {k: v for k, v in own.items() if k not in _WIDTHS} != {
        k: v for k, v in its.items() if k not in _WIDTHS
    }:
        return False
    pairs: list[tuple[int, int]] = []
    for key in own.keys() & set(_WIDTHS):
        a, b = (v if isinstance(v, list) else [v] for v in (own[key], its[key]))
        if len(a) != len(b):
            return False
        pairs += zip(a, b, strict=True)
    return all(a <= b for a, b in pairs)


def of_laws(problem: Problem) -> Iterator[Feature]:
    """The features that the laws of a problem bring."""
    laws = problem.distribution
    for own in fields(laws):
        yield from _OF_LAWS[own.name](getattr(laws, own.name))


def _of_law(name: Any) -> Iterator[Feature]:
    if name == "rademacher":
        yield Feature.DISCRETE
    if name != "normal":
        yield Feature.BOUNDED


def _of_labels(labels: Any) -> Iterator[Feature]:
    if not isinstance(labels, str):
        yield Feature.GIVEN_LABELS
    elif labels == "normal":
        yield Feature.ARBITRARY_LABELS


def _of_values(problem: Problem) -> Iterator[Feature]:
    values = problem.values
    if not values:
        return
    yield Feature.MEASURED
    learning = () if problem.is_random else problem.learning.cells
    if values.pinned(set(learning)):
        yield Feature.EXACT


def _of_constraints(problem: Problem) -> Iterator[Feature]:
    for own in fields(Constraints):
        if getattr(problem.constraints, own.name) is not None:
            yield _OF_CONSTRAINTS[own.name]


def _nothing(problem: Any) -> Iterator[Feature]:
    """Names of units change no result; the sizes of a jitter are in `_of_values`."""
    return iter(())


def _if_there(feature: Feature) -> Callable[[Any], Iterator[Feature]]:
    return lambda value: iter((feature,) if value else ())


OF_PROBLEM: Mapping[str, Callable[[Problem], Iterator[Feature]]] = {
    "network": _of_network,
    "learnable": _of_learning,
    "support": lambda problem: iter((Feature.ZEROS,) if problem.support else ()),
    "distribution": of_laws,
    "constraints": _of_constraints,
    "names": _nothing,
    "values": _of_values,
    "teacher": _of_teacher,
}
_OF_LAWS: Mapping[str, Callable[[Any], Iterator[Feature]]] = {
    "weights": _of_law,
    "inputs": lambda law: _of_law(law) if isinstance(law, str) else iter((Feature.GIVEN_INPUTS,)),
    "teacher": _of_law,
    "labels": _of_labels,
    # Labels with noise have a density on all labels, as arbitrary ones have.
    "noise": lambda noise: iter((Feature.ARBITRARY_LABELS, Feature.NOISE) if noise else ()),
    "scale": _if_there(Feature.SCALES),
    "signs": _if_there(Feature.SIGNS),
}
_OF_CONSTRAINTS = {
    "max_abs": Feature.BOUNDS,
    "max_change": Feature.BOUNDS,
    "sign": Feature.MATCH_SIGNS,
}
# The size of a jitter and what it is a share of decide which weights are exact (`_of_values`).
_OF_VALUES = {"numbers": _of_values, "jitter": _of_values, "relative": _of_values}


def need_entries(form: Any, table: Mapping[str, Any]) -> None:
    """Every field of a form has an entry; an option without one has no place in any proof.

    Raises
    ------
    TypeError
    """
    names = {own.name for own in fields(form)}
    if names != set(table):
        missing = ", ".join(sorted(names ^ set(table)))
        raise TypeError(f"fields of {form.__name__} and their features differ: {missing}")


need_entries(Distribution, _OF_LAWS)
need_entries(Constraints, _OF_CONSTRAINTS)
need_entries(Values, _OF_VALUES)


def features(problem: Problem) -> Features:
    """The features of a problem.

    Parameters
    ----------
    problem : Problem

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> from algebra.problems.problem import Problem
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> problem = Problem(
    ...     net, {"W": [[1, 0], [0, 1]]}, support={"B": [[1], [0]]},
    ...     distribution=Distribution(labels="normal"),
    ... )
    >>> print(", ".join(sorted(features(problem))))
    arbitrary labels, structural zeros
    """
    found = {one for of in OF_PROBLEM.values() for one in of(problem)}
    if Feature.BOUNDED in found and Feature.MEASURED in found:
        found.add(Feature.BOUNDED_MEASURED)
    if Feature.BOUNDED in found and found & {Feature.POLYNOMIAL, Feature.ANALYTIC}:
        found.add(Feature.BOUNDED_NONLINEAR)
    if Feature.RESTING_TEACHER in found and found & _RESTRICTED:
        found.add(Feature.RESTING_RESTRICTED)
    return frozenset(found)
