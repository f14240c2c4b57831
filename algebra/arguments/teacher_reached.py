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

*Survey*: of the first 240 nets of `benchmarks/bench_undecided.py`, in which cells of W alone
learn, it decides none; it is for allocations in which nearly everything learns.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import nmod_mat

from algebra.arguments.argument import Argument, Claimed, FoundEvidence
from algebra.arguments.bases import drawn_solution, student_complaint
from algebra.checker.checks import PROVED, CheckFailed
from algebra.checker.premises import ALMOST_ALL
from algebra.checker.records import Counts, Record
from algebra.checker.verdicts import MAXIMAL
from algebra.linalg.modular import matmul
from algebra.linalg.residues import random_residues
from algebra.networks.chain import need_chain
from algebra.networks.chain_units import ends_of
from algebra.problems.laws.pinned import prime_for, residue, restrict
from algebra.problems.premises import Feature
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import random_point
from algebra.time_limits import check_time

if TYPE_CHECKING:
    from algebra.arguments.case import Case

Block = tuple[int, ...]
Layers = tuple[tuple[Block, ...], ...]

PLACE = "evidence.teacher_reached"
# Largest number of entries of all P together.
_MOST_UNKNOWNS = 1_500
# Divisions into blocks that are tried.
_MOST_DIVISIONS = 32
# Largest number of these entries in a file.
_MOST_CHECKED = 2_500


@dataclass(frozen=True)
class Reached(Record):
    """Blocks of hidden units in which a change of basis makes the teacher a student.

    Attributes
    ----------
    blocks : tuple of tuples of tuples of int
        For each hidden layer, from the input on, its units in blocks.
    """

    blocks: tuple[tuple[Counts, ...], ...]


def search(case: Case) -> FoundEvidence | None:
    """Blocks for which the teacher itself is a student."""
    blocks = reachable_blocks(case.problem, case.effort.seed)
    rule = "the teacher itself is reachable: a change of basis makes it a student"
    return None if blocks is None else FoundEvidence(MAXIMAL, rule, Reached(blocks))


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


def _divisions(problem: Problem) -> Iterator[Layers]:
    """Single units, units with equal patterns of weights, or all units together: layer by layer."""
    chain = need_chain(problem.network)
    widths, ends = chain.inner_widths, ends_of(chain)
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


def _applies(problem: Problem, blocks: Layers, rng: random.Random) -> bool:
    """Whether the theorem's hypotheses hold at a random point."""
    p = prime_for(problem.student(), rng)
    ends = ends_of(need_chain(problem.network))
    shapes = problem.network.shapes
    fixed, teacher = (
        {name: random_residues(shape, p, rng) for name, shape in shapes.items()} for _ in range(2)
    )
    restrict(fixed, problem.student(), residue(p))
    restrict(teacher, problem.support, residue(p))
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


def check(problem: Problem, reached: Reached, claimed: Claimed) -> str:
    """For generic fixed weights and teacher some student is the teacher in another basis.

    The equations are computed by putting unit matrices in place of the changes of basis, and a
    solution is tested: the student that it derives from the teacher has all fixed weights, and
    computes the same function.
    """
    chain = need_chain(problem.network)
    widths, ends = chain.inner_widths, ends_of(chain)
    blocks = reached.blocks
    if [sorted(u for part in layer for u in part) for layer in blocks] != [
        list(range(width)) for width in widths
    ]:
        raise CheckFailed(f"{PLACE}.blocks", "do not divide the hidden units of each layer")
    # If an unlucky point proves nothing, another one is tried.
    rng = random.Random(f"verify-reachable/{claimed.seed}")
    complaint = ""
    for _ in range(3):
        complaint = _complaint(problem, blocks, widths, ends, rng)
        if not complaint:
            text = "for generic weights a change of basis makes the teacher a student"
            claimed.say(PLACE, PROVED, text)
            return PROVED
    raise CheckFailed(PLACE, complaint)


