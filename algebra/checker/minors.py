"""Reading of regular minors in certificates, and their check in balls of other precisions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from algebra.checker.checks import CheckFailed
from algebra.checker.claim import Claim
from algebra.checker.records import Cells, Context, Counts, Record, table
from algebra.declarations import Count
from algebra.errors import shown
from algebra.networks.base import Network
from algebra.problems.allocation import Cell
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import all_cells
from algebra.ranks.minors import LARGEST, Minor, is_regular

# Other precisions than those of the search for a minor.
_PRECISIONS = (96, 192, 384, 768, 1536)


@dataclass(frozen=True)
class MinorTable(Record):
    """See `algebra.ranks.minors.Minor`; the context has the problem `moved` of its Jacobian."""

    number: Count
    rows: Counts
    columns: Cells

    def check(self, place: str, context: Context) -> None:
        """It must be a square submatrix of the Jacobian, not larger than `LARGEST`."""
        problem: Problem = context["moved"]
        network, rows, columns = problem.network, self.rows, self.columns
        if len(set(rows)) != len(rows) or any(row >= network.outputs for row in rows):
            text = f"must be different labels from 0 to {network.outputs - 1}, not {shown(rows)}"
            raise CheckFailed(f"{place}.rows", text)
        if len(rows) > LARGEST:
            raise CheckFailed(f"{place}.rows", f"has {len(rows)} entries, more than {LARGEST}")
        outside = set(columns) - set(all_cells(network, problem.support))
        if outside or len(columns) != len(rows):
            text = f"must be {len(rows)} different weights that exist, as many as rows"
            raise CheckFailed(f"{place}.columns", text)


MinorInFile = Annotated[Minor, table(Minor, MinorTable)]


def check_minor(
    minor: Minor,
    network: Network,
    claim: Claim,
    cells: Collection[Cell],
    support: Mapping[str, np.ndarray],
) -> None:
    """Check that a minor proves the rank of a claim.

    Parameters
    ----------
    minor : Minor
    network : Network
    claim : Claim
    cells : collection of cells
        The learnable weights.
    support : mapping of str to mask

    Raises
    ------
    CheckFailed
        If it has another size, uses weights that do not learn, or may be 0.
    """
    place = "evidence.regular_minor"
    if len(minor.rows) != claim.equations:
        raise CheckFailed(place, f"has {len(minor.rows)} rows, not {claim.equations}")
    if claim.rank == claim.equations:
        outside = set(minor.columns) - set(cells)
        if outside:
            raise CheckFailed(place, f"{min(outside)} does not learn")
    if not is_regular(network, minor, support, _PRECISIONS):
        raise CheckFailed(place, "its balls contain 0 at every precision")
