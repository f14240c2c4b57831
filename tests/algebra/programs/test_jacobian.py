"""Jacobians of programs: reverse mode compared with dual numbers and with differences."""

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.errors import Unfinished
from algebra.linalg.residues import random_residues
from algebra.memory_limits import limited_memory
from algebra.programs.duals import DualArithmetic, DualValue
from algebra.programs.evaluate import evaluate
from algebra.programs.jacobian import Sweep, program_jacobian
from algebra.programs.program import Builder
from algebra.programs.residues import ModularArithmetic
from tests.algebra.programs.programs import (
    LONG_PRIME,
    SMALL_PRIME,
    all_cells,
    point,
    random_program,
)


def forwards(program, arithmetic, blocks, cells, target=None):
    """The Jacobian, one direction after another in dual numbers."""
    target = program.output if target is None else target
    columns = []
    batch = max((value.shape[-1] for value in blocks.values()), default=1)
    for name, *place in cells:
        duals = {key: DualValue(value, np.zeros_like(value)) for key, value in blocks.items()}
        duals[name].tangent[(*place, 0)] = 1
        found = evaluate(program, DualArithmetic(arithmetic), duals, [target])[target].tangent
        columns.append(np.broadcast_to(found, (*found.shape[:-1], batch)).ravel())
    return np.array(columns).T


@given(st.integers(0, 10**6), st.sampled_from([SMALL_PRIME, LONG_PRIME]), st.integers(1, 3))
def test_backwards_is_forwards(seed, p, samples):
    """Reverse mode and dual numbers give the same Jacobian of a random program."""
    program = random_program(seed)
    arithmetic, blocks = point(program, p, seed, samples)
    cells = all_cells(program)
    rows = program.nodes[program.output].size
    found = program_jacobian(program, arithmetic, blocks, cells)
    assert found.shape == (rows * samples, len(cells))
    assert np.array_equal(found, forwards(program, arithmetic, blocks, cells))


@given(st.integers(0, 10**6), st.sampled_from([SMALL_PRIME, LONG_PRIME]), st.integers(1, 3))
def test_one_gradient_is_a_combination_of_rows(seed, p, samples):
    """A backward pass gives the sums of rows with each covector, of parts of the samples."""
    program = random_program(seed)
    arithmetic, blocks = point(program, p, seed, samples)
    batch = max(value.shape[-1] for value in blocks.values())
    cells, shape = all_cells(program), program.nodes[program.output].shape
    covectors = random_residues((2, *shape, batch), p, random.Random(seed))
    sweep = Sweep(program, arithmetic, blocks, covector=covectors)
    jacobian = program_jacobian(program, arithmetic, blocks, cells).astype(object)
    for row, covector in enumerate(covectors):
        found = {name: np.zeros(shape, np.int64) for name, shape in program.weights.items()}
        for part in (slice(1), slice(1, None)) if batch > 1 else (slice(None),):
            for name, slopes in sweep.gradients(list(program.weights), part, row):
                found[name] = (found[name] + slopes) % p
        expected = covector.reshape(-1).astype(object) @ jacobian % p
        assert [int(found[name][tuple(place)]) for name, *place in cells] == expected.tolist()


def test_a_table_below_another_is_moved_as_a_slice():
    """Rows put below a fixed one, as those of a table with a row of padding: no list of places."""
    build = Builder()
    W = build.weight("W", (50, 4))
    first = build.constant(np.ones((1, 4), np.int64))
    table = build.index(np.arange(204).reshape(51, 4), first, W)
    x = build.sample("x", (51,))
    program = build.program(build.contract("s,sd->d", x, table))
    arithmetic, blocks = point(program, SMALL_PRIME, 3, 1)
    covector = random_residues((1, 4, 1), SMALL_PRIME, random.Random(5))
    sweep = Sweep(program, arithmetic, blocks, covector=covector)
    [(_, slopes)] = sweep.gradients(["W"])
    expected = blocks["x"][1:] * covector.reshape(1, 4) % SMALL_PRIME
    assert np.array_equal(slopes, expected)
    assert list(program.moves.values()) == [[(slice(0, 200), slice(4, 204))]]


