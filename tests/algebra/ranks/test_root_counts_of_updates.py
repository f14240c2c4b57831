"""N if matrices learn by updates: SymPy's Gröbner bases, cells, other charts, verdicts."""

import json
import random

import numpy as np
import pytest
import sympy

from algebra.families.certify import certify
from algebra.families.verify import verify
from algebra.ranks.parametrized import by_parameters
from algebra.systems.instances import modular_instance
from algebra.systems.root_count import RootCountError, generic_root_count
from matchprob import RNN, LinearEstimator, LinearFeedForward, LinearRNN, Problem
from tests.algebra.polynomials.by_sympy import standard_monomials_of
from tests.refusals import refuses
from tests.samples import NET

CASES = [
    (NET, {"W": {"gain": "rows"}}, 2),
    (NET, {"W": {"tied": [[1, 2], [2, 1]]}}, 2),
    (NET, {"W": {"tied": [[1, 1], [2, 2]]}}, 1),
    (LinearRNN(n=2, T=2, b=2, d=1, m=3), {"W": {"lora": 1}}, 2),
    (LinearRNN(n=3, T=3, b=1, d=1, m=3), {"W": {"gain": "rows"}}, 6),
    (LinearRNN(n=3, T=3, b=2, d=1, m=5), {"W": {"lora": 1}}, 3),
    (LinearRNN(n=3, T=2, b=2, d=3, m=2), {"W": {"lora": 1}, "B": [[1, 0], [0, 0], [0, 0]]}, 9),
    (LinearFeedForward(q=2, widths=(3,), d=2, m=2), {"W1": {"gain": "rows"}, "W2": [[1, 0, 0],
                                                                                 [0, 0, 0]]}, 1),
]  # fmt: skip


def root_count(problem, **settings):
    """N of the parameters."""
    return generic_root_count(by_parameters(problem).allocation, **settings)


@pytest.mark.parametrize(("net", "learnable", "expected"), CASES, ids=str)
def test_counts(net, learnable, expected):
    """The same at other primes and instances."""
    problem = Problem(net, learnable)
    assert root_count(problem).value == expected
    assert root_count(problem, seed=1).value == expected


@pytest.mark.parametrize(("net", "learnable", "expected"), CASES[:4], ids=str)
def test_against_sympy(net, learnable, expected):
    """The number of standard monomials in the chart U = (I; U'), by SymPy, is the same."""
    p, problem = 65_521, Problem(net, learnable)
    instance = modular_instance(by_parameters(problem).allocation, p, 4)
    size = problem.learning.dimension
    symbols = sympy.symbols([f"t{k}" for k in range(size)])
    left = iter(symbols)
    weights = {name: instance.weights[name].astype(object) for name in net.shapes}
    for name, update in problem.updates.items():
        shape, values = net.shapes[name], {}
        for letter, (rows, columns) in update.arrays(shape).items():
            fixed = columns if letter == "U" else 0
            values[letter] = np.array(
                [[int(i == j) if i < fixed else next(left) for j in range(columns)]
                 for i in range(rows)], object,
            )  # fmt: skip
        weights[name] = update.apply(weights[name], values)
    assert not list(left)
    labels = net.forward(weights, instance.X.astype(object)).ravel()
    root = dict(zip(symbols, random.Random(3).sample(range(p), size), strict=True))
    differences = [sympy.expand(y - sympy.sympify(y).subs(root)) for y in labels]
    polynomials = [sympy.Poly(y, symbols, modulus=p) for y in differences if y.free_symbols]
    _, standard = standard_monomials_of(polynomials, symbols, modulus=p)
    assert len(standard) == expected


def test_ties_of_different_numbers_count_as_cells():
    """N of ties that are cells is the generic root count of the cells."""
    for mask in ([[1, 0], [0, 1]], [[1, 1], [0, 0]], [[0, 1], [1, 0]]):
        numbers = [[k + 1 + 2 * i if v else 0 for k, v in enumerate(r)] for i, r in enumerate(mask)]
        cells = Problem(NET, {"W": mask}).allocation
        assert (
            root_count(Problem(NET, {"W": {"tied": numbers}})).value
            == generic_root_count(cells).value
        )


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
    """Labels that are too long, and infinitely many solutions, are reported."""
    long = Problem(LinearRNN(n=9, T=4, b=3, d=3, m=9), {"W": {"lora": 3}})
    with pytest.raises(RootCountError, match="too long"):
        root_count(long, has_full_rank=True)
    wide = Problem(LinearEstimator(q=3, d=1, m=2), {"W": {"gain": "columns"}})
    refuses("infinitely many", root_count, wide)


def test_polynomial_activations():
    """N of gains before a square is the number of solutions of the unrolled equations: 4."""
    net = RNN(n=2, T=1, b=1, d=2, m=1, activation={"polynomial": [0, 0, 1]})
    assert root_count(Problem(net, {"B": {"gain": "rows"}})).value == 4
