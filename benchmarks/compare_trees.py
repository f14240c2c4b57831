"""Two source trees on the same commands: whether their records agree, and their CPU times.

    python benchmarks/compare_trees.py OLD NEW [--trials N] [--repeats 3] [--certificates]

OLD and NEW are checkouts (`git worktree add OLD REVISION`).  Each problem is estimated by both,
alternately, each time into a new store; the trials of the stores are compared column by column
(without seconds; columns that only one tree has are named), and the least CPU time of the repeats
is printed (user seconds of the process and its children, so that other work on the machine has
little effect).  A first run of each, not counted, compiles.  With ``--certificates`` each problem
is also certified by both, and each certificate is verified by both.  Exit status 1 if a record or a
verdict differs, or a certificate does not hold.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PROBLEMS = ("diagonal", "relu_figure", "six_rows")
CERTIFIED = ("diagonal", "row", "missed", "mixed", "six_rows", "spare", "normnet_scales")
# Columns that depend on the machine.
TIMES = {"seconds"}


def run(tree: Path, *words: str | Path) -> tuple[float, int, str]:
    """User seconds, exit status and output of one command of a tree."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    environment = {**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "matchprob", *map(str, words)],
        cwd=tree, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return spent, done.returncode, done.stdout + (done.stderr if done.returncode else "")


def trials_of(tree: Path, problem: str, trials: int, folder: Path) -> tuple[float, list[dict]]:
    """User seconds of an estimate, and its trials."""
    store = folder / "trials.sqlite"
    store.unlink(missing_ok=True)
    spent, status, text = run(
        tree, "estimate", f"examples/{problem}.toml", "--trials", str(trials), "--store", store,
        "--json",
    )  # fmt: skip
    if status:
        raise SystemExit(f"{tree}: estimate {problem}: exit status {status}: {text}")
    table = folder / "trials.csv"
    _, status, text = run(tree, "study", "export", store, "--out", table)
    if status:
        raise SystemExit(f"{tree}: study export: exit status {status}: {text}")
    with table.open(newline="", encoding="utf-8") as file:
        return spent, list(csv.DictReader(file))


def differences(old: list[dict], new: list[dict]) -> tuple[dict[str, int], set[str]]:
    """Columns with the number of trials that differ in them, and those of one tree only."""
    if len(old) != len(new):
        return {f"trials: {len(old)} and {len(new)}": 1}, set()
    columns, more = (set(rows[0]) if rows else set() for rows in (old, new))
    both = sorted((columns & more) - TIMES)
    counts = {c: sum(a[c] != b[c] for a, b in zip(old, new, strict=True)) for c in both}
    return {c: number for c, number in counts.items() if number}, columns ^ more


def compare_records(trees: list[Path], problem: str, trials: int, repeats: int) -> bool:
    """Estimate one problem with both trees; print a line and return whether the records agree."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        least = [float("inf")] * 2
        records: list[list[dict]] = [[], []]
        for round_ in range(repeats + 1):
            for k, tree in enumerate(trees):
                spent, records[k] = trials_of(tree, problem, trials, folder)
                least[k] = least[k] if round_ == 0 else min(least[k], spent)
    differ, alone = differences(*records)
    comparison = "records the same" if not differ else f"records differ: {differ}"
    if alone:
        comparison += f" (in one tree only: {', '.join(sorted(alone))})"
    spent = f"old {least[0]:7.2f} s   new {least[1]:7.2f} s"
    print(f"{problem:<14} {trials:>6} trials   {spent}   {comparison}", flush=True)
    return not differ


def compare_certificates(trees: list[Path], problem: str) -> bool:
    """One problem certified by each tree and verified by both."""
    fine, verdicts = True, []
    with tempfile.TemporaryDirectory() as name:
        for maker in trees:
            file = Path(name) / "certificate.json"
            file.unlink(missing_ok=True)
            _, status, text = run(maker, "certify", f"examples/{problem}.toml", "--out", file)
            if status:
                print(f"{problem:<14} certify: exit status {status}: {text}")
                return False
            verdicts.append(json.loads(file.read_text(encoding="utf-8"))["verdict"])
            statuses = [run(reader, "verify", file)[1] for reader in trees]
            fine &= statuses == [0, 0]
            verdicts += ["holds" if status == 0 else f"status {status}" for status in statuses]
    print(f"{problem:<14} verdict, verified by old, by new: {', '.join(verdicts)}", flush=True)
    return fine and verdicts[0] == verdicts[3]


def main() -> int:
    """Compare two trees."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--problems", nargs="*", default=list(PROBLEMS))
    parser.add_argument("--certificates", action="store_true")
    options = parser.parse_args()
    trees = [options.old.resolve(), options.new.resolve()]
    agree = [compare_records(trees, p, options.trials, options.repeats) for p in options.problems]
    if options.certificates:
        agree += [compare_certificates(trees, problem) for problem in CERTIFIED]
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
