"""The verb serve: it prints its address, an interrupt ends it, bad input gives one line."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request

import pytest

from matchprob.cli import app, run_command
from matchprob.cli.serve import _open
from tests.matchprob.processes import start

pytest.importorskip("uvicorn")


def test_the_page_is_served_until_an_interrupt(tmp_path):
    """One JSON object contains the address of the page; Ctrl-C ends the server with status 0."""
    started = subprocess.Popen(
        [sys.executable, "-m", "matchprob", "serve", "--no-open", "--json", "--store", "s.sqlite"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )
    try:
        found = json.loads(started.stdout.readline())
        assert found["seed"] == 0
        with urllib.request.urlopen(found["address"], timeout=30) as page:
            assert b"matchprob" in page.read()
        started.send_signal(signal.SIGINT)
        _, words = started.communicate(timeout=60)
        assert started.returncode == 0
        assert "Traceback" not in words
        assert "the page is closed" in words
    finally:
        started.kill()


def _post(address, message):
    """A message of a tab, as the page sends it."""
    origin = address.rsplit("/", 2)[0]
    request = urllib.request.Request(
        f"{address}message?tab=abcdefgh",
        json.dumps(message).encode(),
        {"Origin": origin, "Content-Type": "application/json"},
    )
    return urllib.request.urlopen(request, timeout=300)


def test_an_interrupt_ends_the_server_during_long_messages(tmp_path):
    """Messages that take minutes delay neither the page nor the end of the server."""
    started = start("serve", "--no-open", "--json", cwd=tmp_path, stdout=subprocess.PIPE)
    try:
        address = json.loads(started.stdout.readline())["address"]
        network = {"kind": "rnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2}
        network["activation"] = {"polynomial": ["0", "1e200000000"]}
        for message in (
            {"verb": "look", "state": {"network": network}},
            {"verb": "parse", "text": "x = [\n" * 3000 + "]\n" * 900_000},
        ):
            asked = threading.Thread(target=_ignored, args=[address, message], daemon=True)
            asked.start()
        with urllib.request.urlopen(address, timeout=300) as page:
            assert b"matchprob" in page.read()
        started.send_signal(signal.SIGINT)
        _, words = started.communicate(timeout=300)
        assert started.returncode == 0
        assert "Traceback" not in words
    finally:
        started.kill()


def _ignored(address, message):
    with contextlib.suppress(OSError, http.client.HTTPException):
        _post(address, message)


def test_wrong_input_is_one_line(capsys, tmp_path):
    """An invalid file and a port in use give one line."""
    assert (
        run_command(lambda: app(["serve", str(tmp_path / "no.toml")], standalone_mode=False)) == 2
    )
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        arguments = ["serve", "--no-open", "--port", port]
        assert run_command(lambda: app(arguments, standalone_mode=False)) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 2
    assert "0 takes a free one" in lines[1]


def test_without_a_display_no_browser_is_started(monkeypatch, capsys):
    """No text browser is started in the terminal; the address is printed."""
    tried = []
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("webbrowser.open", lambda address: tried.append(address) or True)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    _open("http://127.0.0.1:1/x/")
    assert tried == []
    assert "open the address yourself" in capsys.readouterr().err
    monkeypatch.setenv("DISPLAY", ":0")
    _open("http://127.0.0.1:1/x/")
    assert tried == ["http://127.0.0.1:1/x/"]
    assert capsys.readouterr().err == ""
