"""Verdicts: the design's regression cases, and every rule once."""

import json
from dataclasses import replace

import pytest

from algebra.families.registry import certify
from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.networks.relu import ShallowReLU
from algebra.problems.allocation import Allocation
from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from numeric.engines.witness_search import rootless_instances
from tests.refusals import refuses
from tests.samples import NET

# Cells of W in the allocation that Theorem 3.4 misses (design, section 4).
MISSED = [(0, 0), (1, 0), (1, 3), (2, 0), (3, 0), (3, 1), (3, 2), (3, 3)]
TENSOR = LinearFeedForward(q=3, widths=(3,), d=2, m=2)
CROSS = LinearFeedForward(q=8, widths=(9,), d=4, m=4)


def problem(network, name, cells, **more):
    return Problem.of(Allocation.from_cells(network, [(name, *c) for c in cells]), **more)


@pytest.mark.parametrize(
    ("cells", "verdict", "count"),
    [
        ([(0, 0), (0, 1)], "maximal", 1),
        ([(1, 0), (1, 1)], "maximal", 1),
        ([(0, 0), (1, 0)], "maximal", 1),
        ([(0, 1), (1, 1)], "maximal", 1),
        ([(0, 0), (1, 1)], "intermediate", 2),
        ([(0, 1), (1, 0)], "intermediate", 2),
    ],
)
def test_the_example_net(cells, verdict, count):
    """B.1.1: rows and columns are maximal, the two diagonals in between."""
    found = certify(problem(NET, "W", cells))
    assert (found.verdict, found.generic_root_count) == (verdict, count)
    assert found.equations == found.rank == 2
    assert found.error_bound == 0


def test_warm_up():
    """Linear estimator, d = m = 2: equal rows are maximal, one weight moved is minimal."""
    net = LinearEstimator(q=3, d=2, m=2)
    equal = certify(Problem(net, {"W": [[1, 1, 0], [0, 1, 1]]}))
    moved = certify(Problem(net, {"W": [[1, 1, 1], [0, 1, 0]]}))
    assert (equal.verdict, equal.rule) == ("maximal", "linear after elimination")
    assert moved.verdict == "minimal"
    assert moved.reasons[0].startswith("row 0 of W has 3 learnable weights but takes part in only")


@pytest.mark.parametrize(
    ("network", "name", "cells", "rank", "equations"),
    [
        # Theorem 4.1, both conditions met: three cells touch one row or one column each.
        (TENSOR, "W1", [(0, 1), (0, 2), (1, 0), (2, 0)], 3, 4),
        # d = m = 3: two disjoint 2×2 blocks and one more cell; every count is met.
        (
            LinearFeedForward(q=5, widths=(5,), d=3, m=3),
            "W1",
            [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (2, 3), (3, 2), (3, 3), (4, 4)],
            8,
            9,
        ),
        # Theorem 3.2 with T = 2, d = m = 4: a row of 8 and a column of 8 without the
        # shared cell.
        (
            LinearRNN(n=9, T=2, b=9, d=4, m=4),
            "B",
            [(0, j) for j in range(1, 9)] + [(i, 0) for i in range(1, 9)],
            12,
            16,
        ),
        # Theorem 3.5 where m < b.
        (LinearRNN(n=8, T=2, b=2, d=4, m=1), "W", [(0, j) for j in range(4)], 2, 4),
        # Missed by Theorem 3.4.
        (LinearRNN(n=4, T=2, b=2, d=2, m=4), "W", MISSED, 7, 8),
    ],
)
def test_where_the_theorems_fail(network, name, cells, rank, equations):
    """The design's counterexamples are minimal, with the ranks it states."""
    found = certify(problem(network, name, cells))
    assert (found.verdict, found.rank, found.equations) == ("minimal", rank, equations)
    assert 0 < found.error_bound < 2**-60


def test_one_weight_short_is_proved_minimal():
    """Fewer weights than independent equations need no probability."""
    found = certify(problem(NET, "W", [(0, 0)]))
    assert (found.verdict, found.error_bound) == ("minimal", 0)


def test_maximal_through_a_part():
    """With more weights than equations a maximal part decides."""
    found = certify(Problem(NET, {"W": [[1, 1], [1, 1]]}))
    assert found.verdict == "maximal"
    assert len(found.evidence["sub_allocation"]) == 2


