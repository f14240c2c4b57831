"""Figure 3c of the first paper: a shallow ReLU net on structured data.

Settings (Appendix E): n = 1000 hidden units, m samples, d = 10 classes, r = dm learnable weights
of W1 in the first k rows; Adam.  The paper takes m = 1000 images of MNIST (q = 784), which must
be given by ``--data``; without it the bundled digits (q = 64) and m = 200 serve.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D

from matchprob.figures import Reproduction, Run, register_figure
from matchprob.figures.points import markdown_table
from matchprob.io.progress import counter
from matchprob.report.drawing.palette import INK, SERIES
from matchprob.report.drawing.style import heading, new_figure, tidy
from numeric.relu.classification import Classified, Samples, classify, load_digits, load_idx
from numeric.statistics.intervals import proportion_interval

_UNITS = 1000
# Multiples of the fewest rows that hold the weights.
_SHARES = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0)


@register_figure("fig3c", "First paper, Figure 3c: shallow ReLU, n = 1000, classes of images", 10)
def fig3c(run: Run) -> Reproduction:
    """Share of trials in which Adam finds verified weights, against the rows used."""
    samples = load_idx(run.data) if run.data else load_digits()
    m = min(1000 if run.data else 200, samples.X.shape[1])
    q = len(samples.X)
    budgets = sorted({min(samples.classes * m, _UNITS * q), min(2 * m, _UNITS * q)})
    points = []
    for budget in budgets:
        fewest = -(-budget // q)
        ks = {min(_UNITS, budget, round(fewest * share)) for share in _SHARES}
        points += [(budget, k) for k in sorted(ks)]
    rows, finished = [], True
    with _Kept(run.store.with_suffix(".jsonl")) as kept:
        for budget, k in points:
            found = _point(run, samples, kept, m=m, budget=budget, rows=k)
            finished &= len(found) == run.trials
            matched = sum(c.matched for c in found)
            low = proportion_interval(matched, 0, len(found) - matched).low
            rows.append(
                {
                    "weights": budget,
                    "rows": k,
                    "trials": len(found),
                    "matched": matched,
                    "low": round(low, 4),
                    "high": 1.0,
                    "right": round(sum(c.right for c in found) / max(m * len(found), 1), 4),
                    "steps": round(sum(c.steps for c in found) / max(len(found), 1)),
                    "exact": sum(c.exact for c in found),
                }
            )
            run.say(f"r = {budget:<6} k = {k:<5} {matched} of {len(found)} matched, certified")
            if not finished:
                break
    title = f"Figure 3c: {samples.name}, n = {_UNITS}, m = {m}"
    text = "\n".join(
        [
            f"# {title}",
            "",
            f"{run.trials} trials a point, seed {run.seed}. Matched: all {m} samples classified "
            "rightly, proved by a rounding error bound or over Q. A trial without a match is "
            "undetermined: Adam found none; so the interval ends at 1.",
            "",
            "* `right`: share of samples classified rightly; `exact`: samples whose margin was "
            "below the rounding error bound.",
            f"* The paper's rule r = dm gives {budgets[-1]} weights for {m} samples; 2m weights "
            "show more. The paper reports MP 1 from 40 rows on, for MNIST with m = 1000.",
            "",
            markdown_table(rows),
            "",
        ]
    )
    return Reproduction(_draw(rows, title), rows, text, finished)


def _draw(rows: list[dict[str, object]], title: str) -> Picture:
    picture = new_figure(6, 4)
    axes = picture.subplots()
    sizes = dict.fromkeys(str(row["weights"]) for row in rows)
    for colour, weights in zip(SERIES, sizes, strict=False):
        done = [row for row in rows if row["trials"] and str(row["weights"]) == weights]
        xs = [int(str(row["rows"])) for row in done]
        lows = [float(str(row["low"])) for row in done]
        share = [int(str(row["matched"])) / int(str(row["trials"])) for row in done]
        axes.plot(xs, share, "^-", color=colour, mfc="white", lw=1.2, ms=5, label=f"r = {weights}")
        axes.plot(xs, lows, ":", color=colour, lw=0.8)
    axes.set_xscale("log")
    axes.set_ylim(-0.03, 1.05)
    tidy(axes, "rows used", "matches found, verified (a lower bound)")
    dotted = Line2D([], [], color=INK, ls=":", lw=0.8, label="lower end of the 95 % interval")
    heading(axes, title, [*axes.get_legend_handles_labels()[0], dotted])
    return picture


def _point(
    run: Run, samples: Samples, kept: _Kept, *, m: int, budget: int, rows: int
) -> list[Classified]:
    key = [samples.name, list(samples.X.shape), m, _UNITS, budget, rows, run.seed]
    known = kept.of(key)
    missing = [index for index in range(run.trials) if index not in known]
    trial = partial(_trial, samples, m, budget, rows, run.seed)
    with counter(f"k = {rows}") as advance:
        try:
            for done, found in enumerate(_map(trial, missing, run.workers), 1):
                known[found.index] = found
                kept.add(key, found)
                if advance is not None:
                    advance(done, len(missing))
        except KeyboardInterrupt:
            pass
    return [known[index] for index in range(run.trials) if index in known]


def _trial(samples: Samples, m: int, budget: int, rows: int, seed: int, index: int) -> Classified:
    return classify(samples, m=m, n=_UNITS, budget=budget, rows=rows, seed=seed, index=index)


def _map(trial: partial[Classified], indices: list[int], workers: int) -> Iterable[Classified]:
    if workers == 1 or len(indices) < 2:
        yield from map(trial, indices)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(trial, indices)


class _Kept:
    """Trials on disk, a line each; a line cut off by a crash is left out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trials: dict[str, dict[int, Classified]] = {}
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    data = json.loads(line)
                    found = Classified(**data["trial"])
                except (ValueError, KeyError, TypeError):
                    continue
                self.trials.setdefault(json.dumps(data["key"]), {})[found.index] = found
        self.file = path.open("a", encoding="utf-8")
        if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
            self.file.write("\n")

    def of(self, key: list[object]) -> dict[int, Classified]:
        """Known trials of a point, by index."""
        return dict(self.trials.get(json.dumps(key), {}))

    def add(self, key: list[object], found: Classified) -> None:
        """Keep one more."""
        self.file.write(json.dumps({"key": key, "trial": asdict(found)}) + "\n")
        self.file.flush()

    def __enter__(self) -> _Kept:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
