"""Constraints: the weights that they allow, how they are read, and which are refused."""

import json
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from algebra.problems.constraints import Constraints
from algebra.problems.files import problem_from_dict
from algebra.problems.intervals import Interval
from matchprob import Allocation, Problem, RandomCells, load_problem
from tests.algebra.problems.refusals import refused
from tests.refusals import refuses
from tests.samples import NET

NETWORK = {"kind": "lrnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2}
DIAGONAL = [[1, 0], [0, 1]]
TABLES = [
    {"max_abs": 3.0},
    {"max_abs": 0.0, "sign": "-"},
    {"max_change": {"W": 1.5}, "sign": {"W": "keep"}},
    {"max_abs": {"W": [[1.0, "inf"], [2.0, 0.1]]}, "sign": {"W": [[1, 0], [0, -1]]}},
    {"max_abs": "inf"},
]
rational = st.fractions(min_value=-4, max_value=4, max_denominator=64)


def make(rules, learnable=None):
    learnable = {"W": DIAGONAL} if learnable is None else learnable
    return problem_from_dict({"network": NETWORK, "learnable": learnable, "constraints": rules})


@pytest.mark.parametrize("rules", TABLES, ids=str)
def test_a_problem_with_constraints_reads_back(rules, file):
    """TOML, JSON and plain data give the same problem and digest."""
    problem = make(rules)
    path = file(problem.to_toml())
    assert load_problem(path) == problem
    again = problem_from_dict(json.loads(json.dumps(problem.to_dict(), allow_nan=False)))
    assert again == problem
    assert again.digest == problem.digest
    assert hash(again.constraints) == hash(problem.constraints)
    assert str(problem.constraints)


def test_without_constraints_nothing_changes():
    """An empty table is the same as none: the digest of stores does not change."""
    plain = Problem(NET, {"W": DIAGONAL})
    assert make({}).to_dict() == plain.to_dict()
    assert "constraints" not in plain.to_dict()
    assert make({"sign": {}}).digest == plain.digest == make(TABLES[0]).without_constraints().digest
    assert make({"max_abs": 3}).digest == make({"max_abs": 3.0}).digest != plain.digest


@given(
    w=rational,
    v=rational,
    size=st.none() | st.integers(0, 3),
    change=st.none() | st.integers(0, 3),
    sign=st.sampled_from([None, "keep", "+", "-"]),
)
def test_intervals_are_the_definitions(w, v, size, change, sign):
    """A weight is in the interval of its cell if and only if each definition allows it."""
    allowed = (size is None or abs(w) <= size) and (change is None or abs(w - v) <= change)
    wanted = {"+": 1, "-": -1, "keep": (v > 0) - (v < 0), None: 0}[sign]
    allowed = allowed and w * wanted >= 0
    found = Constraints(size, change, sign).interval(("W", 0, 1), exact(v))
    assert (exact(w) in found) == allowed


def exact(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def test_bounds_are_the_doubles_themselves():
    """0.1 is the double nearest to a tenth, not a tenth; infinity is not an end."""
    found = Constraints(max_abs=0.1).interval(("W", 0, 0), fmpq(0))
    assert found.high == fmpq(*(0.1).as_integer_ratio()) != fmpq(1, 10)
    assert Constraints(max_abs=float("inf")).interval(("W", 0, 0), fmpq(1)) == Interval()


def test_files_of_bounds_and_signs(tmp_path):
    """Matrices of bounds and signs may be beside the problem file, as CSV or NPY."""
    (tmp_path / "b.csv").write_text("0.5,inf\n1,2e0\n")
    np.save(tmp_path / "s.npy", np.array([[1, 0], [0, -1]]))
    path = tmp_path / "p.toml"
    head = Problem(NET, {"W": DIAGONAL}).to_toml()
    path.write_text(head + '[constraints]\nmax_abs = "b.csv"\nsign = { W = "s.npy" }\n')
    found = load_problem(path).constraints
    assert (
        found
        == make(
            {"max_abs": {"W": [[0.5, "inf"], [1, 2]]}, "sign": {"W": [[1, 0], [0, -1]]}}
        ).constraints
    )
    assert found.interval(("W", 1, 1), fmpq(7)) == Interval(fmpq(-2), fmpq(0))


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"max_abs": -1.0}, ["constraints.max_abs", "-1.0", "at least 0"]),
        ({"max_abs": float("nan")}, ["constraints.max_abs", "nan"]),
        ({"max_change": {"W": True}}, ["constraints.max_change.W", "True"]),
        ({"max_change": "w.dat"}, ["constraints.max_change", "w.dat", ".csv"]),
        ({"max_change": "none.csv"}, ["max_change", "none.csv", "no folder"]),
        ({"max_abs": 10**400}, ["constraints.max_abs", "double"]),
        ({"max_abs": {"W": [[1.0, -2.0], [1.0, 1.0]]}}, ["max_abs.W[0][1]`", "-2.0"]),
        ({"max_abs": {"W": [[1.0], [1.0, 1.0]]}}, ["max_abs.W", "lengths"]),
        ({"max_abs": {"W": []}}, ["max_abs.W", "matrix"]),
        ({"max_abs": {"W": [[1.0, 1.0]]}}, ["max_abs.W", "1×2", "2×2"]),
        ({"max_abs": {"Q": 1.0}}, ["`Q`", "D, W, B"]),
        ({"max_abs": {"B": 1.0}}, ["B", "nothing learns"]),
        ({"sign": "plus"}, ["constraints.sign", "plus", ".csv"]),
        ({"sign": 1}, ["constraints.sign", "(1)", "keep"]),
        ({"sign": {"W": [[2, 0], [0, 0]]}}, ["sign.W[0][0]`", "2"]),
        ({"sign": {"W": [[0, 1], [0, 0]]}}, ["sign.W[0][1]`", "does not learn"]),
        ({"sign": {"W": [[1, 0, 0], [0, 0, 0]]}}, ["sign.W", "2×3", "2×2"]),
        ({"size": 1.0}, ["[constraints]", "`size`", "max_abs"]),
        (3, ["constraints", "table"]),
    ],
    ids=str,
)
def test_wrong_constraints_are_one_line(rules, words):
    """Each error is reported in one line that names the entry and echoes its value."""
    refused(lambda: make(rules), *words)


