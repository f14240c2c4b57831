"""Model files as tests of pytest."""

import shutil
import subprocess
import sys
from contextlib import suppress
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


def test_a_failed_assertion_is_short(tmp_path):
    """The line of the test and those of the parameters: no source of ours, no trace of torch."""
    (tmp_path / "models").mkdir()
    made = [
        "import matchprob as mp",
        "def test_a_file():",
        f"    mp.assert_trainable({str(BLOCK)!r})",
    ]
    count = 1
    with suppress(ImportError):
        import torch  # noqa: F401

        made += ["def test_a_module():", "    import torch", "    net = torch.nn.Linear(2, 2)"]
        made += ["    net.unused = torch.nn.Linear(2, 2)"]
        made += ["    mp.assert_trainable(net, torch.zeros(1, 2))"]
        count = 2
    (tmp_path / "models" / "test_it.py").write_text("\n".join(made))
    text, status = pytest_of(tmp_path, ["models/*.onnx: norms"])
    assert (status, f"{count} failed, 1 passed" in text) == (1, True), text
    assert "k.bias: 8 without effect anywhere" in text
    assert "Captured" not in text
    assert len(text.splitlines()) < 25 * count


def test_a_line_without_parameters_is_refused(tmp_path):
    """What learns has to be said; a line that names no file is no test, and warns."""
    text, status = pytest_of(tmp_path, ["models/*.onnx"])
    assert (status, "must be a pattern of files" in text, "Error" in text) == (4, True, False), text
    text, status = pytest_of(tmp_path, ["other/*.onnx: norms"])
    assert (status, "passed" in text or "failed" in text) == (5, False), text
    assert f"no file in {tmp_path} has the pattern 'other/*.onnx'" in " ".join(text.split())
