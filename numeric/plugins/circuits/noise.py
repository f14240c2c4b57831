r"""How well recordings determine a target under noise: linear theory at a circuit's parameters.

Ranks say whether a recording determines a target; noise says how well.  Let J be the Jacobian of
the recorded numbers and T that of the target, in doubles at one instance of the law: the circuit's
own weights and samples (`numeric.plugins.circuits.sensitivities`).  Recorded numbers have
independent noise of standard deviation σ.  Before the recording each learnable weight is known as
its law says, with standard deviation s_k (that of the matrix's entries, of the jitter of measured
ones; 1 for a gain), S = diag(s_k).

**Prediction.**  To first order the posterior of the weights has the covariance
:math:`C = S (1 + S JᵀJ S/σ²)^{-1} S`, and the target :math:`T C Tᵀ`.  It is the covariance, over
noise and over starting points drawn by the law, of the error of a fit that minimizes
|z − z(θ)|²/σ² + |S^{-1}(θ − start)|².  The deviation of an activity is the root mean square over
its numbers.  Directions with singular values of J far above σ/s are *stiff*, those far below
*sloppy*: a full rank does not show them.  With ReLU the network is replaced by the polynomial map
of its own activation pattern; errors that move a unit across its kink are not predicted.

**Fewest units.**  Let A_u = J_u S/σ, F = T S, and φ(x) = tr F (1 + Σ x_u A_uᵀA_u)^{-1} Fᵀ, the sum
of the variances of the target.  φ is convex in x.  So for every x, and every set of k units,
φ(set) ≥ φ(x) − ∇φ·x + the sum of the k least entries of ∇φ(x): a count for which this is above the
wanted error is too small.  x moves by Frank and Wolfe's steps.

**The greedy choice** takes the unit that lowers φ most, until φ is small enough.  Let C(U) be the
matrix (1 + Σ_U A_uᵀA_u)^{-1}, and α the ratio of the least eigenvalue of F C(all) Fᵀ to the largest
of F Fᵀ if F has full column rank, otherwise 0.

**Theorem** (Chamon and Ribeiro).  For U ⊂ V and a unit u outside, the decrease of φ by u at U is at
least α times that at V.  So after g greedy steps the decrease of φ is at least
1 − e^{−αg/k} times that of the best k units.

*Proof.*  With coordinates in which F is the identity the decrease is tr((1 + aᵀCa)^{-1} aᵀC²a),
a = A_uᵀ.  It lies between λ_min(C) and λ_max(C) times t(C) = tr((1 + aᵀCa)^{-1} aᵀCa), and t grows
with C, which falls from U to V.  The second sentence is the usual argument: the best k units
together decrease φ at most by the sum of what each adds, divided by α. ∎

α is small where directions are sloppy, and 0 where the target does not move with all parameters:
two units may be useless one by one and together show the target.  So the choice is called optimal
nowhere, and the lower bound is printed beside it.

References
----------
L. F. O. Chamon, A. Ribeiro, "Approximate supermodularity bounds for experimental design", NeurIPS
2017; L. F. O. Chamon, G. J. Pappas, A. Ribeiro, "Approximate supermodularity of Kalman filter
sensor selection", IEEE Trans. Autom. Control 66 (2021).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from itertools import combinations, pairwise
from numbers import Real
from typing import Any

import numpy as np

from algebra.documents import Document, Paragraph, Step
from algebra.errors import InputError, Unfinished, shown
from algebra.given import known_name
from algebra.matroids.optimum import TARGET
from algebra.plugins.circuits.elements import Recordable, numbers_of, title
from algebra.plugins.circuits.proof import TargetEvidence
from algebra.plugins.circuits.question import RecordingQuestion, recording_question
from algebra.plugins.circuits.recording import fibre_of, labels_question, record
from algebra.plugins.circuits.result import Recording
from algebra.plugins.circuits.target import asks_weights, target_states, weights_states
from algebra.problems.problem import Problem
from algebra.questions.identify.fibre import Fibre
from algebra.questions.identify.identification import Identification
from algebra.ranks.generic_rank import GenericRank
from algebra.time_limits import (
    OutOfTime,
    check_time,
    checked,
    is_over,
    time_left,
    unlimited,
    within,
)
from algebra.words import some
from numeric.plugins.circuits.sensitivities import Sensitivity, sensitivity
from numeric.plugins.circuits.simulated_fits import SimulatedFits, simulated_fits

# Largest and least number of steps of Frank and Wolfe without a larger bound, after which the bound
# stays, and the products of two doubles that they may take together in between.
_STEPS = 40
_FEW_STEPS = 5
_PRODUCTS = 1e11
# Number of elements in a text, and of sizes.
_MOST = 24
_FEW_NAMES = 6
_FEW_SIZES = 8
# Elements of which all sets are compared, if the products of doubles are at most so many; sizes of
# a greedy choice.
_FEW_ELEMENTS = 12
_COMPARED = 2e9
_SIZES = 24
_NEAR_LEAST = 1.01


# -- the best elements of each number -----------------------------------------------------------


@dataclass(frozen=True)
class Best:
    """Elements of one number with a small predicted deviation.

    Attributes
    ----------
    chosen : tuple of int
        In the order of the elements.
    deviation : float
        Of all numbers of the target.
    is_least : bool
        Whether all sets of this number were compared; otherwise the choice is greedy.
    """

    chosen: tuple[int, ...]
    deviation: float
    is_least: bool


def best_of_each_size(found: Sensitivity, sigma: float) -> tuple[Best, ...]:
    """For each number of elements, from the required ones on, a set with a small deviation.

    All sets that keep the caps are compared if they are few, otherwise an element is added at a
    time (see `Greedy`).

    Parameters
    ----------
    found : Sensitivity
    sigma : float
    """
    question = found.question
    must, free = sorted(question.must), question.free
    rows, columns = found.rows.shape
    work = (1 << min(len(free), 60)) * max(rows, columns) * min(rows, columns) ** 2

    def keeps_caps(chosen: Sequence[int]) -> bool:
        return all(
            max(Counter(question.classes(kind)[k] for k in chosen).values(), default=0) <= most
            for kind, most in question.caps
        )

    best: list[Best] = []
    if len(free) <= _FEW_ELEMENTS and work <= _COMPARED:
        for size in range(len(free) + 1):
            every = [
                (found.total(chosen, sigma), chosen)
                for more in checked(combinations(free, size))
                if keeps_caps(chosen := tuple(sorted((*must, *more))))
            ]
            if every:
                deviation, chosen = min(every)
                best.append(Best(chosen, deviation, True))
        return tuple(best)
    allowed = question.allowed
    place = {k: i for i, k in enumerate(allowed)}
    state: Greedy | GreedyPairs
    if question.drives:
        state, place = GreedyPairs(found, sigma), {k: k for k in allowed}
    else:
        state = Greedy(found.parts(allowed, sigma), found.aims)
    for k in must:
        state.add(place[k])
    taken, left = list(must), list(free)
    best = [Best(tuple(taken), found.total(taken, sigma), not len(taken))]
    while len(best) <= _SIZES:
        if is_over() and len(best) > 1:
            # The sets so far are greedy choices as well.
            break
        check_time()
        left = [k for k in left if keeps_caps([*taken, k])]
        if not left:
            break
        chosen_next = max(left, key=lambda k: state.gain(place[k]))
        state.add(place[chosen_next])
        left.remove(chosen_next)
        taken.append(chosen_next)
        best.append(Best(tuple(sorted(taken)), found.total(taken, sigma), len(best) == 1))
    return tuple(best)


def enough(best: Sequence[Best]) -> Best:
    """The fewest elements whose deviation is within a hundredth of the least."""
    least = min(own.deviation for own in best)
    return next(own for own in best if own.deviation <= _NEAR_LEAST * least)


# -- the fewest elements below an error ---------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """Elements chosen so that the predicted error is below a bound.

    Attributes
    ----------
    chosen : tuple of int
        In the order of the choice, required ones first.
    errors : tuple of float
        The deviation of all numbers of the target without a recording, and after each element that
        was chosen after the required ones (these count as one).
    least : int
        No smaller number of elements is enough, as far as doubles show.
    """

    chosen: tuple[int, ...]
    errors: tuple[float, ...]
    least: int


class GreedyPairs:
    """The sum of variances of the target, if units may be driven.

    What an element adds depends on the stimulations, so its rows are taken when it is tried.

    Parameters
    ----------
    found : Sensitivity
    sigma : float
    """

    def __init__(self, found: Sensitivity, sigma: float) -> None:
        self.found, self.rows = found, found.rows * (found.prior / sigma)
        self.covariance, self.chosen = np.eye(len(found.prior)), frozenset[int]()

    def _new(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows that an element adds, times the covariance; and the covariance of their sums."""
        new = self.found.kept(self.chosen | {k}) & ~self.found.kept(self.chosen)
        rows = self.rows[new]
        if rows.shape[0] > rows.shape[1]:
            rows = np.asarray(np.linalg.qr(rows, mode="r"))
        known = rows @ self.covariance
        return known, np.eye(len(rows)) + known @ rows.T

    def gain(self, k: int) -> float:
        """The decrease of the sum by an element."""
        known, own = self._new(k)
        seen = known @ self.found.aims.T
        return float((np.linalg.solve(own, seen) * seen).sum())

    def add(self, k: int) -> None:
        """Record an element, or drive a unit."""
        known, own = self._new(k)
        self.covariance -= known.T @ np.linalg.solve(own, known)
        self.chosen |= {k}


