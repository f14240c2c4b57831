r"""How well recordings determine a target under noise: linear theory at a circuit's parameters.

Ranks say whether a recording determines a target; noise says how well.  Let J be the Jacobian of
the recorded numbers and T that of the target, in doubles at one instance of the law: the circuit's
own weights and samples (`numeric.sensitivities`).  Recorded numbers have independent noise of
standard deviation σ.  Before the recording each learnable weight is known as its law says, with
standard deviation s_k (that of the matrix's entries, of the jitter of measured ones; 1 for a gain),
S = diag(s_k).

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

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from algebra.documents import Document, Paragraph
from algebra.errors import InputError, Unfinished, known_name, shown
from algebra.matroids.optimum import TARGET
from algebra.networks.limits import some
from algebra.problems.problem import Problem
from algebra.questions.identify.identification import Identification
from algebra.questions.record.elements import Recordable, numbers_of, title
from algebra.questions.record.proof import TargetEvidence
from algebra.questions.record.question import recording_question
from algebra.questions.record.recording import fibre_of, labels_question, record
from algebra.questions.record.result import Recording
from algebra.questions.record.target import target_states
from algebra.time_limits import check_time
from numeric.sensitivities import Sensitivity, sensitivity

# Largest and least number of steps of Frank and Wolfe without a larger bound, after which the bound
# stays, and the products of two doubles that they may take together in between.
_STEPS = 40
_FEW_STEPS = 5
_PRODUCTS = 1e11
# Number of elements in a text.
_MOST = 24


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
    """

    sigma: float = 0.0
    singular_values: tuple[float, ...] = field(default=(), repr=False)
    singular_value_error: float | None = None
    deviation: tuple[float, ...] = ()
    total: float = 0.0
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
            f"{self.total:.3g}, between {min(self.deviation):.3g} and {max(self.deviation):.3g}; "
            f"without a recording {self.deviation_with([]):.3g}",
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
    """

    below: float | None = None
    path: tuple[tuple[Recordable, float], ...] = field(default=(), repr=False)
    supermodularity: float | None = None

    @property
    def is_optimal(self) -> bool:
        """Whether the cost is proved to be the least: not by a bound in doubles."""
        return self.below is None and super().is_optimal

    @property
    def is_stopped(self) -> bool:
        """Whether a search was stopped."""
        return self.below is None and super().is_stopped

    def to_dict(self) -> dict[str, Any]:
        """Beside the keys of a recording those of `Predicted`, and the path of a choice."""
        return self.with_deviations(super().to_dict()) | {
            "below": self.below,
            "path": [[element.name, deviation] for element, deviation in self.path],
            "supermodularity": self.supermodularity,
        }

    def proof_file(self) -> dict[str, Any]:
        """See `Recording.proof_file`; a choice for an error has none.

        Raises
        ------
        InputError
        """
        if self.below is not None:
            raise InputError("`below`: a choice for a predicted error has no proof file")
        return super().proof_file()

    def document(self) -> Document:
        """The recording, with the predicted error."""
        found, lines = super().document(), self.lines
        if self.below is None:
            return replace(found, parts=(*found.parts, *map(Paragraph, lines)))
        count, least = len(self.recorded), self.bound
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
    *, seed: int = 0, **options: Any,
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
    **options
        Of `algebra.questions.record.recording.record`.

    Raises
    ------
    Unfinished
        If recording everything is not enough.
    """
    positive("noise", sigma)
    if not options.get("target"):
        raise InputError("`noise`: name a `target`, the activities whose error is predicted")
    if below is None:
        known = record(problem, what, seed=seed, **options)
        found = sensitivity(known.question, seed)
        more: dict[str, Any] = {}
    else:
        positive("below", below)
        known, found, more = _chosen(problem, what, sigma, below, seed, options)
    recorded = set(known.recorded)
    chosen = [k for k, e in enumerate(known.question.elements) if e in recorded]
    own = {f.name: getattr(known, f.name) for f in fields(Recording)}
    return NoisyRecording(**own, **_predicted(found, chosen, sigma), below=below, **more)


def _chosen(
    problem: Problem, what: str | Sequence[str], sigma: float, below: float, seed: int,
    options: dict[str, Any],
) -> tuple[Recording, Sensitivity, dict[str, Any]]:  # fmt: skip
    """A greedy choice for an error, as a recording."""
    for name in ("costs", "caps"):
        if options.get(name):
            raise InputError(f"`below`: elements are counted there, without {name}")
    aims = {k: options[k] for k in ("must", "forbidden", "target") if k in options}
    question = recording_question(problem, what, seed=seed, **aims)
    found = sensitivity(question, seed)
    choice = fewest(found, question.allowed, sorted(question.must), sigma, below)
    if choice is None:
        most = found.deviations(question.allowed, sigma)[1]
        raise Unfinished(
            f"`below` ({below:g}): with all {len(question.allowed)} elements recorded the "
            f"predicted deviation is {most:.3g}; record more samples, or with less noise"
        )
    order = [question.elements[k] for k in choice.chosen]
    chosen = frozenset(choice.chosen)
    known = Recording(
        question, tuple(question.elements[k] for k in sorted(chosen)),
        question.cost(chosen), Fraction(choice.least), question.rank,
        fibre_of(question, question.rank), Fraction(1), (),
        "a greedy choice, with a lower bound in doubles", TargetEvidence((), ()),
        aim=target_states(question, chosen, TARGET),
    )  # fmt: skip
    steps = choice.errors[1:]
    path = tuple(zip(order[len(order) - len(steps) :], steps, strict=True))
    alpha = supermodularity(found, question.allowed, sigma)
    return known, found, {"path": path, "supermodularity": alpha}


def noisy_identification(
    found: Identification, problem: Problem, target: str | Sequence[str], sigma: float, seed: int
) -> NoisyIdentification:
    """What labels with noise say about a target.

    Parameters
    ----------
    found : Identification
        With the target.
    problem : Problem
    target : str or sequence of str
    sigma : float
    seed : int
    """
    question = labels_question(problem, target, seed)
    own = {f.name: getattr(found, f.name) for f in fields(Identification)}
    derivatives = sensitivity(question, seed)
    return NoisyIdentification(**own, **_predicted(derivatives, question.allowed, sigma))


def _predicted(found: Sensitivity, chosen: Sequence[int], sigma: float) -> dict[str, Any]:
    """The fields of `Predicted`."""
    values, error = found.singular_values(chosen)
    deviation, total = found.deviations(chosen, sigma)
    return {
        "sigma": float(sigma),
        "singular_values": tuple(values.tolist()),
        "singular_value_error": error,
        "deviation": tuple(deviation.tolist()),
        "total": total,
        "sensitivity": found,
    }
