"""Run the commands that the README and docs/ show; stop at the first that fails.

Commands are the lines ``$ …`` in fenced blocks marked ``console``.  They run in a scratch
copy of the examples, so that nothing they write stays; ``make test`` is left to CI itself.
Figures, which take minutes, are made with one trial at two points of each curve.

As many run at a time as there are processors (JOBS says otherwise).  Of two commands that name
the same file, or the same figure, the second waits for the first.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = ("git clone", "cd ", "make test")
FIGURE = " --trials 1 --points 2"


def commands(text: str) -> list[str]:
    """The shell commands of a page."""
    blocks = re.findall(r"^```console\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line[2:] for line in lines if line.startswith("$ ")]


def names(command: str) -> set[str]:
    """The files a command reads or writes, the examples apart, and the figure that it makes."""
    words = shlex.split(command)
    files = {w for w in words if re.search(r"\.[a-z]+$", w) and not w.startswith("examples/")}
    return files | ({words[2]} if "reproduce" in words[:-1] else set())


def ready(todo: list[str], running: list[str]) -> str | None:
    """The first command that has to wait for none before it."""
    before = set().union(*map(names, running))
    for command in todo:
        if not names(command) & before:
            return command
        before |= names(command)
    return None


def run(shown: str, scratch: Path) -> tuple[str, float, subprocess.CompletedProcess[str]]:
    """What was run, how long it took, and what came of it."""
    command = shown
    if " reproduce " in shown and " --from " not in shown:
        command = re.sub(r" --trials \d+", "", shown) + FIGURE
    environment = {**os.environ, "PATH": f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"}
    start = time.perf_counter()
    done = subprocess.run(
        command,
        shell=True,
        # Only make needs the repository itself.
        cwd=ROOT if command.startswith("make ") else scratch,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    return command, time.perf_counter() - start, done


def run_all(todo: list[str], scratch: Path, jobs: int) -> bool:
    """Whether all succeed; the first failure is printed, and no further command is started."""
    todo = list(todo)
    running: dict[Future[tuple[str, float, subprocess.CompletedProcess[str]]], str] = {}
    fine = True
    with ThreadPoolExecutor(jobs) as pool:
        while running or (todo and fine):
            while fine and len(running) < jobs:
                command = ready(todo, list(running.values()))
                if command is None:
                    break
                todo.remove(command)
                running[pool.submit(run, command, scratch)] = command
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                del running[future]
                command, seconds, done = future.result()
                print(f"{done.returncode}  {seconds:6.1f} s  {command}", flush=True)
                if done.returncode:
                    fine = False
                    print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
    return fine


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
    jobs = int(os.environ.get("JOBS") or os.cpu_count() or 1)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder) / "work"
        scratch.mkdir()
        shutil.copytree(ROOT / "examples", scratch / "examples")
        if not run_all(todo, scratch, jobs):
            return 1
    print(f"{len(todo)} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
