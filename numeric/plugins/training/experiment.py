r"""Training and complete counts: which of the existing matches are found.

A trial is one random instance.  Its count shows whether a match exists; the student is
then trained on it, from its own weights and from the requested number of restarts, and each end
is compared with the instance's certified matches (`numeric.plugins.training.arrival`).

**The share that is found** is a probability given that a match exists, so undecided trials are
included: for the lower limit each of them counts as one whose match was missed, for the upper
limit as one without a match.  With e trials in which a match is certified, f of them found and u
undecided, the limits are those of Clopper and Pearson for f of e + u, and for f of e.  (The number
E of trials with a match lies between e and e + u; given E the number found is binomial, and at
fixed f both limits decrease in E.)

The condition of a match is its relative condition number (`numeric.matches.conditions`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from algebra.documents import Document
from algebra.errors import InputError, whole_number
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.results import Result, named
from algebra.systems.equivalent_cells import in_parameters
from algebra.time_limits import check_time
from numeric.certification.krawczyk import RootPool
from numeric.matches.conditions import conditions
from numeric.plugins.training.arrival import Arrival, Arrivals, arrivals_of, check_trainable
from numeric.programs.descent import Descent, find_optimizer
from numeric.programs.losses import MSE, Loss
from numeric.programs.students import Students, starts_of
from numeric.statistics.intervals import ConfidenceInterval, proportion_interval
from numeric.trials.counts import COMPLETE, InstanceCount
from numeric.trials.instances import Instance, draw_instance

# Largest number of entries in the arrays of a batch.
_MOST_NUMBERS = 1 << 23
_QUARTERS = 4


@dataclass(frozen=True)
class TrainingSettings:
    """The training method of an experiment.

    Attributes
    ----------
    optimizer : str
    steps : int
        Largest number of steps of a run; 0 for the optimizer's default.
    rate : float or None
        None for the optimizer's default.
    restarts : int
        Further runs from newly drawn weights, after the run from the student's own.
    """

    optimizer: str = "adam"
    steps: int = 0
    rate: float | None = None
    restarts: int = 0

    def __post_init__(self) -> None:
        chosen = find_optimizer(self.optimizer)
        whole_number(self.restarts, "restarts", 0)
        whole_number(self.steps, "steps", 0)
        if not self.steps:
            object.__setattr__(self, "steps", chosen.steps)
        rate = self.rate
        if rate is None:
            object.__setattr__(self, "rate", chosen.rate)
        elif chosen.rate is None:
            raise InputError(f"`rate` ({rate!r}): the optimizer {self.optimizer} takes no rate")
        elif (
            isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 < rate < math.inf
        ):
            raise InputError(f"`rate` ({rate!r}) must be a positive number")


@dataclass(frozen=True)
class Trained:
    """One trial.

    Attributes
    ----------
    index : int
    exists : bool or None
        Whether a match exists; None if undecided.
    found : bool
        Whether some run ended at a match.
    start : int or None
        Number of the first run that ended at a match; 0 is the run from the student's own weights.
    steps : int
        Steps of that run; if no run ended at a match, of the run with the smallest error.
    mse : float
        The same run's mean squared error at the end; infinite if it diverged.
    error : float
        Square root of `mse`, relative to the root mean square of the labels.
    least_mse : float
        Smallest mean squared error of all runs, to which the papers' criterion applies.
    matches : int or None
        Number of real solutions, if all are known.
    is_smallest, is_nearest : bool or None
        Whether the match that was found has the least largest weight of all, and whether it is
        the nearest to the weights before learning; None if not all are known.
    size, distance, condition : float or None
        Over all matches the least largest weight and the least distance from the weights before
        learning, and the condition of the match with the least largest weight; None if not all
        are known.
    """

    index: int
    exists: bool | None
    found: bool
    start: int | None
    steps: int
    mse: float
    error: float
    least_mse: float
    matches: int | None = None
    is_smallest: bool | None = None
    is_nearest: bool | None = None
    size: float | None = None
    distance: float | None = None
    condition: float | None = None

    @property
    def is_below(self) -> bool:
        """Whether the papers' criterion counts it as a match."""
        return self.least_mse < MSE

    def to_dict(self) -> dict[str, Any]:
        """Plain data; None for infinite numbers."""
        data = asdict(self)
        return {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in data.items()
        }


