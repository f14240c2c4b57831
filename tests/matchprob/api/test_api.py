"""The verbs as Python functions."""

import json
import os

import pytest

import matchprob as mp
from tests.matchprob.calls import call

NET = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)


def test_verbs_take_problems_and_paths(tmp_path):
    """A problem and its file give the same answers."""
    problem = mp.Problem(NET, {"W": [[1, 0], [0, 1]]})
    path = tmp_path / "P.toml"
    path.write_text(problem.to_toml())
    assert mp.load_problem(path) == problem
    one = mp.count(problem, 5, engine="exact")
    other = mp.count(path, 5, engine="exact")
    assert [c.real for c in one] == [c.real for c in other]
    assert mp.inspect(path).forms[0].bezout == 2


@pytest.mark.parametrize("verb", [mp.inspect, mp.certify, mp.count, mp.estimate, mp.identify])
def test_what_is_no_problem_is_refused(verb):
    """A network alone, or a number, is refused by name, with what to write instead."""
    with pytest.raises(mp.InputError, match="give what learns"):
        verb(NET)
    with pytest.raises(mp.InputError, match=r"`question` \(3\) must be a Problem"):
        verb(3)


def test_certificates_in_all_forms(tmp_path):
    """verify takes the object, the data and the file."""
    certificate = mp.certify(mp.Problem(NET, {"W": [[1, 1], [0, 0]]}))
    path = tmp_path / "cert.json"
    path.write_text(certificate.to_json())
    assert mp.verify(certificate).holds
    assert mp.verify(json.loads(certificate.to_json())).holds
    assert mp.verify(path).holds
    with pytest.raises(mp.InputError, match="no such file"):
        mp.verify(tmp_path / "none.json")
    path.write_text("{")
    with pytest.raises(mp.InputError, match="not JSON"):
        mp.verify(path)


def test_a_pipe_is_no_proof(tmp_path):
    """Nobody may ever write to it: refused in a line, on the command line too."""
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(mp.InputError, match="is a pipe: name a file"):
        mp.verify(tmp_path / "pipe.json")
    assert call("verify", tmp_path / "pipe.json") == 2


def test_estimates_repeat():
    """The same seed gives the same trials; another seed others."""
    problem = mp.Problem(NET, {"W": [[1, 0], [0, 1]]})
    a, b, c = (mp.estimate(problem, 40, seed=s, engine="exact") for s in (3, 3, 4))
    reals = [[count.real for count in e.counts] for e in (a, b, c)]
    assert reals[0] == reals[1] != reals[2]


def test_bad_numbers():
    """Impossible numbers of instances are refused by name."""
    with pytest.raises(mp.InputError, match="`instances` \\(0\\)"):
        mp.count(mp.Problem(NET, {"W": [[1, 0], [0, 1]]}), 0)
