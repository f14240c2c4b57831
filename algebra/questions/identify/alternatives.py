r"""The number of values that the data leave for each weight: all N complex solutions at once.

If matches are isolated (r = ρ_A) an instance whose labels come from a network of this allocation
has N complex solutions (N = the generic root count if r is the whole network's rank ρ; for r < ρ,
when labels of other teachers have none, usually 1), and each weight takes some number v of distinct
values at them, 1 ≤ v ≤ N, that does not depend on the instance (the solution variety is
irreducible, `algebra.systems.root_count`).  v = 1: the weight is *globally determined*, the same in
every match, although others may not be.  If w has v values but w² only half as many, then w ↦ −w
maps the set of values to itself: w is determined *up to sign* if v = 2 and w² has one value.

**Method.** The core of a random instance over GF(p) is a radical zero-dimensional ideal (generic
solutions are simple), so its points form one generic point over GF(p)[t] / (w)
(`algebra.polynomials.points`); the deferred linear blocks are solved there, and each weight is a
polynomial in t.  The number of its values is the degree of its minimal polynomial.

**Proof.** Nothing is proved beyond "modulo p": a number that is too small needs a prime or an
instance at which two values coincide that differ generically, which has probability of the order of
N²·degree/p; two instances modulo two primes must agree.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from flint import nmod_poly

from algebra.linalg.primes import random_prime
from algebra.polynomials.msolve.solver import groebner_basis
from algebra.polynomials.points import NotRadical, Points, points_of
from algebra.polynomials.quotient import Element
from algebra.problems.allocation import Allocation, Cell
from algebra.ranks.generic_rank import network_rank
from algebra.systems.core import Core, FunctionPoints
from algebra.systems.forms import beyond_counting, preferred_form
from algebra.systems.instances import modular_core
from algebra.systems.root_count import RootCountError

# Number of instances tried: each draws a new prime.
_INSTANCES = 6


@dataclass(frozen=True)
class Alternatives:
    """The values that generic data leave for each weight.

    Attributes
    ----------
    root_count : int
        N, complex solutions of a generic instance.
    values : mapping of cell to int
        Number of distinct values of the weight at them.
    squares : mapping of cell to int
        Number of distinct values of its square.
    primes : tuple of int
        The primes modulo which both were computed.
    """

    root_count: int
    values: Mapping[Cell, int]
    squares: Mapping[Cell, int]
    primes: tuple[int, ...]

    @property
    def determined(self) -> tuple[Cell, ...]:
        """Weights that have the same value in every match."""
        return tuple(cell for cell, count in self.values.items() if count == 1)

    @property
    def up_to_sign(self) -> tuple[Cell, ...]:
        """Weights with two values that differ in their sign only."""
        return tuple(
            cell for cell, count in self.values.items() if count == 2 and self.squares[cell] == 1
        )


def alternatives(
    allocation: Allocation,
    support: Mapping[str, np.ndarray] | None = None,
    *,
    square: bool | None = None,
    seed: int = 0,
    timeout: float = 60.0,
) -> Alternatives:
    """The number of values of each weight at the N solutions of a generic instance.

    Parameters
    ----------
    allocation : Allocation
        Its number of cells is its own generic rank.
    support : mapping of str to mask, optional
    square : bool, optional
        Whether this is the whole network's rank too; computed if not given.  If not, there are
        more equations than weights, and no block may be deferred.
    seed : int, optional
    timeout : float, optional
        Seconds for each Gröbner basis.

    Raises
    ------
    RootCountError
        If it cannot be computed, or no two instances agree.
    MsolveMissing
        If msolve is needed and not installed.

    Examples
    --------
    Two recurrent weights: w and w' satisfy a quadratic equation, their sum is known.

    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> found = alternatives(Allocation.from_masks(net, W=[[1, 0], [0, 1]]))
    >>> found.root_count, found.values
    (2, {('W', 0, 0): 2, ('W', 1, 1): 2})
    """
    if (unknowns := beyond_counting(allocation)) is not None:
        raise RootCountError(
            f"its equations leave {unknowns} unknowns after those that are fixed by linear ones: "
            "the number of matches is not counted for so many unknowns"
        )
    form = preferred_form(allocation)
    if square is None:
        square = allocation.size == network_rank(allocation.network, support, seed).rank
    rng = random.Random(f"alternatives/{seed}")
    seen: dict[tuple[int, ...], tuple[int, Points]] = {}
    for _ in range(_INSTANCES):
        p = random_prime(rng)
        number = rng.randrange(1 << 32)
        core, _ = modular_core(allocation, p, number, form, support, defer=square)
        try:
            points = _core_points(core, p, rng, timeout)
        except NotRadical:
            continue
        # A separate stream: the instances do not depend on the random combinations of equations.
        weights = weights_at(core, points, random.Random(f"mix/{p}/{number}"))
        if weights is None:
            continue
        algebra = points.algebra
        counts = tuple(algebra.distinct_values(w) for w in weights)
        squares = tuple(algebra.distinct_values(algebra.times(w, w)) for w in weights)
        key = (points.count, *counts, *squares)
        if key in seen:
            cells = allocation.cells
            return Alternatives(
                points.count,
                dict(zip(cells, counts, strict=True)),
                dict(zip(cells, squares, strict=True)),
                (seen[key][0], p),
            )
        seen[key] = (p, points)
    raise RootCountError(
        f"no two of {_INSTANCES} instances have the same numbers of values of the weights"
    )


def _core_points(core: Core, p: int, rng: random.Random, timeout: float) -> Points:
    """All points of a core."""
    if core.is_linear:
        return Points(nmod_poly([0, 1], p), ())
    basis = groebner_basis(core.equations, timeout=timeout)
    return points_of(basis, len(core.unknowns), p, rng)


def weights_at(core: Core, points: Points, rng: random.Random) -> list[Element] | None:
    """The learnable weights at all points of a core, as functions on them.

    Parameters
    ----------
    core : Core
        Over GF(p).
    points : Points
        The points of its equations.
    rng : random.Random
        For random combinations of the equations of deferred blocks.

    Returns
    -------
    list or None
        None if a deferred block is singular at a point.
    """
    at = FunctionPoints(points.algebra, _terms, rng)
    weights = core.back_substitute(points.coordinates, at)
    return None if weights is None else list(weights)


def _terms(polynomial: object) -> list[tuple[tuple[int, ...], int]]:
    terms = polynomial.to_dict().items()  # type: ignore[attr-defined]
    return [(tuple(int(e) for e in monomial), int(c)) for monomial, c in terms]