def test_odd_count_beyond_theorem_35():
    """A Figure 2 allocation on six rows is maximal because N = 89 is odd."""
    cells = [
        (0, 2), (0, 4), (1, 0), (1, 6), (1, 7), (2, 0), (2, 5), (2, 7),
        (3, 6), (4, 0), (4, 1), (4, 2), (4, 3), (5, 1), (5, 2), (5, 7),
    ]  # fmt: skip
    found = certify(problem(LinearRNN(n=8, T=4, b=1, d=4, m=4), "W", cells))
    assert found.equations == found.rank == 16
    assert (found.verdict, found.generic_root_count) == ("maximal", 89)


def test_undecided_says_what_was_tried():
    """Without time to search, an even count is undecided, and the reason says so."""
    found = certify(problem(NET, "W", [(0, 0), (1, 1)]), search=0.0)
    assert found.verdict == "undecided"
    assert "0 rational instances" in found.tried[0]


def test_guesses_are_proved_or_refused():
    """A given instance settles the verdict only if balls prove it."""
    asked = problem(NET, "W", [(0, 0), (1, 1)])
    guess = next(rootless_instances(asked, 2, 0, 60.0))
    wrong = replace(guess, X=guess.X * 0)
    for guesses, verdict in (([wrong], "undecided"), ([wrong, guess], "intermediate")):
        # No time for exact solving.
        found = certify(asked, search=0.0, candidates=lambda _, n, g=guesses: g if n == 2 else [])
        assert found.verdict == verdict
        assert ("enclosed_solutions" in found.evidence) == (verdict == "intermediate")


def test_relu_is_never_minimal():
    """A ReLU allocation short of equations is intermediate: all units can be inactive."""
    found = certify(Problem(ShallowReLU(q=2, n=3, d=2, m=3), {"W1": [[1, 1], [1, 0], [0, 0]]}))
    assert found.verdict == "intermediate"
    assert found.rank == 3
    open_question = certify(Problem(ShallowReLU(q=3, n=4, d=2, m=2), {"W1": [[1, 0, 0]] * 4}))
    assert open_question.verdict == "undecided"


def test_discrete_laws_carry_a_note():
    """Rademacher weights: the verdict is about generic instances only."""
    law = Distribution(weights="rademacher")
    found = certify(problem(NET, "W", [(0, 0), (0, 1)], distribution=law))
    assert "not about MP" in found.notes[0]


def test_random_allocation_is_refused():
    """A certificate needs a fixed allocation."""
    refuses("drawn for each trial", certify, Problem(NET, {"W": RandomCells(budget=2, rows=2)}))


@pytest.mark.parametrize(
    ("network", "learnable"),
    [
        (LinearRNN(n=1, T=1, b=1, d=1, m=1), {"W": [[1]]}),
        (LinearRNN(n=1, T=3, b=1, d=1, m=5), {"W": [[1]], "B": [[1]]}),
        (LinearRNN(n=2, T=1, b=1, d=2, m=3), {"D": [[1, 0], [0, 1]]}),
        (LinearEstimator(q=1, d=1, m=4), {"W": [[1]]}),
        (LinearFeedForward(q=2, widths=(1,), d=2, m=2), {"W1": [[1, 1]], "W2": [[1], [0]]}),
        (LinearRNN(n=2, T=2, b=1, d=1, m=2), {}),
    ],
)
def test_degenerate_nets(network, learnable):
    """T = 1, n = 1, more samples than inputs, narrow layers, nothing learnable: all decided."""
    found = certify(Problem(network, learnable))
    assert found.verdict in ("maximal", "minimal", "intermediate")
    assert json.loads(found.to_json())["learnable"] == sum(
        sum(map(sum, mask)) for mask in learnable.values()
    )


def test_json_keys():
    """The keys that other programs rely on exist."""
    data = certify(problem(NET, "W", [(0, 0), (0, 1)])).to_dict()
    assert {
        "verdict", "rule", "equations", "rank", "learnable", "prime", "error_bound",
        "generic_root_count",
    } <= set(data)  # fmt: skip
