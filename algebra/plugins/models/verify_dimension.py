r"""Verification of the dimension of a set of functions, from the file alone.

**Expected and ambient dimension.**  The claim counts scales from the operations of the network
(`algebra.programs.scales`).  Here they are found from numbers alone: directions λ with
Σ λ_e w_e ∂f/∂w_e = 0 at all weights w are the common kernel of the matrices J(w) diag(w) at several
points.  A rank modulo a prime is at most the true one, so there are no more scales than this kernel
has dimensions.  Generic ranks of more and more points stop to grow once one more adds nothing
(their increments are non-increasing): two equal ranks show the kernel of all points, unless a prime
or a point was unlucky for one of them.  The degree D of polynomial labels is found from values at
multiples t·X of the samples, as functions of t: they are t^D f(X) if all terms have the degree D,
and otherwise polynomials of degree D, whose differences of order D at t = 0, 1, … are constant and
not 0.

**Dimension.**
At a point drawn by the verifier, derivatives of the labels along random directions are computed in
forward mode, by dual numbers (the dimension was computed by the Jacobian in reverse mode).  As many
of them as the claimed dimension must be independent, which proves that it is not smaller.  That it
is not larger is proved if it is the number of weights or the ambient dimension; otherwise the rank
for one sample more must not be larger at new points, and the statement has the bound of its error.

Examples
--------
>>> from algebra.plugins.models.dimension import dimension_of
>>> from algebra.networks.feedforward import LinearEstimator
>>> DIMENSION.verify(dimension_of(LinearEstimator(q=2, d=2, m=1)).proof_file()).holds
True
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from algebra.checker.checks import (
    PROBABLE,
    PROVED,
    UNFINISHED,
    CheckEffort,
    CheckFailed,
    Checklist,
)
from algebra.checker.fields import RefusedAt
from algebra.checker.formats import ProofFormat
from algebra.checker.new_points import rank_again
from algebra.checker.records import Record
from algebra.checker.statements import RankAtMost, error_words
from algebra.checker.tables import Masks, NetworkInFile
from algebra.declarations import Count, Size
from algebra.linalg.primes import PRIME_SIZES, deficit_probability, random_prime
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import random_residues, times
from algebra.networks.base import Network, Support
from algebra.networks.protocols import jacobian_of
from algebra.plugins.models.dimension import FORMAT, VERSION, degrees
from algebra.problems.allocation import Cell
from algebra.ranks.deficits import deficit_error
from algebra.ranks.derivatives import dual_derivative, dual_point
from algebra.ranks.jacobian import all_cells, columns_at, random_point
from algebra.time_limits import check_time

# Points whose common kernel gives the scales, at least; largest degree that is checked.
_LEAST_POINTS = 3
MOST_DEGREE = 256


@dataclass(frozen=True)
class DimensionProof(Record):
    """The proof file of a dimension: see `algebra.plugins.models.dimension.Dimension`."""

    format: Literal["matchprob-dimension"]
    version: Literal[1]
    network: NetworkInFile
    dimension: Count
    expected: Count | None
    ambient: Size | None
    support: Masks | None = None


def _check(data: Mapping[str, Any], checklist: Checklist, effort: CheckEffort) -> None:
    given, seed = DIMENSION.read(data), effort.seed
    network, support, claimed = given.network, given.support or {}, given.dimension
    cells = all_cells(network, support)
    with RefusedAt("network"):
        homogeneous = degrees(network)
    _check_ambient(network, support, given.ambient, homogeneous, checklist, seed)
    _check_expected(network, support, cells, given, checklist, seed)
    most = len(cells) if given.ambient is None else min(len(cells), given.ambient)
    exact = network.ranks_are_exact(support)
    found = _rank(network, support, cells, claimed, str(seed))
    if found < claimed:
        text = f"is {claimed} in the file; {found} directions are independent at a point of the "
        raise CheckFailed("dimension", f"{text}check")
    lower = PROVED if exact else PROBABLE
    checklist.say("dimension", lower, f"is at least {claimed}: so many directions are independent")
    text = f"is at most {claimed}, for one sample more, too"
    if claimed == most:
        checklist.say("dimension", PROVED, text)
        return
    more = network.with_samples(network.m + 1)
    upper = RankAtMost(
        "dimension", f"{text}:", claimed, lambda at: rank_again(more, cells, support, None, at)
    )
    upper.stated(seed, checklist.say)


def _check_expected(
    network: Network, support: Support, cells: list[Cell], given: DimensionProof,
    checklist: Checklist, seed: int,
) -> None:  # fmt: skip
    """Check the number of scales by the common kernel of derivatives at several points."""
    if given.expected is None:
        checklist.say("expected", UNFINISHED, "scales were not counted")
        return
    rows: list[np.ndarray] = []
    before = found = len(cells)
    rng = random.Random(f"verify scales/{seed}")
    p = random_prime(rng, PRIME_SIZES.long)
    while cells and (len(rows) < _LEAST_POINTS or found < before):
        check_time()
        point = random_point(network, p, rng.randrange(1 << 32), support)
        at = np.array([int(point.weights[name][i, j]) for name, i, j in cells], np.int64)
        rows.append(times(columns_at(network, point, cells), at[None], p))
        before, found = found, len(cells) - modular_rank(np.concatenate(rows), p)
    most = len(cells) if given.ambient is None else given.ambient
    counted = min(len(cells) - found, most)
    if given.expected != counted:
        raise CheckFailed(
            "expected", f"is {given.expected} in the file; there are {len(cells)} weights, "
            f"{found} scales at {len(rows)} points of the check: {counted}"
        )  # fmt: skip
    text = (
        f"{len(cells)} weights less {found} scales, which leave the labels of {len(rows)} points "
    )
    text += "unchanged; there are no more"
    if not found or counted == most:
        checklist.say("expected", PROVED, text)
        return
    # The last two ranks are equal; so the kernel stays, unless one of them is too small.
    error = 2 * deficit_error(jacobian_of(network), len(cells), 1, bits=PRIME_SIZES.long)
    checklist.say("expected", PROBABLE, f"{text}: {error_words(error)}")


def _check_ambient(
    network: Network, support: Support, given: int | None, claimed: tuple[int, bool] | None,
    checklist: Checklist, seed: int,
) -> None:  # fmt: skip
    """Check the degree of the labels in the samples by their values at multiples of samples."""
    if claimed is None:
        if given is not None:
            raise CheckFailed("ambient", f"is {given} in the file; the labels are no polynomials")
        checklist.say("ambient", PROVED, "none: the activation is no polynomial")
        return
    degree, homogeneous = claimed
    q, steps = network.input_shape[0], network.d * len(network.label_steps)
    ambient = steps * math.comb(q + degree - homogeneous, degree)
    if given != ambient:
        raise CheckFailed("ambient", f"is {given} in the file; it is {ambient}")
    if degree > MOST_DEGREE:
        checklist.say("ambient", UNFINISHED, f"the degree {degree} was not checked")
        return
    rng = random.Random(f"verify degree/{seed}")
    p = random_prime(rng, PRIME_SIZES.long)
    # Structural zeros may remove terms; the ambient space is that of the form of the network.
    point = random_point(network, p, rng.randrange(1 << 32))

    def labels(t: int) -> np.ndarray:
        check_time()
        moved = replace(point, X=times(point.X % p, np.full((1, 1), t % p, np.int64), p))
        still = dual_point(network, moved, (), np.zeros(0, np.int64))
        return np.asarray(jacobian_of(network).modular_forward(still).value, np.int64) % p

    one = labels(1)
    t = rng.randrange(2, p)
    multiple = times(one, np.full((1, 1), pow(t, degree, p), np.int64), p)
    found = one.any() and np.array_equal(labels(t), multiple)
    if not homogeneous:
        values = np.array([labels(k).ravel() for k in range(degree + 2)])
        for _ in range(degree):
            values = (values[1:] - values[:-1]) % p
        found = not found and values[0].any() and np.array_equal(values[0], values[1])
    if not found:
        raise CheckFailed("ambient", f"the labels have not the degree {degree} in the samples")
    same = "all of" if homogeneous else "of different degrees, at most"
    # The difference as a polynomial in weights, samples and t, or in weights and samples.
    most, bits = jacobian_of(network).label_bound
    bits += 1 if homogeneous else degree + 2 + most * (degree + 1).bit_length()
    meetings = jacobian_of(network).entry_bound.meetings
    error = deficit_probability(1, 2 * most, bits, meetings)
    text = f"terms {same} degree {degree}, by values at multiples: {error_words(error)}"
    checklist.say("ambient", PROBABLE, text)


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


DIMENSION = ProofFormat(
    FORMAT, (VERSION,), "the proof of a dimension", DimensionProof, _check, lambda data: "dimension"
)
