"""A witness without real solutions: true ones pass, every tampered one fails."""

import copy

import pytest

from algebra.certificates.checks import PROVED, CheckFailed
from algebra.linear.evidence import Witness, context_of
from algebra.linear.verification.witness import PLACE, check_no_real_root
from algebra.linear.witness import find_witness
from algebra.systems.root_count import generic_root_count
from matchprob import LinearRNN, Problem
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
    for change in (
        lambda w: w.update(real=2),
        lambda w: w.update(complex=expected + 1),
        lambda w: w.update(unknowns=["W_0_1"]),
        lambda w: w["X"].__setitem__(0, ["0"] * problem.network.m),
    ):
        changed = copy.deepcopy(witness)
        change(changed)
        refuses("", said, problem, changed, expected, error=CheckFailed)


def test_a_false_parametrization_fails(witnesses):
    """Points that do not solve the core, or that are not proper, are found."""
    problem, witness, expected = witnesses["several"]
    assert "parametrization" in witness
    changed = copy.deepcopy(witness)
    numerator = changed["parametrization"]["numerators"][0]
    numerator[0] = str(int(numerator[0]) + 1)
    refuses("do not solve", said, problem, changed, expected, error=CheckFailed)
    changed = copy.deepcopy(witness)
    changed["parametrization"]["numerators"].pop()
    refuses("proper parametrization", said, problem, changed, expected, error=CheckFailed)
