"""A witness without real solutions: true ones pass, every tampered one fails."""

import pytest

from algebra.certificates.checks import PROVED, CheckFailed
from algebra.families.linear.evidence import Witness, context_of
from algebra.families.linear.verification.witness import PLACE, check_no_real_root
from algebra.families.linear.witness import find_witness
from algebra.systems.root_count import generic_root_count
from matchprob import LinearRNN, Problem
from tests.plain_data import changed, value_at, without
from tests.refusals import refuses
from tests.samples import DIAGONAL

MIXED = Problem(
    LinearRNN(n=3, T=2, b=1, d=2, m=2),
    {"W": [[0, 1, 0], [0, 0, 0], [0, 1, 0]], "B": [[0], [1], [0]], "D": [[0, 0, 1], [0, 0, 0]]},
)


@pytest.fixture(scope="module")
def witnesses(msolve):
    found = {}
    for name, problem in (("one unknown", DIAGONAL), ("several", MIXED)):
        roots = generic_root_count(problem.allocation, problem.support)
        witness, text = find_witness(problem, roots, 0, 20.0)
        assert witness is not None, text
        found[name] = (problem, witness, roots.value)
    return found


def said(problem, witness, expected):
    checks = []
    read = Witness.from_dict(witness, PLACE, context_of(problem))
    equations = problem.allocation.size
    check_no_real_root(problem, read, expected, equations, 1, lambda *check: checks.append(check))
    return checks


@pytest.mark.parametrize("name", ["one unknown", "several"])
def test_true_witnesses_pass(name, witnesses):
    """All statements are proved; one by Sturm's theorem."""
    checks = said(*witnesses[name])
    assert {status for _, status, _ in checks} == {PROVED}
    assert "Sturm" in checks[1][2]


@pytest.mark.parametrize("name", ["one unknown", "several"])
def test_tampered_witnesses_fail(name, witnesses):
    """Another number, another label, other unknowns: each fails."""
    problem, witness, expected = witnesses[name]
    refuses("", said, problem, witness, expected + 2, error=CheckFailed)
    for place, value in (
        (("real",), 2),
        (("complex",), expected + 1),
        (("unknowns",), ["W_0_1"]),
        (("X", 0), ["0"] * problem.network.m),
    ):
        refuses("", said, problem, changed(witness, place, value), expected, error=CheckFailed)


def test_a_false_parametrization_fails(witnesses):
    """Points that do not solve the core, or that are not proper, are found."""
    problem, witness, expected = witnesses["several"]
    assert "parametrization" in witness
    place = ("parametrization", "numerators", 0, 0)
    moved = changed(witness, place, str(int(value_at(witness, place)) + 1))
    refuses("do not solve", said, problem, moved, expected, error=CheckFailed)
    fewer = without(witness, ("parametrization", "numerators", -1))
    refuses("proper parametrization", said, problem, fewer, expected, error=CheckFailed)
