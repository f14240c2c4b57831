"""Solutions enclosed by balls: genuine evidence holds, forged evidence does not."""

import numpy as np
import pytest
from flint import acb, arb, fmpq

from algebra.certificates.checks import PROVED, CheckFailed
from algebra.families.linear.enclosed import _Equations, enclosed_evidence
from algebra.families.linear.evidence import Enclosed, context_of
from algebra.families.linear.verification.enclosed import PLACE, check_enclosed
from algebra.families.registry import verify
from algebra.systems.root_count import generic_root_count
from matchprob import Allocation, LinearRNN, Problem
from numeric.engines.witness_search import rootless_instances
from tests.plain_data import changed, data_of, without
from tests.refusals import refuses
from tests.samples import NET

RING = Problem.of(
    Allocation.from_cells(
        LinearRNN(n=4, T=2, b=1, d=2, m=2), [("W", i, (i + 1) % 4) for i in range(4)]
    )
)
# As many equations as before, from five samples of which two are independent.
MORE = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=5), {"W": [[1, 0], [0, 1]]})


def evidence_of(problem):
    count = generic_root_count(problem.allocation).value
    guess = next(rootless_instances(problem, count, 0, 60.0))
    found = enclosed_evidence(problem, guess, count)
    assert found is not None
    return count, found


@pytest.fixture(scope="module")
def ring():
    return evidence_of(RING)


def said(problem, data, expected):
    checks = []
    read = Enclosed.from_dict(data, PLACE, context_of(problem))
    size = problem.allocation.size
    check_enclosed(problem, read, expected, size, lambda *check: checks.append(check))
    return checks


def test_genuine_evidence_is_proved(ring):
    """N solutions in disjoint balls, none real; also where samples are dependent."""
    for problem, (count, data) in ((RING, ring), (MORE, evidence_of(MORE))):
        assert count % 2 == 0
        assert {status for _, status, _ in said(problem, data, count)} == {PROVED}


def test_derivatives_by_the_read_out():
    """Solutions are enclosed if the read-out learns, whose derivatives are integers."""
    problem = Problem(NET, {"W": [[1, 0], [0, 0]], "D": [[0, 1]]})
    teacher = {
        name: np.array([[fmpq(2 * i + j + 1, 3) for j in range(c)] for i in range(r)])
        for name, (r, c) in NET.shapes.items()
    }
    X = np.array([[fmpq(1), fmpq(2)], [fmpq(-1), fmpq(1, 2)]])
    equations = _Equations(problem, teacher, X, NET.forward(teacher, X), [(0, 0), (0, 1)])
    solution = [acb(arb(teacher[name][i, j])) for name, i, j in problem.allocation.cells]
    residual, jacobian = equations.at(solution)
    assert all(entry.contains(0) for entry in residual.entries())
    assert not jacobian.det().contains(0)
    box = equations.enclose([x + acb(1e-9) for x in solution])
    assert box is not None
    assert all(abs(x - y) <= q for x, y, q in zip(solution, *box, strict=True))


def zeros(rows):
    return [["0"] * len(row) for row in rows]


FORGERIES = {
    # The student is the teacher: its own weights are a solution, and real.
    "real points": lambda data: (
        ("weights",), data["teacher"], ("points",),
        [[[data["teacher"]["W"][i][(i + 1) % 4], "0"] for i in range(4)]] * len(data["points"]),
    ),
    "the first point twice": lambda data: (("points", -1), data["points"][0]),
    "the first point and its conjugate": lambda data: (
        ("points", -1), [[re, f"-{im}".removeprefix("--")] for re, im in data["points"][0]],
    ),
    "no points": lambda data: (("points",), []),
    "no samples": lambda data: (("X",), zeros(data["X"])),
    "no read-out": lambda data: (("weights", "D"), zeros(data["weights"]["D"])),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_evidence_is_refused(ring, name):
    """Real, repeated or missing points and degenerate instances prove nothing."""
    count, genuine = ring
    assert count >= 4
    forged = changed(genuine, *FORGERIES[name](genuine))
    refuses("", said, RING, forged, count, error=CheckFailed)


def test_all_solutions_are_asked_for(ring):
    """Points for fewer solutions than N are rejected, for all enclosures."""
    count, genuine = ring
    fewer = {**genuine, "points": genuine["points"][1:]}
    refuses("half of", said, RING, fewer, count, error=CheckFailed)


def test_certificates_with_balls(ring):
    """Such evidence is verified in a certificate, and is refused where N is another or it stands
    beside another witness."""
    count, evidence = ring
    data = data_of(RING, search=20.0)
    assert data["verdict"] == "intermediate"
    other = data["evidence"].pop("no_real_root")
    data["evidence"]["enclosed_solutions"] = evidence
    assert verify(data).holds
    fewer = without(data, ("evidence", "enclosed_solutions", "points", -1))
    fewer["evidence"]["root_count"] |= {"value": count - 2, "blocks": [count - 2]}
    for forged in (
        changed(data, ("evidence", "no_real_root"), other),
        fewer | {"generic_root_count": count - 2},
        without(data, ("evidence", "enclosed_solutions")),
    ):
        assert not verify(forged).holds


def test_wrong_guesses_are_no_evidence(ring):
    """An instance with another number of points than N proves nothing."""
    count, _ = ring
    guess = next(rootless_instances(RING, count, 0, 60.0))
    assert enclosed_evidence(RING, guess, count + 2) is None
