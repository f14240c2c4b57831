"""Modules and lines of this project that the check of a proof file loads, and what imported each.

``python scripts/loaded_by_check.py FILE`` prints the sum, the sums of folders, and a line for each
module: its lines (all of them, as `tests/matchprob/test_start.py` counts), its name, and the module
and the line that imported it first.
"""

from __future__ import annotations

import importlib.abc
import sys
from collections import Counter
from pathlib import Path

OWN = ("algebra", "numeric", "matchprob")


class Edges(importlib.abc.MetaPathFinder):
    """Notes which line imports a module first; it finds none."""

    def __init__(self) -> None:
        self.first: dict[str, str] = {}

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.split(".")[0] in OWN and name not in self.first:
            frame = sys._getframe(1)
            while "importlib" in frame.f_code.co_filename and frame.f_back:
                frame = frame.f_back
            self.first[name] = f"{frame.f_globals.get('__name__')}:{frame.f_lineno}"


def main() -> None:
    """Check the file that is named, and print what was loaded."""
    edges = Edges()
    sys.meta_path.insert(0, edges)
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from matchprob.api.proofs.check import check_proof

    found = check_proof(Path(sys.argv[1]).read_text(encoding="utf-8"))
    lines = {
        name: len(Path(module.__file__).read_text(encoding="utf-8").splitlines())
        for name, module in list(sys.modules.items())
        if name.split(".")[0] in OWN and getattr(module, "__file__", None)
    }
    folders: Counter[str] = Counter()
    for name, count in lines.items():
        folders[".".join(name.split(".")[:2])] += count
    print(f"{sum(lines.values())} lines in {len(lines)} modules; {found.outcome}")
    for folder, count in folders.most_common():
        print(f"{count:6} {folder}")
    print()
    for name, count in sorted(lines.items(), key=lambda item: (-item[1], item[0])):
        print(f"{count:6} {name:45} {edges.first.get(name, '')}")


if __name__ == "__main__":
    main()
