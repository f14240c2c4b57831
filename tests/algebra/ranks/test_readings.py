"""Derivatives of recorded numbers: in one pass, with few synapses, by shared parameters."""

import random

import numpy as np
import pytest
from scipy import sparse

from algebra.linalg import sparse_blocks
from algebra.linalg.modular import matmul
from algebra.linalg.residues import random_residues
from algebra.plugins.circuits.blocks import direction_of
from algebra.plugins.circuits.question import recording_question
from algebra.ranks import readings
from algebra.ranks.jacobian import columns_at, random_point
from algebra.ranks.parametrized import by_parameters
from matchprob import RNN, Problem, record

P = 2147483647


def circuit(n, degree, *, kinds=4, leak="learnable", as_sparse=True, T=3, m=3):
    """Gains by pair of types, biases and leaks by type."""
    rng = np.random.default_rng(n)
    post, pre = np.repeat(np.arange(n), degree), rng.integers(0, n, n * degree)
    kind = rng.integers(0, kinds, n)
    wiring = np.zeros((n, n), np.int64)
    wiring[post, pre] = 1
    groups = wiring * (1 + kinds * kind[:, None] + kind[None])
    net = RNN(n=n, T=T, b=2, d=2, m=m, biases=True, leak=leak, read="all")
    tied = (kind + 1)[:, None]
    learnable = {"W": {"gain": "cells", "groups": groups}, "c": {"tied": tied}}
    if leak == "learnable":
        learnable["leak"] = {"tied": tied}
    if as_sparse:
        learnable["W"]["groups"] = sparse.csr_array(groups)
        wiring = sparse.coo_array(wiring)
    return Problem(net, learnable, {"W": wiring})


@pytest.mark.parametrize("leak", ["learnable", "1/3", 1])
def test_few_synapses_change_nothing(leak, monkeypatch):
    """With 300 units and 4 synapses each, derivatives equal those of dense matrices."""
    problem = by_parameters(circuit(300, 4, leak=leak))
    cells = list(problem.allocation.cells)
    point = random_point(problem.network, P, 1, problem.support)
    units = [np.array([3, 7]), np.array([], int), np.array([299])]

    def found():
        tables = readings.reading_tables(problem.network, "states", point, cells, units)
        return [*tables, columns_at(problem.network, point, cells)]

    few = found()
    monkeypatch.setattr(sparse_blocks, "as_block", lambda weight: np.asarray(weight)[..., None])
    for table, dense in zip(few, found(), strict=True):
        assert np.array_equal(table, dense)
    assert few[0].any()


def test_samples_in_parts(monkeypatch):
    """Samples that are differentiated one by one give the same rows."""
    problem = by_parameters(circuit(20, 3))
    cells = list(problem.allocation.cells)
    point = random_point(problem.network, P, 1, problem.support)
    units = [np.arange(20)] * 3
    whole = readings.reading_tables(problem.network, "states", point, cells, units)
    monkeypatch.setattr(readings, "_AT_ONCE", 1)
    parts = readings.reading_tables(problem.network, "states", point, cells, units)
    factors = problem.network.modular_readings("states", point, sorted({c[0] for c in cells}))
    assert np.array_equal(np.concatenate(whole), readings.jacobian(factors, cells, P))
    for table, part in zip(whole, parts, strict=True):
        assert np.array_equal(table, part)


def test_rows_are_derivatives():
    """Rows times a direction are the derivatives of dual numbers, with sparse weights."""
    question = recording_question(circuit(300, 4), "units")
    point = question.point(P, 5)
    rng = random.Random(1)
    step = random_residues((question.allocation.size,), P, rng)
    along, owner = direction_of(question, point, step)
    chosen = [0, 17, 170]
    rows, of = question.rows(point, chosen)
    for k in chosen:
        expected = along[owner == k]
        assert np.array_equal(matmul(rows[of == k], step[:, None], P)[:, 0], expected)


def test_a_circuit_of_300_neurons():
    """One neuron cannot give 40 numbers in 3 steps for 6 samples: three are the fewest."""
    problem = circuit(300, 10, kinds=4, T=3, m=6, leak="1/2")
    found = record(problem, "units", target="units")
    size = problem.learning.size
    assert found.rank.rank == size == 20
    assert found.is_optimal
    assert found.cost == -(-size // 18)
    assert all(state.is_determined for state in found.target)
