"""Steps of an explanation as command lines."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
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
        Options of the call by verb, which steps repeat, but for limits of time, files and
        pictures. A step that asks for no more than the call is omitted; of one that writes the file
        that the call wrote only what follows remains.

    Examples
    --------
    >>> from algebra.documents import step
    >>> commands(Explanation(steps=(step("certify", "more time", timeout=600.0),)), "net.toml")
    [('matchprob certify net.toml --timeout 600', 'more time')]
    """
    out: dict[str, str] = {}
    for one in why.steps:
        given = (own or {}).get(one.verb, {})
        options = _resolved(one)
        if options is None:
            continue
        done = {name for name, value in options.items() if _is_done(name, value, given)}
        if options and done == options.keys():
            if one.then is None:
                continue
            # The file that was written, by its name.
            written = str(given.get("write") or given.get("out"))
            if written.endswith((".toml", ".json")):
                line = _line(replace(one.then, subject=written), file, one.then.options)
                out.setdefault(line, one.purpose)
                continue
        repeated = {name: value for name, value in given.items() if name not in _ONCE}
        out.setdefault(_line(one, file, {**repeated, **options}), one.purpose)
    return list(out.items())


# Options of a call that its steps do not repeat: limits of time, files that are written.
_ONCE = ("timeout", "seconds", "search", "write", "out", "proof", "csv", "plot", "export")
_FILES = _ONCE[3:]


def _is_done(name: str, value: Any, given: Mapping[str, Any]) -> bool:
    """Whether a call had an option of a step: a file, the same value, or a larger number."""
    if name not in given:
        return False
    own = given[name]
    if isinstance(value, int | float) and isinstance(own, int | float):
        # Another seed is another question.
        return own == value if name in ("seed", "index") else own >= value
    listed = [tuple(map(str, x)) if isinstance(x, tuple) else (str(x),) for x in (own, value)]
    return name in _FILES or listed[0] == listed[1]


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
        if value is None or isinstance(value, str | int | float | tuple):
            continue
        # Loaded here: commands of exact verbs start without numerical libraries.
        from numeric.trials.count_result import AnotherEngine

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
        if value is None or value is False:
            # A step for which an option of the call does not hold.
            continue
        option = f"--{name.replace('_', '-')}"
        for entry in value if isinstance(value, tuple) else (value,):
            words.append(option)
            if entry is not True:
                text = f"{entry:g}" if isinstance(entry, float) else str(entry)
                words.append(shlex.quote(text))
    text = " ".join(words)
    return f"{text} && {_line(one.then, file, one.then.options)}" if one.then else text
