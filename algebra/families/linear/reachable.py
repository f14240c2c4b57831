r"""Whether the teacher itself is a student in another basis, so that MP = 1.

A linear network computes the same function after a change of basis of a hidden layer:
``M ↦ P_a M P_b⁻¹`` for each matrix M from layer b to layer a, P = I at the inputs and outputs (in a
recurrent network all hidden states share one P).  If for generic fixed weights c and a generic
teacher M_t there are real regular P such that every transformed matrix M' = P_a M_t P_b⁻¹ agrees
with c on fixed weights and vanishes where no weight exists, then the student M' matches on every
sample: MP = 1.

**Theorem.** Let the units of each hidden layer be divided into blocks, P block-diagonal.  Suppose
that in each row i of each matrix, over each block β of its columns, either all cells exist and
learn, or none learns.  For each (i, β) of the second type and each j in β take the equation

.. math:: \sum_{k ∈ β} c_{ik} (P_b)_{kj} = \sum_l (P_a)_{il} (M_t)_{lj},

linear in the entries of the P, with c = 0 where no weight exists; equations without any coefficient
are omitted.  If these equations are independent at one point (c, M_t) modulo a prime and have a
solution there with all P regular, then MP = 1.

*Proof.* Since the equations are independent at one point modulo p, they are independent for generic
c and M_t over Q.  Then they have solutions for all such (c, M_t), an affine space with a basis that
is rational in (c, M_t), and the product of the determinants of the P is a polynomial on it which is
not 0 at the point modulo p, hence not 0 for generic (c, M_t), hence not 0 at some real solution.
For such P the equations say M' = c over each (i, β) of the second type; over one of the first type
M' is arbitrary.  So M' is a student of the allocation, and its function is the teacher's. ∎

Two examples.  Blocks of single units, P diagonal: each fixed weight relates two scales, and the
equations are independent if the fixed weights form a forest on the hidden units and one node for
inputs and outputs; so if all of D learns and W is diagonal and learns, B may have one fixed weight
in each row.  One block: if all of D and W learn, P B_t = B may be required for n columns.
Permutations of units give nothing new: a permuted generic teacher is a generic teacher.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
from flint import nmod_mat

from algebra.linalg.modular import random_prime, random_residues
from algebra.networks.base import Network
from algebra.networks.chain import need_chain
from algebra.problems.laws.values import residue, restrict
from algebra.problems.problem import Problem
from algebra.time_limits import check_time

Block = tuple[int, ...]
Layers = tuple[tuple[Block, ...], ...]

# Largest numbers of entries of all P together, and of divisions into blocks that are tried.
_MOST_UNKNOWNS, _MOST_DIVISIONS = 1_500, 32


def reachable_blocks(problem: Problem, seed: int = 0) -> Layers | None:
    """Blocks of hidden units for which the theorem applies; None if none was found.

    Parameters
    ----------
    problem : Problem
        A linear network with a fixed allocation.
    seed : int, optional
        It determines primes and points.

    Returns
    -------
    tuple or None
        The blocks of units of each hidden layer, from the input on.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=3, b=1, d=2, m=3)
    >>> eye = [[1, 0], [0, 1]]
    >>> reachable_blocks(Problem(net, {"D": [[1, 1], [1, 1]], "W": eye}, support={"W": eye}))
    (((0,), (1,)),)
    """
    rng = random.Random(f"reachable/{seed}")
    for blocks in _divisions(problem):
        check_time()
        if _applies(problem, blocks, rng):
            return blocks
    return None


def layers_of(network: Network) -> tuple[tuple[int, ...], dict[str, tuple[int, int]]]:
    """Hidden widths, and for each matrix the layers of its rows and columns.

    Returns
    -------
    widths : tuple of int
        Widths of the hidden layers, from the input on.
    ends : dict of str to (int, int)
        Layers of the rows and of the columns of each matrix; −1 for inputs and outputs.
    """
    described = need_chain(network)
    chain, widths = described.chain(), described.inner_widths
    if chain.recurrent is not None:
        assert chain.start is not None
        return widths, {chain.output: (-1, 0), chain.recurrent: (0, 0), chain.start: (0, -1)}
    ends = {name: (k, k - 1) for k, name in enumerate(chain.steps)}
    return widths, {**ends, chain.output: (-1, len(chain.steps) - 1)}


def _divisions(problem: Problem) -> Iterator[Layers]:
    """Single units, units with equal patterns of weights, or all units together: layer by layer."""
    widths, ends = layers_of(problem.network)
    choices = []
    for layer, width in enumerate(widths):
        alike: dict[Any, list[int]] = {}
        for unit in range(width):
            alike.setdefault(_look(problem, ends, layer, unit), []).append(unit)
        singles = tuple((unit,) for unit in range(width))
        whole = (tuple(range(width)),)
        choices.append(
            tuple(dict.fromkeys((singles, tuple(tuple(u) for u in alike.values()), whole)))
        )
    for count, blocks in enumerate(product(*choices)):
        if count == _MOST_DIVISIONS:
            return
        if sum(len(b) ** 2 for layer in blocks for b in layer) <= _MOST_UNKNOWNS:
            yield blocks


def _look(
    problem: Problem, ends: Mapping[str, tuple[int, int]], layer: int, unit: int
) -> tuple[Any, ...]:
    """The existing and the learning weights of a unit; within its own layer only their number."""
    masks = problem.allocation.masks
    look: list[Any] = []
    for name, (rows, columns) in ends.items():
        state = masks[name] + np.asarray(problem.support.get(name, np.ones_like(masks[name])))
        inner = rows == columns
        for own, line in ((rows, state[unit : unit + 1]), (columns, state[:, unit : unit + 1])):
            if own == layer and line.size and unit < state.shape[0 if own == rows else 1]:
                values = line.ravel().tolist()
                look.append(tuple(sorted(values)) if inner else tuple(values))
    return tuple(look)


def fixed_and_teacher(
    problem: Problem, p: int, rng: random.Random
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Random weights modulo p of a student and of a teacher, 0 where there is no weight."""
    fixed, teacher = (
        {name: random_residues(shape, p, rng) for name, shape in problem.network.shapes.items()}
        for _ in range(2)
    )
    restrict(fixed, problem.student(), residue(p))
    restrict(teacher, problem.support, residue(p))
    return fixed, teacher


