"""Two source trees on the same commands: whether their records agree, and their CPU times.

    python benchmarks/compare_trees.py OLD NEW [--trials N] [--repeats 3] [--certificates] [--verbs]

OLD and NEW are checkouts (`git worktree add OLD REVISION`).  Each problem is estimated by both,
alternately, each time into a new store; the trials of the stores are compared column by column
(without seconds; columns that only one tree has are named), and the least CPU time of the repeats
is printed (user seconds of the process and its children, so that other work on the machine has
little effect).  A first run of each, not counted, compiles.  With ``--certificates`` each problem
is also certified by both, and each certificate is verified by both.  With ``--verbs`` one command
of each verb is measured in both trees as well, start of Python included, and the median of the
ratios is printed.  Exit status 1 if a record or a verdict differs, or a certificate does not hold.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROBLEMS = ("diagonal", "relu_figure", "six_rows")
CERTIFIED = ("diagonal", "row", "missed", "mixed", "six_rows", "spare", "normnet_scales")
# Columns that depend on the machine.
TIMES = {"seconds"}
# The verdicts of the recorded problems (`tests/data/make_gate.py`), and the sizes of nets.
_CERTIFY = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("make_gate", sys.argv[1])
gate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gate)
print(len(list(gate.records("verdicts", 0, int(sys.argv[2])))))
"""


def net(folder: Path, name: str, sizes: dict[str, int], cells: list[int]) -> Path:
    """A problem file of a recurrent net: so many random cells in each of the first rows of W."""
    rng, n = random.Random(f"compare/{name}"), sizes["n"]
    mask = [[0] * n for _ in range(n)]
    for row, number in zip(mask, cells, strict=False):
        for j in rng.sample(range(n), number):
            row[j] = 1
    lines = ["[network]", 'kind = "lrnn"', *(f"{key} = {value}" for key, value in sizes.items())]
    file = folder / f"{name}.toml"
    file.write_text("\n".join([*lines, "[learnable]", f"W = {mask}"]) + "\n", encoding="utf-8")
    return file


def verbs(folder: Path, verdicts: int) -> dict[str, list[str | Path]]:
    """Name and words of each command that is measured."""
    inspected = [
        net(
            folder,
            f"n{n}",
            {"n": n, "T": n // 2, "b": 1, "d": n // 4, "m": n // 2},
            [n // 4] * (n // 2),
        )
        for n in (32, 64)
    ]
    # N = 150.
    twelve = net(folder, "n12", {"n": 12, "T": 6, "b": 1, "d": 4, "m": 6}, [6, 5, 5, 4, 4])
    recorded = net(folder, "recorded", {"n": 48, "T": 4, "b": 4, "d": 2, "m": 12}, [4] * 24)
    call = ["-m", "matchprob"]
    gate = Path(__file__).parent.parent / "tests" / "data" / "make_gate.py"
    return {
        "demo": ["-m", "matchprob.demo"],
        f"certify, {verdicts} nets": ["-c", _CERTIFY, gate, str(verdicts)],
        "inspect, n = 32": [*call, "inspect", inspected[0]],
        "inspect, n = 64": [*call, "inspect", inspected[1]],
        "count, n = 8": [*call, "count", "examples/six_rows.toml", "--instances", "20"],
        "count, n = 12": [*call, "count", twelve, "--instances", "2"],
        "estimate, ReLU": [*call, "estimate", "examples/relu_figure.toml", "--trials", "300"],
        "design": [*call, "design", "examples/net8.toml", "--matrix", "W", "--row-cap", "4"],
        "record": [*call, "record", recorded, "--what", "units"],
    }  # fmt: skip


def compare_verbs(trees: list[Path], verdicts: int, repeats: int) -> None:
    """Least user seconds of each command in both trees, and the median of the ratios."""
    ratios = []
    with tempfile.TemporaryDirectory() as name:
        for title, words in verbs(Path(name), verdicts).items():
            least, complaint = [float("inf")] * 2, ""
            for round_ in range(repeats + 1):
                for k, tree in enumerate(trees):
                    spent, status, text = call_python(tree, *words)
                    if status:
                        complaint = f"{tree}: exit status {status}: {text[-300:]}"
                    least[k] = least[k] if round_ == 0 else min(least[k], spent)
            if not complaint:
                ratios.append(least[1] / least[0])
                complaint = f"ratio {ratios[-1]:.2f}"
            print(
                f"{title:<20} old {least[0]:7.2f} s   new {least[1]:7.2f} s   {complaint}",
                flush=True,
            )
    print(f"median of the ratios: {statistics.median(ratios):.2f}")


def call_python(tree: Path, *words: str | Path) -> tuple[float, int, str]:
    """User seconds, exit status and output of Python with these words, in a tree."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    # The first run keeps the bytecode of all modules, whatever the shell says.
    environment = {**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    environment["PYTHONDONTWRITEBYTECODE"] = ""
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=tree, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return spent, done.returncode, done.stdout + (done.stderr if done.returncode else "")


def run(tree: Path, *words: str | Path) -> tuple[float, int, str]:
    """The same of one command of matchprob."""
    return call_python(tree, "-m", "matchprob", *words)


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
    parser.add_argument("--verbs", action="store_true")
    parser.add_argument("--verdicts", type=int, default=400, help="nets certified with --verbs")
    options = parser.parse_args()
    trees = [options.old.resolve(), options.new.resolve()]
    agree = [compare_records(trees, p, options.trials, options.repeats) for p in options.problems]
    if options.certificates:
        agree += [compare_certificates(trees, problem) for problem in CERTIFIED]
    if options.verbs:
        compare_verbs(trees, options.verdicts, options.repeats)
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
