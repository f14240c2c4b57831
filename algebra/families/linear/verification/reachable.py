"""Verification of the claim that the teacher itself is a student, at a new point.

The theorem is that of `algebra.families.linear.reachable`.  Here the equations are computed by
putting unit matrices in place of the changes of basis, and a solution is tested: the student that
it derives from the teacher has all fixed weights, and computes the same function.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from flint import nmod_mat

from algebra.certificates.checks import PROVED, CheckFailed, Say
from algebra.families.linear.evidence import Reached
from algebra.families.linear.reachable import layers_of
from algebra.linalg.modular import matmul, random_prime, random_residues
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import random_point

PLACE = "evidence.teacher_reached"

# Largest number of entries of all changes of basis together.
_MOST_UNKNOWNS = 2_500


def check_reached(problem: Problem, reached: Reached, seed: int, say: Say) -> None:
    """For generic fixed weights and teacher some student is the teacher in another basis.

    Raises
    ------
    CheckFailed
    """
    widths, ends = layers_of(problem.network)
    blocks = reached.blocks
    if [sorted(u for part in layer for u in part) for layer in blocks] != [
        list(range(width)) for width in widths
    ]:
        raise CheckFailed(f"{PLACE}.blocks", "do not divide the hidden units of each layer")
    # If an unlucky point proves nothing, another one is tried.
    rng = random.Random(f"verify-reachable/{seed}")
    complaint = ""
    for _ in range(3):
        complaint = _complaint(problem, blocks, widths, ends, rng)
        if not complaint:
            text = "for generic weights a change of basis makes the teacher a student"
            say(PLACE, PROVED, text)
            return
    raise CheckFailed(PLACE, complaint)


def _complaint(problem: Problem, blocks: Any, widths: Any, ends: Any, rng: random.Random) -> str:
    """Why the theorem does not apply at a random point; "" if it does."""
    network, masks = problem.network, problem.allocation.masks
    p = random_prime(rng)
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
    if len(cells) > _MOST_UNKNOWNS:
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
    rows = table.shape[0]
    if rows > len(cells):
        return f"{rows} equations for {len(cells)} entries of changes of basis"
    drawn = random_residues((len(cells) - rows, len(cells) + 1), p, rng)
    full = np.concatenate([table, drawn[:, :-1]]) if len(cells) else table
    right = np.concatenate([-constant % p, drawn[:, -1]])
    change = [np.zeros((width, width), np.int64) for width in widths]
    if cells:
        matrix = nmod_mat(full.tolist(), p)
        if rows and nmod_mat(table.tolist(), p).rank() < rows:
            return "the equations of the changes of basis are not independent"
        if matrix.rank() < len(cells):
            return "the random point is unlucky"
        solution = matrix.solve(nmod_mat([[int(v)] for v in right], p))
        for number, (layer, k, j) in enumerate(cells):
            change[layer][k, j] = int(solution[number, 0])
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
        keeps = masks[name] == 0
        if not np.array_equal(made[name][keeps], student.weights[name][keeps] % p):
            return f"{name}: the fixed weights are not kept"
    X = student.X

    def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return matmul(a % p, b % p, p)

    labels = [network.forward(w, X, product) % p for w in (made, teacher.weights)]
    if not np.array_equal(*labels):
        return "the student does not compute the teacher's function"
    return ""
