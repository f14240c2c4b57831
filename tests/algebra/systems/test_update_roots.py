"""N if matrices learn by updates: SymPy's Gröbner bases, cells, both charts, verdicts."""

import json
import random

import pytest
import sympy

from algebra.families.registry import certify, verify
from algebra.linalg.modular import random_prime
from algebra.systems.root_count import RootCountError, generic_root_count
from algebra.systems.update_roots import FIRST, LAST, count_at, update_equations, update_root_count
from matchprob import RNN, LinearEstimator, LinearFeedForward, LinearRNN, Problem
from tests.algebra.polynomials.by_sympy import standard_monomials_of
from tests.samples import NET

CASES = [
    (NET, {"W": {"gain": "rows"}}, 2),
    (NET, {"W": {"tied": [[1, 2], [2, 1]]}}, 2),
    (NET, {"W": {"tied": [[1, 1], [2, 2]]}}, 1),
    (LinearRNN(n=3, T=3, b=1, d=1, m=3), {"W": {"gain": "rows"}}, 6),
    (LinearRNN(n=3, T=3, b=2, d=1, m=5), {"W": {"lora": 1}}, 3),
    (LinearRNN(n=3, T=2, b=2, d=3, m=2), {"W": {"lora": 1}, "B": [[1, 0], [0, 0], [0, 0]]}, 9),
    (LinearFeedForward(q=2, widths=(3,), d=2, m=2), {"W1": {"gain": "rows"}, "W2": [[1, 0, 0],
                                                                                 [0, 0, 0]]}, 1),
]  # fmt: skip


@pytest.mark.parametrize(("net", "learnable", "expected"), CASES, ids=str)
def test_counts(net, learnable, expected):
    """The same at two primes and in the other chart of a low rank."""
    problem = Problem(net, learnable)
    assert update_root_count(problem).value == expected
    rng = random.Random(9)
    assert count_at(problem, random_prime(rng), rng, LAST, 60.0) == expected


@pytest.mark.parametrize(("net", "learnable", "expected"), CASES[:5], ids=str)
def test_against_sympy(net, learnable, expected):
    """The number of standard monomials of SymPy's Gröbner basis modulo a prime is the same."""
    p = 65_521
    equations = update_equations(Problem(net, learnable), p, random.Random(4), FIRST)
    symbols = sympy.symbols([f"t{k}" for k in range(Problem(net, learnable).learning.dimension)])
    polynomials = [
        sympy.Poly({tuple(map(int, m)): int(c) for m, c in e.to_dict().items()}, symbols, modulus=p)
        for e in equations
    ]
    _, standard = standard_monomials_of(polynomials, symbols, modulus=p)
    assert len(standard) == expected


def test_ties_of_different_numbers_count_as_cells():
    """N of ties that are cells is the generic root count of the cells."""
    for mask in ([[1, 0], [0, 1]], [[1, 1], [0, 0]], [[0, 1], [1, 0]]):
        numbers = [[k + 1 + 2 * i if v else 0 for k, v in enumerate(r)] for i, r in enumerate(mask)]
        cells = Problem(NET, {"W": mask}).allocation
        found = update_root_count(Problem(NET, {"W": {"tied": numbers}}))
        assert found.value == generic_root_count(cells).value


def test_verdicts_by_parity():
    """Odd: maximal, and the file verifies; with another number it does not."""
    problem = Problem(LinearRNN(n=3, T=3, b=2, d=1, m=5), {"W": {"lora": 1}})
    found = certify(problem)
    assert (found.verdict, found.generic_root_count) == ("maximal", 3)
    data = json.loads(found.to_json())
    assert verify(data).holds
    for value in (1, 5):
        forged = json.loads(found.to_json())
        forged["generic_root_count"] = forged["evidence"]["root_count"]["value"] = value
        forged["evidence"]["root_count"]["blocks"] = [value]
        checked = verify(forged)
        assert not checked.holds
    even = certify(Problem(NET, {"W": {"gain": "rows"}}))
    assert (even.verdict, even.generic_root_count) == ("undecided", 2)
    data = json.loads(even.to_json())
    assert verify(data).holds
    assert not verify({**data, "verdict": "maximal"}).holds


def test_out_of_reach():
    """Labels that are too long, and networks without polynomial equations, are reported."""
    with pytest.raises(RootCountError, match="too long"):
        update_root_count(Problem(LinearRNN(n=9, T=4, b=3, d=3, m=9), {"W": {"lora": 3}}))
    net = RNN(n=2, T=2, b=1, d=1, m=2, activation={"polynomial": [0, 1, 1]})
    with pytest.raises(RootCountError, match="linear networks only"):
        update_root_count(Problem(net, {"W": {"gain": "rows"}}))
    with pytest.raises(RootCountError, match="not zero-dimensional"):
        update_root_count(Problem(LinearEstimator(q=3, d=1, m=2), {"W": {"gain": "columns"}}))
