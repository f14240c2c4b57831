"""Undecided verdicts of `certify` on random nets: by size, surplus and kind, with reasons.

    python benchmarks/bench_undecided.py RECORDS.jsonl [--kinds recurrent …] [--count 60] [--verify]
    PYTHONPATH=OTHER_TREE python benchmarks/bench_undecided.py …    # in another checkout

Net k of a kind is drawn from the stream ``undecided/KIND/k``.  Sizes are n = 2 … 8, T ≤ 5, b ≤ 2, d
≤ 4, m ≤ 6 (small ones: n ≤ 3, T ≤ 4, d ≤ 2, m ≤ 4; multi-layer nets: one to three hidden layers of
2 … 5 units; normalization nets: one or two blocks); r = ρ − 1 … ρ + 2 cells learn, ρ the generic
rank of the network's Jacobian.  Cells are drawn again until they have rank min(r, ρ), twenty times
at most: an allocation of few weights is minimal, most others are not.

The line of each net is written to the file as soon as the net is done: a second run continues after
the last line.  `--effort` bounds the work of a net, which the seed determines, so verdicts and
reasons are the same on every machine; 0.1 is at most 6 s of a quiet one.  No net needs the time
limit, `--timeout`: the last line says of how many it was over.  With `--verify` each certificate
is verified too.

The table of reasons says what each undecided net lacks: a count of solutions, an odd one, an
instance without real solutions, or work.  The last table has each search of an argument in the
order in which they come: nets that it was tried for, the share of them that it decided, and its
wall time; before it stands the wall time of all nets that are decided.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matchprob as mp
from algebra.arguments.case import Case
from algebra.networks.base import Network
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells

_TRIES = 20

Draw = Callable[[random.Random], tuple[Network, tuple[str, ...]]]


def recurrent(rng: random.Random) -> tuple[Network, tuple[str, ...]]:
    """Cells of W."""
    return mixed(rng)[0], ("W",)


def mixed(rng: random.Random) -> tuple[Network, tuple[str, ...]]:
    """Cells of W, B and D."""
    return _recurrent(rng, n=(2, 8), T=(1, 5), b=(1, 2), d=(1, 4), m=(1, 6)), ("W", "B", "D")


def small(rng: random.Random) -> tuple[Network, tuple[str, ...]]:
    """Cells of W, B and D, of two or three units."""
    return _recurrent(rng, n=(2, 3), T=(2, 4), b=(1, 2), d=(1, 2), m=(1, 4)), ("W", "B", "D")


def _recurrent(rng: random.Random, **sizes: tuple[int, int]) -> Network:
    return mp.LinearRNN(**{name: rng.randint(*ends) for name, ends in sizes.items()})


def layers(rng: random.Random) -> tuple[Network, tuple[str, ...]]:
    """Cells of all layers."""
    widths = [rng.randint(2, 5) for _ in range(rng.randint(1, 3))]
    q, d, m = rng.randint(2, 5), rng.randint(1, 4), rng.randint(1, 4)
    network = mp.LinearFeedForward(q=q, widths=widths, d=d, m=m)
    return network, tuple(network.shapes)


def normalization(rng: random.Random) -> tuple[Network, tuple[str, ...]]:
    """Scales and shifts of linear and ReLU blocks."""
    depth = rng.randint(1, 2)
    widths = tuple(rng.randint(1, 3) for _ in range(depth + 1))
    hidden = tuple(rng.randint(1, 6) for _ in range(depth))
    network = mp.NormNet(widths, hidden, rng.randint(1, 4), rng.choice(("linear", "relu")))
    return network, tuple(name for name in network.shapes if name[0] in "gb")


KINDS: dict[str, Draw] = {
    "recurrent": recurrent, "mixed": mixed, "small": small, "layers": layers,
    "normalization": normalization,
}  # fmt: skip


def problem(kind: str, number: int) -> tuple[Problem, int]:
    """Net `number` of a kind, and r − ρ (0 for normalization nets, whose ρ is not that of a
    Jacobian)."""
    rng = random.Random(f"undecided/{kind}/{number}")
    while True:
        network, names = KINDS[kind](rng)
        cells = [cell for cell in all_cells(network) if cell[0] in names]
        if isinstance(network, mp.NormNet):
            chosen = rng.sample(cells, rng.randint(1, len(cells)))
            return Problem(network, Allocation.from_cells(network, chosen).masks), 0
        rank = network_rank(network, {}, 0).rank
        size = rank + rng.randint(-1, 2)
        if not 0 < size <= len(cells):
            continue
        for _ in range(_TRIES):
            chosen = rng.sample(cells, size)
            own = allocation_rank(Allocation.from_cells(network, chosen), {}, rank, 0).rank
            if own == min(size, rank):
                break
        return Problem(network, Allocation.from_cells(network, chosen).masks), size - rank


def cpu() -> float:
    """Seconds of this process and of its children that ended."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


