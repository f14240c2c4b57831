"""Points of a figure: estimates of many problems through one store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from algebra.problems.problem import Problem
from algebra.results import named
from matchprob.io.progress import progress
from matchprob.plugins.papers.figures import Run
from numeric.statistics.estimate import Estimate
from numeric.studies.store import Store
from numeric.studies.study import Study, Workers, shared
from numeric.trials.counts import COMPLETE, InstanceCount, Reason


@dataclass(frozen=True)
class CurvePoint:
    """One point of a curve.

    Attributes
    ----------
    x : float
    problem : Problem
    engine : str
    settings : mapping
        See `numeric.studies.trials.TrialSettings`.
    judged : bool
        Whether the paper's method is also applied here, if a run requests it.
    share : float
        Fraction of a run's trials, for slower points.
    """

    x: float
    problem: Problem
    engine: str = "homotopy"
    settings: Mapping[str, Any] = field(default_factory=dict)
    judged: bool = True
    share: float = 1.0

    def trials(self, run: Run, curve: str = "") -> int:
        """The number of trials for this point, which is on the curve of this name."""
        if curve in run.curve_trials:
            return run.curve_trials[curve]
        return max(1, round(self.share * run.trials))


@dataclass(frozen=True)
class Measured:
    """A point with its estimate, and the paper's method on the first of its instances.

    Attributes
    ----------
    point : CurvePoint
    estimate : Estimate
    baseline : Estimate or None
    """

    point: CurvePoint
    estimate: Estimate
    baseline: Estimate | None = None

    @property
    def kinds(self) -> Counter[str]:
        """Trials by the way they were decided."""
        return Counter(_kind(c) for c in self.estimate.counts)

    @property
    def is_certified(self) -> bool:
        """Whether a verdict on a fixed allocation gives the value: exact, not an estimate.

        For a random allocation, certified draws are a fraction of a sample: an estimate.
        """
        return self.estimate.certified is not None

    @property
    def missed(self) -> int:
        """Instances with a certain solution that the paper's method did not find."""
        if self.baseline is None:
            return 0
        pairs = zip(self.estimate.counts, self.baseline.counts, strict=False)
        return sum(a.outcome == "matched" and b.outcome != "matched" for a, b in pairs)

    def row(self, curve: str) -> dict[str, object]:
        """The point as a row of a table; `matchprob.plugins.papers.figures.curves` draws it."""
        interval = self.estimate.interval()
        kinds = self.kinds
        out: dict[str, object] = {
            "curve": curve,
            "x": self.point.x,
            **named(self.estimate, "trials", "matched", "unmatched", "undetermined"),
            "low": round(interval.low, 4),
            "high": round(interval.high, 4),
            "certified_maximal": kinds["certified maximal"],
            "certified_minimal": kinds["certified minimal"],
            "certified": int(self.is_certified),
            "seconds": round(sum(c.seconds for c in self.estimate.counts), 1),
        }
        tried = self.baseline.trials if self.baseline else 0
        out["baseline_trials"] = tried
        out["baseline_matched"] = self.baseline.matched if self.baseline else 0
        out["baseline_missed"] = self.missed
        return out


def _kind(count: InstanceCount) -> str:
    if count.reason is Reason.SETTLED_MAXIMAL:
        return "certified maximal"
    if count.reason is Reason.SETTLED_MINIMAL:
        return "certified minimal"
    if count.outcome == "undetermined":
        return "undetermined"
    return "counted" if count.status == COMPLETE else "one solution certified"


def measure(run: Run, curves: Mapping[str, Sequence[CurvePoint]]) -> dict[str, list[Measured]]:
    """Estimates of all points; after an interrupt those that are done.

    Parameters
    ----------
    run : Run
    curves : mapping of str to sequence of CurvePoint
    """
    out: dict[str, list[Measured]] = {name: [] for name in curves}
    with shared(run.store, run.workers) as (store, workers):
        for name, points in curves.items():
            for point in points:
                trials = point.trials(run, name)
                found = _estimate(run, store, workers, point, name, trials, point.engine)
                baseline = None
                if run.baseline and point.judged and found.trials:
                    size = min(run.baseline, trials)
                    baseline = _estimate(
                        run, store, workers, point, f"{name}, fsolve", size, "fsolve"
                    )
                out[name].append(Measured(point, found, baseline))
                if found.trials < trials:
                    return out
    return out


def _estimate(
    run: Run,
    store: Store | None,
    workers: Workers,
    point: CurvePoint,
    name: str,
    trials: int,
    engine: str,
) -> Estimate:
    settings = dict(point.settings)
    if engine == "fsolve":
        # The paper's method does not use verdicts.
        settings |= {"certify": False, "complete": True}
    with (
        Study(
            point.problem, seed=run.seed, engine=engine, store=store, workers=workers,
            **settings,
        ) as study,
        progress(f"{name}, x = {point.x:g}", trials, 0.95) as advance,
    ):  # fmt: skip
        found = study.run(trials, advance=advance)
    run.say(f"{name:<16} x = {point.x:<6g} {found}")
    return found


def increases(measured: Sequence[Measured]) -> str:
    """Whether the intervals agree with a curve that the paper calls increasing."""
    below = [
        (a.point.x, b.point.x)
        for a in measured
        for b in measured
        if a.point.x < b.point.x and b.estimate.interval().high < a.estimate.interval().low
    ]
    if not below:
        return "no point lies significantly below one to its left"
    a, b = below[0]
    return f"not monotone: x = {b:g} lies significantly below x = {a:g}"


def is_finished(run: Run, curves: Mapping[str, Sequence[Measured]], wanted: int) -> bool:
    """Whether all points have all their trials."""
    done = [(m, name) for name, measured in curves.items() for m in measured]
    return len(done) == wanted and all(
        m.estimate.trials == m.point.trials(run, name) for m, name in done
    )
