"""Certificates verify; changed ones fail, and the failure names the place."""

import json

import pytest

from algebra.certificates.tools import Tools
from algebra.families.certify import certify
from algebra.families.verify import verify
from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from tests.algebra.systems.counters import by_trace
from tests.plain_data import changed, data_of, failures, value_at
from tests.refusals import refuses
from tests.samples import DIAGONAL, NET, ROW, SEVEN


@pytest.fixture(scope="module")
def certificates():
    return {
        "linear": data_of(ROW),
        "between": data_of(DIAGONAL),
        "minimal": data_of(SEVEN),
        "part": data_of(Problem(NET, {"W": [[1, 1], [1, 1]]})),
        "relu": data_of(Problem(ShallowReLU(q=2, n=3, d=2, m=3), {"W1": [[1, 1], [1, 0], [0, 0]]})),
        "layers": data_of(
            Problem(
                LinearFeedForward(q=2, widths=(2,), d=2, m=2),
                {"W1": [[1, 0], [0, 1]], "W2": [[1, 0], [0, 1]]},
            )
        ),
        "estimator": data_of(
            Problem(LinearEstimator(q=3, d=2, m=2), {"W": [[1, 1, 1], [1, 0, 0]]})
        ),
    }


def test_true_certificates_hold(certificates):
    """Every certificate of `certify` verifies, with the same verdict."""
    for name, data in certificates.items():
        result = verify(data)
        assert result.holds, (name, str(result))
        assert result.verdict == data["verdict"]


def test_figure_2_witness_holds():
    """A witness with N > 2 is proved by its parametrization and Sturm's theorem."""
    net = LinearRNN(n=3, T=2, b=1, d=2, m=2)
    cells = [("W", 0, 0), ("W", 1, 1), ("W", 2, 2), ("W", 0, 1)]
    data = data_of(Problem.of(Allocation.from_cells(net, cells)), search=20.0)
    result = verify(data)
    assert result.holds
    if data["verdict"] == "intermediate":
        assert any("Sturm" in check.text for check in result.checks)


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("linear", ("verdict",), "minimal"),
        ("linear", ("verdict",), "splendid"),
        ("linear", ("rank",), 1),
        ("linear", ("equations",), 3),
        ("linear", ("learnable",), 3),
        ("linear", ("prime",), 2147483647),
        ("linear", ("generic_root_count",), 3),
        ("linear", ("evidence", "root_count", "value"), 3),
        ("linear", ("evidence", "allocation_rank", "witness", 0), 2**30),
        ("linear", ("problem", "learnable", "W"), [[1, 0], [0, 1]]),
        ("between", ("verdict",), "maximal"),
        ("between", ("generic_root_count",), 1),
        ("between", ("evidence", "root_count", "value"), 1),
        ("between", ("evidence", "no_real_root", "real"), 2),
        ("between", ("evidence", "no_real_root", "X"), [["0", "0"], ["0", "0"]]),
        ("between", ("evidence", "no_real_root", "form"), "Q"),
        ("between", ("evidence", "no_real_root"), None),
        ("minimal", ("rank",), 6),
        ("minimal", ("verdict",), "maximal"),
        ("minimal", ("problem", "learnable", "W", 0, 1), 1),
        ("minimal", ("problem", "network", "m"), 3),
        ("part", ("evidence", "sub_allocation"), [["W", 0, 0]]),
        ("part", ("evidence", "sub_allocation", 0), ["W", 5, 0]),
        ("relu", ("verdict",), "minimal"),
        ("relu", ("equations",), 2),
        ("estimator", ("rank",), 4),
        ("estimator", ("evidence",), {}),
    ],
)
def test_tampering_fails(certificates, name, path, value):
    """A changed certificate does not hold, and the failure names a place."""
    result = verify(changed(certificates[name], path, value))
    assert failures(result)[0]
    assert all(check.text for check in result.checks if check.status == "failed")


def test_witness_point_is_used(certificates):
    """A witness point that does not show the rank is refused."""
    place = ("evidence", "allocation_rank", "witness_point", "X")
    zeros = [[0] * len(row) for row in value_at(certificates["minimal"], place)]
    result = verify(changed(certificates["minimal"], place, zeros))
    assert not result.holds
    assert result.checks[-1].place == "evidence.allocation_rank"


@pytest.mark.parametrize(
    "data", [None, [], {}, {"format": "x"}, {"format": "matchprob-certificate", "version": 9}]
)
def test_foreign_data_is_refused(data):
    """Data that is not a certificate of this version is bad input, not a failed check."""
    refuses("", verify, data)


# 27 solutions in four unknowns: too many for the check by SymPy.
CYCLE = Problem.of(
    Allocation.from_cells(
        LinearRNN(n=4, T=3, b=1, d=2, m=2), [("W", 0, 1), ("W", 1, 2), ("W", 2, 0), ("W", 3, 3)]
    )
)