def _complaint(problem: Problem, blocks: Any, widths: Any, ends: Any, rng: random.Random) -> str:
    """Why the theorem does not apply at a random point; "" if it does."""
    network, masks = problem.network, problem.allocation.masks
    p = prime_for(problem.student(), rng)
    exists = {
        name: np.asarray(problem.support.get(name, np.ones(shape))) != 0
        for name, shape in network.shapes.items()
    }
    student, teacher = (
        random_point(network, p, rng.randrange(1 << 32), support)
        for support in (problem.student(), problem.support)
    )
    fixed = {name: w * (masks[name] == 0) for name, w in student.weights.items()}
    constrained: dict[str, np.ndarray] = {}
    for name, (_, b) in ends.items():
        learns = masks[name] != 0
        mask = np.zeros(learns.shape, dtype=bool)
        columns = blocks[b] if b >= 0 else [(j,) for j in range(learns.shape[1])]
        for part in columns:
            inside = learns[:, list(part)]
            mixed = inside.any(axis=1) & ~inside.all(axis=1)
            if mixed.any():
                row = int(np.flatnonzero(mixed)[0])
                return f"{name}, row {row}: some of the columns {list(part)} learn, some do not"
            mask[np.ix_(~inside.any(axis=1), list(part))] = True
        constrained[name] = mask

    def residual(c: Any, t: Any, change: list[np.ndarray], ones: int, sign: int) -> np.ndarray:
        """Constrained entries of c P_b + sign · P_a t, P = `ones` · I outside hidden layers."""
        entries = []
        for name, (a, b) in ends.items():
            right = c[name] * ones if b < 0 else matmul(c[name], change[b], p)
            left = t[name] * ones if a < 0 else matmul(change[a], t[name], p)
            entries.append((right + sign * left)[constrained[name]] % p)
        return np.concatenate(entries) if entries else np.zeros(0, np.int64)

    cells = [
        (layer, k, j) for layer, parts in enumerate(blocks) for part in parts
        for k in part for j in part
    ]  # fmt: skip
    if len(cells) > _MOST_CHECKED:
        return f"{len(cells)} entries of changes of basis: too many to check"
    zero = [np.zeros((width, width), np.int64) for width in widths]
    constant = residual(fixed, teacher.weights, zero, 1, -1)
    # The existing terms: weights that exist are 1, so that nothing cancels.
    ones = {name: mask.astype(np.int64) for name, mask in exists.items()}
    kept_ones = {name: one * (masks[name] == 0) for name, one in ones.items()}
    present = residual(kept_ones, ones, zero, 1, 1) != 0
    columns = []
    for layer, k, j in cells:
        zero[layer][k, j] = 1
        columns.append(residual(fixed, teacher.weights, zero, 0, -1))
        present |= residual(kept_ones, ones, zero, 0, 1) != 0
        zero[layer][k, j] = 0
    table = np.array(columns, dtype=np.int64).reshape(len(cells), constant.size).T
    table, constant = table[present], constant[present]
    solution = drawn_solution(table.tolist(), constant.tolist(), len(cells), p, rng)
    if isinstance(solution, str):
        return solution
    change = zero
    for (layer, k, j), entry in zip(cells, solution, strict=True):
        change[layer][k, j] = entry
    inverse = []
    for matrix_ in change:
        own = nmod_mat(matrix_.tolist(), p)
        if int(own.det()) == 0:
            return "no change of basis that solves the equations is regular"
        inverse.append(np.array([[int(v) for v in row] for row in own.inv().tolist()], np.int64))
    made = {}
    for name, (a, b) in ends.items():
        left = teacher.weights[name] if a < 0 else matmul(change[a], teacher.weights[name], p)
        made[name] = (left if b < 0 else matmul(left, inverse[b], p)) % p
    return student_complaint(problem, made, student, teacher)


ARGUMENT = Argument(
    name="teacher_reached",
    form=Reached,
    why={
        MAXIMAL: "MP = 1: after a change of basis of the hidden units, which changes no label, the "
        "teacher differs from the student in learnable weights only."
    },
    search=search,
    check=check,
    covers={
        MAXIMAL: {
            **ALMOST_ALL,
            Feature.EXACT: "the equations are independent at a point with the exact numbers",
        }
    },
)
