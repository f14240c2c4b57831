"""Verification of the dimension of a set of functions, from the file alone.

At points drawn by the verifier, derivatives of the labels along random directions are computed in
forward mode, by dual numbers (the dimension was computed by the Jacobian in reverse mode).  As many
of them as the claimed dimension must be independent, which proves that it is not smaller; one more
must not be, at two points with independent primes, and for one sample more.  That the dimension is
not larger is proved if it is the number of weights or the ambient dimension, otherwise it is
probable.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from algebra.certificates.checks import (
    PROBABLE,
    PROVED,
    CheckFailed,
    Checklist,
    Verification,
)
from algebra.certificates.claim import Masks, NetworkInFile
from algebra.certificates.fields import RefusedAt
from algebra.certificates.parts import read_version
from algebra.certificates.records import Record
from algebra.declarations import Count, Size
from algebra.families.linear.derivatives import dual_derivative
from algebra.linalg.modular import modular_rank, random_prime, random_residues
from algebra.networks.base import Network, Support
from algebra.problems.allocation import Cell
from algebra.questions.identify.dimension import FORMAT, VERSION, expected_dimension
from algebra.ranks.jacobian import all_cells, random_point
from algebra.time_limits import check_time


@dataclass(frozen=True)
class DimensionProof(Record):
    """The proof file of a dimension: see `algebra.questions.identify.dimension.Dimension`."""

    format: Literal["matchprob-dimension"]
    version: Literal[1]
    network: NetworkInFile
    dimension: Count
    expected: Count
    ambient: Size | None
    support: Masks | None = None


def verify_dimension(data: Mapping[str, Any], *, seed: int = 1) -> Verification:
    """Verify the proof of a dimension.

    Parameters
    ----------
    data : mapping
        A result of `Dimension.proof_file`.
    seed : int, optional
        It determines the points.

    Returns
    -------
    Verification

    Examples
    --------
    >>> from algebra.questions.identify.dimension import dimension_of
    >>> from algebra.networks.linear import LinearEstimator
    >>> verify_dimension(dimension_of(LinearEstimator(q=2, d=2, m=1)).proof_file()).holds
    True
    """
    read_version(data, FORMAT, (VERSION,), "the proof of a dimension")
    checklist = Checklist()
    return checklist.run("dimension", lambda: _check(data, checklist, seed))


def _check(data: Mapping[str, Any], checklist: Checklist, seed: int) -> None:
    given = DimensionProof.from_dict(data, "")
    network, support, claimed = given.network, given.support or {}, given.dimension
    cells = all_cells(network, support)
    with RefusedAt("network"):
        counted = expected_dimension(network, len(cells))
    if (given.expected, given.ambient) != counted:
        raise CheckFailed("expected", f"and ambient dimension are {counted[0]} and {counted[1]}")
    checklist.say("expected", PROVED, "expected and ambient dimension, by counting")
    most = len(cells) if given.ambient is None else min(len(cells), given.ambient)
    exact = network.ranks_are_exact(support)
    for number in range(2):
        found = _rank(network, support, cells, claimed + 1, f"{seed}/{number}")
        more = _rank(network.with_samples(network.m + 1), support, cells, claimed + 1,
                     f"{seed}/{number}/more")  # fmt: skip
        if (found, more) != (claimed, claimed):
            text = f"is {claimed} in the file; {found} directions are independent at a point of "
            raise CheckFailed("dimension", text + f"the check, {more} with one sample more")
    lower = PROVED if exact else PROBABLE
    checklist.say("dimension", lower, f"is at least {claimed}: so many directions are independent")
    upper = PROVED if claimed == most else PROBABLE
    checklist.say("dimension", upper, f"is at most {claimed}, for one sample more, too")


def _rank(
    network: Network, support: Support, cells: list[Cell], directions: int, stream: str
) -> int:
    """The number of random directions in which the labels change independently."""
    rng = random.Random(f"verify dimension/{stream}")
    p = random_prime(rng)
    point = random_point(network, p, rng.randrange(1 << 32), support)
    rows = []
    for _ in range(min(directions, len(cells))):
        check_time()
        step = random_residues((len(cells),), p, rng)
        rows.append(dual_derivative(network, point, cells, step).ravel())
    return modular_rank(np.array(rows, np.int64), p) if rows else 0