def last_verdict(result):
    return [c for c in result.checks if c.place == "verdict"][-1]


@pytest.mark.usefixtures("no_msolve")
def test_a_numerical_root_count_is_never_proved():
    """Rule and check say that N is numerical; it is counted again from another seed."""
    certificate = certify(CYCLE, tools=Tools(root_counter=by_trace(27)))
    assert certificate.verdict == "maximal"
    assert certificate.rule == "odd generic root count (numerical: monodromy, trace test)"
    assert any("not a proof" in note for note in certificate.notes)
    data = json.loads(certificate.to_json())
    again = by_trace(27)
    result = verify(data, fallback=again)
    assert result.holds
    assert again.seeds != [data["seed"]]
    assert {c.place: c.status for c in result.checks}["evidence.root_count"] == "probable"
    assert last_verdict(result).status == "probable"
    assert "numerical, not a proof" in last_verdict(result).text
    other = verify(data, fallback=by_trace(29))
    assert not other.holds
    assert "29, not 27" in str(other)
    alone = verify(data)
    assert not alone.holds
    assert alone.is_unfinished
    assert {c.place: c.status for c in alone.checks}["evidence.root_count"] == "unfinished"
    assert last_verdict(alone).status == "unfinished"


def test_msolve_checks_a_numerical_root_count(msolve):
    """With msolve, a trace test is verified exactly; a false number fails."""
    data = data_of(CYCLE)
    data["evidence"]["root_count"] |= {
        "rule": "trace test", "primes": [], "blocks": [], "trace": {},
    }  # fmt: skip
    assert verify(data).holds
    data["generic_root_count"] = data["evidence"]["root_count"]["value"] = 29
    assert "27, not 29" in str(verify(data))


@pytest.mark.parametrize(
    "problem",
    [
        Problem(NET, {"W": [[1, 1], [1, 1]]}, support={"D": [[0, 0]]}),
        Problem(NET, {"D": [[1, 1]]}, support={"W": [[0, 0], [0, 0]]}),
        Problem(
            ShallowReLU(q=2, n=2, d=1, m=2), {"W1": [[1, 0], [0, 0]]}, support={"W2": [[0, 0]]}
        ),
        Problem(LinearEstimator(q=2, d=1, m=1), {"W": [[0, 0]]}, support={"W": [[0, 0]]}),
    ],
)
def test_labels_that_are_always_zero(problem):
    """If no path remains every student matches: proved, and a false claim of it fails."""
    data = data_of(problem)
    assert (data["verdict"], data["equations"], data["error_bound"]) == ("maximal", 0, 0)
    assert "every label 0" in data["rule"]
    result = verify(data)
    assert result.holds
    assert {c.status for c in result.checks if c.place != "words"} == {"proved"}
    without = changed(data, ("problem", "support"), {})
    assert not verify(without).holds
    assert not verify(changed(data, ("verdict",), "minimal")).holds


@pytest.mark.parametrize(
    ("network", "learnable", "verdict"),
    [
        (LinearRNN(n=1, T=3, b=1, d=1, m=1), {"W": [[1]]}, "maximal"),
        (LinearRNN(n=1, T=3, b=1, d=1, m=2), {"W": [[1]]}, "minimal"),
        (LinearRNN(n=2, T=1, b=1, d=2, m=1), {"W": [[1, 0], [0, 1]]}, "maximal"),
        (LinearRNN(n=2, T=2, b=1, d=1, m=5), {"W": [[1, 1], [0, 0]]}, "maximal"),
        (LinearRNN(n=2, T=2, b=1, d=1, m=5), {"W": [[1, 0], [0, 1]]}, "intermediate"),
        (NET, {}, "minimal"),
        (NET, {"W": [[1, 1], [1, 1]], "D": [[1, 1]], "B": [[1], [1]]}, "maximal"),
        (LinearRNN(n=3, T=1, b=1, d=1, m=1), {"B": [[1], [1], [0]]}, "maximal"),
        (LinearEstimator(q=1, d=2, m=4), {"W": [[1], [1]]}, "maximal"),
        (LinearEstimator(q=2, d=2, m=4), {}, "minimal"),
        (LinearFeedForward(q=2, widths=(1,), d=2, m=2), {"W1": [[1, 1]], "W2": [[1], [0]]},
         "maximal"),
        (ShallowReLU(q=2, n=2, d=1, m=2), {}, "intermediate"),
    ],
    ids=lambda value: str(value),
)  # fmt: skip
def test_degenerate_nets(network, learnable, verdict):
    """T = 1, n = 1, m > Tb, r = 0, r > dm and narrow layers: the verdict, which verifies."""
    data = data_of(Problem(network, learnable))
    assert data["verdict"] == verdict
    result = verify(data)
    assert result.holds, str(result)
