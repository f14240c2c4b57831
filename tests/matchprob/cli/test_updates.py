"""Problem files with updates on the command line: verbs that accept them, and verbs that do not."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from algebra.certificates.certificate import VERDICTS
from matchprob import certify, load_problem
from matchprob.cli import app

EXAMPLE = Path(__file__).parents[3] / "examples" / "lora.toml"
TIED = """
[network]
kind = "lrnn"
n = 2
T = 2
b = 1
d = 1
m = 2

[learnable]
W = { tied = [[1, 2], [2, 1]] }
"""


@pytest.fixture
def tied(tmp_path):
    """A file of a problem with ties."""
    path = tmp_path / "tied.toml"
    path.write_text(TIED)
    return path


def run(*words):
    """Exit status, output and messages."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.output


def test_inspect_certify_verify_identify(tmp_path, tied):
    """They accept updates, also with --json, and a certificate in a file verifies."""
    proof = tmp_path / "cert.json"
    for file in (EXAMPLE, tied):
        status, text = run("inspect", file, "--json")
        assert status == 0
        told = json.loads(text)
        assert told["updates"][0]["parameters"] > 0
        assert told["rank"] == told["equations"]
        status, text = run("certify", file, "--out", proof, "--json")
        assert status == 0
        assert json.loads(text.splitlines()[0])["verdict"] in VERDICTS
        assert run("verify", proof)[0] == 0
        status, text = run("identify", file, "--json")
        assert status == 0
        assert json.loads(text)["learnable"] == told["learnable"]
    for verb in ("inspect", "certify", "identify"):
        status, text = run(verb, tied)
        assert status == 0
        assert "parameters" in text


@pytest.mark.parametrize("kind", ["count", "estimate", "train"])
def test_other_verbs_refuse_in_one_line(tied, kind):
    """The line names verbs that accept updates."""
    done = CliRunner().invoke(app, [kind, str(tied)])
    text = str(done.exception) + done.output
    assert done.exit_code != 0
    works = "inspect, certify, verify, identify, record, design, repair and robust take updates"
    assert works in text


def test_the_text_follows_from_the_evidence(tied):
    """Each kind of evidence for a verdict has its own text."""
    assert "single cells" in str(certify(load_problem(EXAMPLE)).explain())
    assert "N is even" in str(certify(load_problem(tied)).explain())
    odd = load_problem(tied)
    odd = type(odd)(odd.network, {"W": {"tied": [[1, 1], [2, 2]]}})
    assert "N is odd" in str(certify(odd).explain())
    few = type(odd)(odd.network, {"W": {"tied": [[1, 1], [1, 1]]}})
    assert "1 too few" in str(certify(few).explain())
