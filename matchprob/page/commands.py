"""What the page shows, as a person would write it: TOML, Python, a command."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matchprob.page.state import PageState

# Seconds for the verdict that the button Certify asks for.
LONG = {"timeout": 120.0, "search": 5.0}


def texts(state: PageState) -> dict[str, str]:
    """The problem as a file, as Python and as a command."""
    problem = state.problem
    network = problem.network
    sizes = ", ".join(f"{key}={value!r}" for key, value in network.sizes.items())
    masks = {name: mask.tolist() for name, mask in problem.learnable.items()}
    arguments = [f"net, {masks}"]
    if problem.support:
        zeros = {name: mask.tolist() for name, mask in problem.support.items()}
        arguments.append(f"support={zeros}")
    data = problem.to_dict()
    for table, name in (("distribution", "Distribution"), ("constraints", "Constraints")):
        if table in data:
            inside = ", ".join(f"{key}={value!r}" for key, value in data[table].items())
            arguments.append(f"{table}=mp.{name}({inside})")
    return {
        "toml": problem.to_toml(),
        "python": (
            "import matchprob as mp\n\n"
            f"net = mp.{type(network).__name__}({sizes})\n"
            f"problem = mp.Problem({', '.join(arguments)})\n"
            "print(mp.certify(problem))\n"
        ),
        "command": f"matchprob certify {shell(state.name)}",
    }


def command(
    what: str,
    state: PageState,
    options: Mapping[str, Any],
    seed: int = 0,
    store: Path | None = None,
) -> str:
    """The command that an action equals.

    Parameters
    ----------
    what : str
    state : PageState
    options : mapping
        As the front end gives them.
    seed : int, optional
    store : Path, optional
        Where trials are kept.
    """
    parts = ["matchprob", what, shell(state.name)]
    if what == "certify":
        parts += [f"--timeout {LONG['timeout']:g}", f"--search {LONG['search']:g}"]
    elif what in ("design", "repair"):
        if options.get("goal"):
            parts.append(f"--goal {options['goal']}")
        if what == "design" and options.get("budget") not in (None, ""):
            parts.append(f"--budget {options['budget']}")
        for option, locks in (("must", state.must), ("forbid", state.never)):
            parts += [
                f"--{option} {name}={option}_{name}.csv" for name, m in locks.items() if m.any()
            ]
        if what == "design":
            parts += [f"--matrix {name}" for name in options.get("matrices") or []]
            caps = options.get("caps") or {}
            parts += [f"--{line}-cap {n}" for line, n in caps.items() if n not in (None, "")]
            if options.get("line") == "column":
                parts.append("--by column")
    elif what in ("estimate", "compare"):
        if what == "compare":
            # A, the pinned one, is the first.
            parts.append(shell(str(options.get("other_name") or "B.toml")))
        parts.append(f"--trials {options.get('trials', 1000)}")
        if what == "estimate" and options.get("complete"):
            parts.append("--complete --no-certify")
        if store is not None:
            parts.append(f"--store {shell(store.name)}")
    if seed:
        parts.append(f"--seed {seed}")
    return " ".join(parts)


def shell(name: str) -> str:
    """A file's name as a shell takes it."""
    return shlex.quote(name)