class Greedy:
    """The sum of variances of the target, element by element.

    Of C, the covariance so far, only A_u C for the rows of all elements and A_u C Fᵀ are kept; a
    new element changes both by a matrix of its own rank.

    Parameters
    ----------
    parts : sequence of ndarray
        A_u of each element (`Sensitivity.parts`).
    aims : ndarray
        F (`Sensitivity.aims`).

    Attributes
    ----------
    total : float
        φ of the elements so far.
    """

    def __init__(self, parts: Sequence[np.ndarray], aims: np.ndarray) -> None:
        self.parts = parts
        ends = np.cumsum([0, *map(len, parts)])
        self.places = [slice(a, b) for a, b in pairwise(ends)]
        self.rows = np.concatenate(parts)
        self.known, self.seen = self.rows.copy(), self.rows @ aims.T
        self.total = float((aims**2).sum())

    def gain(self, k: int) -> float:
        """The decrease of the sum by an element."""
        at = self.places[k]
        own = np.eye(at.stop - at.start) + self.known[at] @ self.rows[at].T
        return float((np.linalg.solve(own, self.seen[at]) * self.seen[at]).sum())

    def add(self, k: int) -> None:
        """Record an element."""
        at = self.places[k]
        self.total -= self.gain(k)
        own = np.eye(at.stop - at.start) + self.known[at] @ self.rows[at].T
        share = np.linalg.solve(own, (self.known @ self.rows[at].T).T).T
        known, seen = self.known[at].copy(), self.seen[at].copy()
        self.known -= share @ known
        self.seen -= share @ seen


