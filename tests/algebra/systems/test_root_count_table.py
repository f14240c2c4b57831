"""N of every allocation of the linear RNNs with n ≤ 3 (``tests/data/rnn_root_counts.json``).

The table is made by ``tests/data/rnn_root_counts.py``, from the core and msolve.
"""

import json
import random
import re
from pathlib import Path

import pytest

from algebra.arguments.solved_instances import solve_exactly
from algebra.plugins.papers.theorems.statements import what_theorems_say
from algebra.systems.instances import rational_instance
from algebra.systems.root_count import generic_root_count
from matchprob import Allocation, LinearRNN, Problem
from tests.algebra.polynomials.by_sympy import count_by_sympy
from tests.samples import LONG, many, more

TABLE = json.loads(
    (Path(__file__).parents[2] / "data" / "rnn_root_counts.json").read_text(encoding="utf-8")
)


def rows():
    for sizes, found in TABLE.items():
        net = LinearRNN(**{k: int(v) for k, v in re.findall(r"(\w)=(\d+)", sizes)})
        for text, count in found.items():
            cells = [
                (name, int(i), int(j)) for name, i, j in re.findall(r"(\w+)\[(\d+),(\d+)\]", text)
            ]
            yield net, Allocation.from_cells(net, cells), count


def test_how_many_odd_counts_no_theorem_speaks_of():
    """Theorems cover 49 of 267 maximal classes; 23 of the others are within the assumptions."""
    odd = spoken = within = within_linear = 0
    for net, allocation, count in rows():
        if count % 2:
            odd += 1
            said = set(what_theorems_say(net, allocation).values()) - {"silent"}
            assert said <= {"maximal"}
            spoken += bool(said)
            inside = net.T * max(net.b, net.d) <= net.n and net.m <= net.T * net.b
            if not said and inside and allocation.size == net.d * net.m:
                within += 1
                within_linear += count == 1
    assert (odd, spoken, within, within_linear) == (267, 49, 23, 14)


def test_the_table_is_whole():
    """77 nets, 461 allocations up to renaming of units."""
    assert len(TABLE) == 77
    assert sum(map(len, TABLE.values())) == 461


def test_counts_repeat():
    """A sample of the table is computed again from another seed."""
    sample = random.Random(0).sample([r for r in rows() if r[2] <= 40], 25 if LONG else 10)
    for _, allocation, count in sample:
        assert generic_root_count(allocation, seed=9).value == count


def test_sympy_agrees():
    """SymPy's Gröbner bases of the un-lifted polynomials count the same on a sample."""
    small = [r for r in rows() if r[2] <= 40 and r[1].size <= 3]
    sample = random.Random(1).sample(small, 25)
    assert {count for *_, count in sample} >= {1, 2, 3}
    for k, (_, allocation, count) in enumerate(sample):
        assert count_by_sympy(allocation, k) == count


@pytest.mark.parametrize("instances", more(many(50), 3000))
def test_odd_counts_always_match(instances):
    """An odd N never has an instance without a real solution: all are solved exactly."""
    odd = [r for r in rows() if r[2] in (3, 5, 7)]
    rng = random.Random(2)
    solved = 0
    while solved < instances:
        _, allocation, count = rng.choice(odd)
        problem = Problem.of(allocation)
        student, teacher, X = rational_instance(problem, 5, rng.randrange(10**6))
        found = solve_exactly(problem, student, X, problem.network.forward(teacher, X), 20)
        if found is None or found.complex != count:
            continue  # a special instance, not a generic one
        assert len(found.roots) % 2 == 1
        solved += 1
