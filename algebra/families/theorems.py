"""All theorems that verdicts follow from, all reductions, and the features that each covers."""

from __future__ import annotations

from algebra.checker.premises import LABELS_VANISH, RANK_DEFICIT
from algebra.checker.verdicts import VERDICTS
from algebra.problems.features import Premises


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
    from algebra.families.normalization import certify as normalization
    from algebra.families.other_teacher import FROM_ARBITRARY_LABELS
    from algebra.families.relu import certify as relu
    from algebra.problems.as_layers import AsLayers
    from algebra.systems.equivalent_cells import AsCells

    argued = [
        argument(name).theorem(verdict) for name in NAMES for verdict in argument(name).covers
    ]
    found = (
        RANK_DEFICIT,
        LABELS_VANISH,
        *argued,
        *(own.theorem(verdict) for own in (AsCells, AsLayers) for verdict in VERDICTS[:3]),
        FEWER_THAN_LABELS,
        *FROM_ARBITRARY_LABELS.values(),
        *relu.THEOREMS,
        *normalization.THEOREMS,
    )
    return tuple(sorted(found, key=lambda theorem: (theorem.name, theorem.claim)))


def reductions() -> tuple[Premises, ...]:
    """Every problem that is solved in place of another one, by name."""
    from algebra.families.normalization.augmented import Augmented
    from algebra.problems.as_layers import AsLayers
    from algebra.problems.reduction import AsLinear, KeptFixed, TimeUnit
    from algebra.problems.renaming import Renamed
    from algebra.systems.equivalent_cells import AsCells, WithinReach

    found = (AsCells, AsLayers, AsLinear, Augmented, KeptFixed, Renamed, TimeUnit, WithinReach)
    return tuple(sorted((kind.premises for kind in found), key=lambda own: own.name))