def fewest(
    found: Sensitivity, allowed: Sequence[int], must: Sequence[int], sigma: float, below: float
) -> Choice | None:
    """A greedy choice, and a lower bound of the number of elements; None if all are not enough.

    Parameters
    ----------
    found : Sensitivity
    allowed, must : sequence of int
        Elements that may be, and that must be recorded.
    sigma : float
    below : float
        Bound of the root mean square of the deviations of all numbers of the target.
    """
    numbers, aims = len(found.target), found.aims
    wanted = below**2 * numbers

    def error(chosen: Sequence[int]) -> float:
        return float(((aims @ found.covariance(chosen, sigma)) * aims).sum())

    if error(allowed) >= wanted:
        return None
    parts = found.parts(allowed, sigma)
    state, place = Greedy(parts, aims), {k: i for i, k in enumerate(allowed)}
    sums = [state.total]
    for k in must:
        state.add(place[k])
    if must:
        sums.append(state.total)
    chosen = list(must)
    left = [i for i, k in enumerate(allowed) if k not in set(must)]
    while state.total >= wanted or (chosen and error(chosen) >= wanted):
        check_time()
        best = max(left, key=state.gain)
        state.add(best)
        left.remove(best)
        chosen.append(allowed[best])
        sums.append(state.total)
    # The sums are differences; the last one is computed from what is recorded.
    sums[-1] = error(chosen)
    least = _least(parts, aims, [place[k] for k in must], len(chosen), wanted)
    errors = np.sqrt(np.maximum(sums, 0) / numbers)
    return Choice(tuple(chosen), tuple(errors.tolist()), least)


