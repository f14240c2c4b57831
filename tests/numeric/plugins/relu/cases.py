"""Shallow ReLU instances and a brute force over all activation patterns, for the tests."""

from itertools import product
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.optimize import linprog

from matchprob import Instance, Problem, ShallowReLU, draw_instance


def problem(q: int, n: int, d: int, m: int, **masks: Any) -> Problem:
    """A problem on a shallow ReLU net."""
    return Problem(ShallowReLU(q=q, n=n, d=d, m=m), masks)


def random_problem(rng: np.random.Generator, *, surplus: int = 0) -> Problem:
    """A tiny net with r = dm + surplus learnable weights in W1, at most 2^9 patterns."""
    while True:
        q, n, d, m = (int(x) for x in rng.integers(1, 5, 4))
        cells = rng.permutation(n * q)[: d * m + surplus]
        if len(cells) < d * m + surplus or not len(cells):
            continue
        mask = np.zeros(n * q, int)
        mask[cells] = 1
        mask = mask.reshape(n, q)
        if 1 <= int(mask.any(axis=1).sum()) * m <= 9:
            return problem(q, n, d, m, W1=mask.tolist())


def with_idle_units(rng: np.random.Generator, case: Problem) -> Problem:
    """The problem with structural zeros in W2: some units reach no output, some only a few."""
    network = case.network
    mask = (rng.random(network.shapes["W2"]) < 0.8).astype(int)
    mask[:, rng.random(network.shapes["W2"][1]) < 0.4] = 0
    return Problem(network, case.learnable, {"W2": mask.tolist()})


def instances(case: Problem, count: int, seed: int = 0) -> list[Instance]:
    """Instances of a problem."""
    return [draw_instance(case, seed, index) for index in range(count)]


def brute_force(instance: Instance) -> tuple[set[tuple[Any, ...]], bool]:
    """All isolated solutions, from every pattern's linear equations, and whether others exist.

    If a pattern's equations have a continuum of solutions, a linear program in doubles searches
    for one with the required signs.
    """
    network = instance.problem.network
    weights, X, Y = instance.exact
    mask = np.asarray(instance.allocation.masks["W1"]) != 0
    units = [i for i in range(network.n) if mask[i].any()]
    cells = [(i, j) for i in units for j in range(network.q) if mask[i, j]]
    W1 = np.where(mask, fmpq(0), weights["W1"])
    W2 = weights["W2"]
    H = W1 @ X
    solutions: set[tuple[Any, ...]] = set()
    freedom = False
    for bits in product((0, 1), repeat=len(units) * network.m):
        active = {i: bits[t * network.m : (t + 1) * network.m] for t, i in enumerate(units)}
        rows, right = [], []
        for s in range(network.m):
            for o in range(network.d):
                rows.append([W2[o, i] * X[j, s] if active[i][s] else fmpq(0) for i, j in cells])
                rest = Y[o, s]
                for i in range(network.n):
                    if i in active:
                        rest -= W2[o, i] * H[i, s] if active[i][s] else 0
                    elif H[i, s] > 0:
                        rest -= W2[o, i] * H[i, s]
                right.append(rest)
        width = len(cells)
        augmented = fmpq_mat(
            len(rows), width + 1, [x for row, y in zip(rows, right, strict=True) for x in (*row, y)]
        )
        reduced, rank = augmented.rref()
        leads = [next(j for j in range(width + 1) if reduced[i, j] != 0) for i in range(rank)]
        if width in leads:
            continue
        signs = [(i, s, 1 if active[i][s] else -1) for i in units for s in range(network.m)]
        if rank == width:
            values = [reduced[i, width] for i in range(width)]
            place = dict(zip(cells, values, strict=True))
            if all(
                sign * (H[i, s] + sum((place[c] * X[c[1], s] for c in cells if c[0] == i), fmpq(0)))
                >= 0
                for i, s, sign in signs
            ):
                solutions.add(tuple(values))
            continue
        upper = [
            [-sign * _number(X[j, s]) if i2 == i else 0.0 for i2, j in cells]
            for i, s, sign in signs
        ]
        found = linprog(
            np.zeros(width),
            A_ub=upper,
            b_ub=[sign * _number(H[i, s]) for i, s, sign in signs],
            A_eq=[[_number(x) for x in row] for row in rows],
            b_eq=[_number(y) for y in right],
            bounds=(None, None),
        )
        freedom |= found.status == 0
    return solutions, freedom


def _number(value: Any) -> float:
    return int(value.p) / int(value.q)
