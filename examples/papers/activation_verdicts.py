"""Which verdicts of linear networks carry over to networks with an activation."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from algebra.networks.recurrent import LinearRNN
from algebra.networks.rnn import RNN
from algebra.plugins.papers.theorems.statements import MINIMAL, what_theorems_say
from algebra.problems.allocation import Allocation, Cell
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.time_limits import check_time
from matchprob.plugins.papers.figures import Numbers, Run, register_figure
from matchprob.plugins.papers.figures.curves import FigureLayout
from matchprob.plugins.papers.figures.tables import (
    Row,
    Tables,
    cell_number,
    groups,
    markdown_report,
)
from matchprob.report.drawing.palette import BLUE, INK, ORANGE, ROSE, SKY, VERMILION
from matchprob.report.drawing.style import heading, name_ticks, tidy
from numeric.statistics.intervals import proportion_interval

_KINDS: tuple[tuple[str, Any, bool], ...] = (
    ("linear", "linear", False),
    ("square", {"polynomial": [0, 0, 1]}, False),
    ("cube", {"polynomial": [0, 0, 0, 1]}, False),
    ("tanh", "tanh", False),
    ("tanh, biases", "tanh", True),
)
_COLOURS = (VERMILION, ORANGE, ROSE, BLUE, SKY)
# Sizes n, T, b, d, m of nets whose allocations are all looked at, as many weights as labels.
_SMALL = ((2, 2, 1, 1, 2), (3, 1, 2, 2, 2), (3, 2, 1, 2, 2))
_RANDOM = (4, 5, 6, 7, 8)


def _all(n: int, size: int) -> Iterator[tuple[Cell, ...]]:
    return combinations([("W", i, j) for i in range(n) for j in range(n)], size)


def _drawn(n: int, size: int, count: int, seed: int) -> Iterator[Sequence[Cell]]:
    rng = random.Random(f"activations/{seed}/{n}")
    cells = [("W", i, j) for i in range(n) for j in range(n)]
    for _ in range(count):
        yield rng.sample(cells, size)


def _survey(
    sizes: tuple[int, int, int, int, int], choices: Sequence[Sequence[Cell]]
) -> dict[str, Any]:
    """How many of some allocations of W are minimal, kind by kind."""
    linear = LinearRNN(*sizes)
    nets = {name: RNN(*sizes, activation=a, biases=b) for name, a, b in _KINDS}
    whole = {name: network_rank(net).rank for name, net in nets.items()}
    minimal = dict.fromkeys(nets, 0)
    said = 0
    survives = dict.fromkeys(nets, 0)
    for cells in choices:
        check_time()
        claims = what_theorems_say(linear, Allocation.from_cells(linear, cells))
        claimed = MINIMAL in claims.values()
        said += claimed
        for name, net in nets.items():
            own = allocation_rank(Allocation.from_cells(net, cells), upper=whole[name]).rank
            minimal[name] += own < whole[name]
            survives[name] += claimed and own < whole[name]
    return {"minimal": minimal, "said": said, "survives": survives, "count": len(choices)}


def _draw(axes: Axes, tables: Tables) -> Axes:
    rows = tables[""]
    nets = list(groups(rows, "net"))
    kinds = groups(rows, "activation")
    width = 0.8 / max(len(kinds), 1)
    for k, (colour, (name, own)) in enumerate(zip(_COLOURS, kinds.items(), strict=False)):
        at = [nets.index(row["net"]) + (k - (len(kinds) - 1) / 2) * width for row in own]
        shares = [cell_number(row, "share") for row in own]
        axes.bar(at, shares, width * 0.9, label=name, color=colour)
        for x, row in zip(at, own, strict=True):
            # Where all allocations were looked at there is no interval.
            if row["low"] < row["high"]:
                axes.vlines(x, row["low"], row["high"], color=INK, lw=0.8)
    axes.set_ylim(0, None)
    name_ticks(axes, range(len(nets)), [net.replace(": ", "\n") for net in nets])
    tidy(axes, "", "share of minimal allocations")
    bars = Line2D([], [], color=INK, lw=0.8, label="95 % interval of those drawn")
    heading(
        axes, "dm weights of W in recurrent networks", [*axes.get_legend_handles_labels()[0], bars]
    )
    return axes


@register_figure(
    "activations", "Minimal allocations, linear against tanh and polynomials", 1000,
    FigureLayout((_draw,), 7.0, 3.6),
)  # fmt: skip
def activations(run: Run) -> Numbers:
    """Share of minimal allocations of recurrent nets, by activation: generic ranks, exact."""
    nets: list[tuple[str, dict[str, Any]]] = []
    for sizes in _SMALL:
        n, T, _, d, m = sizes
        found = _survey(sizes, list(_all(n, d * m)))
        nets.append((f"n = {n}, T = {T}: all {found['count']}", found))
        run.say(f"{sizes}: {found['minimal']}")
    for n in _RANDOM:
        half = n // 2
        sizes = (n, 2, 1, half, 2)
        choices = list(_drawn(n, 2 * half, run.trials, run.seed))
        found = _survey(sizes, choices)
        nets.append((f"n = {n}, T = 2: {found['count']} drawn", found))
        run.say(f"{sizes}: {found['minimal']}")
    names = [name for name, _, _ in _KINDS]
    rows: list[Row] = []
    for name in names:
        for title, found in nets:
            count, minimal = found["count"], found["minimal"][name]
            drawn = "drawn" in title
            interval = proportion_interval(minimal, count - minimal)
            rows.append({
                "net": title, "activation": name, "allocations": count, "minimal": minimal,
                "share": round(minimal / count, 4),
                "low": round(interval.low if drawn else minimal / count, 4),
                "high": round(interval.high if drawn else minimal / count, 4),
                "theorems say minimal": found["said"], "and it is": found["survives"][name],
            })  # fmt: skip
    said = sum(found["said"] for _, found in nets)
    kept = {name: sum(found["survives"][name] for _, found in nets) for name in names}
    lines = [
        f"Allocations of dm weights of W in recurrent nets: all of them for n ≤ 3, {run.trials} "
        f"drawn for each larger n (T = 2, b = 1, d = ⌊n/2⌋, m = 2), seed {run.seed}. An allocation "
        "is minimal where the generic rank of its Jacobian is smaller than the network's; ranks "
        "are exact for each activation, with error bounds below 2^-60.",
        "",
        f"The first paper's theorems, as stated for linear nets, call {said} of these allocations "
        "minimal. Of the same allocations are minimal: "
        + ", ".join(f"{kept[name]} with {name}" for name in names)
        + ".",
    ]
    title = "Which verdicts carry over: linear against tanh, cube, square"
    return Numbers(rows, markdown_report(title, lines, rows))
