"""The content of the page as TOML, as Python and as a command.

The command of an action is made from the request that its job receives, so that the page and
the command line do the same (tested by `tests/matchprob/plugins/page/test_commands.py`).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from algebra.errors import InputError, shown, whole_number
from algebra.given import known_name
from algebra.plugins.circuits.elements import ELEMENT_KINDS
from matchprob.api.designs.goals import ALL, GOALS, LEARNABLE
from matchprob.plugins.page.state import PageState

# Time limits in seconds: for the button Certify, for Identify, and for a search.
LONG = {"timeout": 120.0, "search": 5.0}
SEARCH_SECONDS = 60.0
# Targets of a recording.
TARGETS = ("weights", "units", "outputs", "samples=new")
# Jobs of actions with another name.
_JOBS = {"certify": "verdict"}
AT_ONCE = ("certify", "design", "repair", "identify", "record")
ACTIONS = (*AT_ONCE, "estimate", "compare")

Ask = dict[str, Any]


def request(what: str, options: Mapping[str, Any], *, name: str, seed: int) -> Ask:
    """The request of an action's job, without the problem and its locks.

    Parameters
    ----------
    what : str
        One of `ACTIONS`.
    options : mapping
        The content of its form; an empty field is ignored.
    name : str
        Name of the problem's file.
    seed : int

    Raises
    ------
    InputError
        If an option is invalid.
    """
    known_name(what, "what", ACTIONS)
    given = {key: value for key, value in options.items() if value not in (None, "")}
    ask: Ask = {"job": _JOBS.get(what, what), "name": name, "seed": seed}
    if what == "certify":
        return ask | LONG
    if what == "identify":
        return ask | {"timeout": LONG["timeout"]}
    if what in ("estimate", "compare"):
        trials = whole_number(given.get("trials", 1000), "trials", 1, 1_000_000)
        # A comparison counts only as much of a trial as it needs.
        complete = what == "estimate" and bool(given.get("complete"))
        return ask | {"trials": trials, "complete": complete}
    ask["seconds"] = SEARCH_SECONDS
    if what == "record":
        noise = given.get("noise")
        if noise is not None and (isinstance(noise, bool) or not isinstance(noise, Real)):
            raise InputError(f"`noise` ({shown(noise)}) must be a number above 0")
        return ask | {
            "elements": [known_name(given.get("elements", "units"), "what", ELEMENT_KINDS)],
            "target": [known_name(given.get("target", TARGETS[0]), "target", TARGETS)],
            "noise": noise,
        }
    if what == "repair":
        return ask | {"goal": given.get("goal")}
    goal = known_name(given.get("goal", "cheapest"), "goal", GOALS)
    lines = GOALS[goal].lines or ("row",)
    caps = {line: given[f"{line}_cap"] for line in ("row", "column") if f"{line}_cap" in given}
    return ask | {
        "goal": goal,
        "among": LEARNABLE if given.get("among") == LEARNABLE else ALL,
        "budget": whole_number(given["budget"], "budget", 1) if "budget" in given else None,
        "matrices": [str(given["matrix"])] if "matrix" in given else [],
        "caps": {line: whole_number(cap, f"{line} cap", 0) for line, cap in caps.items()},
        "line": given["line"] if given.get("line") in lines else lines[0],
    }


def command(
    ask: Mapping[str, Any],
    locks: Mapping[str, Sequence[str]],
    *,
    other: str = "A.toml",
    store: str | None = None,
) -> str:
    """The equivalent command.

    Parameters
    ----------
    ask : mapping
        As returned by `request`.
    locks : mapping
        For "must" and "never" the matrices with such locks, which are files when saved.
    other : str, optional
        The file of the pinned allocation, for a comparison.
    store : str, optional
        The server's store.
    """
    job = ask["job"]
    verb = next((verb for verb, name in _JOBS.items() if name == job), job)
    words = [verb, *([other] if verb == "compare" else []), ask["name"]]

    def say(option: str, value: Any) -> None:
        if value is not None:
            words.extend([f"--{option}", str(value)])

    say("timeout", _plain(ask.get("timeout")))
    say("search", _plain(ask.get("search")))
    for option, of in (("what", "elements"), ("target", "target")):
        for word in ask.get(of, ()):
            say(option, word)
    say("noise", _plain(ask.get("noise")))
    say("goal", ask.get("goal"))
    if ask.get("among", LEARNABLE) != LEARNABLE:
        say("among", ask["among"])
    say("budget", ask.get("budget"))
    if verb in ("design", "repair"):
        for option, kind in (("must", "must"), ("forbid", "never")):
            for matrix in locks.get(kind, ()):
                say(option, f"{matrix}={option}_{matrix}.csv")
    for matrix in ask.get("matrices", ()):
        say("matrix", matrix)
    for line, cap in ask.get("caps", {}).items():
        say(f"{line}-cap", cap)
    if verb == "design" and GOALS[ask["goal"]].lines:
        say("by", ask["line"])
    say("seconds", _plain(ask.get("seconds")))
    say("trials", ask.get("trials"))
    if ask.get("complete"):
        words.extend(["--complete", "--no-certify"])
    if verb in ("estimate", "compare"):
        say("store", store)
    if ask["seed"]:
        say("seed", ask["seed"])
    return "matchprob " + " ".join(map(shlex.quote, words))


def _plain(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds:g}"


def problem_texts(state: PageState) -> dict[str, str]:
    """The problem as a file, as Python and as a command."""
    problem = state.problem
    network = problem.network
    sizes = ", ".join(f"{key}={value!r}" for key, value in network.sizes.items())
    data = problem.named_dict()
    masks = data["learnable"]
    arguments = [f"net, {masks}"]
    if problem.support:
        zeros = {name: mask.tolist() for name, mask in problem.support.items()}
        arguments.append(f"support={zeros}")
    for table, name in (("distribution", "Distribution"), ("constraints", "Constraints")):
        if table in data:
            inside = ", ".join(f"{key}={value!r}" for key, value in data[table].items())
            arguments.append(f"{table}=mp.{name}({inside})")
    if problem.values:
        arguments.append(f"values={data['values']}")
    if problem.names:
        arguments.append(f"names={data['names']}")
    return {
        "toml": problem.to_toml(),
        "python": (
            "import matchprob as mp\n\n"
            f"net = mp.{type(network).__name__}({sizes})\n"
            f"problem = mp.Problem({', '.join(arguments)})\n"
            "print(mp.certify(problem))\n"
        ),
        "command": f"matchprob certify {shlex.quote(state.name)}",
    }
