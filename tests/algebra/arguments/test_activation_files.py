"""Certificates of networks with activations that were tampered with."""

from functools import partial

import numpy as np
import pytest

from algebra.families.verify import verify
from matchprob import RNN, FeedForward, Problem
from tests.plain_data import changed, data_of, without

_ROW = [[1, 1, 1], [0, 0, 0], [0, 0, 0]]


def _file(net, masks, **more):
    return data_of(Problem(net, masks, **more), timeout=20)


@pytest.fixture(scope="module")
def files():
    """A genuine file of each verdict."""
    tanh = RNN(3, 2, 1, 1, 3, activation="tanh")
    erf = RNN(3, 2, 1, 1, 3, activation="erf")
    silent = FeedForward(2, (2,), 1, 2, activation="tanh")
    return {
        "intermediate": _file(tanh, {"W": _ROW}),
        "erf": _file(erf, {"W": _ROW}),
        "minimal": _file(tanh, {"W": [[1, 1, 0], [0, 0, 0], [0, 0, 0]]}),
        "readout": _file(tanh, {"D": [[1, 1, 1]]}),
        "undecided": _file(tanh, {"W": [[1, 1, 0], [0, 0, 0], [0, 0, 0]], "D": [[1, 0, 0]]}),
        "everything": _file(
            tanh, {"W": np.ones((3, 3), int), "D": [[1, 1, 1]], "B": [[1], [1], [1]]}
        ),
        "silent": _file(
            silent, {"W1": np.zeros((2, 2), int)}, support={"W2": np.zeros((1, 2), int)}
        ),
    }


def test_inputs_that_no_synapse_carries_on():
    """Rates change by synapses only: without synapses every label is 0, and the check agrees."""
    net = RNN(n=1, T=3, b=2, d=1, m=2, activation={"polynomial": [0, 1, 1]})
    data = _file(net, {"B": [[1, 1]]}, support={"W": [[0]]})
    assert data["evidence"] == {"labels_vanish": True}
    assert verify(data).holds


def test_genuine_files_hold(files):
    """Each file verifies with the verdict it was made for."""
    verdicts = {name: verify(data).verdict for name, data in files.items()}
    assert all(verify(data).holds for data in files.values())
    assert verdicts["intermediate"] == verdicts["erf"] == "intermediate"
    assert verdicts["readout"] == verdicts["everything"] == verdicts["silent"] == "maximal"


def _set(path, value):
    return lambda data: changed(data, path, value)


def _drop(*path):
    return partial(without, path=path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("intermediate", _set(("verdict",), "maximal")),
        ("intermediate", _set(("verdict",), "minimal")),
        ("intermediate", _set(("evidence", "stuck_output"), 1)),
        ("intermediate", _drop("evidence", "stuck_output")),
        ("intermediate", _set(("evidence", "stuck_output"), "0")),
        ("erf", _set(("evidence", "regular_minor", "rows"), [0, 1])),
        ("erf", _set(("evidence", "regular_minor", "rows"), [0, 0, 1])),
        ("erf", _set(("evidence", "regular_minor", "columns", 0), ["W", 2, 2])),
        ("erf", _set(("evidence", "regular_minor", "columns", 0), ["W", 9, 9])),
        ("intermediate", _set(("evidence", "everything_learns"), True)),
        ("intermediate", _set(("equations",), 2)),
        ("intermediate", _set(("rank",), 2)),
        ("intermediate", _set(("problem", "network", "activation"), "linear")),
        ("intermediate", _set(("problem", "network", "activation"), {"polynomial": [0, 0, 0, 1]})),
        ("intermediate", _set(("problem", "network", "activation"), {"polynomial": [0.5, 1]})),
        ("intermediate", _set(("problem", "network", "biases"), True)),
        ("intermediate", _set(("problem", "learnable", "D"), [[1, 0, 0]])),
        ("intermediate", _set(("generic_root_count",), 3)),
        ("erf", _drop("evidence", "regular_minor")),
        ("minimal", _set(("verdict",), "intermediate")),
        ("minimal", _set(("verdict",), "maximal")),
        ("minimal", _set(("equations",), 2)),
        ("minimal", _set(("evidence", "stuck_output"), 0)),
        ("readout", _set(("verdict",), "intermediate")),
        ("readout", _set(("problem", "learnable"), {"W": _ROW})),
        ("undecided", _set(("verdict",), "maximal")),
        ("undecided", _set(("verdict",), "intermediate")),
        ("everything", _set(("problem", "learnable", "W"), _ROW)),
        ("everything", _set(("verdict",), "minimal")),
        ("silent", _drop("problem", "support")),
        ("silent", _set(("problem", "network", "biases"), True)),
        ("silent", _set(("verdict",), "minimal")),
    ],
)
def test_a_tampered_file_fails(files, name, change):
    """Every change is found, and its place is named."""
    found = verify(change(files[name]))
    assert not found.holds
    assert any(check.status == "failed" for check in found.checks)
