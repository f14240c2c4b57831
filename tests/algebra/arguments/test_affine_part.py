"""Labels that are affine in some weights that learn, of full rank."""

import numpy as np
import pytest

import matchprob as mp
from tests.plain_data import changed, data_of, without

TANH = mp.RNN(n=3, T=2, b=1, d=1, m=3, activation="tanh", biases=True)
READ_OUT = mp.Problem(TANH, {"D": [[1, 1, 1]], "W": [[1, 0, 0], [0, 0, 0], [0, 0, 0]]})


def status(data):
    return {check.place: check.status for check in mp.verify(data).checks}


def test_a_read_out_of_full_rank():
    """Named in the file, and proved; files of before did not name it."""
    data = data_of(READ_OUT)
    assert data["evidence"]["affine_part"] == ["D"]
    assert status(data)["verdict"] == "proved"
    old = without(data, ("evidence", "affine_part"))
    assert mp.verify(old).holds


@pytest.mark.parametrize(
    ("part", "words"),
    [(["W"], "not affine"), (["D", "W"], "not affine"), (["B"], "no part"), ([], "no part")],
)
def test_other_parts_are_refused(part, words):
    """The part must learn, enter affinely, and be named."""
    found = mp.verify(changed(data_of(READ_OUT), ("evidence", "affine_part"), part))
    assert not found.holds
    assert words in " ".join(c.text for c in found.checks if c.status == "failed")


def test_solutions_by_least_squares():
    """Linear systems in D alone: each of 20 instances is solved to the last digits."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        teacher = {name: rng.normal(size=shape) for name, shape in TANH.shapes.items()}
        student = {name: rng.normal(size=shape) for name, shape in TANH.shapes.items()}
        X = rng.normal(size=TANH.input_shape)

        def states(of, X=X):
            z = np.zeros((3, 3))
            for step in (0, 1):
                z = np.tanh(of["W"] @ (z + of["B"] @ X[step : step + 1]) + of["c"])
            return z

        y = teacher["D"] @ states(teacher) + teacher["e"]
        z = states(student)
        D = np.linalg.solve(z.T, (y - student["e"]).T).T
        assert np.allclose(D @ z + student["e"], y, atol=1e-8)


def test_linear_networks_with_surplus_weights():
    """D alone decides it, proved, without a count; without surplus N = 1 is counted instead."""
    net = mp.LinearRNN(n=2, T=2, b=1, d=2, m=2)
    both = mp.certify(mp.Problem(net, {"D": "all", "W": [[1, 0], [0, 1]]}))
    assert (both.verdict, both.evidence["affine_part"]) == ("maximal", ["D"])
    alone = mp.certify(mp.Problem(net, {"D": "all"}))
    assert (alone.verdict, alone.generic_root_count) == ("maximal", 1)


def test_upper_bounds_need_a_minor_of_the_part():
    """With erf formal ranks are upper bounds: a minor of other weights says nothing of the part."""
    net = mp.RNN(n=2, T=2, b=1, d=1, m=2, activation="erf")
    problem = mp.Problem(net, {"D": [[1, 1]], "W": [[1, 1], [0, 0]]})
    data = data_of(problem)
    assert data["evidence"]["affine_part"] == ["D"]
    assert {name for name, *_ in data["evidence"]["regular_minor"]["columns"]} == {"D"}
    assert mp.verify(data).holds
    columns = [["D", 0, 0], ["W", 0, 1]]
    forged = changed(data, ("evidence", "regular_minor", "columns"), columns)
    found = mp.verify(forged)
    assert not found.holds
    assert "not in it" in " ".join(c.text for c in found.checks if c.status == "failed")
    assert not mp.verify(without(data, ("evidence", "regular_minor"))).holds


def test_nothing_to_reach():
    """Labels that are always 0 have rank 0: an affine part is accepted or refused, in words."""
    net = mp.RNN(n=2, T=2, b=1, d=1, m=2, activation="erf")
    problem = mp.Problem(net, {"D": [[1, 1]]}, support={"B": [[0], [0]]})
    data = data_of(problem)
    assert data["evidence"] == {"labels_vanish": True}
    row = data_of(mp.Problem(net, {"D": [[1, 0]]}))
    assert row["verdict"] == "minimal"
    ranks = {name: row["evidence"][name] for name in ("network_rank", "allocation_rank")}
    for claim in ranks.values():
        claim |= {"rank": 0, "upper_bound": 0, "proved": True}
        claim["witness_point"]["weights"]["B"] = [[0], [0]]
    evidence = {**ranks, "affine_part": ["D"]}
    forged = data | {"evidence": evidence, "prime": row["prime"], "error_bound": row["error_bound"]}
    assert isinstance(mp.verify(forged).holds, bool)
