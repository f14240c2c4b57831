"""Verdicts: the design's regression cases, and every rule once."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import matchprob as mp
from algebra.certificates.tools import Tools
from algebra.families.certify import certify
from algebra.families.verify import verify
from algebra.linalg.primes import random_prime
from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.allocation import Allocation
from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from algebra.ranks.generic_rank import allocation_rank
from algebra.systems.root_count import generic_root_count
from matchprob import InputError
from numeric.engines.witness_search import rootless_instances
from tests.plain_data import changed, data_of
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
        tools = Tools(candidates=lambda _, n, g=guesses: g if n == 2 else [])
        found = certify(asked, search=0.0, tools=tools)
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


DIAGONAL = {"W": [[1, 0], [0, 1]]}
TANH = mp.RNN(n=3, T=2, b=1, d=1, m=3, activation="tanh")


def _both(problem):
    found = certify(problem)
    checked = verify(json.loads(found.to_json()))
    assert checked.holds or found.verdict == "undecided", checked
    return found


def test_what_is_refused_and_what_is_beyond():
    """ReLU networks with signs or numbers; "intermediate" with numbers and bounded laws."""
    relu = mp.ShallowReLU(q=2, n=2, d=1, m=2)
    signed = mp.Distribution(signs=[1, -1])
    with pytest.raises(InputError, match="not known with signs of weights: use estimate"):
        certify(Problem(relu, {"W1": [[1, 1], [0, 0]]}, distribution=signed))
    with pytest.raises(InputError, match="use estimate, count or decide"):
        certify(Problem(relu, {"W1": [[1, 1], [0, 0]]}, values={"W2": [[1, 1]]}))
    bounded = mp.Distribution(teacher="uniform")
    problem = Problem(NET, DIAGONAL, values={"B": [[1], [2]]}, distribution=bounded)
    assert certify(problem).verdict == "undecided"
    data = data_of(Problem(NET, DIAGONAL, values={"B": [[1], [2]]}))
    data["problem"]["distribution"] = bounded.to_dict()
    assert "bounded laws" in str(verify(data))


def test_a_witness_has_the_signs():
    """Of teacher and fixed weights; a file with those of another problem is refused."""
    law = mp.Distribution(signs={"neurons": [1, -1], "inputs": [1]})
    problem = Problem(NET, DIAGONAL, distribution=law)
    found = _both(problem)
    assert found.verdict == "intermediate"
    witness = found.evidence["no_real_root"]
    turned = problem.distribution
    fixed = {n: np.array([[float(Fraction(v)) for v in row] for row in rows])
             for n, rows in witness["weights"].items()}  # fmt: skip
    assert not list(turned.against(fixed, {}, problem.allocation.cells))


def test_a_certificate_without_signs_is_none_with_signs():
    """It uses a witness that the signed law does not draw."""
    refused = 0
    data = data_of(Problem(NET, DIAGONAL))
    assert data["evidence"]["no_real_root"]
    weights = data["evidence"]["no_real_root"]["weights"]["B"]
    for signs in ([1, 1], [1, -1], [-1, 1], [-1, -1]):
        law = mp.Distribution(signs={"B": [[signs[0]], [signs[1]]]})
        claim = changed(data, ("problem", "distribution"), law.to_dict())
        fits = all(
            (row[0][0] == "-") == (sign < 0) for row, sign in zip(weights, signs, strict=True)
        )
        checked = verify(claim)
        refused += not checked.holds
        if not fits:
            assert "does not have the sign" in str(checked)
    assert refused >= 3


def test_signs_change_no_verdict_that_every_instance_shares():
    """Minimal, linear systems, odd numbers of solutions."""
    for learn, verdict in (
        ({"W": [[1, 1], [0, 0]]}, "maximal"), ({"W": [[1, 0], [0, 0]]}, "minimal"),
    ):  # fmt: skip
        law = mp.Distribution(signs=[1, -1])
        assert _both(Problem(NET, learn, distribution=law)).verdict == verdict


def test_numbers_at_which_the_count_drops():
    """B = (0, 2): N is 1 there and 2 elsewhere; so MP = 1, and counting agrees."""
    special, near = {"B": [[0], [2]]}, {"B": [["1/1000"], [2]]}
    found = _both(Problem(NET, DIAGONAL, values=special))
    assert (found.verdict, found.generic_root_count) == ("maximal", 1)
    assert _both(Problem(NET, DIAGONAL, values=near)).verdict == "intermediate"
    trials = mp.estimate(Problem(NET, DIAGONAL, values=special), trials=20)
    assert (trials.matched, trials.undetermined) == (20, 0)


def test_numbers_at_which_the_rank_drops():
    """D = (1, 0), B = (1, 0) and W = 0 elsewhere: unit 1 has no effect, its weight neither."""
    values = {"B": [[1], [0]], "D": [[1, 0]], "W": [[None, 0], [0, None]]}
    problem = Problem(NET, DIAGONAL, values=values)
    found = _both(problem)
    assert (found.verdict, found.rank, found.equations) == ("minimal", 1, 2)
    assert certify(Problem(NET, DIAGONAL)).rank == 2
    trials = mp.estimate(problem, trials=10)
    assert trials.unmatched == 10
    jittered = Problem(NET, DIAGONAL, values={**values, "jitter": 0.01})
    assert _both(jittered).rank == 2


def test_a_certificate_of_other_numbers_is_refused():
    """Ranks, N and witnesses are recomputed at the numbers in the file."""
    data = data_of(Problem(NET, DIAGONAL, values={"B": [[1], [2]]}))
    assert data["verdict"] == "intermediate"
    assert verify(data).holds
    for rows in ([["0"], ["2"]], [["1"], ["3"]], [["1"], ["4/2"]], [["-1"], ["2"]]):
        claim = changed(data, ("problem", "values", "B"), rows)
        assert verify(claim).holds == (rows == [["1"], ["4/2"]])
    plain = data_of(Problem(NET, DIAGONAL))
    assert not verify(changed(plain, ("problem", "values"), {"B": [["0"], ["2"]]})).holds
    few = data_of(Problem(NET, {"W": [[1, 0], [0, 0]]}, values={"B": [[1], [2]]}))
    for own in (data, few):
        claim = changed(own, ("problem", "values", "B"), [[f"1/{own['prime']}"], ["2"]])
        assert not verify(claim).holds
    assert "divisible by the prime" in str(verify(claim))


def test_numbers_can_undo_an_odd_count():
    """A row of W has N = 3 and MP = 1; where the other row is measured as (0, 1), N is 2."""
    net = mp.LinearRNN(n=2, T=3, b=1, d=1, m=2)
    row = {"W": [[1, 1], [0, 0]]}
    assert certify(Problem(net, row)).generic_root_count == 3
    measured = Problem(net, row, values={"W": [[None, None], [0, 1]]})
    found = _both(measured)
    assert (found.generic_root_count, found.verdict) == (2, "intermediate")
    trials = mp.estimate(measured, trials=30, seed=1)
    assert trials.undetermined == 0
    assert 0 < trials.matched < 30


def test_a_measured_zero_with_a_sign():
    """An exact 0 is not drawn, so it needs no sign; the other fixed weights do."""
    law = mp.Distribution(signs={"B": [[1], [1]], "D": [[1, -1]]})
    problem = Problem(NET, DIAGONAL, distribution=law, values={"W": [[None, 0], [1, None]]})
    signed = mp.Distribution(signs={**law.signs, "W": [[0, 1], [1, 0]]})
    assert _both(replace(problem, distribution=signed)).verdict in ("intermediate", "maximal")


def test_more_weights_than_equations_at_numbers():
    """A part of the weights is counted at the numbers of the other weights, which do not learn."""
    problem = Problem(NET, {"W": [[1, 1], [0, 1]]}, values={"B": [[1], [2]], "D": [[3, "1/5"]]})
    assert _both(problem).verdict in ("maximal", "undecided")
    support = problem.student()
    own = allocation_rank(problem.allocation, support)
    assert own.rank == 2
    assert support.pinned.keys() == problem.values.numbers.keys()


def test_tanh_at_numbers():
    """Balls prove a read-out of full rank at the numbers; equal units have no such proof."""
    measured = [[1, 2, 3], [4, 5, 6], [7, 8, 10]]
    learn, B = {"D": [[1, 1, 1]]}, [[1], [1], [1]]
    found = _both(Problem(TANH, learn, values={"W": measured, "B": B}))
    assert found.verdict == "maximal"
    assert "regular_minor" in found.evidence
    equal = Problem(TANH, learn, values={"W": [[1, 2, 3], [1, 2, 3], [7, 8, 10]], "B": B})
    assert certify(equal).verdict == "undecided"
    claim = json.loads(found.to_json())
    claim["problem"]["values"]["W"][1] = claim["problem"]["values"]["W"][0]
    assert not verify(claim).holds
    del claim["evidence"]["regular_minor"]
    assert not verify(claim).holds
    assert mp.estimate(equal, trials=1).matched == 0


@pytest.mark.parametrize("B", [[[0], [2]], [[1], [2]], [["1/3"], [-5]]])
def test_the_count_at_numbers_is_that_of_instances(B):
    """N at the numbers is what msolve finds in exact instances with them."""
    problem = Problem(NET, DIAGONAL, values={"B": B})
    expected = generic_root_count(problem.allocation, problem.student()).value
    counted = mp.count(problem, instances=3, engine="exact")
    assert {one.complex for one in counted.instances} == {expected}


def test_points_of_a_student_have_the_numbers():
    """Modulo any prime, for all other draws."""
    import random

    from algebra.ranks.jacobian import random_point

    problem = Problem(NET, DIAGONAL, values={"B": [["1/3"], [2]], "W": [[7, 5], [None, 9]]})
    p = random_prime(random.Random(0))
    point = random_point(NET, p, 5, problem.student())
    assert point.weights["B"].tolist() == [[pow(3, -1, p)], [2]]
    plain = random_point(NET, p, 5, {})
    assert point.weights["W"][0, 1] == 5
    assert point.weights["W"][0, 0] == plain.weights["W"][0, 0]
