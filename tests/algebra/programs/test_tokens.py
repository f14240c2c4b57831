"""Samples of tokens: different ones, in one order; ranks of theirs and what is said of them."""

from itertools import product

import numpy as np
import pytest

import matchprob as mp
from algebra.plugins.models.network import ProgramNetwork
from algebra.plugins.models.onnx import Read
from algebra.programs.generic import (
    Columns,
    Model,
    argued,
    independent_rows,
    random_program_point,
)
from algebra.programs.program import Builder
from algebra.programs.tokens import TokenSizes, number_of_samples, token_samples
from numeric.programs.patterns import drawn_patterns, pattern_at
from tests.doubles import jacobian

V, LENGTH, WIDTH, LABELS = 4, 2, 3, 2


def embedded(then, *, real=False):
    """Rows of a table for two tokens and their positions, summed, perhaps with a real input."""
    build = Builder()
    x = build.sample("x", (LENGTH, V))
    rows = build.contract("ti,ij->tj", x, build.weight("E", (V, WIDTH)))
    rows = build.add(rows, build.weight("positions", (LENGTH, WIDTH)))
    total = build.contract("tj->j", rows)
    if real:
        total = build.add(total, build.contract("ij,j->i", build.weight("W", (WIDTH, 2)),
                                                build.sample("y", (2,))))  # fmt: skip
    hidden = then(build, total)
    return build.program(build.contract("ij,j->i", build.weight("D", (LABELS, WIDTH)), hidden))


def tanh(build, value):
    return build.apply("tanh", value)


def normalized(build, value):
    """Divided by the root of the mean square, plus a number."""
    square = build.contract("i,i->", value, value)
    below = build.root(build.add(square, build.constant(1)))
    return build.contract("i,->i", value, build.invert(below))


def relu(build, value):
    return build.choose(value, value, build.scale(value, 0))


def whole(program):
    """A model as it is read from a file, without values."""
    roles = dict.fromkeys(program.weights, "matrix")
    return Read(program, {}, frozenset(), {"x": V}, roles)


def float_rank(program, m, seed=0):
    """The rank in doubles at the samples of the order 0 and random weights, and real inputs."""
    rng = np.random.default_rng(seed)
    weights = {n: rng.standard_normal(s) for n, s in program.weights.items()}
    samples = {n: rng.standard_normal((*s, m)) for n, s in program.samples.items()}
    samples |= token_samples(program, {"x": V}, m)
    every = {n: np.ones(s, bool) for n, s in program.weights.items()}
    size = np.linalg.svd(jacobian(program, weights, samples, every), compute_uv=False)
    return int((size > 1e-10 * size[0]).sum())


def test_samples_are_different_until_all_are_there():
    """The first m are those of every larger m; the 16 first are all; then they are repeated."""
    program = embedded(tanh)
    assert number_of_samples(program, {"x": V}) == 16
    assert number_of_samples(embedded(tanh, real=True), {"x": V}) is None
    drawn = token_samples(program, {"x": V}, 35, 3)["x"]
    chosen = [tuple(drawn[..., k].argmax(axis=1)) for k in range(35)]
    assert (drawn.sum(axis=1) == 1).all()
    assert set(chosen[:16]) == set(product(range(V), repeat=2))
    assert chosen[16:32] == chosen[:16]
    assert (token_samples(program, {"x": V}, 9, 3)["x"] == drawn[..., :9]).all()
    other = token_samples(program, {"x": V}, 16, 4)["x"]
    assert (other != drawn[..., :16]).any()


def test_excluded_numbers_are_in_no_sample():
    """Two of four numbers are left: four samples of two tokens, everywhere, also when stored."""
    program = embedded(tanh)
    tokens = TokenSizes({"x": V}, {"x": frozenset({1, 2, 9, -100})})
    assert number_of_samples(program, tokens) == 4
    drawn = token_samples(program, tokens, 9, 3)["x"]
    chosen = {tuple(drawn[..., k].argmax(axis=1)) for k in range(9)}
    assert chosen == set(product((0, 3), repeat=2))
    read = Read(program, {}, frozenset(), tokens, dict.fromkeys(program.weights, "matrix"))
    # Two rows of the table have no effect.
    found = mp.capacity(read, "E").subsets[0]
    assert found.rank == 2 * WIDTH
    assert any("its rows 1 … 2" in reason.reason for reason in found.reasons)
    network = ProgramNetwork.of(read, 30)
    again = ProgramNetwork("x", 30, model=network.model).read
    assert dict(again.tokens) == {"x": V}
    assert again.tokens.excluded == {"x": frozenset({1, 2})}
    for seed in range(3):
        rows = network._tokens(seed)["x"]
        assert rows.any(axis=(0, 2)).tolist() == [True, False, False, True]


