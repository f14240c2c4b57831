"""Sketches: columns of the Jacobian times tensors of rank one, and the rank of all columns."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.linalg.modular import matmul
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import random_residues
from algebra.programs.generic import Columns, Model, random_program_point
from algebra.programs.jacobian import Sweep, program_jacobian
from algebra.programs.program import Builder
from algebra.programs.sketches import sketch
from tests.algebra.programs.programs import LONG_PRIME, all_cells, point, random_program


def sketched(program, arithmetic, blocks, width, seed):
    """J R by sketches, by columns where there are none, and whether all were sketches; and R."""
    sweep, rng = Sweep(program, arithmetic, blocks), random.Random(seed)
    p, total, mixes, count = arithmetic.p, 0, [], 0
    for name, shape in program.weights.items():
        cells = [(name, *at) for at in np.ndindex(*shape)]
        vectors = [random_residues((n, width), p, rng) for n in shape]
        letters = "abcdef"[: len(shape)]
        groups = ",".join(letter + "z" for letter in letters)
        mix = random_residues((1, width), p, rng)
        if shape:
            wide = [v.astype(object) for v in vectors]
            mix = np.einsum(f"{groups}->{letters}z", *wide).reshape(-1, width) % p
            mix = mix.astype(np.int64)
        found = sketch(sweep, name, vectors) if shape else None
        if found is None:
            own = matmul(sweep.jacobian(cells), mix, p)
        else:
            own, count = found.swapaxes(1, 2).reshape(-1, width), count + 1
        total = (total + own) % p
        mixes.append(mix)
    return total, np.concatenate(mixes), count


def agrees(seed):
    """The product with all columns, and the rank, of a random program; the number of sketches."""
    program = random_program(seed)
    arithmetic, blocks = point(program, LONG_PRIME, seed, 1 + seed % 3)
    J = program_jacobian(program, arithmetic, blocks, all_cells(program))
    found, mix, count = sketched(program, arithmetic, blocks, len(J) + 3, seed)
    assert np.array_equal(found, matmul(J, mix, LONG_PRIME))
    assert modular_rank(found, LONG_PRIME) == modular_rank(J, LONG_PRIME)
    return count


@given(st.integers(0, 10**6))
def test_sketches_are_products_with_columns(seed):
    """So are their ranks: a random program, with sketches where its weights allow them."""
    agrees(seed)


@pytest.mark.long
def test_ranks_of_five_hundred_programs():
    """Sketched ranks equal those of all columns, and most programs have sketches."""
    counts = [agrees(seed) for seed in range(500)]
    assert sum(count > 0 for count in counts) > 100


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_axes_in_any_order(order):
    """A weight of three axes that are exchanged, one of them in no other factor."""
    build, rng, shape = Builder(), random.Random(3), (3, 2, 4)
    numbers = np.arange(24).reshape(shape).transpose(order)
    weight = build.index(numbers, build.weight("W", shape))
    value = build.contract("abc,b->a", weight, build.sample("x", weight.shape[1:2]))
    model = Model(build.program(build.multiply(value, value)))
    at = random_program_point(model, 4, "sketch", bits=23)
    [(_, sweep)] = Columns(model, at, 4, ["W"])._sweeps()
    vectors = [random_residues((n, 5), at.p, rng) for n in shape]
    mix = np.einsum("az,bz,cz->abcz", *(v.astype(object) for v in vectors)).reshape(24, 5) % at.p
    J = sweep.jacobian([("W", *place) for place in np.ndindex(*shape)])
    found = sketch(sweep, "W", vectors).swapaxes(1, 2).reshape(-1, 5)
    assert np.array_equal(found, matmul(J, mix.astype(np.int64), at.p))


def test_rank_of_very_many_parameters():
    """Of two matrices of 300 × 200 and 2 × 300, with 12 labels of 6 samples: as of the columns."""
    build = Builder()
    hidden = build.contract("ij,j->i", build.weight("W", (300, 200)), build.sample("x", (200,)))
    build_v = build.weight("V", (2, 300))
    model = Model(build.program(build.contract("ij,j->i", build_v, hidden)))
    at = random_program_point(model, 6, "many", bits=23)
    columns = Columns(model, at, 6, ["W", "V"])
    assert modular_rank(columns.sketched(["W", "V"], random.Random(0)), at.p) == 12
    few = columns.of([("W", k, k) for k in range(40)])
    assert modular_rank(few.astype(np.int64) % at.p, at.p) == 12
