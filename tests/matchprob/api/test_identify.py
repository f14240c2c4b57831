"""Dimensions of networks with ReLU: the largest ranks on drawn activation patterns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import matchprob as mp
from matchprob import NormNet, Problem, ShallowReLU
from tests.doubles import labels
from tests.refusals import refuses
from tests.samples import many

NETWORKS = (
    ShallowReLU(q=3, n=4, d=2, m=5),
    NormNet((2, 3, 2), (4, 3), m=5),
    NormNet((2, 3), (2,), m=5, activation="linear"),
)


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: str(network))
def test_programs_compute_the_labels(network):
    """Labels of the program in doubles are those of `forward`."""
    rng = np.random.default_rng(0)
    weights = {name: rng.standard_normal(shape) for name, shape in network.shapes.items()}
    X = rng.standard_normal(network.input_shape)
    assert np.allclose(labels(network.program(), weights, {"X": X}), network.forward(weights, X))


@given(q=st.integers(2, 4), n=st.integers(1, 4), d=st.integers(1, 3))
@settings(max_examples=many(15), deadline=None)
def test_dimension_of_shallow_relu(q, n, d):
    """The dimension is the number of weights less one scale for each hidden unit."""
    found = mp.dimension(ShallowReLU(q=q, n=n, d=d, m=1))
    assert found.dimension == n * (q + d) - n == found.expected
    assert found.ambient is None
    assert "a larger one is impossible" in found.known


def test_one_input_without_shifts():
    """With one input and no shifts a function has two linear pieces: 4 directions of 8.

    No bound for all activation patterns shows that there are no more, so 4 is a lower bound.
    """
    found = mp.dimension(ShallowReLU(q=1, n=4, d=2, m=1))
    assert (found.dimension, found.at_least, found.expected, found.defect) == (None, 4, 8, None)
    assert not found.is_stopped
    assert "may be smaller near others" in found.known


def test_dimension_of_normalization_networks():
    """26 for a small ReLU net; a linear net gives matrices of rank 2 and a column of shifts."""
    assert mp.dimension(NormNet.square(2, 2, 3, m=1)).dimension == 26
    narrow = mp.dimension(NormNet.square(3, 1, 2, m=1, activation="linear"))
    # Matrices of rank 2, 3×3, and a column of shifts.
    assert (narrow.dimension, narrow.ambient, narrow.filling) == (8 + 3, 12, False)


def test_structural_zeros_do_not_count():
    """A hidden unit without connections adds nothing to the dimension."""
    support = {"W1": [[1, 1], [1, 1], [0, 0]], "W2": [[1, 1, 0]]}
    found = mp.dimension(Problem(ShallowReLU(q=2, n=3, d=1, m=1), {}, support))
    assert found.dimension == mp.dimension(ShallowReLU(q=2, n=2, d=1, m=1)).dimension == 4


def test_dimensions_from_a_program_have_no_proof_file():
    """A dimension computed on activation patterns has no proof file; the message says why."""
    refuses("computed from a program", mp.dimension(ShallowReLU(q=2, n=2, d=1, m=1)).proof_file)


def test_an_edge_list_is_read_by_names(tmp_path):
    """The structure of a circuit is that of the file's names, as for every other verb."""
    (tmp_path / "edges.csv").write_text("pre,post\nS,I\nI,J\nJ,S\n", encoding="utf-8")
    path = tmp_path / "circuit.toml"
    path.write_text(
        "[network]\nkind = 'lrnn'\nn = 3\nT = 2\nb = 1\nd = 1\n"
        "[names]\nneurons = ['S', 'I', 'J']\n[support]\nW = 'edges.csv'\n",
        encoding="utf-8",
    )
    cycle = {"W": [[0, 0, 1], [1, 0, 0], [0, 1, 0]]}
    same = mp.dimension(Problem(mp.LinearRNN(n=3, T=2, b=1, d=1, m=1), {}, cycle))
    assert mp.dimension(path).dimension == same.dimension


@pytest.mark.parametrize("verb", [mp.estimate, mp.train, mp.profile, mp.compare])
def test_a_time_of_a_trial_that_is_none_is_named(verb):
    """The message names `trial_timeout`, not the limit of the call."""
    problem = Problem(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]})
    given = [problem, problem] if verb is mp.compare else [problem]
    refuses("`trial_timeout`", verb, *given, trial_timeout=0)
