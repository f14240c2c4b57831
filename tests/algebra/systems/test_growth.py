"""Growths of solutions, and what the match probability of large networks tends to."""

import random
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

import matchprob as mp
from algebra.errors import InputError
from algebra.networks.large import LargeNetwork
from algebra.polynomials.msolve.solver import real_roots
from algebra.polynomials.rings import RationalField
from algebra.systems.growth import _system, limit_of
from algebra.systems.root_count import generic_root_count
from tests.refusals import refuses

# Cells, T, and the numbers of solutions of each growth, found at √n = 10^24 by another program.
KNOWN = [
    (((0, 0), (1, 1)), 2, [2]),
    (((0, 0), (1, 2)), 2, [2]),
    (((0, 1), (1, 0)), 2, [1, 1]),
    (((0, 0), (0, 1), (1, 1)), 3, [2]),
    (((0, 0), (1, 1), (2, 2)), 3, [6]),
    (((0, 1), (1, 2), (2, 0)), 3, [2, 2, 2]),
    (((0, 1), (1, 2), (3, 4)), 3, [2, 2]),
    # A third growth has a part with other solutions, and is not needed.
    (((0, 0), (0, 1), (1, 2)), 3, [1, 1]),
]


def large(cells, T, n=7, **sizes):
    """A problem in which these cells of W learn, with as many labels."""
    mask = np.zeros((n, n), int)
    for i, j in cells:
        mask[i, j] = 1
    sizes = {"b": 1, "d": 1, "m": T, **sizes}
    return mp.Problem(mp.LinearRNN(n=n, T=T, **sizes), {"W": mask})


@pytest.mark.parametrize(("cells", "T", "counts"), KNOWN)
def test_growths_and_their_numbers(cells, T, counts):
    """The solutions of each growth are as many as in an instance with √n = 10^24."""
    assert sorted(limit_of(large(cells, T)).counts) == sorted(counts)


@pytest.mark.parametrize(
    ("cells", "m"),
    [(KNOWN[4][0], 3), (KNOWN[5][0], 3), (KNOWN[6][0], 3), (((0, 1), (1, 2)), 2)],
)
def test_real_solutions_at_large_n_are_those_of_the_parts(cells, m):
    """At √n = 10^24 an instance has as many real solutions as the limit's systems together."""
    parts = limit_of(large(cells, 3, m=m)).parts
    found = set()
    for seed in range(4):
        rows = []
        whole = LargeNetwork(cells=cells, T=3, b=1, d=1, m=m, root=10**24)
        pairs = [(whole, whole)]
        pairs += [(p.network, p.network if p.teacher is None else p.teacher.network) for p in parts]
        for network, labelled in pairs:
            rng = random.Random(seed)

            def entry(rng=rng):
                return fmpq(rng.choice((-1, 1)) * rng.randint(40, 200), 64)

            rows.append(len(real_roots(_system(network, labelled, RationalField(), entry)).roots))
        assert rows[0] == sum(rows[1:])
        found.add(rows[0])
    assert len(found) > 1


@pytest.mark.parametrize("T", [2, 3, pytest.param(4, marks=pytest.mark.long)])
@pytest.mark.parametrize("b", [1, 2])
def test_growths_have_at_most_all_solutions(T, b):
    """Of pairs of cells no growths have more solutions than N, and more steps are left out."""
    pairs = [((0, 0), (1, 1)), ((0, 1), (1, 0)), ((0, 1), (1, 2))]
    for cells in pairs:
        problem = large(cells, T, b=b, d=b, m=2 // b)
        try:
            found = limit_of(problem)
        except InputError:
            assert (cells, b) == (pairs[0], 1)
            assert T > 2
            continue
        assert sum(found.counts) <= generic_root_count(problem.allocation).value
        assert all(part.teacher is None for part in found.parts) or T * b <= 2 // b


def test_cells_that_are_not_joined_need_no_growth():
    """Disjoint cells, a row and a column have one part, also with more weights than equations."""
    for cells in (((0, 1), (2, 3)), ((0, 1), (0, 2), (0, 3)), ((1, 0), (2, 0))):
        (part,) = limit_of(large(cells, 2)).parts
        assert set(part.network.growth) == {Fraction(1, 2)}
        assert part.teacher is None
    cells = mp.RandomCells(budget=3)
    random_part = limit_of(mp.Problem(mp.LinearRNN(n=6, T=3, b=1, d=1, m=3), {"W": cells})).parts
    assert random_part[0].network.cells == ((0, 1), (2, 3), (4, 5))


def test_a_minimal_problem_stays_minimal():
    """Two loops for three equations are minimal at the limit, and this is certified."""
    (part,) = limit_of(large(((0, 0), (1, 1)), 3)).parts
    assert mp.certify(part).verdict == "minimal"


def test_more_cells_than_equations():
    """Two loops and a joined cell have the limit 1 for two equations, since two of them have."""
    found = limit_of(large(((0, 0), (0, 1), (1, 1)), 2))
    assert (len(found.odd), found.counts) == (1, (1,))
    assert set(found.parts[0].network.cells) == {(0, 0), (0, 1)}
    assert mp.certify(found.parts[0]).verdict == "maximal"


@pytest.mark.parametrize("n", [8, 64])
def test_solutions_of_large_networks_are_those_of_the_limit(n):
    """N of the networks with n units is the sum of the numbers of all growths."""
    for cells, T, counts in KNOWN[2:7]:
        assert generic_root_count(large(cells, T, n).allocation).value == sum(counts)


def test_what_the_theorem_does_not_cover_is_refused():
    """Other laws, kinds and matrices, and growths that are not separated, are named."""
    problem = large(((0, 0),), 2, m=1)
    net, masks = problem.network, dict(problem.learnable)
    tanh = mp.RNN(n=2, T=2, b=1, d=1, m=1)
    for other, words in (
        (mp.Problem(tanh, {"W": [[1, 0], [0, 0]]}), "kind lrnn"),
        (mp.Problem(net, {"D": "all"}), "cells of W"),
        (mp.Problem(net, masks, distribution=mp.Distribution(weights="uniform")), "another law"),
        (mp.Problem(net, masks, support={"B": np.eye(7, 1, dtype=int)}), "support"),
        (large(((0, 0), (1, 2), (2, 1)), 3), "not all of them are simple"),
        (large(((0, 0), (1, 1), (2, 2)), 2), "as many cells as equations"),
        # Two samples mix three steps, of which the last is larger than the labels.
        (large(((0, 0), (1, 1)), 3, m=2), "not of this kind"),
    ):
        refuses(words, limit_of, other)