@dataclass(frozen=True)
class Share:
    """The share of existing matches that were found, for some trials.

    Attributes
    ----------
    exists, found : int
    interval : ConfidenceInterval
    low, high : float or None
        Range of the quantity by which the trials were sorted.
    """

    exists: int
    found: int
    interval: ConfidenceInterval
    low: float | None = None
    high: float | None = None

    @property
    def estimate(self) -> float | None:
        """Share found; None if no match exists."""
        return self.found / self.exists if self.exists else None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "from": self.low,
            "to": self.high,
            **named(self, "exists", "found", "estimate"),
            "low": self.interval.low,
            "high": self.interval.high,
        }


@dataclass(frozen=True, repr=False)
class TrainResult(Result):
    """Result of training: which of the existing matches were found.

    Attributes
    ----------
    problem : Problem
    settings : TrainingSettings
    seed : int
    trained : tuple of Trained
    requested : int
        Trials requested; more than finished if the work was interrupted.
    confidence : float
    trouble : str
        Why the work ended early, other than by an interrupt.
    """

    problem: Problem
    settings: TrainingSettings
    seed: int
    trained: tuple[Trained, ...] = field(repr=False)
    requested: int
    confidence: float = 0.95
    trouble: str = ""

    @property
    def trials(self) -> int:
        """Number of trained trials."""
        return len(self.trained)

    @property
    def is_partial(self) -> bool:
        """Whether the work ended before all requested trials were trained."""
        return self.trials < self.requested

    @property
    def exists(self) -> int:
        """Trials with a certified match."""
        return sum(t.exists is True for t in self.trained)

    @property
    def undetermined(self) -> int:
        """Trials in which it is undecided whether a match exists."""
        return sum(t.exists is None for t in self.trained)

    @property
    def found(self) -> int:
        """Trials in which a run ended at a match."""
        return sum(t.found for t in self.trained)

    @property
    def from_own_weights(self) -> int:
        """Number of these found by the run from the student's own weights."""
        return sum(t.start == 0 for t in self.trained)

    @property
    def below_criterion(self) -> int:
        """Trials that the papers' criterion counts as matched: MSE < 1e-2."""
        return sum(t.is_below for t in self.trained)

    @property
    def false_matches(self) -> int:
        """Number of these without a match."""
        return sum(t.is_below and t.exists is False for t in self.trained)

    @property
    def missed_matches(self) -> int:
        """Trials with a match that the papers' criterion counts as unmatched."""
        return sum(not t.is_below and t.exists is True for t in self.trained)

    @property
    def found_given_exists(self) -> Share:
        """The share of existing matches that is found; see the module's docstring."""
        return self._share(self.trained)

    def _share(
        self, trials: Sequence[Trained], low: float | None = None, high: float | None = None
    ) -> Share:
        exists = sum(t.exists is True for t in trials)
        found = sum(t.found for t in trials)
        open_ = sum(t.exists is None for t in trials)
        level = self.confidence
        least = proportion_interval(found, exists - found + open_, confidence=level)
        most = proportion_interval(found, exists - found, confidence=level)
        return Share(exists, found, ConfidenceInterval(least.low, most.high), low, high)

    def shares_by(self, key: str) -> list[Share]:
        """Shares found among quarters of the trials with a match.

        Parameters
        ----------
        key : {"condition", "size", "distance"}
            The quantity by which they are sorted.
        """
        known = [(getattr(t, key), t) for t in self.trained if t.exists]
        values = sorted((v, t.index, t) for v, t in known if v is not None)
        cuts = [len(values) * k // _QUARTERS for k in range(_QUARTERS + 1)]
        out = []
        for first, last in pairwise(cuts):
            part = values[first:last]
            if part:
                out.append(self._share([t for *_, t in part], part[0][0], part[-1][0]))
        return out

    def quantiles(self, key: str, *, found: bool) -> list[float] | None:
        """Quantiles 0.1, 0.5, 0.9 of `steps` or `error`, of runs that found a match or not."""
        values = [getattr(t, key) for t in self.trained if t.found is found]
        if not values:
            return None
        return [float(np.quantile(values, q, method="inverted_cdf")) for q in (0.1, 0.5, 0.9)]

    def _of_several(self, key: str) -> tuple[int, int]:
        """Trials whose found match is the smallest or nearest, among those with several."""
        chosen = [t for t in self.trained if t.found and (t.matches or 0) > 1]
        values = [getattr(t, key) for t in chosen]
        return sum(v is True for v in values), sum(v is not None for v in values)

    @property
    def smallest(self) -> tuple[int, int]:
        """Among trials with several matches: those in which the smallest was found; all of them."""
        return self._of_several("is_smallest")

    @property
    def nearest(self) -> tuple[int, int]:
        """Among trials with several matches: those in which the nearest was found; all of them."""
        return self._of_several("is_nearest")

    def columns(self) -> dict[str, list[Any]]:
        """One row for each trial."""
        names = list(Trained.__dataclass_fields__)
        return {name: [getattr(t, name) for t in self.trained] for name in names}

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob train``."""
        share = self.found_given_exists

        def spread(key: str, found: bool) -> dict[str, float] | None:
            values = self.quantiles(key, found=found)
            if values is None:
                return None
            finite = [v if math.isfinite(v) else None for v in values]
            return dict(zip(("q10", "q50", "q90"), finite, strict=True))  # type: ignore[arg-type]

        return {
            **named(self, "trials", "requested", "exists", "undetermined", "found"),
            "found_given_exists": {
                "estimate": share.estimate,
                "low": share.interval.low,
                "high": share.interval.high,
            },
            "confidence": self.confidence,
            **asdict(self.settings),
            **named(self, "from_own_weights", "below_criterion", "false_matches", "missed_matches"),
            "smallest": dict(zip(("found", "of"), self.smallest, strict=True)),
            "nearest": dict(zip(("found", "of"), self.nearest, strict=True)),
            "steps_where_found": spread("steps", True),
            "error_where_found": spread("error", True),
            "error_where_not": spread("error", False),
            **{
                f"by_{key}": [s.to_dict() for s in self.shares_by(key)]
                for key in ("condition", "size", "distance")
            },
            "seed": self.seed,
            "runs": [t.to_dict() for t in self.trained],
        }

    def document(self) -> Document:
        """The share that is found, which matches, and the result of the papers' criterion."""
        from numeric.plugins.training.document import training_document

        return training_document(self)


class Experiment:
    """Students of a problem, trained trial by trial.

    Parameters
    ----------
    problem : Problem
    seed : int
    settings : TrainingSettings

    Raises
    ------
    InputError
        For a network at whose matches an arrival cannot be proved.
    """

    def __init__(self, problem: Problem, seed: int, settings: TrainingSettings) -> None:
        problem = in_parameters(problem)
        check_trainable(problem.network)
        self.problem = problem
        self.seed = seed
        self.settings = settings
        self.starts = 1 + settings.restarts
        self._arrivals: dict[Allocation, Arrivals | None] = {}

    def run(
        self, counts: Sequence[InstanceCount], advance: Callable[[Trained], None] | None = None
    ) -> Iterator[Trained]:
        """Trained trials, in order, as their batches are finished.

        Parameters
        ----------
        counts : sequence of InstanceCount
            The counts of the trials to train.
        advance : callable, optional
            Called with each trained trial.
        """
        for some in self._batches(counts):
            instances = [self._untrained(c.index) for c in some]
            starts = np.concatenate([starts_of(i, self.starts) for i in instances])
            loss = Loss(Students.of(instances, self.starts))
            chosen = find_optimizer(self.settings.optimizer)
            rate = math.nan if self.settings.rate is None else self.settings.rate
            descent = chosen.descend(loss, starts, self.settings.steps, rate)
            for k, (count, instance) in enumerate(zip(some, instances, strict=True)):
                check_time()
                rows = slice(k * self.starts, (k + 1) * self.starts)
                own = Descent(descent.ends[rows], descent.mse[rows], descent.steps[rows])
                trained = self._trial(count, instance, own)
                if advance is not None:
                    advance(trained)
                yield trained

    def _untrained(self, index: int) -> Instance:
        """The instance of a trial; what a low rank adds to a matrix is 0 before training."""
        instance = draw_instance(self.problem, self.seed, index)
        none = {name: 0 * instance.weights[name] for name in self.problem.network.added}
        return replace(instance, weights={**instance.weights, **none}) if none else instance

    def _batches(self, counts: Sequence[InstanceCount]) -> Iterator[Sequence[InstanceCount]]:
        network = self.problem.network
        # The largest array: derivatives of every label by every weight.
        weights = sum(rows * columns for rows, columns in network.shapes.values())
        numbers = self.starts * network.d * network.columns * weights
        size = max(1, min(256, _MOST_NUMBERS // numbers))
        for at in range(0, len(counts), size):
            yield counts[at : at + size]

    def _arriving(self, allocation: Allocation) -> Arrivals | None:
        """The tests of an allocation's runs; None if it has no matches that can be isolated."""
        if allocation not in self._arrivals:
            self._arrivals[allocation] = arrivals_of(self.problem, allocation)
        return self._arrivals[allocation]

    def _trial(self, count: InstanceCount, instance: Instance, runs: Descent) -> Trained:
        arriving = self._arriving(instance.allocation)
        listed = count.solutions if count.status == COMPLETE and count.complex is not None else ()
        known = None if arriving is None else arriving.known(instance, listed)
        mse = np.where(np.isfinite(runs.mse), runs.mse, np.inf)
        start, arrival = self._first(arriving, instance, runs, known)
        shown = int(np.argmin(mse)) if start is None else start
        labels = float((instance.labels**2).mean())
        exists = count.matches
        if arrival is not None:
            if exists is False:
                raise ArithmeticError(
                    f"trial {count.index}: a certified match where a complete count has none"
                )
            exists = True
        return Trained(
            index=count.index,
            exists=exists,
            found=arrival is not None,
            start=start,
            steps=int(runs.steps[shown]),
            mse=float(mse[shown]),
            error=math.sqrt(mse[shown] / labels) if labels else math.inf,
            least_mse=float(mse.min()),
            **self._among(count, instance, listed, known, arrival),
        )

    @staticmethod
    def _first(
        arriving: Arrivals | None,
        instance: Instance,
        runs: Descent,
        known: RootPool | None,
    ) -> tuple[int | None, Arrival | None]:
        """The first run that ended at a match, and that match."""
        if arriving is None:
            return None, None
        for k, end in enumerate(runs.ends):
            arrival = arriving.arrival(instance, end, known)
            if arrival is not None:
                return k, arrival
        return None, None

    def _among(
        self,
        count: InstanceCount,
        instance: Instance,
        listed: Sequence[Sequence[float]],
        known: RootPool | None,
        arrival: Arrival | None,
    ) -> dict[str, Any]:
        """The attributes of a trial whose matches are all known."""
        if count.status != COMPLETE:
            return {}
        if known is None or len(known) != len(listed):
            return {"matches": count.real}
        solutions = known.roots.real
        sizes = np.abs(solutions).max(axis=1)
        distances = np.linalg.norm(solutions - instance.before, axis=1)
        out: dict[str, Any] = {
            "matches": len(solutions),
            "size": float(sizes.min()),
            "distance": float(distances.min()),
            "condition": _condition(instance, solutions[sizes.argmin()]),
        }
        if arrival is not None and arrival.number is not None:
            out["is_smallest"] = bool(sizes.argmin() == arrival.number)
            out["is_nearest"] = bool(distances.argmin() == arrival.number)
        return out


def _condition(instance: Instance, solution: np.ndarray) -> float:
    """The relative condition number of a match, to one per cent; infinite if it is singular."""
    found = conditions(instance, solution.tolist())[1]
    return math.inf if found is None else found.low
