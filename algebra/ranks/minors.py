r"""A regular minor of the Jacobian at a rational point, in ball arithmetic.

A ρ×ρ minor that is not 0 at one point proves generic rank at least ρ, for every analytic activation
and without any theorem on its values.  Its rows and columns are those that elimination modulo a
prime finds independent; the point has small rational weights and samples.  The minor is not 0 if
the matrix of balls can be inverted: python-flint's ``arb_mat.inv`` raises an error if some matrix
in the balls is singular.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb_mat, ctx, fmpq

from algebra.linalg.echelon import independent_columns
from algebra.networks.base import Network
from algebra.networks.protocols import jacobian_of
from algebra.problems.allocation import Cell
from algebra.problems.laws.pinned import prime_for, restrict
from algebra.programs.balls import BallArithmetic
from algebra.programs.jacobian import program_jacobian
from algebra.ranks.jacobian import columns_at, random_point
from algebra.time_limits import OutOfTime, check_time, phase

# Largest number of rows of a minor: products of larger matrices of balls take many seconds.
LARGEST = 256
# The point's numbers are multiples of 1/16 of absolute value below 2, so that φ is not nearly
# linear.
_GRID = 16
_REACH = 31
_PRECISIONS = (64, 128, 256, 512, 1024)


@dataclass(frozen=True)
class Minor:
    """Rows (labels) and columns (weights) of a minor, and the number of its point.

    Attributes
    ----------
    number : int
        It determines the rational point.
    rows : tuple of int
        Label k·m + c is Y[k, c].
    columns : tuple of cells
    """

    number: int
    rows: tuple[int, ...]
    columns: tuple[Cell, ...]


def find_minor(
    network: Network,
    cells: Sequence[Cell],
    rank: int,
    support: Mapping[str, np.ndarray],
    seed: int,
    attempts: int = 3,
    number: int | None = None,
) -> Minor | None:
    """A minor of this size that balls prove regular; None if none was found.

    The point is the rational point of `number`, if this is given, or any point.
    """
    if not 0 < rank <= LARGEST:
        return None
    rng = random.Random(f"minor/{seed}")
    for _ in range(attempts):
        check_time()
        p = prime_for(support, rng)
        J = columns_at(network, random_point(network, p, rng.randrange(1 << 32), support), cells)
        columns = independent_columns(J, p)
        rows = independent_columns(J[:, columns].T.copy(), p)
        if len(columns) < rank:
            continue
        chosen = tuple(cells[k] for k in columns[:rank])
        at = rng.randrange(1 << 32) if number is None else number
        minor = Minor(at, tuple(map(int, rows[:rank])), chosen)
        if is_regular(network, minor, support):
            return minor
    return None


def minor_in_time(
    network: Network,
    cells: Sequence[Cell],
    rank: int,
    support: Mapping[str, np.ndarray],
    seed: int,
    number: int | None = None,
) -> Minor | None:
    """`find_minor`; None also if the time limit is reached."""
    try:
        with phase("a regular minor in ball arithmetic"):
            return find_minor(network, cells, rank, support, seed, number=number)
    except OutOfTime:
        return None


def is_attained(
    network: Network,
    cells: Sequence[Cell],
    rank: int,
    support: Mapping[str, np.ndarray],
    seed: int,
) -> bool:
    """Whether a regular minor proves that the generic rank of these columns is at least this."""
    return not rank or minor_in_time(network, cells, rank, support, seed) is not None


def none_found(rank: int) -> str:
    """The entry of a certificate's list of attempts if no regular minor was found."""
    return (
        f"a regular minor of {rank} rows in ball arithmetic: none was found; the search goes "
        f"up to {LARGEST} rows"
    )


def is_regular(
    network: Network,
    minor: Minor,
    support: Mapping[str, np.ndarray],
    precisions: Sequence[int] = _PRECISIONS,
) -> bool:
    """Whether balls of one of these precisions (in bits) prove that the minor is not 0."""
    weights, X = rational_point(network, minor.number, support)
    return any(
        is_invertible(_entries(network, minor, weights, X)) for _ in in_precisions(precisions)
    )


def in_precisions(precisions: Iterable[int]) -> Iterator[int]:
    """Numbers of bits, each the precision of balls until the next one."""
    before = ctx.prec
    try:
        for bits in precisions:
            check_time()
            ctx.prec = bits
            yield bits
    finally:
        ctx.prec = before


def is_invertible(matrix: arb_mat) -> bool:
    """Whether no matrix in the balls is singular, as far as is shown."""
    try:
        matrix.inv()
    except ZeroDivisionError:
        return False
    return True


def exchanges(
    network: Network,
    minor: Minor,
    others: Sequence[Cell],
    support: Mapping[str, np.ndarray],
    precisions: Sequence[int] = _PRECISIONS[2:],
) -> np.ndarray | None:
    """The pairs of columns, of a regular minor and others, that may be exchanged.

    By Cramer's rule the minor with column c replaced by e is that of M times (M⁻¹ J)[c, e].

    Returns
    -------
    ndarray of bool, shape (columns of the minor, others), or None
        Whether balls prove that the entry is not 0; None if they do not show that M is regular.
    """
    weights, X = rational_point(network, minor.number, support)
    whole = Minor(minor.number, minor.rows, (*minor.columns, *others))
    for _ in in_precisions(precisions):
        table = _entries(network, whole, weights, X).table()
        own = arb_mat([row[: len(minor.rows)] for row in table])
        try:
            found = own.solve(arb_mat([row[len(minor.rows) :] for row in table]))
        except ZeroDivisionError:
            continue
        return np.array([[not v.contains(0) for v in row] for row in found.table()])
    return None


def rational_point(
    network: Network, number: int, support: Mapping[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Weights and samples on a grid of sixteenths, zero outside the support."""
    rng = random.Random(f"rational/{number}")

    def drawn(shape: tuple[int, int]) -> np.ndarray:
        out = np.empty(shape, dtype=object)
        for cell in np.ndindex(shape):
            out[cell] = fmpq(rng.randint(-_REACH, _REACH), _GRID)
        return out

    weights = {name: drawn(shape) for name, shape in network.shapes.items()}
    restrict(weights, support, fmpq)
    return weights, drawn(network.input_shape)


def ball_columns(
    network: Network,
    weights: Mapping[str, np.ndarray],
    X: np.ndarray,
    number: int,
    cells: Sequence[Cell],
) -> np.ndarray:
    """Columns of the Jacobian at a rational point, as balls of python-flint's precision.

    The point's number determines all that is drawn besides weights and samples.
    """
    program, blocks = network.program(), network.ball_blocks(weights, X, number)
    arithmetic, own = BallArithmetic(program, network.function), jacobian_of(network)
    return program_jacobian(program, arithmetic, blocks, [own.place(cell) for cell in cells])


def _entries(
    network: Network, minor: Minor, weights: Mapping[str, np.ndarray], X: np.ndarray
) -> arb_mat:
    """The minor as a matrix of balls."""
    J = ball_columns(network, weights, X, minor.number, minor.columns)
    return arb_mat(len(minor.rows), len(minor.columns), J[list(minor.rows)].ravel().tolist())
