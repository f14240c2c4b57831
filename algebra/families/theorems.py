"""All theorems that verdicts follow from, all reductions, and the features that each covers."""

from __future__ import annotations

from algebra.checker.premises import LABELS_VANISH
from algebra.checker.verdicts import VERDICTS
from algebra.problems.premises import Premises


def theorems() -> tuple[Premises, ...]:
    """Every theorem of every family, by name and verdict.

    Loads the modules of all arguments.

    Examples
    --------
    >>> [found.claim for found in theorems() if found.name == "critical_points"]
    ['intermediate', 'maximal']
    """
    from algebra.arguments.order import NAMES, argument
    from algebra.families.arbitrary_labels import FEWER_THAN_LABELS
    from algebra.families.other_teacher import FROM_ARBITRARY_LABELS
    from algebra.families.registry import FAMILIES
    from algebra.problems.as_layers import AsLayers
    from algebra.systems.equivalent_cells import AsCells

    argued = [
        argument(name).theorem(verdict) for name in NAMES for verdict in argument(name).covers
    ]
    found = (
        LABELS_VANISH,
        *argued,
        *(own.theorem(verdict) for own in (AsCells, AsLayers) for verdict in VERDICTS[:3]),
        FEWER_THAN_LABELS,
        *FROM_ARBITRARY_LABELS.values(),
        *(known for family in FAMILIES.values() for known in family.theorems()),
    )
    by_name = {(theorem.name, theorem.claim): theorem for theorem in found}
    return tuple(theorem for _, theorem in sorted(by_name.items()))


def reductions() -> tuple[Premises, ...]:
    """Every problem that is solved in place of another one, by name."""
    from algebra.declarations import loaded
    from algebra.networks.kinds import KINDS
    from algebra.problems.as_layers import AsLayers
    from algebra.problems.reduction import KeptFixed, TimeUnit
    from algebra.problems.renaming import Renamed
    from algebra.systems.equivalent_cells import AsCells, WithinReach

    of_kinds = {loaded(name) for name in {kind.reduction for kind in KINDS.values()}}
    found = (AsCells, AsLayers, KeptFixed, Renamed, TimeUnit, WithinReach, *of_kinds)
    return tuple(sorted((own.premises for own in found), key=lambda premises: premises.name))
