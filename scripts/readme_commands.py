"""Run the commands that the README and docs/ show, and compare what they print with the pages.

Commands are the lines ``$ …`` in fenced blocks marked ``console``.  They run in a scratch copy of
the examples and of benchmarks/principles, so that no file they write remains; ``make test`` is run
by CI itself.  Figures, which take minutes, are made with one trial at two points of each curve.

The lines after a command are a transcript: each part between lines ``...`` must occur in the
output, in this order.  White space and times in seconds are not compared, so a page may fold lines.

Several commands run at a time (JOBS, by default the number of processors); a command that names the
same file, or the same figure, as one before it waits for that one.  A command that several pages
show runs once, unless it names a file: another page may have written that one in between.
``readme_commands.py PAGE …`` runs the commands of these pages only.  The exit status is 1 after a
command that fails or a transcript that differs.
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
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = ("git clone", "cd ", "make test")
FIGURE = " --trials 1 --points 2"
# A command, and its transcripts: parts of what it prints.
Shown = tuple[str, list[list[str]]]


def transcripts(text: str) -> list[tuple[str, list[str]]]:
    """The commands of a page, each with the parts of its output that the page shows.

    Examples
    --------
    >>> transcripts("```console\\n$ ls\\na  b\\nc\\n...\\nd\\n$ pwd\\n```\\n")
    [('ls', ['a b c', 'd']), ('pwd', [])]
    """
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        for entry in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = entry.partition("\n")
            parts = re.split(r"^\.\.\.$", shown, flags=re.MULTILINE)
            found.append((command, [plain for part in parts if (plain := comparable(part))]))
    return found


def comparable(text: str) -> str:
    """A text without line breaks, repeated spaces and times."""
    return re.sub(r"\b\d+(\.\d+)? s\b", "… s", " ".join(text.split()))


def missing(parts: list[str], printed: str) -> str:
    """The first part that does not follow the parts before it in what was printed; "" if none."""
    printed, begin = comparable(printed), 0
    for part in parts:
        at = printed.find(part, begin)
        if at < 0:
            return part
        begin = at + len(part)
    return ""


def names(command: str) -> set[str]:
    """The files a command reads or writes, the examples apart, and the figure that it makes."""
    words = shlex.split(command)
    files = {w for w in words if re.search(r"\.[a-z]+$", w) and not w.startswith("examples/")}
    return files | ({words[2]} if "reproduce" in words[:-1] else set())


def ready(todo: list[str], running: list[str]) -> int | None:
    """The place of the first command that has to wait for none before it."""
    before = set().union(*map(names, running))
    for place, command in enumerate(todo):
        if not names(command) & before:
            return place
        before |= names(command)
    return None


def run(shown: str, scratch: Path) -> tuple[str, float, subprocess.CompletedProcess[str]]:
    """The command that was run, its time in seconds, and its result."""
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


def listed(texts: Iterable[str]) -> list[Shown]:
    """The commands of some pages in their order, each with the transcripts that pages show.

    Examples
    --------
    >>> page = "```console\\n$ ls\\nx.csv\\n$ cat x.csv\\n```\\n"
    >>> [command for command, _ in listed([page, page])]
    ['ls', 'cat x.csv', 'cat x.csv']
    """
    found: list[Shown] = []
    once: dict[str, list[list[str]]] = {}
    for text in texts:
        for command, parts in transcripts(text):
            if command.startswith(SKIPPED):
                continue
            if command in once:
                once[command].append(parts)
                continue
            found.append((command, [parts]))
            if not names(command) or "reproduce" in command:
                once[command] = found[-1][1]
    return found


def run_all(todo: list[Shown], scratch: Path, jobs: int) -> bool:
    """Whether all succeed and print what is shown; the others run after one that does not."""
    todo = list(todo)
    running: dict[Future[tuple[str, float, subprocess.CompletedProcess[str]]], Shown] = {}
    fine = True
    with ThreadPoolExecutor(jobs) as pool:
        while running or todo:
            while todo and len(running) < jobs:
                at = ready([c for c, _ in todo], [c for c, _ in running.values()])
                if at is None:
                    break
                shown = todo.pop(at)
                running[pool.submit(run, shown[0], scratch)] = shown
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                _, transcript = running.pop(future)
                command, seconds, done = future.result()
                print(f"{done.returncode}  {seconds:6.1f} s  {command}", flush=True)
                if done.returncode:
                    fine = False
                    print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
                for parts in transcript:
                    if part := missing(parts, f"{done.stdout}\n{done.stderr}"):
                        fine = False
                        print(f"not printed: {part}\nbut:\n{done.stdout}", file=sys.stderr)
    return fine


def main() -> int:
    """Exit status 1 after a failure, and if the pages show no command."""
    made = ("made", "gallery")
    docs = sorted((ROOT / "docs").rglob("*.md"))
    docs = [p for p in docs if p.relative_to(ROOT / "docs").parts[0] not in made]
    pages = [Path(name) for name in sys.argv[1:]] or [
        ROOT / "README.md", ROOT / "paper" / "README.md", *docs,
    ]  # fmt: skip
    todo = listed(page.read_text(encoding="utf-8") for page in pages)
    if not todo:
        print("README.md and docs/ show no command", file=sys.stderr)
        return 1
    jobs = int(os.environ.get("JOBS") or os.cpu_count() or 1)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder) / "work"
        scratch.mkdir()
        for inputs in ("examples", "benchmarks/principles"):
            shutil.copytree(ROOT / inputs, scratch / inputs)
        if not run_all(todo, scratch, jobs):
            return 1
    print(f"{len(todo)} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
