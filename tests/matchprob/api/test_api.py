"""The verbs as Python functions."""

import json
import os
import time

import pytest

import matchprob as mp
from tests.matchprob.calls import call
from tests.refusals import refuses

NET = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)


def test_verbs_take_problems_and_paths(file):
    """A verb gives the same result for a problem and for its file."""
    problem = mp.Problem(NET, {"W": [[1, 0], [0, 1]]})
    path = file(problem.to_toml(), "P.toml")
    assert mp.load_problem(path) == problem
    one = mp.count(problem, 5, engine="exact")
    other = mp.count(path, 5, engine="exact")
    assert [c.real for c in one] == [c.real for c in other]
    assert mp.inspect(path).forms[0].bezout == 2


@pytest.mark.parametrize("verb", [mp.inspect, mp.certify, mp.count, mp.estimate, mp.identify])
def test_verbs_refuse_a_network_and_a_number(verb):
    """A network without an allocation, or a number, is refused; the message says what to give."""
    refuses("give what learns", verb, NET)
    refuses(r"`question` \(3\) must be a Problem", verb, 3)


def test_verify_takes_objects_data_and_files(tmp_path, file):
    """`verify` takes a certificate, its JSON object or its file; a file without JSON is refused."""
    certificate = mp.certify(mp.Problem(NET, {"W": [[1, 1], [0, 0]]}))
    path = file(certificate.to_json(), "cert.json")
    assert mp.verify(certificate).holds
    assert mp.verify(json.loads(certificate.to_json())).holds
    assert mp.verify(path).holds
    refuses("no such file", mp.verify, tmp_path / "none.json")
    refuses(r"^\{\\n[^\n]+: cannot be read: File name too long$", mp.verify, "{\n" * 300)
    path.write_text("{")
    refuses("not JSON", mp.verify, path)


@pytest.mark.parametrize("line", ["verify", "inspect", "certify", "count", "estimate", "capacity"])
def test_time_limits_hold_while_a_pipe_is_read(line, tmp_path):
    """A pipe that nobody writes to: each verb ends with its time limit, and says so."""
    os.mkfifo(tmp_path / "pipe")
    began = time.monotonic()
    status = call(line, tmp_path / "pipe", "--timeout", "0.3")
    assert status == (2 if line == "capacity" else 3)
    assert time.monotonic() - began < 10


def test_estimates_repeat():
    """The same seed gives the same counts; another seed gives other counts."""
    problem = mp.Problem(NET, {"W": [[1, 0], [0, 1]]})
    a, b, c = (mp.estimate(problem, 40, seed=s, engine="exact") for s in (3, 3, 4))
    reals = [[count.real for count in e.counts] for e in (a, b, c)]
    assert reals[0] == reals[1] != reals[2]


def test_zero_instances_are_refused():
    """`count` refuses `instances=0`; the message names the argument."""
    refuses("`instances` \\(0\\)", mp.count, mp.Problem(NET, {"W": [[1, 0], [0, 1]]}), 0)