def test_a_large_table_is_not_squared():
    """Six tokens among 50,257, five samples: distinct rows, 12 MB and not 20 GB."""
    build = Builder()
    x = build.sample("x", (6, 50257))
    program = build.program(build.contract("ti,i->t", x, build.weight("E", (50257,))))
    drawn = token_samples(program, {"x": 50257}, 5)["x"]
    assert drawn.shape == (6, 50257, 5)
    assert drawn.sum() == 30


@pytest.mark.parametrize("then", [tanh, normalized])
@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("m", [3, 6, 16])
def test_ranks_are_those_in_doubles(then, real, m):
    """At the same tokens, also where square roots exist for few of them only."""
    program = embedded(then, real=real)
    model = Model(program, {"x": V})
    names = list(program.weights)
    point = random_program_point(model, m, "test")
    cells = [(n, *c) for n in names for c in np.ndindex(*program.weights[n])]
    J = Columns(model, point, m, names).of(cells)
    assert len(independent_rows(J, point.p)) == max(float_rank(program, m, k) for k in range(2))
    samples = {tuple(point.blocks["x"][..., k].argmax(axis=1)) for k in range(m)}
    assert len(samples) == m


def test_what_is_proved_of_tokens():
    """Sums of two rows of one table are related, so exponentials of them are; rows are not."""
    related = argued(Model(embedded(tanh), {"x": V}), "0")
    assert not related.is_exact
    assert related.words.startswith("upper bounds for the samples drawn")
    build = Builder()
    rows = build.contract("i,ij->j", build.sample("x", (V,)), build.weight("E", (V, WIDTH)))
    assert argued(Model(build.program(tanh(build, rows)), {"x": V}), "0").is_exact
    # Roots of numbers at given tokens are not shown to be independent; at real inputs they are.
    assert not argued(Model(embedded(normalized), {"x": V}), "0").is_exact
    assert argued(Model(embedded(normalized, real=True), {"x": V}), "0").is_exact


def test_a_pattern_is_that_of_the_model_s_own_tokens():
    """The signs of m samples are those at the tokens of the point, in the same order."""
    program = embedded(relu)
    patterns = drawn_patterns(program, tokens={"x": V}, seed=5)
    model = Model(program, {"x": V}, patterns=patterns, order=5)
    [signs] = model.signs(32).values()
    # Equal samples have equal signs, and some samples have different ones.
    assert (signs[..., :16] == signs[..., 16:]).all()
    assert len(np.unique(signs, axis=-1).T) > 1
    weights = {n: np.random.default_rng(1).normal(size=s) for n, s in program.weights.items()}
    [at] = pattern_at(program, weights, token_samples(program, {"x": V}, 16, 5)).values()
    assert at.shape == signs[..., :16].shape


def test_capacities_of_tokens_are_no_upper_bounds_of_other_samples():
    """All 16 samples are met: the rank is that in doubles; a part of many is a lower bound."""
    found = mp.capacity(whole(embedded(lambda build, value: value)), "E,positions,D")
    [row] = found.subsets
    assert row.rank == float_rank(embedded(lambda build, value: value), 16)
    [row] = mp.capacity(whole(embedded(normalized)), "E,positions,D").subsets
    assert row.rank == float_rank(embedded(normalized), 16)
    # A regular minor in balls: formal roots are no upper bound here.
    assert row.exact
    build = Builder()
    x = build.sample("x", (3, 60))
    rows = build.contract("ti,ij->j", x, build.weight("E", (60, 2)))
    long = build.program(build.contract("ij,j->i", build.weight("D", (4, 2)), rows))
    read = Read(long, {}, frozenset(), {"x": 60}, {"E": "matrix", "D": "matrix"})
    [row] = mp.capacity(read, "E", m=5).subsets
    assert row.of_samples
    assert not row.exact
    assert f"≥ {row.rank}" in str(mp.capacity(read, "E", m=5))


def test_rows_that_no_sample_chooses_are_named():
    """Two samples choose at most four rows of seven; the others have no effect for these."""
    build = Builder()
    x = build.sample("x", (2, 7))
    rows = build.contract("ti,ij->j", x, build.weight("E", (7, 2)))
    program = build.program(tanh(build, rows))
    read = Read(program, {}, frozenset(), {"x": 7}, {"E": "matrix"})
    data = np.array([[0, 5], [2, 5]])
    [row] = mp.capacity(read, "E", m=2).subsets
    chosen = token_samples(program, {"x": 7}, 2)["x"].any(axis=(0, 2))
    idle = ", ".join(str(k) for k in np.flatnonzero(~chosen))
    assert row.reasons[0].learnable == 2 * int((~chosen).sum())
    first, *others = row.reasons[0].reason.split(": ")
    assert others == ["without effect for these samples"]
    assert idle.split(", ")[0] in first
    read = Read(program, {"E": (np.ones((7, 2), int), 3)}, frozenset(), {"x": 7}, {"E": "matrix"})
    [row] = mp.capacity(read, "E", data=data, m=2).subsets
    assert any("no sample chooses its rows 1, 3 … 4, 6" in str(one) for one in row.reasons)
    assert row.reasons[-1].reason.endswith("without effect for these samples, here")
