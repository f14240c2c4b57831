"""The process of the command: interrupts while loading, SIGTERM, output that cannot be written."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.matchprob.processes import ROOT, start, wait_until_it_listens

DIAGONAL = str(ROOT / "examples" / "diagonal.toml")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("wait", [0.0, 0.15, 0.6])
def test_interrupt_while_loading(number, wait):
    """After the entry point has started, an interrupt gives one line and status 3."""
    process = start("certify", DIAGONAL, stdout=subprocess.PIPE)
    wait_until_it_listens(process.pid)
    time.sleep(wait)
    process.send_signal(number)
    _, said = process.communicate(timeout=120)
    assert "Traceback" not in said
    assert process.returncode in (0, 3)
    assert process.returncode == 0 or said.startswith("matchprob: interrupted")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("certify", DIAGONAL), "intermediate"),
        (("inspect", DIAGONAL, "--json"), '"equations"'),
        pytest.param(
            ("estimate", DIAGONAL, "--trials", "8", "--json"), '"estimate"', marks=pytest.mark.long
        ),
        pytest.param(("estimate", DIAGONAL, "--trials", "8"), "MP ", marks=pytest.mark.long),
    ],
)
def test_the_result_goes_to_stderr_if_stdout_is_full(words, told):
    """Status 3, and the result is written to stderr instead."""
    with open("/dev/full", "w") as full:
        process = start(*words, stdout=full)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 3
    assert "Traceback" not in said
    assert "bug" not in said
    assert "No space left" in said
    assert told in said


def test_a_closed_pipe_is_no_error(tmp_path):
    """If the reader of stdout stops early, the status is 0 and files are written."""
    out = tmp_path / "c.json"
    process = start("certify", DIAGONAL, "--out", str(out), stdout=subprocess.PIPE)
    process.stdout.close()
    with process.stderr:
        said = process.stderr.read()
    assert process.wait(120) == 0, said
    assert out.exists()
