"""Problem files with updates on the command line: verbs that accept them."""

from pathlib import Path

import pytest

from algebra.checker.verdicts import VERDICTS
from matchprob import certify, load_problem
from tests.refusals import refuses

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
def tied(file):
    """A file of a problem with ties."""
    return file(TIED, "tied.toml")


def test_inspect_certify_verify_identify(tmp_path, tied, answer, printed):
    """They accept updates, also with --json, and a certificate in a file verifies."""
    proof = tmp_path / "cert.json"
    for file in (EXAMPLE, tied):
        told = answer("inspect", file)
        assert told["updates"][0]["parameters"] > 0
        assert told["rank"] == told["equations"]
        assert answer("certify", file, "--out", proof)["verdict"] in VERDICTS
        printed("verify", proof)
        assert answer("identify", file)["learnable"] == told["learnable"]
    for verb in ("inspect", "certify", "identify"):
        assert "parameters" in printed(verb, tied)


def test_instances(tied, answer):
    """Verbs that solve instances take updates: two solutions, real or not, in each instance."""
    found = answer("count", tied, "--instances", 9)
    assert found["generic_root_count"] == 2
    real = [one["real"] for one in found["instances"]]
    assert set(real) == {0, 2}
    told = answer("estimate", tied, "--trials", 9)
    assert (told["matched"], told["undetermined"]) == (sum(k > 0 for k in real), 0)


def test_verbs_of_single_cells_refuse_in_one_line(tied):
    """The line names verbs that accept updates."""
    refuses("count, estimate, train, profile", lambda: load_problem(tied).allocation)


def test_the_text_follows_from_the_evidence(tied):
    """Each kind of evidence for a verdict has its own text."""
    assert "single cells" in str(certify(load_problem(EXAMPLE)).explain())
    assert "N is even" in str(certify(load_problem(tied)).explain())
    odd = load_problem(tied)
    odd = type(odd)(odd.network, {"W": {"tied": [[1, 1], [2, 2]]}})
    assert "exactly one complex solution" in str(certify(odd).explain())
    few = type(odd)(odd.network, {"W": {"tied": [[1, 1], [1, 1]]}})
    assert "1 too few" in str(certify(few).explain())
