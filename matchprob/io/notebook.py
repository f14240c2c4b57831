"""A progress bar in a notebook, without widgets: a line of HTML that is updated."""

from __future__ import annotations

import html
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Seconds between two updates.
_EVERY = 0.2


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    module = sys.modules.get("IPython")
    shell: Any = module.get_ipython() if module is not None else None
    return getattr(shell, "kernel", None) is not None


@contextmanager
def notebook_bar(
    what: str, share: Callable[[], float | None], text: Callable[[], str]
) -> Iterator[Callable[[], None]]:
    """Show a bar while a block runs; yields a function that updates it.

    Parameters
    ----------
    what : str
    share : callable
        Share of the work that is done, 0 to 1; None if it is not known.
    text : callable
        The progress as text.
    """
    display = importlib.import_module("IPython.display")
    began = drawn = time.monotonic()

    def page(end: str = "") -> Any:
        done = share()
        value = "" if done is None else f" value='{done:.4f}'"
        words = html.escape(": ".join(part for part in (what, text()) if part) + end)
        return display.HTML(f"<progress max='1'{value}></progress> {words}")

    handle = display.display(page(), display_id=True)

    def draw() -> None:
        nonlocal drawn
        now = time.monotonic()
        if now - drawn >= _EVERY:
            drawn = now
            handle.update(page())

    end = "interrupted"
    try:
        yield draw
        end = "done"
    finally:
        handle.update(page(f" ({end} after {time.monotonic() - began:.0f} s)"))
