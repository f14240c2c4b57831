"""Which files and functions of the project run in a `certify`: how much a reader must pass through.

    python benchmarks/bench_functions.py [examples/diagonal.toml] [--list] [--command]

Counted are the code objects that `sys.setprofile` sees in the second call, so nothing is counted
that is done once for a process; with `--command` those of the command in a process of its own.
Before Python 3.12 a comprehension or generator expression is a frame of its own; the second number
leaves them out, with `lambda` and the bodies of classes and modules.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = tuple(f"{ROOT / name}/" for name in ("algebra", "numeric", "matchprob"))


def entered(call: Callable[[], Any]) -> set[CodeType]:
    """The project's code objects that a call enters."""
    found: set[CodeType] = set()

    def seen(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGES):
            found.add(frame.f_code)

    sys.setprofile(seen)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def command(problem: str) -> None:
    """`matchprob certify`, as from a terminal."""
    from matchprob.cli.main import main

    sys.argv = ["matchprob", "certify", problem]
    try:
        with redirect_stdout(io.StringIO()):
            main()
    except SystemExit:
        pass


def main() -> None:
    """Print the numbers, and with `--list` the functions of each file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("problem", nargs="?", default=str(ROOT / "examples" / "diagonal.toml"))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--command", action="store_true")
    options = parser.parse_args()
    if options.command:
        codes = entered(lambda: command(options.problem))
    else:
        import matchprob as mp

        mp.certify(options.problem)
        codes = entered(lambda: mp.certify(options.problem))
    named = {code for code in codes if not code.co_name.startswith("<")}
    files = Counter(code.co_filename for code in named)
    print(f"{len({c.co_filename for c in codes})} files, {len(codes)} code objects,", end=" ")
    print(f"{len(named)} functions")
    if options.list:
        for file, _ in files.most_common():
            names = sorted(c.co_qualname for c in named if c.co_filename == file)
            print(f"{len(names):4} {Path(file).relative_to(ROOT)}: {' '.join(names)}")


if __name__ == "__main__":
    main()
