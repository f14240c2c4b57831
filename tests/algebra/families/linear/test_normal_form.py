"""Recurrent nets all of whose W learns, in a basis in which B and D are diagonal."""

import json

import numpy as np
import pytest

from algebra.families.linear.verification.normal_form import normal_problem
from matchprob import LinearRNN, Problem, certify, verify
from tests.doubles import smallest_error
from tests.plain_data import changed, data_of, without

EVERYTHING = Problem(LinearRNN(n=2, T=5, b=1, d=1, m=3), {"W": [[1, 1], [1, 1]]})


@pytest.fixture(scope="module")
def found(msolve):
    """The certificate of the smallest net that is intermediate in this way, as plain data."""
    return json.loads(certify(EVERYTHING, timeout=300, search=120.0).to_json())


def numbers(texts):
    """A matrix of rationals in doubles."""
    parts = [[(str(value) + "/1").split("/")[:2] for value in row] for row in texts]
    return np.array([[int(p) / int(q) for p, q in row] for row in parts])


def has_match(weights, X, labels, rng):
    """Whether least squares from 40 starts find a student with these labels."""

    def errors(w):
        student = {**weights, "W": w.reshape(-1, 2, 2)}
        return (EVERYTHING.network.forward(student, X) - labels).reshape(len(w), -1)

    return smallest_error(errors, 2 * rng.standard_normal((40, 4))) < 1e-8 * np.abs(labels).max()


def test_the_surplus_weight_is_a_change_of_basis(found):
    """n = 2, T = 5: four weights, three equations, and no match near an instance; verified."""
    assert (found["verdict"], found["learnable"], found["equations"]) == ("intermediate", 4, 3)
    inner = found["evidence"]["normal_form"]
    assert (inner["verdict"], inner["generic_root_count"]) == ("intermediate", 6)
    checked = verify(found)
    assert checked.holds
    [verdict] = [c for c in checked.checks if c.place == "verdict"]
    assert "with diagonal B and D" in verdict.text


def test_instances_near_the_witness_have_no_match(found):
    """All of B, D and X are disturbed, also the zeros; random instances do have matches."""
    inner = found["evidence"]["normal_form"]["evidence"]
    # By exact solving or by balls: whichever comes first.
    evidence = inner.get("no_real_root") or inner["enclosed_solutions"]
    weights, teacher = (
        {name: numbers(value) for name, value in evidence[key].items()}
        for key in ("weights", "teacher")
    )
    X, rng, matched = numbers(evidence["X"]), np.random.default_rng(0), 0
    for _ in range(10):
        near = [
            {name: value + 1e-6 * rng.standard_normal(value.shape) for name, value in own.items()}
            for own in (weights, teacher, {"X": X})
        ]
        labels = EVERYTHING.network.forward(near[1], near[2]["X"])
        assert not has_match(near[0], near[2]["X"], labels, rng)
        drawn = [
            {name: rng.standard_normal(value.shape) for name, value in own.items()}
            for own in (weights, teacher, {"X": X})
        ]
        labels = EVERYTHING.network.forward(drawn[1], drawn[2]["X"])
        matched += has_match(drawn[0], drawn[2]["X"], labels, rng)
    assert matched > 5


@pytest.mark.parametrize(
    ("sizes", "mask"),
    [
        ({"n": 3, "m": 3}, np.ones((3, 3))),
        ({"m": 4}, np.ones((2, 2))),
        ({"m": 3}, [[1, 1], [0, 1]]),
    ],
)
def test_other_problems_have_no_normal_form(sizes, mask):
    """More units, another number of equations, or a fixed weight."""
    net = LinearRNN(**({"n": 2, "T": 5, "b": 1, "d": 1} | sizes))
    assert normal_problem(Problem(net, {"W": np.asarray(mask, int).tolist()})) is None


def test_structural_zeros_and_signs_are_refused():
    """The change of basis keeps neither."""
    net, learns = EVERYTHING.network, {"W": [[1, 1], [1, 1]]}
    assert normal_problem(Problem(net, learns, {"D": [[1, 0]]})) is None


def forged(found):
    """The certificate with changes, of which each makes it false."""
    net = LinearRNN(n=2, T=4, b=1, d=1, m=3)
    small = data_of(Problem(net, {"W": [[1, 0], [1, 1]]}), search=5.0)
    inside, form = ("evidence", "normal_form"), found["evidence"]["normal_form"]
    evidence, count = form["evidence"], form["evidence"]["root_count"]
    instance = evidence.keys() & {"no_real_root", "enclosed_solutions"}
    changes = (
        (inside, small),
        (inside, found),
        (("verdict",), "maximal", (*inside, "verdict"), "maximal"),
        ((*inside, "verdict"), "undecided"),
        (("evidence", "root_count"), count, ("generic_root_count",), form["generic_root_count"]),
        ((*inside, "evidence"), {k: v for k, v in evidence.items() if k not in instance}),
        ((*inside, "generic_root_count"), 4,
         (*inside, "evidence", "root_count"), count | {"value": 4, "blocks": [4]}),
        (("problem", "learnable", "W"), [[1, 1], [1, 0]]),
    )  # fmt: skip
    return [without(found, (*inside, "problem", "support")), *(changed(found, *c) for c in changes)]


def test_forged_normal_forms_are_refused(found):
    """Another problem's certificate, another verdict, more or less evidence."""
    for data in forged(found):
        assert not verify(data).holds
