r"""Generic ranks, found over GF(p) at random points: what is proved, and what a deficit is worth.

For the consequences of a rank of the Jacobian for MP see the theorem in `algebra.ranks.jacobian`.

**What is proved.** Over GF(p) at one random point a rank can only be smaller than the
generic rank over Q.  So a rank that meets an a-priori upper bound is exact, and the point
is a proof.  What a deficit is worth: `algebra.ranks.deficits`.

**Short and long primes.** A rank is first computed modulo one prime: of 23 bits for a large rank,
otherwise of 31; a full one needs no bound.  If primes of 31 bits bound a deficit badly
(`prime_bits`), it is computed modulo primes of 61 bits, of which there are 2.7·10^16: the same
bounds with 2^60 in place of 2^30.  Two points modulo these cost less than the five or six modulo
shorter ones that a rank of some hundreds would need.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from algebra.linalg.modular import matmul
from algebra.linalg.primes import PRIME_SIZES
from algebra.linalg.ranks import MEDIUM, modular_rank
from algebra.linalg.residues import Residues, random_residues
from algebra.networks.base import Factors, Network, Point
from algebra.networks.protocols import jacobian_of
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.laws.pinned import masks_of, pinned_bits, prime_for
from algebra.ranks.deficits import RARE, TARGET_ERROR, deficit_error, prime_bits
from algebra.ranks.jacobian import (
    all_cells,
    at_enough_samples,
    enough_samples,
    is_in_parts,
    jacobian,
    random_point,
    tangent_factors,
)
from algebra.ranks.size import FOR_BLOCKS, check_size
from algebra.time_limits import check_time

# Entries of a Jacobian up to which it is ranked as it is.
_SMALL = 20_000


@dataclass(frozen=True)
class GenericRank:
    """A generic rank and how it is known.

    Attributes
    ----------
    rank : int
        Largest rank found: a proved lower bound for the generic rank.
    upper : int
        An a-priori upper bound.
    p, seed : int
        Prime and point number of the witness: there the rank is attained.
    points : tuple of (int, int)
        All (prime, point number) pairs tried.
    error : Fraction
        Bound on the probability that the generic rank is larger; 0 if it is proved.
    """

    rank: int
    upper: int
    p: int
    seed: int
    points: tuple[tuple[int, int], ...]
    error: Fraction

    @property
    def is_proved(self) -> bool:
        """Whether the rank meets its upper bound."""
        return self.error == 0


def generic_rank(
    network: Network,
    cells: Sequence[Cell],
    *,
    support: Mapping[str, np.ndarray] | None = None,
    upper: int | None = None,
    seed: int = 0,
    target: Fraction = TARGET_ERROR,
) -> GenericRank:
    """Generic rank of the Jacobian with respect to some cells.

    Parameters
    ----------
    network : Network
    cells : sequence of cells
    support : mapping of str to mask, optional
    upper : int, optional
        A known upper bound, such as the rank of the whole Jacobian.
    seed : int, optional
        Primes and points follow from it.
    target : Fraction, optional
        Points are added until the error bound is below this.

    Returns
    -------
    GenericRank
    """
    network = jacobian_of(network)
    bound = min(len(cells), network.label_dimension_bound)
    if upper is not None:
        bound = min(bound, upper)
    # If the whole output matrix learns, the rest may be small: `rank_at` checks again.
    read_out = network.read_out
    learning = [name for name, _, _ in cells].count(str(read_out))
    apart = read_out is not None and prod(network.shapes[read_out]) == learning
    columns = 1 if apart else _columns_at_once(len(cells), bound)
    if not is_in_parts(network):
        check_size(enough_samples(network, len(cells)), columns, per_entry=FOR_BLOCKS)
    names = sorted({cell[0] for cell in cells})
    # Exact numbers are entries of this degree, with one denominator.
    return rank_at_points(
        network, bound, lambda point: rank_at(network, point, cells, names, bound),
        more_bits=network.entry_bound.degree * pinned_bits(support),
        support=support, seed=seed, target=target,
    )  # fmt: skip


def _columns_at_once(columns: int, bound: int) -> int:
    """Of very many columns only a part is ranked at a time: see `rank_at`."""
    return min(columns, bound + bound // 4 + 16)


def rank_at_points(
    network: Network,
    bound: int,
    rank_of: Callable[[Point], int],
    *,
    more_degree: int = 0,
    more_bits: int = 0,
    support: Mapping[str, np.ndarray] | None = None,
    seed: int | str = 0,
    target: Fraction = TARGET_ERROR,
    bounding: Network | None = None,
) -> GenericRank:
    """A generic rank, from its ranks at random points.

    Parameters
    ----------
    network : Network
    bound : int
        An upper bound.
    rank_of : callable
        The rank at a point.
    more_degree, more_bits : int, optional
        As for `deficit_error`.
    support, seed, target : optional
        As for `generic_rank`.
    bounding : Network, optional
        The network whose degrees bound the error, if not the same one.
    """
    bounding = bounding or network
    rng = random.Random(f"primes/{seed}")
    best, witness = -1, (0, 0)
    points: list[tuple[int, int]] = []
    error, once, bits = (
        Fraction(1),
        None,
        PRIME_SIZES.short if bound >= MEDIUM else PRIME_SIZES.usual,
    )
    while error >= target:
        check_time()
        p, number = prime_for(support, rng, bits), rng.randrange(1 << 32)
        points.append((p, number))
        found = rank_of(random_point(network, p, number, support))
        if found > best:
            best, witness, error = found, (p, number), Fraction(1)
        if best >= bound:
            error = Fraction(0)
            break
        if once is None:
            enough = prime_bits(jacobian_of(bounding), bound, more_degree, more_bits, below=RARE)
            once = deficit_error(jacobian_of(bounding), bound, more_degree, more_bits, bits=enough)
            if enough > bits:
                bits = enough
                continue
        # A larger rank would have shown at each of the points with rank `best`.
        error *= once
    return GenericRank(best, bound, *witness, tuple(points), error)


def rank_at(
    network: Network, point: Point, cells: Sequence[Cell], names: Sequence[str], bound: int
) -> int:
    """Rank at one point, or a lower bound of it that is at least as likely to meet `bound`.

    What the output matrix brings is known from a small product (`_output_part`); the rest is
    ranked with its rows projected.

    Of very many cells a random subset is tried first: where its rank meets the bound, so
    does the whole.  Otherwise random combinations of all columns are ranked: rank(J C) is
    the smaller of rank(J) and `bound` for generic C with `bound` columns.

    Of very many samples as many as there are cells are used: see `enough_samples`; in a large
    network as few as the rank needs: see `algebra.ranks.few_samples`.
    """
    if not cells or not bound:
        return 0
    network, point = at_enough_samples(network, point, len(cells))
    if is_in_parts(network) and len(cells) <= _columns_at_once(len(cells), bound):
        # Loaded here: the check of a proof for a small network needs no readings.
        from algebra.ranks.few_samples import span_of_labels

        return span_of_labels(network, point, cells, bound).rank
    factors = tangent_factors(network, point, names)
    known, rest, kernels = 0, cells, None
    if set(names) == {jacobian_of(network).read_out} or len(cells) * network.outputs > _SMALL:
        known, rest, kernels = _output_part(network, point.p, factors, cells)
    if known >= bound or not rest:
        return known
    return known + _rank_of_columns(network, point, factors, rest, kernels, bound - known)


def _output_part(
    network: Network, p: int, factors: Factors, cells: Sequence[Cell]
) -> tuple[int, Sequence[Cell], list[Residues] | None]:
    """What the output matrix brings to the rank, and what is left.

    Its columns are e_i ⊗ R[j]: a block R[C_i] for each output i, C_i the columns that learn in
    row i.  With a basis K_i of the null space of R[C_i] the rank of all columns is
    Σ rank R[C_i] + the rank of the other columns with the rows of each output i multiplied by K_i.

    Returns
    -------
    int
        Σ rank R[C_i].
    sequence of cells
        Those of other matrices.
    list of ndarray of int64, or None
        K_i for each output, one vector per row; None if the output matrix does not learn.
    """
    read_out = jacobian_of(network).read_out
    rows: dict[int, list[int]] = {}
    for name, i, j in cells:
        if name == read_out:
            rows.setdefault(i, []).append(j)
    if not rows or read_out is None:
        return 0, cells, None
    R, rest = factors[read_out][1][0], [cell for cell in cells if cell[0] != read_out]
    learning = [tuple(sorted(rows.get(i, ()))) for i in range(network.d)]
    if not rest:
        many = Counter(learning)
        return sum(n * modular_rank(R[list(columns)], p) for columns, n in many.items()), rest, None
    from algebra.linalg.echelon import modular_kernel

    bases = {columns: modular_kernel(R[list(columns)], p) for columns in set(learning)}
    kernels = [bases[columns] for columns in learning]
    return sum(R.shape[1] - len(K) for K in kernels), rest, kernels


def _rank_of_columns(
    network: Network, point: Point, factors: Factors, cells: Sequence[Cell],
    kernels: list[Residues] | None, bound: int,
) -> int:  # fmt: skip
    """Rank of the columns of some cells, or a lower bound as in `rank_at`."""
    p = point.p
    left = network.outputs if kernels is None else sum(map(len, kernels))
    check_size(network, _columns_at_once(len(cells), bound), left, per_entry=FOR_BLOCKS)

    def columns(some: Sequence[Cell]) -> Residues:
        J = jacobian(factors, some, p)
        if kernels is None:
            return J
        blocks = J.reshape(network.d, network.columns, len(some))
        return np.concatenate(
            [matmul(K, block, p) for K, block in zip(kernels, blocks, strict=True)]
        )

    if len(cells) <= 2 * bound + 64:
        return _rank_of_tall(columns(cells), point)
    rng = random.Random(f"combine/{p}/{point.seed}")
    found = modular_rank(columns(rng.sample(list(cells), _columns_at_once(len(cells), bound))), p)
    if found >= bound:
        return found
    rows, width = network.outputs, bound + 8
    total: Residues | int = 0
    step = max(1, 4_000_000 // rows)
    for start in range(0, len(cells), step):
        check_time()
        block = columns(cells[start : start + step])
        mix = random_residues((block.shape[1], width), p, rng)
        total = (total + matmul(block, mix, p)) % p
    assert not isinstance(total, int)
    return modular_rank(total, p)


def _rank_of_tall(matrix: Residues, point: Point) -> int:
    """Rank of a matrix; where it has many more rows than columns some rows may be enough."""
    rows, columns = matrix.shape
    if columns and rows > 2 * columns + 64:
        rng = random.Random(f"rows/{point.p}/{point.seed}")
        chosen = rng.sample(range(rows), columns + columns // 4 + 16)
        if modular_rank(matrix[chosen], point.p) == columns:
            return columns
    return modular_rank(matrix, point.p, overwrite=True)


def network_rank(
    network: Network, support: Mapping[str, np.ndarray] | None = None, seed: int = 0
) -> GenericRank:
    """Generic rank ρ of the whole network's Jacobian (the number of equations).

    It is the teacher's: exact numbers of the student's weights are not used.
    """
    masks = masks_of(support)
    return generic_rank(network, all_cells(network, masks), support=masks, seed=seed)


def allocation_rank(
    allocation: Allocation,
    support: Mapping[str, np.ndarray] | None = None,
    upper: int | None = None,
    seed: int = 0,
) -> GenericRank:
    """Generic rank ρ_A of an allocation's Jacobian."""
    return generic_rank(
        allocation.network, allocation.cells, support=support, upper=upper, seed=seed
    )
