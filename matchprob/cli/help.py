"""Help that is made from registries when it is printed, since loading them takes time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand


def _engines() -> str:
    from numeric.engines.base import help_text

    return help_text()


# Placeholders in an option's help, and functions that make their texts.
_TEXTS: dict[str, Callable[[], str]] = {"{engines}": _engines}


class LazyHelp(TyperCommand):
    """A command that fills in ``{engines}`` and the like when its help is printed."""

    def get_help(self, ctx: Any) -> str:
        """The help text, complete."""
        for parameter in self.params:
            text = getattr(parameter, "help", None)
            for mark, make in _TEXTS.items():
                if text and mark in text:
                    text = parameter.help = text.replace(mark, make())  # type: ignore[attr-defined]
        return super().get_help(ctx)
