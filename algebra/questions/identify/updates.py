r"""The weights that data determine if matrices learn by updates.

Parameters of a low-rank update are never determined: U G and V G⁻ᵀ give the same matrix.  The
matrix can be determined.  So the result is about the weights w(θ): near a generic solution those
with the same labels form a manifold whose tangent is F = (∂w/∂θ)(ker J_θ), of dimension dim{w} −
ρ_θ (the gauge lies in the kernel of both).  A weight is determined if all of F vanishes there; free
weights form *groups*, the connected components of the matroid whose circuits are the smallest
supports of vectors of F: F is the direct sum of its parts on the groups, and of no finer partition.
If single cells learn, ∂w/∂θ is the identity and this is `algebra.questions.identify.fibre`.

A matroid and its dual have the same components, and those of a matrix in reduced echelon form are
the components of the graph that joins each pivot to the other non-zero entries of its row [1]_.

If each cell is moved by one parameter (gains and ties), all this is known from the kernel of J_θ
itself: no direction of all weights is formed.

References
----------
.. [1] J. Oxley, "Matroid Theory", Oxford University Press 2011, Sections 4.1 and 4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from algebra.linalg.echelon import modular_echelon, modular_kernel
from algebra.linalg.residues import Residues
from algebra.networks.base import Network, Point
from algebra.networks.protocols import jacobian_of
from algebra.problems.allocation import Cell
from algebra.problems.learning import Learning
from algebra.questions.identify.effects import have_effect
from algebra.questions.identify.fibre import Fibre, fibre_of_moves
from algebra.ranks.deficits import RARE, deficit_error, prime_bits
from algebra.ranks.derivatives import dual_point
from algebra.ranks.few_samples import span_of_labels
from algebra.ranks.jacobian import columns_at, is_in_parts, random_point
from algebra.ranks.parametrized import Parametrized, learning_rank, learning_weights


def learning_fibre(learning: Learning, *, seed: int = 0) -> Fibre:
    """The fibre of all learnable parameters, in terms of weights: those determined locally.

    Parameters
    ----------
    learning : Learning
    seed : int, optional

    Returns
    -------
    Fibre
        Its `size` is the dimension of the students, without gauge.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> from algebra.problems.problem import Problem
    >>> net = LinearEstimator(q=3, d=3, m=3)
    >>> found = learning_fibre(Problem(net, {"W": {"lora": 1}}).learning)
    >>> found.size, found.dimension, len(found.determined)
    (5, 0, 9)
    """
    cells = learning.moving.cells
    network, every = learning_weights(learning, gauge=True)
    movers = parameters_of_cells(learning, every)
    effective = have_effect(network, every, learning.support)
    own = learning_rank(learning, None if movers is None else int(effective.sum()), seed)
    bound = max(own.rank, 1)
    count = len(cells if movers is None else every)
    bits = prime_bits(jacobian_of(network), bound, below=RARE / max(1, count))
    missed = deficit_error(jacobian_of(network), bound, bits=bits)

    def kernel_at(p: int, number: int) -> tuple[Point, Residues]:
        point = random_point(network, p, number, learning.support)
        if is_in_parts(network):
            return point, span_of_labels(network, point, every, own.rank).kernel(p)
        return point, modular_kernel(columns_at(network, point, every), p)

    def moves_at(p: int, number: int) -> tuple[int, Residues]:
        point, still = kernel_at(p, number)
        moved = [_moved(network, learning, dual_point(network, point, every, s)) for s in still]
        table = np.array(moved, np.int64).reshape(-1, len(cells))
        return learning.size - len(still), modular_echelon(table, p)[0]

    stream = f"fibre of updates/{seed}"
    if movers is None:
        return fibre_of_moves(cells, own, learning.dimension, moves_at, missed, stream, bits)

    def parameters_at(p: int, number: int) -> tuple[int, Residues]:
        still = kernel_at(p, number)[1]
        return learning.size - len(still), still

    found = fibre_of_moves(
        tuple(every), own, learning.dimension, parameters_at, missed, stream, bits, effective
    )
    return _of_cells(found, cells, every, movers)


def parameters_of_cells(learning: Learning, every: Sequence[Cell]) -> np.ndarray | None:
    """The number of the one parameter that moves each cell of `Learning.moving`.

    None if a low rank learns.
    """
    place = {cell: k for k, cell in enumerate(every)}
    found = []
    for name in learning.moving.matrices:
        rows, columns = learning.moving.entries(name)
        update = learning.updates.get(name)
        if update is None:
            places = zip(rows.tolist(), columns.tolist(), strict=True)
            found.append(np.array([place[name, i, j] for i, j in places], np.int64))
            continue
        if len(arrays := update.arrays(learning.network.shapes[name])) > 1:
            return None
        [letter] = arrays
        numbers = update.numbers_at(learning.network.shapes[name], rows, columns)
        found.append(place[f"{letter}_{name}", 0, 0] + numbers - 1)
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _of_cells(
    found: Fibre, cells: tuple[Cell, ...], every: Sequence[Cell], movers: np.ndarray
) -> Fibre:
    """A fibre of parameters as one of the cells, each of which one parameter moves.

    A cell moves in proportion to its parameter: cells of one parameter are parallel, so they are
    in one group, and a group consists of the cells of a group of parameters.
    """
    place = {cell: k for k, cell in enumerate(every)}
    number = np.zeros(len(every), np.int64)
    for k, group in enumerate(found.groups, 1):
        number[[place[cell] for cell in group]] = k
    at = number[movers]
    groups = [
        tuple(cells[k] for k in np.flatnonzero(at == own))
        for own in dict.fromkeys(at.tolist())
        if own
    ]
    determined = tuple(cells[k] for k in np.flatnonzero(at == 0))
    return replace(found, determined=determined, groups=tuple(groups), parameters=found)


def _moved(network: Network, learning: Learning, duals: Point) -> np.ndarray:
    """Changes of the weights that move, in the order of the cells, in the direction of a point."""
    weights = network.updated(duals).weights if isinstance(network, Parametrized) else duals.weights
    masks, moving = learning.moving.masks, learning.moving.matrices
    return np.concatenate([weights[name].tangent[masks[name] != 0] for name in moving])
