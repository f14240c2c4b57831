"""Affine equations solved in stages, against the reduced echelon form at once."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.linalg import affine
from algebra.linalg.affine import Inconsistent, solve_affine
from algebra.linalg.modular import matmul
from tests.samples import P, many


def drawn(rng, consistent):
    """Random sparse equations, some of them repeated as combinations of others."""
    unknowns, count = rng.randint(1, 12), rng.randint(0, 12)
    rows = np.zeros((count, unknowns + 1), np.int64)
    for row in rows:
        for _ in range(rng.randint(0, 4)):
            row[rng.randrange(unknowns)] = rng.randrange(P)
    if count:
        mix = np.array([[rng.choice([0, 0, 1, 5]) for _ in range(count)] for _ in range(3)])
        rows = np.concatenate([rows, matmul(mix, rows, P)])[rng.sample(range(count + 3), count)]
    point = np.array([rng.randrange(P) for _ in range(unknowns)], np.int64)
    rows[:, -1] = -matmul(rows[:, :-1], point[:, None], P)[:, 0] % P
    if not consistent and count:
        rows[rng.randrange(count), -1] = rng.randrange(P)
    return rows


def both(rows, patch, few):
    """At once and in stages: images and free unknowns, or None for contradictory equations."""
    found = []
    patch.setattr(affine, "_FEW", few)
    for entries in (1 << 30, 0):
        patch.setattr(affine, "_AT_ONCE", entries)
        try:
            found.append(solve_affine(rows, P))
        except Inconsistent:
            found.append(None)
    return found


@given(st.integers(0, 10**6), st.booleans())
def test_stages_find_the_same(seed, consistent):
    """The same free unknowns, and the same forms in them; contradictions in both ways."""
    rows = drawn(random.Random(seed), consistent)
    with pytest.MonkeyPatch.context() as patch:
        once, staged = both(rows, patch, few=2)
    assert (once is None) == (staged is None)
    if once is not None:
        assert (once[0] == staged[0]).all()
        assert once[1].tolist() == staged[1].tolist()
        assert not matmul(rows, once[0], P).any()


def test_steps_of_a_chain(monkeypatch):
    """A recurrence with fixed and free rows in any order, samples mixed or not."""
    rng = np.random.default_rng(0)
    n, steps, known = 6, 5, 3
    for case in range(many(12)):
        fixed = rng.permutation(n)[:known]
        rows = []
        for t in range(steps):
            W = rng.integers(0, P, (known, n))
            for i, k in enumerate(fixed):
                row = np.zeros(n * steps + 1, np.int64)
                row[k * steps + t] = P - 1
                if t + 1 < steps:
                    row[np.arange(n) * steps + t + 1] = W[i]
                else:
                    row[-1] = W[i, 0]
                rows.append(row)
        D, X = rng.integers(0, P, (2, n)), rng.integers(0, P, (steps, 3 if case % 2 else steps))
        seen = np.concatenate([np.kron(D, column) % P for column in X.T])
        right = rng.integers(0, P, (len(seen), 1))
        table = np.concatenate([np.array(rows), np.concatenate([seen, right], axis=1)])
        once, staged = both(table[rng.permutation(len(table))], monkeypatch, few=8)
        assert (once[0] == staged[0]).all()
        assert once[1].tolist() == staged[1].tolist()