def _least(
    parts: Sequence[np.ndarray], aims: np.ndarray, must: list[int], most: int, wanted: float
) -> int:
    """The least number of elements, at most `most`, that the convex bound leaves open."""
    least, count = len(must), len(parts)
    if most == least:
        return least
    rows = np.concatenate(parts)
    owner = np.repeat(np.arange(count), [len(part) for part in parts])
    x = np.full(count, (least + 1) / count)
    step, cost = 0, rows.size * (rows.shape[1] + len(aims))
    steps = max(_FEW_STEPS, min(_STEPS, int(_PRODUCTS / max(1, cost))))
    while least < most and step < steps:
        check_time()
        inverse = np.linalg.inv(np.eye(rows.shape[1]) + (rows.T * x[owner]) @ rows)
        moved = aims @ inverse
        slopes = -np.bincount(owner, ((rows @ moved.T) ** 2).sum(axis=1), minlength=count)
        rest = np.argsort(slopes, kind="stable")
        order = [*must, *(k for k in rest.tolist() if k not in must)]
        # Bounds for each number of elements.
        base = float((moved * aims).sum()) - float(slopes @ x)
        bounds = base * (1 - 1e-9) + np.concatenate([[0.0], np.cumsum(slopes[order])])
        before = least
        while least < most and bounds[least] >= wanted:
            least += 1
        step = 0 if least > before else step + 1
        corner = np.zeros(count)
        corner[order[:least]] = 1
        x += 2 / (step + 3) * (corner - x)
    return least


def supermodularity(found: Sensitivity, allowed: Sequence[int], sigma: float) -> float:
    """α of the greedy choice's guarantee: 0 if the target does not move with all parameters."""
    F = found.aims
    if len(F) < F.shape[1]:
        return 0.0
    everything = np.linalg.eigvalsh(F @ found.covariance(allowed, sigma) @ F.T)
    return float(max(0.0, everything[0]) / np.linalg.norm(F, 2) ** 2)


# -- results -------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Predicted:
    """What a result says of the error of its target: fields beside those of the result.

    Attributes
    ----------
    sigma : float
        Standard deviation of the noise of recorded numbers.
    singular_values : tuple of float
        Of the derivatives of the recorded numbers at the circuit's own parameters.
    singular_value_error : float or None
        Bound of their errors; None if the rows are too many for it.
    deviation : tuple of float
        Predicted standard deviation of each element of the target.
    total : float
        The same of all numbers of the target.
    fits : SimulatedFits or None
        How many simulated fits end elsewhere.
    """

    sigma: float = 0.0
    singular_values: tuple[float, ...] = field(default=(), repr=False)
    singular_value_error: float | None = None
    deviation: tuple[float, ...] = ()
    total: float = 0.0
    fits: SimulatedFits | None = None
    sensitivity: Sensitivity | None = field(default=None, repr=False, compare=False)

    def deviation_with(self, names: Sequence[str]) -> float:
        """The predicted deviation of the target if other elements are recorded.

        Parameters
        ----------
        names : sequence of str
            Of elements that may be recorded; none: the deviation before any recording.
        """
        assert self.sensitivity is not None
        question = self.sensitivity.question
        known = numbers_of(question.elements, question.parametrized.names)
        known = {name: k for name, k in known.items() if k in question.allowed}
        for name in names:
            known_name(name, "names", known)
        return self.sensitivity.total([known[name] for name in names], self.sigma)

    def with_deviations(self, found: dict[str, Any]) -> dict[str, Any]:
        """The result as plain data, with ``noise``, ``singular_values`` and the deviations."""
        for entry, deviation in zip(found["target"], self.deviation, strict=True):
            entry["deviation"] = deviation
        return found | {
            "noise": self.sigma,
            "deviation": self.total,
            "deviation_before": self.deviation_with([]),
            "singular_values": list(self.singular_values),
            "singular_value_error": self.singular_value_error,
            **({} if self.fits is None else self.fits.to_dict()),
        }

    @property
    def lines(self) -> list[str]:
        """The predicted deviations and the singular values, in words."""
        values = [f"{value:.3g}" for value in self.singular_values]
        shown_values = ", ".join(values if len(values) < 9 else [*values[:4], "…", *values[-3:]])
        error = self.singular_value_error
        assert self.sensitivity is not None
        kinks = self.sensitivity.question.parametrized.network.has_kinks
        place = "at these parameters" + " and on their activation pattern" * kinks
        return [
            f"  {place}, noise {self.sigma:g}: predicted deviation of the target "
            f"{self.total:.3g}, between {min(self.deviation):.3g} and {max(self.deviation):.3g}, "
            "for fits that end near the truth (compare their median; what ends elsewhere is not "
            f"in it); without a recording {self.deviation_with([]):.3g}",
            *([] if self.fits is None else [f"  {self.fits}"]),
            f"  singular values at these parameters: {shown_values or 'none'}"
            + ("" if error is None else f" (each within {error:.1e})"),
        ]


