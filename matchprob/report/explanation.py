"""The explanation of a result, below its numbers."""

from __future__ import annotations

import textwrap

from algebra.results import Explanation
from matchprob.io.page import Page


def print_explanation(out: Page, why: Explanation) -> None:
    """What is known, what is open, what would decide it, what to try."""
    out.print()
    for text in why.known:
        _wrapped(out, "", text)
    _wrapped(out, "Open: ", why.open)
    _wrapped(out, "Decided by: ", why.decided_by)
    for command, purpose in why.commands:
        _wrapped(out, "Try: ", f"{command}   ({purpose})")


def _wrapped(out: Page, label: str, text: str) -> None:
    """A paragraph, its further lines indented."""
    if not text:
        return
    start = "  " + " " * (len(text) - len(text.lstrip()))
    lines = textwrap.wrap(
        label + out.worded(text.strip()), max(40, out.width - 1), initial_indent=start,
        subsequent_indent=start + " " * len(label), break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    out.print("\n".join(lines), markup=False, soft_wrap=True)
