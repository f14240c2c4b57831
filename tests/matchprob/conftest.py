"""The command line is put together once for all the tests that call it in their own process.

A process does so once in its life; a test that calls `app` a hundred times would a hundred times,
for 35 ms each.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
import typer.main

from matchprob.verbs.verb import VERBS


@pytest.fixture(scope="session", autouse=True)
def one_command_line() -> Iterator[None]:
    """The commands that were first made of an application and the verbs there are."""
    make = typer.main.get_command
    made = cache(lambda app, verbs: make(app))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", lambda app: made(app, tuple(VERBS.values())))
        yield
