"""The worker script, run as by the parent, with replacements for both versions of phcpy."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from numeric.engines.phcpy import install

WORKER = Path(install.__file__).with_name("worker.py")


def converse(interpreter, *requests):
    """The messages of a worker, the greeting and one for each request, and the ended process."""
    lines = "".join(
        json.dumps({"id": k, "precision": "d", "seed": 5, "newton": 1, **request}) + "\n"
        for k, request in enumerate(requests)
    )
    done = subprocess.run(
        [interpreter, str(WORKER)], input=lines, capture_output=True, text=True, timeout=60
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done


def solve(exponent):
    return {"operation": "solve", "polynomials": [f"x0^{exponent}-1;"]}


@pytest.mark.parametrize(("generation", "api"), [("old", "verbose"), ("new", "vrblvl")])
def test_worker_solves_with_both_versions(fake_phcpy, generation, api):
    """Both versions are recognised, called verbosely, and return solution strings."""
    (hello, answer), done = converse(fake_phcpy(generation), solve(2))
    assert hello["ready"] is True
    assert hello["api"] == api
    assert len(answer["solutions"]) == 1
    assert "x0 :" in answer["solutions"][0]
    assert answer["seconds"] >= 0
    assert answer["memory"] > 1000
    assert done.returncode == 0


@pytest.mark.parametrize("generation", ["old", "new"])
def test_output_of_phcpy_is_suppressed(fake_phcpy, generation):
    """Text that phcpy prints, from Python or C, on import or in a call, is not on stdout."""
    answers, done = converse(fake_phcpy(generation), solve(2), solve(2))
    assert [answer.get("id") for answer in answers] == [None, 0, 1]
    assert "chatter" not in done.stdout
    assert "works!" not in done.stdout


def test_phcpy_cannot_read_requests(fake_phcpy):
    """A phcpy that reads standard input finds it empty: no request is lost."""
    answers, _ = converse(fake_phcpy("old"), solve(13), solve(2))
    assert len(answers) == 3
    assert all("solutions" in answer for answer in answers[1:])


@pytest.mark.parametrize("generation", ["old", "new"])
def test_worker_tracks_with_both_versions(fake_phcpy, generation):
    """The trackers' different names and return values give the same result."""
    start = "t : 0.0 0.0\nm : 1\nthe solution for t :\n x0 : 1.0 0.0\n== err : 0 ="
    request = {
        "operation": "track",
        "target": ["x0^2-2;"],
        "start": ["x0^2-1;"],
        "solutions": [start],
        "gamma": [0.6, 0.8],
    }
    answers, _ = converse(fake_phcpy(generation), request)
    assert answers[1]["solutions"] == [start]


@pytest.mark.parametrize("generation", ["old", "new"])
def test_worker_sets_the_seed(fake_phcpy, generation):
    """The seed is set before each call."""
    request = {**solve(14), "seed": 11}
    answers, _ = converse(fake_phcpy(generation), solve(14), request)
    assert "5.0000" in answers[1]["solutions"][0]
    assert "1.1000" in answers[2]["solutions"][0]


def test_worker_reports_errors(fake_phcpy):
    """An exception or a refusal inside phcpy is reported, and the worker continues."""
    answers, _ = converse(fake_phcpy("old"), solve(9), solve(11), solve(2))
    assert answers[1]["error"] == "ValueError: no such thing"
    assert "did not accept" in answers[2]["error"]
    assert len(answers[3]["solutions"]) == 1


def test_worker_without_phcpy(fake_phcpy):
    """A Python that cannot import phcpy reports the reason in its greeting and ends."""
    interpreter = fake_phcpy("old")
    package = Path(interpreter).parent / "old" / "phcpy"
    (package / "solver.py").write_text("raise ImportError('libgnat-12.so is missing')\n")
    answers, done = converse(interpreter, solve(2))
    assert answers == [{"ready": False, "error": "ImportError: libgnat-12.so is missing"}]
    assert done.returncode == 0


def test_starred_fields_are_not_refined(fake_phcpy):
    """A solution with overflowing fields is returned unchanged: phcpy cannot read it back."""
    starred = "t : 0.0 0.0\nm : 1\nthe solution for t :\n x0 : NaN**** NaN****\n== err :"
    request = {
        "operation": "track",
        "target": ["x0;"],
        "start": ["x0-1;"],
        "solutions": [starred],
        "gamma": [0.6, 0.8],
    }
    answers, _ = converse(fake_phcpy("old"), request)
    assert answers[1]["solutions"] == [starred]


def test_worker_ends_when_its_control_pipe_is_closed(fake_phcpy):
    """A worker inside a long call ends as soon as the other end of its control pipe is closed."""
    read_end, write_end = os.pipe()
    with subprocess.Popen(
        [fake_phcpy("old"), str(WORKER), str(read_end)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=[read_end],
    ) as process:
        os.close(read_end)
        assert b"ready" in process.stdout.readline()
        request = {"id": 1, "precision": "d", "seed": 5, "newton": 0, **solve(8)}
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        os.close(write_end)
        assert process.wait(10) != 0


def test_worker_imports_the_standard_library_and_phcpy_only():
    """It has no other imports, and its syntax is that of Python 3.7."""
    tree = ast.parse(WORKER.read_text(), feature_version=(3, 7))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module.split(".")[0])
    assert imported - {"phcpy"} <= set(sys.stdlib_module_names)
