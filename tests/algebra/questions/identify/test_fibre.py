"""Local identifiability against SymPy: Jacobians of the polynomials, kernels over Q."""

import random
from fractions import Fraction

import numpy as np
import pytest
import sympy

from algebra.linalg.echelon import modular_kernel
from algebra.networks.protocols import jacobian_of
from algebra.questions.identify.fibre import fibre, fibre_of_moves
from algebra.ranks.deficits import TARGET_ERROR, prime_bits
from algebra.ranks.jacobian import columns_at, random_point
from algebra.time_limits import OutOfTime
from matchprob import RNN, Allocation, LinearFeedForward
from tests.samples import filled, many


def kernel_by_sympy(allocation, seed):
    """Rank and kernel of SymPy's Jacobian of the labels at a random rational point."""
    rng = random.Random(seed)
    network = allocation.network

    def entry():
        return sympy.Rational(rng.choice([-1, 1]) * rng.randint(1, 10**6), rng.randint(1, 9))

    weights = {name: filled(shape, entry) for name, shape in network.shapes.items()}
    X = filled(network.input_shape, entry)
    symbols = [sympy.Symbol(f"x{k}") for k in range(allocation.size)]
    student = {name: w.copy() for name, w in weights.items()}
    for symbol, (name, i, j) in zip(symbols, allocation.cells, strict=True):
        student[name][i, j] = symbol
    labels = network.forward(student, X)
    matrix = sympy.Matrix([sympy.expand(y) for y in labels.ravel()]).jacobian(symbols)
    there = {
        s: weights[name][i, j] for s, (name, i, j) in zip(symbols, allocation.cells, strict=True)
    }
    matrix = matrix.subs(there)
    return matrix.rank(), matrix.nullspace()


def test_determined_cells_are_those_without_kernel(small_allocations):
    """On random small nets: dimension, free and determined cells equal SymPy's kernel."""
    met = 0
    for k, allocation in enumerate(small_allocations(11, many(60, 12))):
        rank, kernel = kernel_by_sympy(allocation, k)
        found = fibre(allocation, seed=k)
        free = {
            cell
            for position, cell in enumerate(allocation.cells)
            if any(vector[position] != 0 for vector in kernel)
        }
        assert found.dimension == allocation.size - rank
        assert set(found.free) == free
        assert set(found.determined) == set(allocation.cells) - free
        met += bool(free) and bool(found.determined)
    assert met > many(3)


def test_groups_are_components_of_the_matroid(small_allocations):
    """Ranks add up over groups and determined cells: the matroid is their direct sum."""
    met = 0
    for k, allocation in enumerate(small_allocations(12, 60)):
        found = fibre(allocation, seed=k)
        if len(found.groups) < 2:
            continue
        met += 1
        ranks = []
        for group in found.groups:
            part = type(allocation).from_cells(allocation.network, group)
            alone = fibre(part, seed=k)
            ranks.append(alone.rank.rank)
            # Connected: no cell of a group with several is determined within it.
            assert len(alone.groups) == 1
        assert sum(ranks) + len(found.determined) == found.rank.rank
    assert met > 3


def test_a_weight_without_effect_is_free_alone():
    """A learnable weight that no label depends on is a group of its own."""
    net = LinearFeedForward(q=2, widths=(2,), d=1, m=2)
    allocation = Allocation.from_masks(net, W1=[[1, 0], [1, 0]])
    support = {"W2": np.array([[1, 0]])}
    found = fibre(allocation, support)
    assert found.groups == ((("W1", 1, 0),),)
    assert found.determined == (("W1", 0, 0),)


@pytest.mark.parametrize("seed", range(3))
def test_the_seed_does_not_matter(small_allocations, seed):
    """Other points, the same answer."""
    for allocation in small_allocations(13, 15):
        first, second = fibre(allocation, seed=0), fibre(allocation, seed=seed + 1)
        assert (first.determined, first.groups) == (second.determined, second.groups)


def test_many_weights_take_larger_primes():
    """600 weights of a deep circuit: points modulo 31 bits would bound nothing, however many."""
    net = RNN(n=60, T=10, b=1, d=1, m=20, activation="tanh")
    mask = np.zeros((60, 60), int)
    mask[:10] = 1
    found = fibre(Allocation.from_masks(net, W=mask))
    assert (found.dimension, found.determined) == (580, ())
    assert prime_bits(jacobian_of(net), 20) == 31
    # All are free and in one group, which one point proves.
    assert len(found.groups) == 1
    assert found.error == 0


def test_out_of_time_is_honest():
    """Before the first point only rank and dimension are known; later the error is larger."""
    net = LinearFeedForward(q=3, widths=(2,), d=2, m=2)
    allocation = Allocation.from_masks(net, W1=[[1, 1, 1], [1, 0, 0]], W2=[[1, 0], [0, 0]])
    full, done = fibre(allocation), []

    def stopped_after(count):
        def moves_at(p, number):
            if len(done) == count:
                raise OutOfTime("the time limit is over")
            done.append(p)
            moves = modular_kernel(
                columns_at(net, random_point(net, p, number), allocation.cells), p
            )
            return allocation.size - len(moves), moves

        done.clear()
        missed, size = Fraction(1, 1 << 20), allocation.size
        return fibre_of_moves(allocation.cells, full.rank, size, moves_at, missed, "test")

    with pytest.raises(OutOfTime, match="the rank is 4: matches form a family of dimension 1"):
        stopped_after(0)
    found = stopped_after(1)
    assert (found.groups, found.determined) == (full.groups, full.determined)
    assert full.error < TARGET_ERROR < found.error < Fraction(1, 1 << 17)
