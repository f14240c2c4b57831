"""ReLU nets from the command line."""

import json

import pytest
from typer.testing import CliRunner

from matchprob.cli import app
from tests.refusals import refuses

PROBLEM = """
[network]
kind = "relu"
q = 3
n = 4
d = 2
m = 3

[learnable]
W1 = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]]
"""


@pytest.fixture
def path(tmp_path):
    """A problem file."""
    target = tmp_path / "relu.toml"
    target.write_text(PROBLEM)
    return target


def _run(*words):
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def test_decide_writes_evidence_that_verifies(path, tmp_path):
    """`decide --out` and `verify` agree for each of some trials."""
    seen = set()
    for index in range(6):
        out = tmp_path / f"{index}.json"
        shown = _run("decide", path, "--index", index, "--out", out, "--json")
        assert shown.exit_code == 0
        verdict = json.loads(shown.stdout)["verdict"]
        seen.add(verdict)
        checked = _run("verify", out)
        assert checked.exit_code == 0
        assert json.loads(out.read_text())["verdict"] == verdict
    assert seen == {"match", "no match"}


def test_estimate_and_count_agree(path):
    """Trials with a solution are the matched ones."""
    counts = json.loads(_run("count", path, "--instances", 25, "--json").stdout)["instances"]
    estimate = json.loads(_run("estimate", path, "--trials", 25, "--json").stdout)
    assert sum(count["real"] > 0 for count in counts) == estimate["matched"]
    assert estimate["undetermined"] == 0
    assert estimate["engine"] == "complementarity"


def test_polynomial_engines_are_refused(path):
    """They solve polynomial systems; the message names the engines that decide ReLU nets."""

    refuses("complementarity", _run, "estimate", path, "--engine", "homotopy", "--trials", 2)


def test_decide_refuses_linear_nets(tmp_path):
    """A linear net has no activation patterns."""

    target = tmp_path / "linear.toml"
    target.write_text(
        '[network]\nkind = "linear"\nq = 2\nd = 1\nm = 2\n[learnable]\nW = [[1, 1]]\n'
    )
    refuses("ReLU nets", _run, "decide", target)


def test_verdicts_without_evidence_are_the_same(path, tmp_path):
    """Verdicts do not depend on whether evidence is made; both options at once are refused."""

    for index in range(4):
        words = ("decide", path, "--index", index, "--json")
        sure = json.loads(_run(*words).stdout)
        assert sure["certified"]
        assert json.loads(_run(*words, "--quick").stdout)["verdict"] == sure["verdict"]
    refuses("--quick", _run, "decide", path, "--quick", "--out", tmp_path / "x.json")


def test_unwritable_places_are_refused(path, tmp_path):
    """A path that cannot be written is refused before any computation."""

    refuses("no folder", _run, "decide", path, "--out", tmp_path / "none" / "x.json")