@dataclass(frozen=True, repr=False)
class NoisyIdentification(Predicted, Identification):
    """What labels with noise say about a target: `identify` with the predicted error."""

    def to_dict(self) -> dict[str, Any]:
        """Beside the keys of an identification those of `Predicted`."""
        return self.with_deviations(super().to_dict())

    def document(self) -> Document:
        """What is determined, with the predicted error."""
        found = super().document()
        return replace(found, parts=(*found.parts, *map(Paragraph, self.lines)))


@dataclass(frozen=True, repr=False)
class NoisyRecording(Predicted, Recording):
    """A recording with the predicted error of its target.

    Attributes
    ----------
    below : float or None
        The required error, if the recording was chosen for it.
    path : tuple of (Recordable, float)
        Elements in the order of such a choice, with the predicted deviation of the target when
        they and those before are recorded (required ones are recorded first, together).
    supermodularity : float or None
        α of the choice's guarantee, in doubles.
    by_deviation : bool
        Whether the elements were chosen by the deviation, since a part of the target stays free
        whatever is recorded.
    curve : tuple of Best
        For each number of elements a set with a small deviation.
    """

    below: float | None = None
    path: tuple[tuple[Recordable, float], ...] = field(default=(), repr=False)
    supermodularity: float | None = None
    by_deviation: bool = False
    curve: tuple[Best, ...] = field(default=(), repr=False)

    @property
    def _is_chosen(self) -> bool:
        """Whether the elements were chosen by deviations, in place of ranks."""
        return self.by_deviation or self.below is not None

    @property
    def is_optimal(self) -> bool:
        """Whether the cost is proved to be the least: not by deviations in doubles."""
        return not self._is_chosen and super().is_optimal

    @property
    def is_stopped(self) -> bool:
        """Whether a search was stopped."""
        return not self._is_chosen and super().is_stopped

    def _precision(self) -> list[str]:
        return []

    def _under_noise(self) -> list[Step]:
        return []

    def titles(self, chosen: Sequence[int]) -> list[str]:
        """The names of some elements, with those of units."""
        return [title(self.question.elements[k], self.problem.names) for k in chosen]

    def to_dict(self) -> dict[str, Any]:
        """Beside the keys of a recording those of `Predicted`, and the path of a choice."""
        return self.with_deviations(super().to_dict()) | {
            "below": self.below,
            "by_deviation": self.by_deviation,
            "curve": [
                {
                    "number": len(best.chosen),
                    "deviation": best.deviation,
                    "recorded": [self.question.elements[k].name for k in best.chosen],
                    "least": best.is_least,
                }
                for best in self.curve
            ],
            "path": [[element.name, deviation] for element, deviation in self.path],
            "supermodularity": self.supermodularity,
        }

    def proof_file(self) -> dict[str, Any]:
        """See `Recording.proof_file`; a choice by deviations has none.

        Raises
        ------
        InputError
        """
        if self._is_chosen:
            raise InputError(
                "a choice by predicted deviations has no proof file: record without `noise`"
            )
        return super().proof_file()

    def document(self) -> Document:
        """The recording, with the predicted error."""
        found, lines = super().document(), self.lines
        if self.below is None:
            lines += self._curve_lines()
        if not self._is_chosen:
            return replace(found, parts=(*found.parts, *map(Paragraph, lines)))
        count, least = len(self.recorded), self.bound
        if self.by_deviation:
            return self._by_deviation(found, lines)
        lines.insert(
            0,
            f"  predicted deviation below {self.below:g} at these parameters: a greedy choice of "
            f"{count}; at least {least} are needed (a bound in doubles, not a proof)",
        )
        if len(self.path) > 1:
            steps = [
                f"{title(element, self.problem.names)} {deviation:.3g}"
                for element, deviation in self.path
            ]
            lines.insert(1, f"  deviation after each: {some(steps, _MOST)}")
        of = len(self.question.allowed)
        facts = {"noise": self.sigma, "below": self.below, "recorded": count, "at_least": least}
        listed = some(list(self.names), _MOST) or "nothing"
        return Document(f"record {count} of {of}: {listed}", facts, tuple(map(Paragraph, lines)))

    def _curve_lines(self) -> list[str]:
        """The deviations that few elements reach."""
        if len(self.curve) < 2:
            return []
        if len(self.curve) <= _FEW_SIZES:
            some_of = list(self.curve)
        else:
            some_of = [*self.curve[: _FEW_SIZES - 1], self.curve[-1]]
        of, lines = len(self.question.allowed), ["  least predicted deviation by their number:"]
        for best in some_of:
            names = some(self.titles(best.chosen), _FEW_NAMES) or "nothing"
            how = "" if best.is_least or best.deviation == self.total else ", a greedy choice"
            lines.append(f"    {len(best.chosen)} of {of}: {best.deviation:.3g} ({names}{how})")
        return lines

    def _by_deviation(self, found: Document, lines: list[str]) -> Document:
        """The document of a choice by the deviation."""
        count, of = len(self.recorded), self._most_recorded
        listed = ", ".join([some(list(self.names), _MOST) or "nothing", *self._driven_units()])
        facts = {
            "noise": self.sigma, "recorded": f"{count} of {of}", "cost": self.cost,
            "deviation": f"{self.total:.3g}", "rank": self.rank.rank, "learnable": self.learnable,
        }  # fmt: skip
        aim = [] if self.aim is None else self.aim.lines()
        m = self.question.asked.network.m
        why = replace(
            found.why, open="the activities of the target that stay free", steps=(),
            decided_by=f"more samples (m = {m} here), or other elements recorded",
        )  # fmt: skip
        return Document(
            f"record {self.counted} at cost {self.cost}: {listed}; predicted "
            f"deviation {self.total:.3g}, {self.deviation_with([]):.3g} without a recording"
            + self._stays_free(),
            facts, tuple(map(Paragraph, [*aim, *lines])), why,
        )  # fmt: skip