@given(st.integers(0, 10**6))
def test_some_columns_in_any_order(seed):
    """The columns of some cells are those of all cells, in the requested order."""
    program = random_program(seed)
    arithmetic, blocks = point(program, LONG_PRIME, seed)
    cells = all_cells(program)
    order = random.Random(seed).sample(range(len(cells)), (len(cells) + 1) // 2)
    whole = program_jacobian(program, arithmetic, blocks, cells)
    some = program_jacobian(program, arithmetic, blocks, [cells[k] for k in order])
    assert np.array_equal(some, whole[:, order])


def test_some_columns_beside_a_diagonal():
    """Of a factor W in Σ W_bc Z_cc, of which few columns are asked for."""
    build = Builder()
    W, Z = build.weight("W", (1, 4)), build.sample("Z", (4, 4))
    A = build.sample("A", (3, 1))
    program = build.program(build.contract("ab,bc,cc->b", A, W, Z))
    arithmetic, blocks = point(program, LONG_PRIME, 0)
    cells = all_cells(program)
    whole = program_jacobian(program, arithmetic, blocks, cells)
    some = program_jacobian(program, arithmetic, blocks, cells[1:3])
    assert np.array_equal(some, whole[:, 1:3])


@given(st.integers(0, 10**6))
def test_a_polynomial_moves_by_its_derivative(seed):
    """On a line, f(a + t b) is a polynomial in t whose coefficient at t, interpolated, is J b."""
    program, p = random_program(seed, 3, rational=False, functions=False), LONG_PRIME
    arithmetic, blocks = point(program, p, seed)
    # Three operations of degree 3 at most.
    degree, cells, values = 27, all_cells(program), []
    step = random_residues((len(cells),), p, random.Random(seed)).astype(object)
    for t in range(degree + 1):
        moved = {name: value.copy() for name, value in blocks.items()}
        for (name, *place), b in zip(cells, step, strict=True):
            moved[name][(*place, 0)] = (int(moved[name][(*place, 0)]) + t * b) % p
        found = evaluate(program, arithmetic, moved)[program.output]
        values.append(np.broadcast_to(found, (*found.shape[:-1], 3)).ravel().astype(object))
    # Newton's series at 0, …, degree: the coefficient of t in "t over k" is (−1)^(k−1)/k.
    total = 0 * values[0]
    for k in range(1, degree + 1):
        values = [(b - a) % p for a, b in itertools.pairwise(values)]
        total = total + (-1) ** (k - 1) * pow(k, -1, p) * values[0]
    J = program_jacobian(program, arithmetic, blocks, cells).astype(object)
    assert np.array_equal(J @ step % p, total % p)


def test_a_weight_in_many_places():
    """A recurrent matrix has a pair for each step, and only requested cells are formed."""
    build = Builder()
    W, x = build.weight("W", (3, 3)), build.sample("X", (3,))
    h = x
    for _ in range(4):
        h = build.contract("ij,j->i", W, h)
    program = build.program(h)
    arithmetic, blocks = point(program, LONG_PRIME, 1)
    sweep = Sweep(program, arithmetic, blocks)
    assert [len(pairs) for pairs in sweep.pairs.values()] == [4]
    assert {pair.adjoint.shape[-1] for pair in sweep.pairs[W.number]} == {1}
    cells = [("W", 0, 1), ("W", 2, 2)]
    assert np.array_equal(sweep.jacobian(cells), forwards(program, arithmetic, blocks, cells))


@pytest.mark.parametrize("p", [SMALL_PRIME, LONG_PRIME])
def test_powers_of_a_matrix_hold_each_entry_once(p, monkeypatch):
    """W²⁴ as 24 products, as series of matrices are: 256 derivatives, and not 4²⁴."""
    build = Builder()
    W = build.weight("W", (4, 4))
    power = W
    for _ in range(23):
        power = build.contract("ij,jk->ik", power, W)
    program = build.program(build.contract("ij,j->i", power, build.sample("x", (4,))))
    arithmetic, blocks = point(program, p, 3)
    counts, own = [], Sweep._once
    monkeypatch.setattr(
        Sweep, "_once", lambda *given: counts.append(len(given[1].entries)) or own(*given)
    )
    found = program_jacobian(program, arithmetic, blocks, all_cells(program))
    assert (found == forwards(program, arithmetic, blocks, all_cells(program))).all()
    assert max(counts) <= 8 * 256


def test_another_value_can_be_differentiated():
    """The derivative of an intermediate value given by its name."""
    build = Builder()
    W, x = build.weight("W", (2, 3)), build.sample("X", (3,))
    hidden = build.name("hidden", build.apply("tanh", build.contract("ij,j->i", W, x)))
    program = build.program(build.contract("i->", hidden))
    arithmetic, blocks = point(program, LONG_PRIME, 2)
    cells, target = all_cells(program), program.named["hidden"]
    found = program_jacobian(program, arithmetic, blocks, cells, target)
    assert found.shape == (6, 6)
    assert np.array_equal(found, forwards(program, arithmetic, blocks, cells, target))


def test_chosen_values_follow_the_pattern():
    """With a given pattern, a choice has the derivative of the selected value."""
    build = Builder()
    W, x = build.weight("W", (4, 2)), build.sample("X", (2,))
    a = build.contract("ij,j->i", W, x)
    program = build.program(build.choose(a, build.multiply(a, a), build.scale(a, 3)))
    arithmetic, blocks = point(program, LONG_PRIME, 5)
    arithmetic = replace(arithmetic, signs=lambda node, value: value % 2 == 1)
    cells = all_cells(program)
    found = program_jacobian(program, arithmetic, blocks, cells)
    assert np.array_equal(found, forwards(program, arithmetic, blocks, cells))


def test_too_many_labels_are_refused_in_words():
    """The derivatives of a million labels at once are more than the limit of memory."""
    build = Builder()
    x = build.sample("x", (1000, 1000))
    value = build.contract("ij,->ij", x, build.weight("W", ()))
    program = build.program(build.reshaped(value, (1_000_000,)))
    blocks = {"x": np.ones((1000, 1000, 1), np.int64), "W": np.ones(1, np.int64)}
    arithmetic = ModularArithmetic(SMALL_PRIME)
    with limited_memory(1 << 30), pytest.raises(Unfinished, match=r"1000000 labels .* 8 TB"):
        Sweep(program, arithmetic, blocks)


@pytest.mark.parametrize(
    "moved",
    [
        lambda places: places.transpose(2, 0, 1),
        lambda places: places[1:, ::2],
        lambda places: np.broadcast_to(places[:, None, :, :7], (40, 3, 30, 7)),
    ],
)
def test_large_moves_of_whole_axes(moved):
    """Values and adjoints through views equal those through a table of the same places."""
    found = []
    for opaque in (False, True):
        build = Builder()
        W, x = build.weight("W", (40, 30, 10)), build.sample("x", (40, 30, 10))
        where = moved(build.places(x))
        # The 0 at the end makes a table of any places.
        cut = np.append(where.ravel(), [-1] * opaque)
        value = build.index(where if not opaque else cut, build.multiply(W, x))
        value = build.reshaped(value, (cut.size,))
        mix = build.constant(np.arange(cut.size).reshape(1, -1) % 97)
        program = build.program(build.contract("ij,j->i", mix, value))
        arithmetic, blocks = point(program, SMALL_PRIME, 3, 2)
        covector = random_residues((1, 1, 2), SMALL_PRIME, random.Random(5))
        sweep = Sweep(program, arithmetic, blocks, covector=covector)
        strided = [node for node in program.nodes if node.strides and not node.is_reshape]
        assert bool(strided) == (not opaque)
        found.append((sweep.value, dict(sweep.gradients(["W"]))["W"]))
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])
    assert found[0][1].any()
