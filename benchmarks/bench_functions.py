"""Which files and functions of the project run in a `certify`: how much a reader must pass through.

    python benchmarks/bench_functions.py [examples/diagonal.toml] [--list] [--command]

Counted are the functions that `sys.setprofile` sees in a second call (with `--command` of the
command), so nothing is counted that is done once for a process.  Bodies of modules and classes do
not count.  The first number has each comprehension of a function as one
more function, as Python 3.11 runs them; the second leaves out those that Python 3.12 runs in place;
the third has neither these, nor generator expressions and lambdas.
"""

from __future__ import annotations

import argparse
import inspect
import io
import sys
from collections import defaultdict
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import matchprob as mp

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = tuple(f"{ROOT / name}/" for name in ("algebra", "numeric", "matchprob"))
IN_PLACE = ("<listcomp>", "<dictcomp>", "<setcomp>")


def entered(call: Callable[[], Any]) -> dict[str, set[str]]:
    """The qualified names of the project's functions that a call enters, by file."""
    found = defaultdict[str, set[str]](set)

    def seen(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        is_function = code.co_flags & inspect.CO_OPTIMIZED
        if event == "call" and is_function and code.co_filename.startswith(PACKAGES):
            found[code.co_filename].add(code.co_qualname)

    sys.setprofile(seen)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def command(problem: str) -> None:
    """`matchprob certify`, as from a terminal."""
    from matchprob.cli import app, run_command

    with redirect_stdout(io.StringIO()):
        run_command(lambda: app(["certify", problem], standalone_mode=False))


def main() -> None:
    """Print the numbers, and with `--list` the functions of each file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("problem", nargs="?", default=str(ROOT / "examples" / "diagonal.toml"))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--command", action="store_true")
    options = parser.parse_args()
    call = partial(command if options.command else mp.certify, options.problem)
    call()
    found = entered(call)
    names = [name for own in found.values() for name in own]
    later = [name for name in names if not name.endswith(IN_PLACE)]
    plain = [name for name in later if not name.endswith(">")]
    print(f"{len(found)} files; functions: {len(names)}, {len(later)}, {len(plain)}")
    if options.list:
        for file, own in sorted(found.items(), key=lambda item: -len(item[1])):
            known = sorted(name for name in own if not name.endswith(">"))
            print(f"{len(own):4} {Path(file).relative_to(ROOT)}: {' '.join(known)}")


if __name__ == "__main__":
    main()
