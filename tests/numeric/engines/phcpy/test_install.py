"""The search for phcpy."""

import contextlib

import pytest

from numeric.engines.phcpy.install import INSTALL, find_phcpy, start_worker
from tests.refusals import refuses


def test_the_installed_phcpy_is_found(installation):
    """The system's phcpy is found with its version; the search is done once."""
    assert installation.version[0].isdigit()
    assert "PHC" in installation.phcpack
    assert find_phcpy() is find_phcpy()


def test_the_environment_variable_names_the_interpreter(monkeypatch, fake_phcpy):
    """The Python of `MATCHPROB_PHCPY_PYTHON` is used."""
    interpreter = fake_phcpy("new")
    monkeypatch.setenv("MATCHPROB_PHCPY_PYTHON", interpreter)
    found = find_phcpy()
    assert (found.interpreter, found.version) == (interpreter, "1.1.5")
    assert found.phcpack == "PHCv2.4.90 released 2023-11-17"


@pytest.mark.parametrize("text", ["exit 4", "echo hello", "sleep 0.1"])
def test_a_named_interpreter_without_phcpy_is_refused(monkeypatch, fake_python, text):
    """If the named Python has no phcpy the error names it and the command that installs phcpy."""
    interpreter = fake_python(text).interpreter
    monkeypatch.setenv("MATCHPROB_PHCPY_PYTHON", interpreter)
    message = str(refuses("", find_phcpy))
    assert interpreter in message
    assert INSTALL in message


def test_phcpy_is_missing(monkeypatch, fake_python):
    """If no Python has phcpy, the error names those tried and the command that installs it."""
    nowhere = fake_python("exit 1").interpreter
    monkeypatch.delenv("MATCHPROB_PHCPY_PYTHON", raising=False)
    monkeypatch.setattr("numeric.engines.phcpy.install.shutil.which", lambda *_, **__: nowhere)
    monkeypatch.setattr("numeric.engines.phcpy.install.sys.executable", nowhere)
    monkeypatch.setenv("PATH", "/made/for/this/test")
    message = str(refuses("", find_phcpy))
    assert message.startswith(f"phcpy is missing: none of {nowhere} can import it")
    assert INSTALL in message


def test_phcpy_is_found_on_the_path(monkeypatch, fake_phcpy, fake_python):
    """Candidates are tried in turn until one can import phcpy."""
    bad, good = fake_python("exit 1").interpreter, fake_phcpy("old")
    monkeypatch.delenv("MATCHPROB_PHCPY_PYTHON", raising=False)
    monkeypatch.setattr(
        "numeric.engines.phcpy.install.shutil.which",
        lambda name, path: good if path == "/made/for/this" else bad,
    )
    monkeypatch.setenv("PATH", "/made/for/this")
    assert find_phcpy().interpreter == good


def test_python_settings_are_not_inherited(fake_python, monkeypatch):
    """The settings of this Python do not apply to the other Python."""
    monkeypatch.setenv("PYTHONPATH", "/ours")
    monkeypatch.setenv("PYTHONHOME", "/ours")
    python = fake_python(
        """echo "{\\"path\\": \\"$PYTHONPATH$PYTHONHOME\\", \\"omp\\": $OMP_NUM_THREADS}" """
    )
    with contextlib.closing(start_worker(python.interpreter)) as one:
        assert one.receive(10) == {"path": "", "omp": 1}
