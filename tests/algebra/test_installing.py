"""Commands that install optional parts."""

import ast
import importlib.metadata
import json
import shlex
import tomllib
from pathlib import Path

import pytest

from algebra import installing

ROOT = Path(__file__).resolve().parents[2]


class Installed:
    """The metadata of an installation, of which one file counts."""

    def __init__(self, origin):
        self.origin = origin

    def read_text(self, name):
        return self.origin if name == "direct_url.json" else None


def installed(monkeypatch, origin):
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: Installed(origin))


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        (None, ["matchprob[onnx]"]),
        ('{"url": "https://example.org/matchprob.whl", "archive_info": {}}', ["matchprob[onnx]"]),
        ("no JSON", ["matchprob[onnx]"]),
        ("[]", ["matchprob[onnx]"]),
        ({"editable": True}, ["-e", "{}[onnx]"]),
        ({}, ["{}[onnx]"]),
    ],
)
def test_the_command_follows_the_installation(monkeypatch, tmp_path, origin, words):
    """A release is named; a folder is named by its path, which may have blanks, as it was given."""
    folder = tmp_path / "my nets"
    if isinstance(origin, dict):
        origin = json.dumps({"url": folder.as_uri(), "dir_info": origin})
    installed(monkeypatch, origin)
    command = shlex.split(installing.command("onnx"))
    assert command == ["python", "-m", "pip", "install", *(w.format(folder) for w in words)]


def test_inside_the_checkout_its_path_is_a_dot(monkeypatch, tmp_path):
    """The command is the one of the README if it is run in the checkout."""
    origin = json.dumps({"url": tmp_path.as_uri(), "dir_info": {}})
    installed(monkeypatch, origin)
    monkeypatch.chdir(tmp_path)
    assert installing.command("page") == "python -m pip install '.[page]'"
    assert "'.[onnx,page]'" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_sources_that_are_not_installed(monkeypatch):
    """Sources on the path are a checkout."""

    def absent(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", absent)
    assert installing.checkout() == (ROOT, True)


def test_messages_name_parts_that_exist():
    """Each optional part named in a message is one of the project's, and each has one."""
    parts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    parts = parts["project"]["optional-dependencies"]
    named = set()
    for folder in ("algebra", "numeric", "matchprob", "examples"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if "algebra.installing import missing" not in text:
                continue
            for call in ast.walk(ast.parse(text)):
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "missing":
                    named |= {extra.value for extra in call.args[2:]}
    # The extra for msolve has its dependencies, which the command of `MSOLVE` leaves out.
    assert named == {*parts} - {"msolve"}
