"""What the page shows, as a person would write it: TOML, Python, a command."""

from __future__ import annotations

import shlex

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
    if problem.names:
        arguments.append(f"names={problem.names.to_dict()}")
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


def shell(name: str) -> str:
    """A file's name as a shell takes it."""
    return shlex.quote(name)
