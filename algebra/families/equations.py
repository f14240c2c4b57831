"""The equations of an allocation: their structure, and the forms in which they are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from algebra.families.registry import family_of
from algebra.problems.allocation import Allocation

if TYPE_CHECKING:
    from algebra.problems.instance_files import GivenNumbers
    from algebra.systems.inspection import Inspection
    from algebra.systems.written import SymbolicSystem


def inspect_allocation(
    allocation: Allocation,
    support: Mapping[str, np.ndarray] | None = None,
    *,
    seed: int = 0,
    all_forms: bool = False,
) -> Inspection:
    """Structure report of an allocation.

    Parameters
    ----------
    allocation : Allocation
    support : mapping of str to mask, optional
    seed : int, optional
        Determines the random point.
    all_forms : bool, optional
        Eliminate every form, not only the one with the smaller core.

    Returns
    -------
    Inspection
    """
    family = family_of(allocation.network)
    return family.inspect(allocation, support or {}, seed, all_forms)


def form_names(
    allocation: Allocation, support: Mapping[str, np.ndarray] | None = None
) -> tuple[str, ...]:
    """The forms that the equations of an allocation can be written in, by name."""
    from algebra.systems.written import symbolic_forms

    return (*family_of(allocation.network).forms(), *symbolic_forms(allocation, support or {}))


def written_form(
    allocation: Allocation,
    form: str | None = None,
    support: Mapping[str, np.ndarray] | None = None,
    *,
    numbers: GivenNumbers | None = None,
    seed: int = 0,
) -> SymbolicSystem:
    """The equations of an allocation in one form, as SymPy expressions.

    Parameters
    ----------
    allocation : Allocation
    form : str, optional
        One of `form_names`; by default the family's own, else the form with the smaller core.
    support : mapping of str to mask, optional
    numbers : GivenNumbers, optional
        An instance; without one all data are symbols.
    seed : int, optional
        Seed of the activation pattern, if the network has one.

    Returns
    -------
    SymbolicSystem
    """
    own = family_of(allocation.network).forms()
    if form in own or (form is None and own and numbers is None):
        return own[form or next(iter(own))](allocation)
    names = form_names(allocation, support)
    if form is not None and form not in names:
        from algebra.systems.forms import unknown_form

        raise unknown_form(form, names, allocation.network)
    from algebra.systems.written import symbolic_system

    return symbolic_system(allocation, form, support or {}, numbers=numbers, seed=seed)
