"""Problem files with constraints on the command line."""

import pytest

from tests.matchprob.calls import NETWORK, ROW, call

MINIMAL = NETWORK + "[learnable]\nW = [[1, 0], [0, 0]]\n"
RELU = '[network]\nkind = "relu"\nq = 2\nn = 2\nd = 1\nm = 2\n[learnable]\nW1 = "all"\n'


def test_estimates_under_a_bound(file, answer, printed, tmp_path):
    """A certified maximal row matches less often under a bound; a store keeps both apart."""
    free = file(ROW, "free.toml")
    bound = file(ROW + "[constraints]\nmax_abs = 1.0\n", "bound.toml")
    store = tmp_path / "s.sqlite"
    found = {}
    for path in (free, bound, bound):
        found[path] = answer("estimate", path, "--trials", 30, "--store", store)
    assert found[free]["estimate"] == 1
    assert 0 < found[bound]["matched"] < 30
    assert found[bound]["undetermined"] == 0
    counts = answer("count", bound, "--instances", 5)["instances"]
    assert {c["real"] for c in counts} <= {0, 1}
    assert {c["complex"] for c in counts} == {1}
    assert "max_abs 1" in printed("compare", free, bound, "--trials", 20)


@pytest.mark.parametrize(("text", "word"), [(ROW, "does not decide"), (MINIMAL, "minimal with")])
def test_certify_says_what_its_verdict_means_under_constraints(text, word, file, answer, tmp_path):
    """The note says what follows under constraints; the certificate verifies."""
    path, cert = file(text + '[constraints]\nsign = "keep"\n'), tmp_path / "c.json"
    data = answer("certify", path, "--out", cert)
    assert any(word in note for note in data["notes"])
    assert "constraints" not in data["problem"]
    assert call("verify", cert) == 0


@pytest.mark.parametrize(
    "rule",
    [
        "max_abs = -1.0",
        "max_abs = nan",
        "sign = { W = [[1, 0]] }",
        "sign = { W = [[0, 0], [1, 0]] }",
    ],
)
def test_wrong_constraints_end_with_status_2(rule, file, complaint):
    """A wrong bound or sign is one line on stderr, status 2."""
    error = complaint("estimate", file(f"{ROW}[constraints]\n{rule}\n"), "--trials", 3)
    assert len(error.strip().splitlines()) == 1
    assert "constraints" in error


def test_relu_networks_obey_constraints(file, answer, printed, capsys, tmp_path):
    """Each verb searches matches in the box; the evidence says so and verifies."""
    path = file(RELU + "[constraints]\nmax_abs = 0.25\n")
    free = file(RELU, "free.toml")
    matched = {}
    for name in (path, free):
        matched[name] = answer("estimate", name, "--trials", 30)["matched"]
    assert matched[path] < matched[free]
    assert call("count", path, "--instances", 3, "--json") == 0
    capsys.readouterr()
    verdicts = set()
    for index in range(12):
        proof = tmp_path / f"{index}.json"
        verdicts.add(answer("decide", path, "--index", index, "--out", proof)["verdict"])
        out = printed("verify", proof)
        assert "6 of 6" not in out
        assert "4 of 4 weights bounded" in " ".join(out.split())
    assert verdicts == {"match", "no match"}
