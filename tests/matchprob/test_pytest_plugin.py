"""Model files as tests of pytest."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnx")
BLOCK = Path(__file__).parents[2] / "examples" / "data" / "block.onnx"


def pytest_of(folder, lines):
    """What pytest prints in a folder with a model, and its status."""
    (folder / "models").mkdir(exist_ok=True)
    shutil.copy(BLOCK, folder / "models")
    (folder / "pytest.ini").write_text(
        "[pytest]\ntrainable =\n" + "".join(f"  {x}\n" for x in lines)
    )
    words = [sys.executable, "-m", "pytest", "-q", "-p", "matchprob.pytest_plugin", "models"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr, done.returncode


def test_each_line_is_a_test(tmp_path):
    """Norms learn; of the biases those of the keys have no effect, in one line and no traceback."""
    text, status = pytest_of(tmp_path, ["models/*.onnx: norms", "models/b*: *.bias, head.*"])
    assert status == 1
    assert "1 failed, 1 passed" in text
    assert "k.bias: 8 without effect anywhere (a shift of the input of a softmax" in text
    assert "Traceback" not in text


def test_a_line_without_parameters_is_refused(tmp_path):
    """What learns has to be said; a line that names no file is no test, and warns."""
    text, status = pytest_of(tmp_path, ["models/*.onnx"])
    assert (status, "must be a pattern of files" in text, "Error" in text) == (4, True, False), text
    text, status = pytest_of(tmp_path, ["other/*.onnx: norms"])
    assert (status, "passed" in text or "failed" in text) == (5, False), text
    assert f"no file in {tmp_path} has the pattern 'other/*.onnx'" in " ".join(text.split())
