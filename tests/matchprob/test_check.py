"""`python -m matchprob.check`, with nothing but python-flint, and perhaps NumPy, to import."""

import json
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import matchprob as mp
from algebra.errors import printable

TOP = Path(__file__).parents[2]
PROOFS = TOP / "tests/data/certificates"


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A function that runs the checker without other packages: status, lines and messages."""
    folders = {}
    for names in (("flint",), ("flint", "numpy")):
        folders[names] = folder = tmp_path_factory.mktemp("packages")
        for name in names:
            found = Path(find_spec(name).origin).parent
            # With the compiled libraries beside a package.
            for own in (found, *found.parent.glob(f"*{name}.libs")):
                (folder / own.name).symlink_to(own)

    def run(*words, packages=("flint", "numpy")):
        folder = folders[packages]
        start = "import runpy, sys; sys.path[:0] = sys.argv[1:3]; del sys.argv[1:3]; "
        start += "runpy.run_module('matchprob.check', run_name='__main__', alter_sys=True)"
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", start, str(TOP), str(folder), *map(str, words)],
            capture_output=True,
            text=True,
            env={"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1"},
            check=False,
        )
        return done.returncode, [line.split("\t") for line in done.stdout.splitlines()], done.stderr

    return run


@pytest.mark.parametrize(
    ("name", "packages"),
    [
        ("missed", ("flint",)),
        ("discrete", ("flint",)),
        *((n, ("flint", "numpy")) for n in ("diagonal", "missed", "lowered", "part", "vanishing")),
    ],
)
def test_the_verdict_and_the_lines_are_those_of_verify(bare, name, packages):
    """Every check is printed with its status; what follows by linear algebra needs no NumPy."""
    path = PROOFS / f"{name}.json"
    status, (*lines, [last]), errors = bare(path, "--seed", 5, packages=packages)
    found = mp.verify(path, seed=5)
    assert lines == [[c.status, c.place, printable(c.text)] for c in found.checks]
    assert (status, last, errors) == (0, f"{found.verdict}: holds", "")


LAYERS = mp.LinearFeedForward(q=2, widths=(1,), d=2, m=1)
RNN = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
DIAGONAL = mp.Problem(RNN, {"W": [[1, 0], [0, 1]]})
# A proof file of each other format, and one whose check multiplies sparse matrices.
OTHERS = {
    "low rank": lambda: mp.certify(
        mp.Problem(mp.LinearEstimator(q=3, d=2, m=2), {"W": {"lora": 1}})
    ).to_dict(),
    "design": lambda: mp.design(RNN, goal="cheapest", matrices=["W"]).proof(),
    "recording": lambda: mp.record(DIAGONAL, "entries").proof_file(),
    "dimension": lambda: mp.dimension(
        mp.LinearFeedForward(q=2, widths=(1,), d=2, m=1)
    ).proof_file(),
    "ReLU": lambda: mp.decide(
        mp.Problem(mp.ShallowReLU(q=2, n=2, d=1, m=2), {"W1": [[1, 1], [0, 0]]})
    ).certificate(),
    "tanh": lambda: mp.decide(
        mp.Problem(mp.FeedForward(1, (1,), 1, 1, activation="tanh"), {"W1": [[1]]})
    ).certificate(),
}


@pytest.mark.parametrize("name", OTHERS)
def test_each_kind_of_proof_file_holds(bare, name, tmp_path):
    """Files of every format are checked with python-flint and NumPy alone."""
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(OTHERS[name]()), encoding="utf-8")
    status, lines, errors = bare(path)
    assert (status, errors) == (0, "")
    assert lines[-1][0].endswith(": holds")


@pytest.mark.parametrize(
    ("name", "packages", "missing"),
    [("silent", ("flint", "numpy"), "scipy"), ("diagonal", ("flint",), "numpy")],
)
def test_what_is_missing_decides_nothing(bare, name, packages, missing):
    """A statement that needs SciPy or NumPy is unfinished, with its name."""
    status, lines, errors = bare(PROOFS / f"{name}.json", packages=packages)
    text = f"this check needs {missing}, which is not installed"
    assert lines[0] == ["unfinished", "limits", text]
    assert (status, errors) == (3, "")


def test_forged_files_and_other_files_are_refused(bare, tmp_path):
    """A false verdict fails at its place; what is no proof has status 2 and one line."""
    data = json.loads((PROOFS / "missed.json").read_text(encoding="utf-8"))
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps({**data, "verdict": "maximal"}), encoding="utf-8")
    status, lines, _ = bare(forged)
    assert (status, lines[-1]) == (3, ["maximal: does not hold"])
    assert [line[1] for line in lines if line[0] == "failed"] == ["verdict"]
    forged.write_text(json.dumps({**data, "format": "\x1b[2J"}), encoding="utf-8")
    for words in ((forged,), (tmp_path / "none.json",)):
        status, lines, errors = bare(*words)
        assert (status, lines) == (2, [])
        assert errors.count("\n") == 1
        assert "\x1b" not in errors
    assert bare(forged, "--seed", "-1")[0] == 2


def test_an_interrupt_is_one_line(tmp_path):
    """A check that is interrupted while it waits for its file ends with one line and status 3."""
    pipe = tmp_path / "proof.json"
    os.mkfifo(pipe)
    words = [sys.executable, "-m", "matchprob.check", str(pipe)]
    # The pipe opens when the check has begun to read.
    with (
        subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=TOP) as check,
        pipe.open("w"),
    ):
        check.send_signal(signal.SIGINT)
        assert check.communicate()[1] == "matchprob: interrupted; nothing was kept\n"
    assert check.returncode == 3
