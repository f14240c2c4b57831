"""Proofs of dimensions: what is accepted is the rank of differences of labels in doubles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.plugins.models.dimension import dimension_of, expected_dimension
from algebra.plugins.models.verify_dimension import DIMENSION
from algebra.ranks.jacobian import all_cells
from matchprob import FeedForward, LinearFeedForward, LinearRNN
from tests.refusals import refuses
from tests.samples import many


def numerical_dimension(net, support, samples=40):
    """The rank of complex-step derivatives of the labels at many random samples."""
    net = net.with_samples(samples)
    rng = np.random.default_rng(5)
    masks = {name: np.array(support.get(name, np.ones(s))) for name, s in net.shapes.items()}
    weights = {name: rng.normal(size=s) * masks[name] for name, s in net.shapes.items()}
    X = rng.normal(size=net.input_shape)
    columns = []
    for name, i, j in all_cells(net, masks):
        moved = {own: value.astype(complex) for own, value in weights.items()}
        moved[name][i, j] += 1e-30j
        columns.append(net.forward(moved, X).imag.ravel() / 1e-30)
    return int(np.linalg.matrix_rank(np.array(columns), tol=1e-9)) if columns else 0


def proof(net, support, dimension):
    """A file that claims a dimension, with right counts."""
    data = dimension_of(net, support).proof_file()
    expected, ambient = expected_dimension(net, len(all_cells(net, support)), support)
    assert (data["expected"], data["ambient"]) == (expected, ambient)
    return {**data, "dimension": dimension}


NETWORKS = st.one_of(
    st.builds(
        LinearFeedForward, q=st.integers(1, 3), widths=st.tuples(st.integers(1, 3)),
        d=st.integers(1, 3), m=st.just(1),
    ),
    st.builds(
        LinearRNN, n=st.integers(1, 2), T=st.integers(1, 3), b=st.integers(1, 2),
        d=st.integers(1, 2), m=st.just(1),
    ),
    st.builds(
        FeedForward, q=st.integers(1, 2), widths=st.tuples(st.integers(1, 2)),
        d=st.integers(1, 2), m=st.just(1),
        activation=st.sampled_from([{"polynomial": [0, 0, 1]}, {"polynomial": [0, 1, 0, 1]}]),
    ),
)  # fmt: skip


@given(NETWORKS, st.data())
@settings(max_examples=many(40), deadline=None)
def test_exactly_the_numerical_rank_is_accepted(net, data):
    """With random structural zeros; one more and one less fail at the dimension."""
    support = {}
    for name, shape in net.shapes.items():
        if data.draw(st.booleans()):
            cells = st.lists(st.integers(0, 1), min_size=shape[1], max_size=shape[1])
            support[name] = data.draw(st.lists(cells, min_size=shape[0], max_size=shape[0]))
    support = {name: np.array(rows) for name, rows in support.items()}
    right = numerical_dimension(net, support)
    assert DIMENSION.verify(proof(net, support, right)).holds
    for wrong in (right - 1, right + 1):
        if wrong >= 0:
            found = DIMENSION.verify(proof(net, support, wrong))
            assert [check.place for check in found.checks if check.status == "failed"] == [
                "dimension"
            ]


def test_what_is_only_probable_is_said():
    """A dimension below all counts is at most probable, with a bound; one that meets a count is
    proved."""
    square = {"polynomial": [0, 0, 1]}
    net = FeedForward(q=5, widths=(5, 3), d=1, m=1, activation=square)
    found = DIMENSION.verify(dimension_of(net).proof_file())
    statuses = [check.status for check in found.checks if check.place == "dimension"]
    assert statuses == ["proved", "probable"]
    said = [check for check in found.checks if check.status == "probable"]
    assert [check.place for check in said] == ["ambient", "expected", "dimension"]
    assert all("error at most 2^-" in check.text for check in said)
    net = LinearFeedForward(q=2, widths=(1,), d=2, m=1)
    found = DIMENSION.verify(proof(net, {}, 3))
    assert [c.status for c in found.checks if c.place == "dimension"] == ["proved", "proved"]
    full = LinearFeedForward(q=2, widths=(2,), d=2, m=1)
    found = DIMENSION.verify(proof(full, {}, 4))
    assert {check.status for check in found.checks if check.place == "dimension"} == {"proved"}


@pytest.mark.parametrize("activation", ["linear", "tanh"])
def test_a_network_without_weights_is_a_point(activation):
    """All labels are 0: dimension 0, also expected, and nothing else is accepted."""
    net = FeedForward(q=1, widths=(1,), d=1, m=1, activation=activation)
    nothing = {name: np.zeros(shape, int) for name, shape in net.shapes.items()}
    data = dimension_of(net, nothing).proof_file()
    assert (data["dimension"], data["expected"]) == (0, 0)
    assert DIMENSION.verify(data).holds
    assert not DIMENSION.verify({**data, "dimension": 1}).holds


@pytest.mark.parametrize("change", [{"format": "other"}, {"version": 2}, {"version": True}])
def test_other_files_are_bad_input(change):
    """They are not proofs of a dimension of this version."""
    data = proof(LinearFeedForward(q=1, widths=(1,), d=1, m=1), {}, 1)
    refuses("", DIMENSION.verify, {**data, **change})


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"dimension": -1}, "dimension"),
        ({"dimension": 1.0}, "dimension"),
        ({"ambient": 0}, "ambient"),
        ({"support": None}, "support"),
        ({"seed": 1}, "seed"),
        ({"network": {"kind": "lffn", "q": 1, "widths": [0], "d": 1, "m": 1}}, "network.widths[0]"),
    ],
)
def test_refusals_have_their_place(change, place):
    """Fields of another form, and unknown ones."""
    data = proof(LinearFeedForward(q=1, widths=(1,), d=1, m=1), {}, 1)
    found = DIMENSION.verify({**data, **change})
    assert [(check.place, check.status) for check in found.checks] == [(place, "failed")]
