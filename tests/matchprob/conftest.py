"""The command line is built once for all tests that call it in their own process.

A user's process builds it once.  Without this fixture a test that calls `app` a hundred times
would build it a hundred times, in 35 ms each.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
import typer.main

from matchprob.verbs.verb import VERBS


@pytest.fixture(scope="session", autouse=True)
def one_command_line() -> Iterator[None]:
    """Cache the commands made from an application and the registered verbs."""
    make = typer.main.get_command
    made = cache(lambda app, verbs: make(app))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", lambda app: made(app, tuple(VERBS.values())))
        yield
