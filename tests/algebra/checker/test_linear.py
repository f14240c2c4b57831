"""Verdicts by linear algebra: the lines are those of the general check, by other code."""

import random
from dataclasses import fields

import pytest

import matchprob as mp
from algebra.checker.checks import CheckEffort
from algebra.checker.linear import PlainLaws, linear_problem, verify_linear
from algebra.families.registry import verify_claimed
from algebra.ranks.jacobian import all_cells
from tests.algebra.checker.test_linear_map import random_network
from tests.plain_data import changed, data_of, places, value_at, without
from tests.samples import SEVEN, many

EFFORT = CheckEffort(12345, 60)


def random_problem(rng):
    """A problem with any of the options that are read here."""
    network = random_network(rng)
    cells = all_cells(network)
    zeros = set(rng.sample(cells, rng.randint(0, min(3, len(cells) - 1))))
    chosen = rng.sample(cells, rng.randint(0, len(cells)))
    masks = {name: [[0] * c for _ in range(r)] for name, (r, c) in network.shapes.items()}
    for name, i, j in set(chosen) - zeros:
        masks[name][i][j] = 1
    support = {name: [[1] * c for _ in range(r)] for name, (r, c) in network.shapes.items()}
    for name, i, j in zeros:
        support[name][i][j] = 0
    parts, chances = ("weights", "inputs", "teacher"), ("normal", "normal", "uniform", "rademacher")
    laws = {part: rng.choice(chances) for part in parts if rng.random() < 0.7}
    if rng.random() < 0.3:
        laws |= {"teacher": "normal", "labels": "normal"}
    used = {name: mask for name, mask in masks.items() if rng.random() < 0.8}
    if rng.random() < 0.5:
        # One matrix, of which most learns: the labels may be affine in it.
        name = rng.choice(list(support))
        used = {name: [[int(e and rng.random() < 0.8) for e in row] for row in support[name]]}
    support = support if zeros or rng.random() < 0.3 else {}
    return mp.Problem(network, used, support, mp.Distribution(**laws))


@pytest.mark.parametrize("seed", range(many(200)))
def test_the_lines_are_those_of_the_general_check(seed):
    """Of a genuine file, and of copies with one entry changed or missing: what fails, and where."""
    rng = random.Random(f"linear/{seed}")
    problem = random_problem(rng)
    data = data_of(problem)
    own = linear_problem(data)
    if own is None:
        assert data["verdict"] != "minimal"
        return
    assert own.features == problem.features
    assert own.cells == problem.allocation.cells
    assert own.whole.cells == tuple(all_cells(problem.network, problem.support))
    found = verify_linear(data, own, EFFORT)
    assert found.holds
    assert found == verify_claimed(data, EFFORT)
    for path in rng.sample([path for path in places(data) if path], 12):
        old = value_at(data, path)
        other = old + 1 if type(old) is int else rng.choice((None, [], {}, "x", 0, -1, True, 2**70))
        for forged in (changed(data, path, other), without(data, path)):
            again = linear_problem(forged)
            if again is not None:
                here, there = verify_linear(forged, again, EFFORT), verify_claimed(forged, EFFORT)
                assert (here.checks[-1], here.holds) == (there.checks[-1], there.holds)


def test_laws_that_a_file_does_not_name_are_those_of_a_problem():
    """Each has the default of `Distribution`."""
    assert all(own.default == getattr(mp.Distribution, own.name) for own in fields(PlainLaws))


DATA = data_of(SEVEN)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("verdict",), "maximal"),
        (("evidence",), []),
        (("evidence", "root_count"), {}),
        (("evidence", "labels_vanish"), True),
        (("problem", "values"), {"B": [["1/2", ""]] * 4}),
        (("problem", "constraints"), {}),
        (("problem", "network", "kind"), "relu"),
        (("problem", "network", "kind"), ["lrnn"]),
        (("problem", "network", "n"), True),
        (("problem", "network", "n"), 0),
        (("problem", "network", "n"), 10**9),
        (("problem", "network", "q"), 2),
        (("problem", "network", "widths"), [2]),
        (("problem", "learnable"), []),
        (("problem", "learnable", "V"), [[1]]),
        (("problem", "learnable", "W"), {"lora": 1}),
        (("problem", "learnable", "W", 0), [1, 0, 0]),
        (("problem", "learnable", "W", 0, 0), True),
        (("problem", "learnable", "W", 0, 0), 2),
        (("problem", "support"), {"W": [[0] * 4] * 4}),
        (("problem", "distribution"), {"scale": {"W": "2"}}),
        (("problem", "distribution"), {"weights": "cauchy"}),
        (("problem", "distribution"), {"weights": None}),
        (("problem", "distribution"), {"labels": [["1"]]}),
        (("problem", "distribution"), {"labels": "normal", "teacher": "uniform"}),
    ],
)
def test_all_else_is_left_to_the_general_reader(path, value):
    """Other options and wrong fields alike."""
    assert linear_problem(DATA) is not None
    assert linear_problem(changed(DATA, path, value)) is None