def _applies(problem: Problem, blocks: Layers, rng: random.Random) -> bool:
    """Whether the theorem's hypotheses hold at a random point."""
    p = random_prime(rng)
    _widths, ends = layers_of(problem.network)
    fixed, teacher = fixed_and_teacher(problem, p, rng)
    # Unknowns: entries (k, j) of P within a block.
    number: dict[tuple[int, int, int], int] = {}
    block_of: list[dict[int, Block]] = []
    for layer, parts in enumerate(blocks):
        block_of.append({unit: part for part in parts for unit in part})
        for part in parts:
            for k, j in product(part, part):
                number[layer, k, j] = len(number)
    equations: list[dict[int, int]] = []
    for name, (a, b) in ends.items():
        learns = problem.allocation.masks[name]
        columns = learns.shape[1]
        parts = blocks[b] if b >= 0 else tuple((j,) for j in range(columns))
        # Learning weights of each row, block by block: none or all of them.
        starts = np.cumsum([0, *(len(part) for part in parts)])[:-1]
        order = [j for part in parts for j in part]
        learning = np.add.reduceat(learns[:, order], starts, axis=1, dtype=np.int64)
        fewer = learning < np.array([len(part) for part in parts])
        if (fewer & (learning > 0)).any():
            return False
        for i, which in np.argwhere(fewer).tolist():
            part = parts[which]
            for j in part:
                equation: dict[int, int] = {}
                # The constant has the key −1.
                for k in part if b >= 0 else (j,):
                    at = number[b, k, j] if b >= 0 else -1
                    equation[at] = equation.get(at, 0) + int(fixed[name][i, k])
                for u in block_of[a][i] if a >= 0 else (i,):
                    at = number[a, i, u] if a >= 0 else -1
                    equation[at] = equation.get(at, 0) - int(teacher[name][u, j])
                if any(v % p for v in equation.values()):
                    equations.append(equation)
    if len(equations) > len(number):
        return False
    unknowns = len(number)
    table = [[equation.get(k, 0) % p for k in range(unknowns)] for equation in equations]
    if not unknowns:
        return not equations
    right = [-equation.get(-1, 0) % p for equation in equations]
    # Free unknowns are drawn: random equations are added until there are as many as unknowns.
    for _ in range(unknowns - len(table)):
        table.append([rng.randrange(p) for _ in range(unknowns)])
        right.append(rng.randrange(p))
    matrix = nmod_mat(table, p)
    if matrix.rank() < unknowns:
        return False
    values = matrix.solve(nmod_mat([[r] for r in right], p))
    for layer, parts in enumerate(blocks):
        for part in parts:
            block = [[int(values[number[layer, k, j], 0]) for j in part] for k in part]
            if int(nmod_mat(block, p).det()) == 0:
                return False
    return True