def positive(name: str, value: float) -> None:
    """Refuse noise, or an error, that is not above 0.

    Raises
    ------
    InputError
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < np.inf:
        raise InputError(f"`{name}` ({shown(value)}) must be a number above 0")


def noisy_recording(
    problem: Problem, what: str | Sequence[str], sigma: float, below: float | None,
    *, seed: int = 0, students: int = 0, **options: Any,
) -> NoisyRecording:  # fmt: skip
    """A recording with the predicted error of its target, or one chosen for an error.

    Parameters
    ----------
    problem : Problem
    what : str or sequence of str
    sigma : float
        Standard deviation of the noise, above 0.
    below : float, optional
        The required deviation: then the fewest elements are chosen greedily.
    seed : int, optional
    students : int, optional
        Number of simulated fits (`numeric.plugins.circuits.simulated_fits`).
    **options
        Of `algebra.plugins.circuits.recording.record`.

    Raises
    ------
    Unfinished
        If recording everything is not enough.
    """
    positive("noise", sigma)
    if not options.get("target"):
        raise InputError(
            "`noise`: name a `target`, the activities whose error is predicted, or weights"
        )
    if asks_weights(options["target"]):
        options["target"] = ()
    if below is None:
        # The other half of the time is for derivatives and deviations.
        with within(time_left() / 2):
            known = record(problem, what, seed=seed, **options)
        if known.question.target is None:
            known = replace(known, aim=weights_states(known.question, known.fibre))
        try:
            found = sensitivity(known.question, seed)
            more: dict[str, Any] = {"curve": best_of_each_size(found, sigma)}
        except (KeyboardInterrupt, OutOfTime) as end:
            raise Unfinished(_without_deviations(known, end)) from None
        if any(state.free for state in known.target) and known.question.free:
            with suppress(OutOfTime):
                # Otherwise the choice by ranks remains, beside the curve.
                known = _choice(
                    known.question, enough(more["curve"]).chosen, Fraction(0), known.rank,
                    known.fibre,
                )  # fmt: skip
                more["by_deviation"] = True
    else:
        positive("below", below)
        known, found, more = _chosen(problem, what, sigma, below, seed, options)
    recorded = {*known.recorded, *known.stimulated}
    chosen = [k for k, e in enumerate(known.question.elements) if e in recorded]
    own = {f.name: getattr(known, f.name) for f in fields(Recording)}
    return NoisyRecording(**own, **_predicted(found, chosen, sigma, students), below=below, **more)


def _without_deviations(known: Recording | Identification, end: BaseException) -> str:
    what = "interrupted" if isinstance(end, KeyboardInterrupt) else "out of time"
    least = f" (no cost is below {known.bound})" if isinstance(known, Recording) else ""
    return (
        f"{what} before the deviations were known; without noise the answer is: "
        f"{known.document().title}{least}; allow more time"
    )


def _chosen(
    problem: Problem, what: str | Sequence[str], sigma: float, below: float, seed: int,
    options: dict[str, Any],
) -> tuple[Recording, Sensitivity, dict[str, Any]]:  # fmt: skip
    """A greedy choice for an error, as a recording."""
    for name in ("costs", "caps", "stimulate"):
        if options.get(name):
            raise InputError(f"`below`: recorded elements are counted there, without {name}")
    aims = {k: options[k] for k in ("must", "forbidden", "target") if k in options}
    question = recording_question(problem, what, seed=seed, **aims)
    found = sensitivity(question, seed)
    try:
        choice = fewest(found, question.allowed, sorted(question.must), sigma, below)
    except (KeyboardInterrupt, OutOfTime):
        with unlimited():
            most = found.deviations(question.allowed, sigma)[1]
        raise Unfinished(
            f"`below` ({below:g}): out of time before few elements were chosen; with all "
            f"{len(question.allowed)} recorded the predicted deviation is {most:.3g}: allow more "
            "time"
        ) from None
    if choice is None:
        most = found.deviations(question.allowed, sigma)[1]
        raise Unfinished(
            f"`below` ({below:g}): with all {len(question.allowed)} elements recorded the "
            f"predicted deviation is {most:.3g}; record more samples, or with less noise"
        )
    order = [question.elements[k] for k in choice.chosen]
    fibre = fibre_of(question, question.rank)
    known = _choice(question, choice.chosen, Fraction(choice.least), question.rank, fibre)
    steps = choice.errors[1:]
    path = tuple(zip(order[len(order) - len(steps) :], steps, strict=True))
    alpha = supermodularity(found, question.allowed, sigma)
    return known, found, {"path": path, "supermodularity": alpha}


def _choice(
    question: RecordingQuestion, chosen: Sequence[int], bound: Fraction, rank: GenericRank,
    fibre: Fibre,
) -> Recording:  # fmt: skip
    """Elements chosen by deviations, as a recording."""
    elements = frozenset(chosen)
    aim = (
        weights_states(question, fibre)
        if question.target is None
        else target_states(question, elements, TARGET)
    )
    driven = elements.intersection(question.drives)
    return Recording(
        question, tuple(question.elements[k] for k in sorted(elements - driven)),
        question.cost(elements), bound, rank, fibre, Fraction(1), (),
        "a choice by predicted deviations in doubles", TargetEvidence((), ()),
        aim=aim, stimulated=tuple(question.elements[k] for k in sorted(driven)),
    )  # fmt: skip


def noisy_identification(
    found: Identification, problem: Problem, target: str | Sequence[str], sigma: float, seed: int,
    students: int = 0,
) -> NoisyIdentification:  # fmt: skip
    """What labels with noise say about a target.

    Parameters
    ----------
    found : Identification
        With the target.
    problem : Problem
    target : str or sequence of str
    sigma : float
    seed : int
    students : int, optional
    """
    question = labels_question(problem, target, seed)
    own = {f.name: getattr(found, f.name) for f in fields(Identification)}
    try:
        derivatives = sensitivity(question, seed)
    except (KeyboardInterrupt, OutOfTime) as end:
        raise Unfinished(_without_deviations(found, end)) from None
    return NoisyIdentification(**own, **_predicted(derivatives, question.allowed, sigma, students))


def _predicted(
    found: Sensitivity, chosen: Sequence[int], sigma: float, students: int
) -> dict[str, Any]:  # fmt: skip
    """The fields of `Predicted`."""
    try:
        values, error = found.singular_values(chosen)
    except OutOfTime:
        # Their bound takes the time: at most some seconds, without which there is no answer.
        with unlimited():
            values, error = found.singular_values(chosen)
    deviation, total = found.deviations(chosen, sigma)
    return {
        "sigma": float(sigma),
        "singular_values": tuple(values.tolist()),
        "singular_value_error": error,
        "deviation": tuple(deviation.tolist()),
        "total": total,
        "fits": simulated_fits(found, chosen, sigma, students) if students else None,
        "sensitivity": found,
    }
