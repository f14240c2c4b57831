"""The verb that serves the page: serve."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Annotated

from algebra.errors import InputError
from algebra.time_limits import check_time
from matchprob.cli.options import Json, print_json, say
from matchprob.verbs import parameters as common
from matchprob.verbs.verb import LineArgument, LineOption

_PARTS = ("starlette", "uvicorn")


def serve(
    problem: Annotated[Path | None, LineArgument()] = None,
    store: Annotated[Path | None, LineOption(metavar="FILE")] = None,
    port: Annotated[int, LineOption(least=0, most=65535)] = 0,
    no_open: bool = False,
    seed: common.Seed = 0,
    as_json: Json = False,
) -> None:
    """Serve a page on which an allocation is painted and analysed at once.

    Parameters
    ----------
    problem : Path, optional
        Problem file (TOML); by default the papers' example net.
    store : Path, optional
        Keep trials in this file, and continue from those it contains.
    port : int, optional
        Port; 0 chooses a free one.
    no_open : bool, optional
        Print the address, open no browser.
    """
    absent = [name for name in _PARTS if importlib.util.find_spec(name) is None]
    if absent:
        from algebra.installing import missing

        raise InputError(missing("the page needs", " and ".join(absent), "page"))
    from matchprob.api.question import network_of
    from matchprob.io import files
    from matchprob.io.watch import hidden
    from matchprob.plugins.page.server import PageServer
    from matchprob.plugins.page.state import first_problem

    files.check_outputs([problem], store=store)
    if store is not None and store.exists():
        # A file that is not a store is refused now, not at the first trial.
        from numeric.studies.store import Store

        Store(store, create=True).close()
    question = first_problem() if problem is None else network_of(problem)
    name = "P.toml" if problem is None else problem.name
    server = PageServer(question, name=name, store=store, port=port, seed=seed)
    if as_json:
        print_json({"address": server.address, "folder": str(server.folder), "seed": seed})
    else:
        say(f"matchprob: the page is at {server.address}")
        say("matchprob: only this machine can open it; Ctrl-C closes it")
    if not no_open:
        _open(server.address)
    # Status lines are not for a server.
    with contextlib.suppress(KeyboardInterrupt), hidden():
        check_time()
        server.run()
    say("matchprob: the page is closed" + (f"; trials are kept in {store}" if store else ""))


def _open(address: str) -> None:
    """Open the address in a browser that has a window; report it if there is none."""
    import webbrowser

    # Without a display only text browsers are found, which would occupy the terminal.
    has_windows = sys.platform != "linux" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    if not (has_windows and webbrowser.open(address)):
        say("matchprob: no browser could be opened: open the address yourself")
