"""Run the commands that the README and docs/ show, in order; stop at the first that fails.

Commands are the lines ``$ …`` in fenced blocks marked ``console``.  They run in a scratch
copy of the examples, so that nothing they write stays; ``make test`` is left to CI itself.
Figures, which take minutes, are made with two trials a point.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = ("git clone", "cd ", "make test")


def commands(text: str) -> list[str]:
    """The shell commands of a page."""
    blocks = re.findall(r"^```console\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line[2:] for line in lines if line.startswith("$ ")]


def main() -> int:
    """Exit status 1 where a command fails or there are none."""
    made = ("made", "gallery")
    docs = sorted((ROOT / "docs").rglob("*.md"))
    docs = [p for p in docs if p.relative_to(ROOT / "docs").parts[0] not in made]
    pages = [ROOT / "README.md", *docs]
    found = [c for page in pages for c in commands(page.read_text(encoding="utf-8"))]
    # What several pages show runs once.
    todo = [c for c in dict.fromkeys(found) if not c.startswith(SKIPPED)]
    if not todo:
        print("README.md and docs/ show no command", file=sys.stderr)
        return 1
    environment = {**os.environ, "PATH": f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder) / "work"
        scratch.mkdir()
        shutil.copytree(ROOT / "examples", scratch / "examples")
        for shown in todo:
            command = shown
            # Only make needs the repository itself.
            place = ROOT if command.startswith("make ") else scratch
            if " reproduce " in command and " --from " not in command:
                command += " --trials 2"
            start = time.perf_counter()
            done = subprocess.run(
                command,
                shell=True,
                cwd=place,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
            )
            print(f"{done.returncode}  {time.perf_counter() - start:6.1f} s  {command}")
            if done.returncode:
                print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
                return 1
    print(f"{len(todo)} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
