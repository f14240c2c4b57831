"""The command line is built once for all tests that call it in their own process.

A user's process builds it once.  Without this fixture a test that calls `app` a hundred times
would build it a hundred times, in 35 ms each.
"""

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
import typer.main

from matchprob.verbs.verb import VERBS
from tests.matchprob.calls import call


@pytest.fixture(scope="session", autouse=True)
def one_command_line() -> Iterator[None]:
    """Cache the commands made from an application and the registered verbs."""
    make = typer.main.get_command
    made = cache(lambda app, verbs: make(app))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", lambda app: made(app, tuple(VERBS.values())))
        yield


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """A function that runs a command, which must end with a status, and returns its stdout."""

    def run(*words: object, status: int = 0) -> str:
        assert call(*words) == status
        return capsys.readouterr().out

    return run


@pytest.fixture
def complaint(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """A function that runs a command, which must end with a status, and returns its stderr.

    If the command is refused, with status 2, its stdout must be empty.
    """

    def run(*words: object, status: int = 2) -> str:
        capsys.readouterr()
        assert call(*words) == status
        captured = capsys.readouterr()
        assert status != 2 or captured.out == ""
        return captured.err

    return run


@pytest.fixture
def answer(printed: Callable[..., str]) -> Callable[..., Any]:
    """A function that runs a command with ``--json`` and returns the object that it prints."""
    return lambda *words, status=0: json.loads(printed(*words, "--json", status=status))
