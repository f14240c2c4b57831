"""Rows of elements computed on request; bounds of the others; spans from few elements."""

from itertools import combinations

import numpy as np
import pytest

from algebra.linalg.ranks import modular_rank
from algebra.matroids import groups as groups_module
from algebra.matroids.groups import GroupLeaf, Groups
from algebra.plugins.circuits import blocks
from algebra.plugins.circuits.question import recording_question
from algebra.plugins.circuits.recording import record
from algebra.plugins.circuits.verify import RECORDING, _check_derivatives
from matchprob import RNN, LinearRNN, Problem
from tests.samples import many


def circuit(kind, *, n=9, T=3, b=2, m=3, share=0.25, seed=0, learnable=None):
    """A sparse circuit; a linear one, or with tanh."""
    rng = np.random.default_rng(seed)
    mask = (rng.random((n, n)) < share).astype(int)
    # A unit that no synapse reaches would be no candidate.
    mask[~mask.any(axis=1), 0] = 1
    sizes = {"n": n, "T": T, "b": b, "d": 1, "m": m}
    net = LinearRNN(**sizes) if kind == "linear" else RNN(**sizes, activation=kind)
    return Problem(net, learnable or {"W": mask}, {"W": mask})


@pytest.fixture
def as_if_large(monkeypatch):
    """All instances are treated like those with very many rows."""
    monkeypatch.setattr(groups_module, "_WHOLE", 0)
    monkeypatch.setattr(blocks, "_AT_A_GLANCE", 0)


@pytest.mark.parametrize("kind", ["linear", "tanh", "sigmoid"])
@pytest.mark.parametrize("seed", range(many(5)))
def test_reach_bounds_every_union(as_if_large, kind, seed):
    """The bound of each set of two units, and more, is at least the rank of its rows."""
    question = recording_question(circuit(kind, seed=seed), "units")
    point = question.point(*next(question.points()))
    groups = blocks.groups_at(question, point)
    tight = 0
    for size in (1, 2, 3):
        for some in combinations(range(9), size):
            most = int(groups.most(some[1:], some[:1])[0])
            rows, _ = question.rows(point, some)
            assert modular_rank(rows, point.p) == groups.rank(some) <= most
            tight += modular_rank(rows, point.p) == most
    assert tight >= 5


@pytest.mark.parametrize("kind", ["linear", "tanh"])
@pytest.mark.parametrize(
    "learnable", [None, {"W": {"gain": "rows"}}, {"W": {"tied": [[1, 2, 0]] * 9}}]
)
def test_large_and_small_agree(monkeypatch, kind, learnable):
    """The rank, the cost, the bound and the check, with learnable weights, gains or ties."""
    if learnable and "tied" in learnable["W"]:
        mask = (np.random.default_rng(0).random((9, 9)) < 0.25).astype(int)
        learnable = {"W": {"tied": (mask * (np.arange(81).reshape(9, 9) % 20 + 1)).tolist()}}
    problem = circuit(kind, learnable=learnable)
    small = record(problem, "units")
    monkeypatch.setattr(groups_module, "_WHOLE", 0)
    monkeypatch.setattr(blocks, "_AT_A_GLANCE", 0)
    large = record(problem, "units")
    assert (large.cost, large.bound, large.rank.rank) == (small.cost, small.bound, small.rank.rank)
    assert large.is_optimal
    assert large.free == small.free
    assert RECORDING.verify(large.proof_file()).holds
    forged = {**large.proof_file(), "recorded": list(large.proof_file()["recorded"])[:-1]}
    assert not RECORDING.verify(forged).holds


@pytest.mark.parametrize("kind", ["linear", "tanh"])
@pytest.mark.parametrize("seed", range(3))
def test_sole_units_are_in_every_recording(as_if_large, kind, seed):
    """Without one of them the rank falls; they are found, and chosen before the search."""
    question = recording_question(circuit(kind, seed=seed, share=0.15), "units")
    problem = question.groups(*next(question.points()))
    everything = frozenset(range(9))
    assert problem.needed
    for k in everything:
        falls = problem.groups.rank(everything - {k}) < problem.wanted
        assert falls or k not in problem.needed
    node = problem.node(problem.whole)
    assert problem.needed <= node.chosen
    for k in problem.needed:
        assert problem.quick_bound(GroupLeaf((), (k,))) is None
    assert problem.bound(problem.whole) >= len(problem.needed)


def test_a_span_needs_few_things(as_if_large, monkeypatch):
    """Of forty units a few are computed, and they span the rows of all."""
    question = recording_question(circuit("tanh", n=40, m=4, share=0.06), "units")
    point = question.point(*next(question.points()))
    made = []
    part = blocks._Blocks.part
    monkeypatch.setattr(blocks._Blocks, "part", lambda self, k: made.append(k) or part(self, k))
    size = question.allocation.size
    found = blocks.span_at(question, point, size)
    everything = question.rows(point)[0]
    assert len(found.rows) == modular_rank(everything, point.p)
    assert modular_rank(np.concatenate([found.rows, everything]), point.p) == len(found.rows)
    assert len(set(made)) < 30


def test_things_that_differ_are_made_together(monkeypatch):
    """Several at a time, each once; the rows of an element are those of the whole table."""
    question = recording_question(circuit("tanh"), "units")
    point = question.point(*next(question.points()))
    table, owner = question.rows(point)
    seen = []
    monkeypatch.setattr(blocks, "_AT_ONCE", 400)
    found = blocks._Blocks(question, point, lambda *given: seen.append(given[3]))
    found.is_small = False
    for k in (4, 0, 4, 8):
        assert (found.part(k) == table[owner == k]).all()
    made = [set(some.tolist()) for some in seen]
    assert sum(map(len, made)) == len(set().union(*made))
    monkeypatch.setattr(blocks, "_KEPT", 0)
    less = blocks._Blocks(question, point, None)
    less.is_small = False
    for k in (0, 8, 0):
        assert (less.part(k) == table[owner == k]).all()
        assert len(less._kept) <= max(map(len, made))


@pytest.mark.parametrize("kind", ["linear", "tanh"])
def test_rows_that_are_wrong_are_found(kind):
    """Computed rows pass the check by dual numbers, rows with one wrong entry fail."""
    question = recording_question(circuit(kind), "units")
    check = _check_derivatives
    problem = question.groups(*next(question.points()), check)
    assert len(problem.groups.part(0))

    def spoilt(question, point, table, owner):
        table[len(table) // 2, 1] += 1
        check(question, point, table, owner)

    with pytest.raises(ArithmeticError, match="derivatives of a"):
        question.groups(*next(question.points()), spoilt).groups.part(0)


def test_groups_of_anything_are_bounded_by_their_size():
    """Without a reach, the bound of a union is its number of vectors."""
    groups = Groups([np.eye(2, dtype=np.int64)].__getitem__, [2], 2, 101)
    assert groups.most([], [0]).tolist() == [2]
