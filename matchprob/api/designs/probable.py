"""The design with the highest match probability: certified, or raced on common instances."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

from algebra.errors import InputError
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.questions.design.cheapest import cheapest
from algebra.questions.design.demand import Demand, SearchUnfinished
from algebra.questions.design.maximal import NoneMaximal, cheapest_maximal
from algebra.questions.design.neurons import fewest_neurons
from algebra.questions.design.odd_counts import renamings
from algebra.questions.design.ranked import ranked_bases
from algebra.questions.design.result import Design, allocation_of, design_of
from algebra.questions.design.spread import most_spread
from algebra.work import end_of_part, has_passed
from matchprob.api.certify import relaxation, root_counter
from numeric.studies.racing import Race, successive_halving
from numeric.studies.study import Workers

if TYPE_CHECKING:
    from matchprob.api.designs.goals import RaceOptions

# Largest number of designs that are enumerated to find out whether all can be raced.
_MOST_DESIGNS = 3_000
# Share of the seconds for the search of a maximal design, and for that enumeration.
_SHARE = 0.3


@dataclass(frozen=True)
class ProbableDesign(Design):
    """A design chosen for its match probability; `value` is the estimate.

    Attributes
    ----------
    race : Race or None
        None if the design is certified maximal.
    pool : int
        Allocations that were compared, up to renaming of units.
    exhaustive : bool
        Whether these are all allocations.
    """

    race: Race | None = field(default=None, repr=False)
    pool: int = 0
    exhaustive: bool = False

    @property
    def is_certified(self) -> bool:
        """Whether the match probability is 1 by a certificate, not by trials."""
        return self.race is None

    @property
    def is_optimal(self) -> bool:
        """Whether no allocation can match more often: certified, or shown for all others."""
        return self.race is None or (self.exhaustive and self.race.is_settled)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        data = super().to_dict()
        data.update(pool=self.pool, exhaustive=self.exhaustive, race=None)
        data["certified"] = self.is_certified
        if self.race is not None:
            winner = self.race.entrants[self.race.winner]
            data.update(race=self.race.to_dict(), low=winner.interval.low)
            data["high"] = winner.interval.high
        else:
            data.update(low=1.0, high=1.0)
        return data


def most_probable(
    problem: Problem,
    demand: Demand,
    *,
    candidates: int = 16,
    trials: int = 1024,
    seconds: float = 60.0,
    timeout: float = 3.0,
    workers: int | Workers = 1,
) -> ProbableDesign:
    """The design that matches most often.

    Parameters
    ----------
    problem : Problem
        Its laws are those of the random instances.
    demand : Demand
    candidates : int, optional
        Designs raced at most.
    trials : int, optional
        Trials of each at most.
    seconds, timeout : float, optional
        A part of `seconds` is for the search of a design that is certified maximal; each root count
        takes `timeout` at most.
    workers : optional
        As for `numeric.studies.racing.successive_halving`.

    Returns
    -------
    ProbableDesign

    Notes
    -----
    A certified maximal design has MP = 1, the largest value. If none is found, all designs are
    raced if they are few (up to renaming of units); otherwise the cheapest ones, the most spread,
    those with the fewest neurons, and the cheapest ones for random costs.
    """
    # A maximal design also has matches that violate constraints.
    best = None if problem.constraints else _certified(demand, seconds, timeout)
    if best is not None:
        proof = f"{best.certificate}; no match probability is above 1"
        return _probable(best, proof, Fraction(1), pool=1, exhaustive=True)
    pool, exhaustive = gather(
        demand, candidates, _SHARE * seconds, symmetric=problem.constraints.is_uniform
    )
    race = successive_halving(
        [problem.with_allocation(a) for a in pool], most=trials, seed=demand.seed,
        workers=workers,
    )  # fmt: skip
    winner = race.entrants[race.winner]
    n = max(1, winner.estimate.trials)
    design = design_of(demand, pool[race.winner], "probable", Fraction(0), ())
    which = "all there are" if exhaustive else "of many"
    proof = f"{race}; {len(pool)} designs raced, {which}, in {race.trials} trials"
    return _probable(
        design, proof, Fraction(winner.estimate.matched, n), race=race, pool=len(pool),
        exhaustive=exhaustive,
    )  # fmt: skip


def _certified(demand: Demand, seconds: float, timeout: float) -> Design | None:
    """The cheapest certified maximal design; None if none is found."""
    try:
        return cheapest_maximal(
            demand, relaxation=relaxation, seconds=_SHARE * seconds, timeout=timeout,
            fallback=root_counter(timeout),
        )  # fmt: skip
    except (NoneMaximal, SearchUnfinished):
        return None


def _probable(design: Design, proof: str, value: Fraction, **more: Any) -> ProbableDesign:
    known = {f.name: getattr(design, f.name) for f in fields(Design)}
    known.update(
        goal="probable", value=value, bound=Fraction(1), proof=proof, measure="match probability",
        evidence=None, cost_bound=Fraction(0),
    )  # fmt: skip
    return ProbableDesign(**known, **more)


def gather(
    demand: Demand, count: int, seconds: float, *, symmetric: bool = True
) -> tuple[list[Allocation], bool]:
    """Different designs, at most `count`; whether these are all.

    If the laws and constraints are `symmetric`, designs count as different up to renaming of units.
    """
    if count < 1:
        raise InputError(f"`candidates` ({count}) must be at least 1")
    group = renamings(demand) if symmetric else None
    found: dict[tuple[Any, ...], Allocation] = {}

    def keep(allocation: Allocation) -> None:
        name = (group.canonical(allocation) if group else allocation).cells
        found.setdefault(name, allocation)

    ends = end_of_part(seconds)
    p, number = next(demand.points())
    ranked = ranked_bases(demand, demand.columns(p, number), p)
    exhaustive = True
    try:
        for k, (_, elements) in enumerate(islice(ranked, _MOST_DESIGNS + 1)):
            keep(allocation_of(demand, elements))
            if k == _MOST_DESIGNS or len(found) > count or has_passed(ends):
                exhaustive = False
                break
    except SearchUnfinished:
        exhaustive = False
    if exhaustive:
        return list(found.values()), True
    # Too many for a race of all: a third are cheap ones, then extreme and random ones.
    cheap = list(found.values())[: max(1, count // 3)]
    found.clear()
    for allocation in cheap:
        keep(allocation)
    for line in ("row", "column"):
        if not any(kind == line for kind, _ in demand.caps):
            keep(most_spread(demand, line, relaxation, seconds).allocation)
        few = fewest_neurons(demand, line, relaxation=relaxation, seconds=seconds / 4)
        keep(few.allocation)
    rng = random.Random(f"candidates/{demand.seed}")
    tries = 0
    while len(found) < count and tries < 4 * count:
        tries += 1
        prices = {cell: Fraction(rng.randrange(1 << 16)) for cell in demand.cells}
        keep(cheapest(replace(demand, prices=prices), relaxation).allocation)
    return list(found.values())[:count], False


def search(demand: Demand, options: RaceOptions) -> ProbableDesign:
    """The search of goal "probable"."""
    assert options.problem is not None
    return most_probable(
        options.problem, demand, candidates=options.candidates, trials=options.trials,
        seconds=options.seconds, timeout=options.timeout, workers=options.workers,
    )  # fmt: skip