def test_a_lone_matrix_needs_one_matrix_that_learns():
    """A matrix of bounds is for the only matrix that learns; with two the name is required."""
    ones = [[1.0, 1.0], [1.0, 1.0]]
    assert make({"max_abs": ones}) == make({"max_abs": {"W": ones}})
    refuses("2 matrices learn", make, {"max_abs": ones}, {"W": DIAGONAL, "D": [[1, 1]]})


def test_constraints_follow_the_allocation():
    """A problem with another allocation keeps the constraints of its cells, and is valid."""
    rules = {"max_abs": {"W": 2.0, "D": 1.0}, "sign": {"W": [[1, 0], [0, -1]]}}
    problem = make(rules, {"W": DIAGONAL, "D": [[1, 1]]})
    part = problem.with_allocation(Allocation(NET, (("W", 0, 0),)))
    assert part.constraints == Constraints(max_abs={"W": 2.0}, sign={"W": [[1, 0], [0, 0]]})
    assert problem_from_dict(part.to_dict()) == part
    drawn = Problem(NET, {"W": RandomCells(budget=2)}, constraints=Constraints(sign="keep"))
    assert problem_from_dict(drawn.to_dict()) == drawn
    assert not Constraints(sign={"W": [[1, 0], [0, 0]]}).is_uniform
    assert Constraints(max_abs={"W": 2.0}, sign="keep").is_uniform


def test_constraints_must_be_constraints():
    """Python callers get a message too."""
    refuses("constraints", Problem, NET, {"W": DIAGONAL}, constraints={"max_abs": 1.0})
