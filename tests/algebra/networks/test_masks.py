"""Masks by their entries: the same problems as with arrays, and refusals of what is too large."""

import numpy as np
import pytest
from scipy import sparse

from algebra.errors import Unfinished
from algebra.linalg.sparse import SparseMatrix
from algebra.memory_limits import limited_memory
from algebra.networks import masks
from algebra.networks.masks import Masks, columns_by_row, held, lines_with_entries
from algebra.networks.rnn import RNN
from algebra.plugins.circuits.recording import record
from algebra.problems.cell_types import Types
from algebra.problems.problem import Problem
from algebra.questions.identify.identification import identify
from algebra.ranks.jacobian import all_cells
from matchprob.api.identify import identify as identify_verb
from tests.refusals import refuses


def circuit(learns, seed=0, n=12):
    """A sparse circuit with types, in which W learns by this."""
    rng = np.random.default_rng(seed)
    W = (rng.random((n, n)) < 0.04).astype(np.int8)
    net = RNN(
        n=n, T=3, b=1, d=2, m=4, biases=True, leak=rng.choice(["1/2", "learnable"]), read="all"
    )
    kinds = [str(kind) for kind in rng.choice(list("ABC"), n)]
    plain = Problem(net, {"W": "all", "c": "all"}, {"W": sparse.coo_array(W)})
    types = Types(net, {"neurons": kinds})
    learnable = {
        "W": types.together("W", held(plain.learnable, "W"), learns == "gains"),
        "c": types.together("c", held(plain.learnable, "c")),
    }
    if learns == "cells":
        learnable = {"W": held(plain.learnable, "W"), "c": np.ones((n, 1), int)}
    return Problem(net, learnable, plain.support)


@pytest.mark.parametrize("learns", ["gains", "ties", "cells"])
@pytest.mark.parametrize("seed", range(2))
def test_the_form_changes_no_result(learns, seed, monkeypatch):
    """Fibres, groups and recordings are those of the same circuit with arrays as masks."""
    dense = circuit(learns, seed)
    monkeypatch.setattr(masks, "LARGE", 0)
    few = circuit(learns, seed)
    assert isinstance(held(few.support, "W"), SparseMatrix)
    assert isinstance(held(dense.support, "W"), np.ndarray)
    assert np.array_equal(few.support["W"], dense.support["W"])
    assert few.learning.names == dense.learning.names
    assert all_cells(few.network, few.support) == all_cells(dense.network, dense.support)
    one, other = identify(few).fibre, identify(dense).fibre
    assert one.rank.rank == other.rank.rank
    assert one.determined == other.determined
    assert {frozenset(g) for g in one.groups} == {frozenset(g) for g in other.groups}
    first, second = (record(problem, "units", target="units") for problem in (few, dense))
    assert (first.cost, first.bound, first.rank.rank) == (
        second.cost, second.bound, second.rank.rank,
    )  # fmt: skip


def test_no_array_is_made(monkeypatch):
    """identify and record of a large circuit never ask for a mask as an array."""
    monkeypatch.setattr(masks, "LARGE", 0)
    problem = circuit("gains")

    def refused(self, name):
        raise AssertionError(name)

    monkeypatch.setattr(Masks, "__getitem__", refused)
    monkeypatch.setattr(SparseMatrix, "__array__", refused)
    assert identify_verb(problem).to_dict()["rank"] > 0
    assert record(problem, "units", target="units").rank.rank > 0


def test_sizes_beyond_memory_are_refused_in_one_line():
    """Without the synapses that exist, or by a verb that needs all cells."""
    net = RNN(n=20_000, T=2, b=1, d=1, m=1)
    refuses("W would be 20000×20000: .*give the weights that exist", Problem, net, {"B": "all"})
    ring = sparse.coo_array((np.ones(20_000), (np.arange(20_000), np.arange(20_000) - 1 & 16383)),
                            shape=(20_000, 20_000))  # fmt: skip
    problem = Problem(net, {"W": {"gain": "rows"}}, {"W": ring})
    with limited_memory(10**9):
        refuses("all 20000×20000 cells of W would take", problem.support.__getitem__, "W",
                error=Unfinished)  # fmt: skip


def test_lines():
    """Rows with entries and their columns are those of the array."""
    mask = np.array([[0, 1, 1], [0, 0, 0], [1, 0, 0]], np.int8)
    for form in (mask, SparseMatrix.of(mask)):
        assert lines_with_entries(form).tolist() == [True, False, True]
        assert columns_by_row(form, (3, 3)) == [[1, 2], [], [0]]
