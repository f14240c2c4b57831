"""The widget in a live JupyterLab: it shows, a click changes `allocator.problem`, results follow.

JupyterLab is no dependency of anything here: that of this Python is taken, or of the one that
``MATCHPROB_JUPYTER`` names (``python -m venv J``, ``J/bin/pip install jupyterlab '.[page]'``,
``MATCHPROB_JUPYTER=J/bin/python``).
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.long

# Before its first answer a kernel loads and compiles.
expect.set_options(timeout=180_000)

ROOT = Path(__file__).resolve().parents[4]
TOKEN = "0123456789abcdef"
CELLS = (
    "import matchprob as mp\n"
    "net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)\n"
    'allocator = mp.Allocator(mp.Problem(net, {"W": [[1, 0], [0, 0]]}))\n'
    "allocator",
    "allocator.follow(mp.certify)",
    'print("found:", allocator.problem.allocation, allocator.certificate.verdict)',
    'allocator.problem = mp.Problem(net, {"W": [[1, 0], [0, 1]]})',
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab with one notebook."""
    python = os.environ.get("MATCHPROB_JUPYTER", sys.executable)
    has = subprocess.run([python, "-c", "import jupyterlab, anywidget"], capture_output=True)
    if has.returncode:
        pytest.skip(f"{python} has no jupyterlab: see {Path(__file__).name}")
    folder = tmp_path_factory.mktemp("lab")
    code = [
        {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "id": f"c{k}"}
        | {"execution_count": None}
        for k, text in enumerate(CELLS)
    ]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = {"cells": code, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    (folder / "net.ipynb").write_text(json.dumps(notebook))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    own = {name: str(folder / "own") for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")}
    server = subprocess.Popen(
        [python, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
         "--ip=127.0.0.1", f"--IdentityProvider.token={TOKEN}", "--LabApp.news_url=",
         "--ServerApp.open_browser=False", f"--ServerApp.root_dir={folder}"],
        cwd=folder,
        env={**os.environ, **own, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=(folder / "log").open("w"),
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + 180
        while True:
            try:
                urllib.request.urlopen(f"{address}/api/status?token={TOKEN}", timeout=5).close()
                break
            except OSError:
                ended = server.poll() is not None or time.monotonic() > end
                assert not ended, (folder / "log").read_text()[-3000:]
                time.sleep(0.5)
        yield f"{address}/lab/tree/net.ipynb?token={TOKEN}&reset"
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(20)


def run(page: Any, k: int) -> Any:
    """Run one cell, wait until it has finished, and return it."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(k)
    prompt = cell.locator(".jp-InputPrompt").first
    for _ in range(10):
        # Keys that are pressed before the kernel has started are lost.
        cell.locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(1000)
        if prompt.inner_text().strip() != "[ ]:":
            break
    expect(prompt).to_have_text(re.compile(r"\[\d+\]"))
    return cell


def test_a_notebook_hosts_the_page(browser: Any, lab: str, tmp_path: Path) -> None:
    """The widget is displayed; Python receives a click, and the widget Python's problem."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_default_timeout(180_000)
    page.goto(lab)
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
    widget = run(page, 0)
    verdict = widget.locator(".mp-verdict")
    expect(verdict).to_have_attribute("data-verdict", "minimal")
    followed = run(page, 1).locator(".jp-OutputArea")
    expect(followed).to_contain_text("minimal")
    widget.locator("[data-matrix=W] [data-k='1']").click()
    expect(verdict).to_have_attribute("data-verdict", "maximal")
    expect(followed).to_contain_text("maximal")
    found = run(page, 2).locator(".jp-OutputArea")
    expect(found).to_contain_text("found: W[0,0] W[0,1] maximal")
    run(page, 3)
    expect(verdict).to_have_attribute("data-verdict", "intermediate")
    chosen = widget.locator("[data-matrix=W] [data-k][aria-selected=true]")
    assert chosen.evaluate_all("all => all.map(e => e.dataset.k)") == ["0", "3"]
    # Keys pressed in the page do not reach the notebook's commands.
    widget.locator("[data-matrix=W] [data-k='0']").focus()
    page.keyboard.press("c")
    expect(widget.locator("[data-matrix=W] .mp-count")).to_have_text("3 learn")
    picture = Path(os.environ.get("MATCHPROB_ARTEFACTS", str(tmp_path))) / "jupyter.png"
    picture.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(picture))
    page.close()
    assert errors == []
