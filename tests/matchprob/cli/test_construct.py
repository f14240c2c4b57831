"""The verbs on normalization networks."""

import pytest

import matchprob as mp
from algebra.ranks.jacobian import random_point, tangent_factors
from tests.matchprob.calls import call
from tests.refusals import refuses

TEXT = """
[network]
kind = "normnet"
widths = [2, 2]
hidden = [3]
m = 3
activation = "{}"

[learnable]
g1 = "all"
g2 = "all"
b2 = "all"
"""


@pytest.fixture(params=["linear", "relu"])
def path(request, tmp_path):
    """A problem file of either kind."""
    file = tmp_path / "net.toml"
    file.write_text(TEXT.format(request.param))
    return file


def test_inspect(path, printed, answer):
    """The report names the system of Lemma 1; --equations writes it out."""
    out = printed("inspect", path, "--equations")
    assert "(W2 ⊙ W1ᵀ) vecd(G1) = vec(T1): 4 equations in 3 scales" in " ".join(out.split())
    assert "-T1_0_0 + W1_0_0*W2_0_0*[g1_0]" in out
    assert "No row, column" not in out
    assert answer("inspect", path)["learnable"] == 7


def test_certify_and_verify(path, tmp_path, answer):
    """Certificates are written and verified."""
    out = tmp_path / "cert.json"
    verdict = answer("certify", path, "--out", out)["verdict"]
    assert verdict == ("maximal" if "linear" in path.read_text() else "undecided")
    assert answer("verify", out)["holds"]


def test_count_estimate_compare(path, tmp_path, answer, capsys, file):
    """Instances are counted, and allocations compared on common ones, through a store."""
    assert len(answer("count", path, "--instances", 3)["instances"]) == 3
    store = tmp_path / "s.sqlite"
    found = answer("estimate", path, "--trials", 6, "--store", store)
    assert found["undetermined"] == 0
    assert answer("estimate", path, "--trials", 6, "--store", store) == found
    other = file(path.read_text().replace('b2 = "all"', "b2 = [[0], [0]]"), "other.toml")
    assert call("compare", path, other, "--trials", 4, "--json") == 0
    capsys.readouterr()


def test_audit_atlas_and_design_refuse_normalization_networks(path, complaint):
    """The message says that the verb is not defined for them."""
    for words in (["audit", path], ["atlas", path, "--budget", 3], ["design", path]):
        assert f"{words[0]} does not support normalization-layer" in complaint(*words)
    net = mp.NormNet.square(2, 1, 3, 3)
    linear = mp.LinearEstimator(2, 2, 3)
    refuses(
        "for each activation pattern", tangent_factors, net, random_point(linear, 1_073_741_827, 0)
    )


def test_the_python_functions_accept_normalization_networks():
    """The functions of the verbs give results for these networks too."""
    net = mp.NormNet.square(d=2, depth=1, width=4, m=3)
    problem = mp.Problem(net, {"g1": "all", "b1": "all", "b2": "all"})
    assert mp.certify(problem).verdict == "maximal"
    assert mp.estimate(problem, 5).estimate == 1
    assert "needs width 4" in str(mp.inspect(problem))


def test_a_problem_file_is_no_target(path, complaint):
    """The message says which file is expected."""
    assert "a network is expected, an .npz file with W1" in complaint("construct", path)
