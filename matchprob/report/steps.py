"""Steps of an explanation as command lines."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from algebra.documents import Explanation, Step
from algebra.networks.base import Network


def commands(
    why: Explanation, file: str, own: Mapping[str, Mapping[str, Any]] | None = None
) -> list[tuple[str, str]]:
    """The command line and the purpose of each step.

    Parameters
    ----------
    why : Explanation
    file : str
        The files on the command line, quoted for a shell.
    own : mapping of str to mapping, optional
        Options of the call by verb, which steps repeat. A step that only repeats them is omitted.

    Examples
    --------
    >>> from algebra.documents import step
    >>> commands(Explanation(steps=(step("certify", "more time", timeout=600.0),)), "net.toml")
    [('matchprob certify net.toml --timeout 600', 'more time')]
    """
    out = []
    for one in why.steps:
        given = (own or {}).get(one.verb, {})
        options = _resolved(one)
        if options is None or (options and options.items() <= given.items()):
            continue
        out.append((_line(one, file, {**given, **options}), one.purpose))
    return out


def lines(
    why: Explanation, file: str, own: Mapping[str, Mapping[str, Any]] | None = None
) -> list[str]:
    """Its sentences and commands, in order: the field ``explanation`` of ``--json``."""
    tries = [f"Try: {command}   ({purpose})" for command, purpose in commands(why, file, own)]
    return [*why.sentences(), *tries]


def _resolved(one: Step) -> dict[str, Any] | None:
    """The options, with the name of an engine; None if there is no such engine."""
    options = dict(one.options)
    for name, value in one.options.items():
        if isinstance(value, str | int | float | tuple):
            continue
        # Loaded here: commands of exact verbs start without numerical libraries.
        from numeric.count_result import AnotherEngine

        if isinstance(value, AnotherEngine):
            options[name] = _complete_engine(value.network, value.used)
            if not options[name]:
                return None
    return options


def _complete_engine(network: Network, used: str) -> str:
    """Another engine that counts completely; "" if there is none."""
    from numeric.engines.base import engine_info, engines_for

    known = [name for name in engines_for(network) if engine_info(name).complete]
    return next((name for name in known if name != used), "")


def _line(one: Step, file: str, options: Mapping[str, Any]) -> str:
    words = ["matchprob", one.verb, shlex.quote(one.subject) if one.subject else file]
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        for entry in value if isinstance(value, tuple) else (value,):
            words.append(option)
            if entry is not True:
                text = f"{entry:g}" if isinstance(entry, float) else str(entry)
                words.append(shlex.quote(text))
    text = " ".join(words)
    return f"{text} && {_line(one.then, file, one.then.options)}" if one.then else text
