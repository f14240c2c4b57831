"""ReLU nets from the command line."""

import json

import pytest

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
def path(file):
    """A problem file."""
    return file(PROBLEM, "relu.toml")


def test_decide_writes_evidence_that_verifies(path, tmp_path, answer, printed):
    """`decide --out` and `verify` agree for each of some trials."""
    seen = set()
    for index in range(6):
        out = tmp_path / f"{index}.json"
        verdict = answer("decide", path, "--index", index, "--out", out)["verdict"]
        seen.add(verdict)
        printed("verify", out)
        assert json.loads(out.read_text())["verdict"] == verdict
    assert seen == {"match", "no match"}


def test_estimate_and_count_agree(path, answer):
    """Trials with a solution are the matched ones."""
    counts = answer("count", path, "--instances", 25)["instances"]
    estimate = answer("estimate", path, "--trials", 25)
    assert sum(count["real"] > 0 for count in counts) == estimate["matched"]
    assert estimate["undetermined"] == 0
    assert estimate["engine"] == "complementarity"


def test_polynomial_engines_are_refused(path, complaint):
    """They solve polynomial systems; the message names the engines that decide ReLU nets."""
    words = ("--engine", "homotopy", "--trials", 2)
    assert "complementarity" in complaint("estimate", path, *words)


def test_decide_refuses_linear_nets(file, complaint):
    """A linear net has no activation patterns."""
    text = '[network]\nkind = "linear"\nq = 2\nd = 1\nm = 2\n[learnable]\nW = [[1, 1]]\n'
    assert "ReLU nets" in complaint("decide", file(text))


def test_verdicts_without_evidence_are_the_same(path, tmp_path, answer, complaint):
    """Verdicts do not depend on whether evidence is made; both options at once are refused."""
    for index in range(4):
        words = ("decide", path, "--index", index)
        sure = answer(*words)
        assert sure["certified"]
        assert answer(*words, "--quick")["verdict"] == sure["verdict"]
    assert "--quick" in complaint("decide", path, "--quick", "--out", tmp_path / "x.json")


def test_unwritable_places_are_refused(path, tmp_path, complaint):
    """A path that cannot be written is refused before any computation."""
    assert "no folder" in complaint("decide", path, "--out", tmp_path / "none" / "x.json")