class Searches:
    """The searches of one certificate: arguments, and seconds of wall time when each begins."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, float]] = []
        begin = Case.begin

        def noted(case: Case, attempt: Any, *more: Any) -> bool:
            self.begun.append((attempt.argument, time.perf_counter()))
            return begin(case, attempt, *more)

        Case.begin = noted  # type: ignore[method-assign]

    def since(self, began: float) -> list[list[Any]]:
        """Names and seconds of the searches since a moment, the ranks before them first."""
        names = ["ranks", *(name for name, _ in self.begun)]
        ends = [began, *(at for _, at in self.begun), time.perf_counter()]
        self.begun.clear()
        return [[n, round(b - a, 4)] for n, a, b in zip(names, ends, ends[1:], strict=False)]


def measure(
    kind: str, number: int, effort: float, timeout: float, check: bool, searches: Searches
) -> dict[str, Any]:
    """One line of the records."""
    question, surplus = problem(kind, number)
    began, then = cpu(), time.perf_counter()
    found = mp.certify(question, timeout=timeout, effort=effort)
    own = searches.since(then)
    data: dict[str, Any] = {
        "kind": kind, "number": number, "network": question.network.sizes, "r-rank": surplus,
        "verdict": found.verdict, "rule": found.rule, "N": found.generic_root_count,
        "tried": list(found.tried), "cpu": round(cpu() - began, 2),
        "wall": round(sum(spent for _, spent in own), 4), "searches": own,
    }  # fmt: skip
    if check and found.verdict != "undecided":
        checked = mp.verify(found, timeout=60)
        data["verified"] = "holds" if checked.holds else str(checked)
    return data


def cause(record: dict[str, Any]) -> str:
    """The reason why a net is undecided."""
    if record["kind"] == "normalization":
        return str(record["rule"])
    surplus = record["r-rank"] > 0
    weights = "more weights than equations" if surplus else "as many weights as equations"
    tried = "; ".join(record["tried"])
    if not surplus and record["N"] is not None:
        return f"{weights}, N even, and no instance without real solutions found"
    if surplus and "not counted" not in tried and "out of reach" not in tried:
        return f"{weights}, all numbers found even"
    what = "numbers" if surplus else "N"
    over = "the time was over" if is_late(record) else "out of reach of the work"
    return f"{weights}, {what} {over}"


def is_late(record: dict[str, Any]) -> bool:
    """Whether the time limit ended the searches: then the answer depends on the machine."""
    return any("time limit" in text for text in record["tried"])


def table(records: list[dict[str, Any]], key: Callable[[dict[str, Any]], Any]) -> Iterator[str]:
    """Verdicts by one property of the nets."""
    verdicts = ("maximal", "minimal", "intermediate", "undecided")
    yield f"{'':>24}" + "".join(f"{verdict:>14}" for verdict in verdicts)
    for value in sorted({key(record) for record in records}):
        counts = Counter(record["verdict"] for record in records if key(record) == value)
        yield f"{value!s:>24}" + "".join(f"{counts[verdict]:14d}" for verdict in verdicts)


def costs(records: list[dict[str, Any]]) -> Iterator[str]:
    """Wall times of decided nets, and of each search."""
    records = [record for record in records if "searches" in record]
    for word, some in (
        ("decided", [r for r in records if r["verdict"] != "undecided"]),
        ("not minimal", [r for r in records if r["verdict"] in ("maximal", "intermediate")]),
    ):
        if some:
            times = [record["wall"] for record in some]
            yield (
                f"{len(some)} nets {word}: wall time median {statistics.median(times):.4f} s, "
                f"mean {statistics.mean(times):.3f}"
            )
    found: dict[tuple[str, int], list[tuple[float, bool]]] = defaultdict(list)
    for record in records:
        seen = Counter[str]()
        for place, (name, spent) in enumerate(record["searches"], 1):
            seen[name] += 1
            is_last = place == len(record["searches"]) and record["verdict"] != "undecided"
            found[name, seen[name]].append((spent, is_last))
    yield f"{'search':>24}{'tried':>8}{'decided':>9}{'share':>8}{'median s':>10}{'sum s':>9}"
    for (name, number), rows in found.items():
        times, decided = [spent for spent, _ in rows], sum(is_last for _, is_last in rows)
        yield (
            f"{name + (f' ({number})' if number > 1 else ''):>24}{len(rows):8d}{decided:9d}"
            f"{decided / len(rows):8.0%}{statistics.median(times):10.4f}{sum(times):9.1f}"
        )


def report(records: list[dict[str, Any]]) -> Iterator[str]:
    """All tables."""
    for name, key in (
        ("kind", lambda record: record["kind"]),
        ("n (0: other sizes)", lambda record: record["network"].get("n", 0)),
        ("r - rank", lambda record: record["r-rank"]),
    ):
        yield name
        yield from table(records, key)
    left = [record for record in records if record["verdict"] == "undecided"]
    rest = sum(record["verdict"] != "minimal" for record in records)
    yield f"undecided: {len(left)} of {rest} that are not minimal ({len(left) / max(1, rest):.1%})"
    by_cause: dict[str, list[str]] = defaultdict(list)
    for record in left:
        number = f"{record['number']}" + (f" (N = {record['N']})" if record["N"] else "")
        by_cause[cause(record)].append(number)
    yield "| reason | nets |"
    yield "|---|---|"
    for text, nets in sorted(by_cause.items(), key=lambda item: -len(item[1])):
        yield f"| {text} | {len(nets)}: {', '.join(nets)} |"
    checked = Counter(
        (r["verdict"], r["verified"].splitlines()[0]) for r in records if "verified" in r
    )
    for (verdict, text), count in sorted(checked.items()):
        yield f"verify: {count:5d}  {verdict}: {text}"
    yield from costs(records)
    yield f"nets of which the time was over: {sum(map(is_late, records))}"


def main() -> None:
    """Measure the nets that are not in the file, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("records", type=Path)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=["recurrent"])
    parser.add_argument("--count", type=int, default=60, help="nets of each kind")
    parser.add_argument("--effort", type=float, default=0.1)
    parser.add_argument("--timeout", type=float, default=600.0)
    parser.add_argument("--verify", action="store_true")
    options = parser.parse_args()
    text = options.records.read_text() if options.records.exists() else ""
    records = [json.loads(line) for line in text.splitlines()]
    searches = Searches()
    done = {(record["kind"], record["number"]) for record in records}
    with options.records.open("a") as file:
        for kind in options.kinds:
            for number in range(options.count):
                if (kind, number) in done:
                    continue
                records.append(
                    measure(kind, number, options.effort, options.timeout, options.verify, searches)
                )
                file.write(json.dumps(records[-1]) + "\n")
                file.flush()
    print("\n".join(report(records)))


if __name__ == "__main__":
    main()
