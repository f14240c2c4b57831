r"""How well recordings determine a target under noise: linear theory at a circuit's parameters.

Ranks say whether a recording determines a target; noise says how well.  Let J be the Jacobian of
the recorded numbers and T that of the target, in doubles at one instance of the law: the circuit's
own weights and samples.  Recorded numbers have independent noise of standard deviation σ.  Before
the recording each learnable weight is known as its law says, with standard deviation s_k (that of
the matrix's entries; 1 for a gain), P = diag(s_k^{-2}).

**Prediction.**  To first order the posterior of the weights has the covariance
:math:`C = (P + JᵀJ/σ²)^{-1}`, and the target :math:`T C Tᵀ`.  It is the covariance, over noise and
over starting points drawn by the law, of the error of a fit that minimizes
|z − z(θ)|²/σ² + |P^{1/2}(θ − start)|².  The deviation of an activity is the root mean square over
its numbers.  Directions with singular values of J far above σ/s are *stiff*, those far below
*sloppy*: a full rank does not show them.

**Singular values** s_i are those of the doubles computed, with a bound of their distance from those
of the true Jacobian at these doubles: J is enclosed in balls (mid, rad), and with the computed
factors U, V and D = diag(s)

.. math:: |σ_i(J) − s_i| ≤ ‖rad‖_F + ‖mid − U D Vᵀ‖_F + s_i (\sqrt{(1+f)(1+g)} − 1),
   \quad f = ‖UᵀU − I‖_F, \; g = ‖VᵀV − I‖_F,

by Weyl's inequality and Ostrowski's theorem (for f, g < 1/4 twice the last term bounds both sides);
norms of products of doubles are increased by their rounding errors.

**Fewest units.**  φ(x) = tr T (P + Σ x_u J_uᵀJ_u/σ²)^{-1} Tᵀ is convex in x.  So for every x, and
every set of k units, φ(set) ≥ φ(x) − ∇φ·x + the sum of the k least entries of ∇φ(x): the least k
for which this may be below the wanted error is a lower bound, maximized over x by Frank and Wolfe's
steps.  The greedy choice has the guarantee of approximately supermodular functions only (Chamon,
Pappas and Ribeiro, "Approximate supermodularity of Kalman filter sensor selection", IEEE Trans.
Autom. Control 66, 2021): it is called optimal only if it meets the lower bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from operator import matmul, truediv
from typing import Any

import numpy as np

from algebra.documents import Document, Paragraph
from algebra.errors import InputError, Unfinished, shown
from algebra.matroids.optimum import TARGET
from algebra.networks.activated import ActivatedNetwork
from algebra.networks.base import Cell
from algebra.problems.problem import Problem
from algebra.problems.updates import Gain, LowRank
from algebra.programs.balls import as_balls, ball_product
from algebra.programs.jacobian import program_jacobian
from algebra.questions.record.proof import TargetEvidence
from algebra.questions.record.question import RecordingQuestion, recording_question
from algebra.questions.record.recording import fibre_of, record
from algebra.questions.record.result import Recording
from algebra.questions.record.target import Owners, target_states
from algebra.ranks.parametrized import Parametrized
from algebra.time_limits import check_time
from numeric.instances import draw_instance, factor_of

# Entries of a Jacobian up to which it is enclosed in balls.
_ENCLOSED = 40_000
_ROUNDING = 2.0**-53
# Steps of Frank and Wolfe for each number of units.
_STEPS = 60


@dataclass(frozen=True)
class Sensitivity:
    """Derivatives in doubles at the circuit's own parameters.

    Attributes
    ----------
    rows, owner : ndarray
        Of what may be recorded: numbers × parameters, and the element of each number.
    target, target_owner : ndarray
        Of the target.
    prior : ndarray, shape (parameters,)
        Standard deviations before the recording.
    radius : float or None
        Bound of the Frobenius norm of the error of `rows`; None if it was not computed.
    """

    rows: np.ndarray
    owner: np.ndarray
    target: np.ndarray
    target_owner: np.ndarray
    prior: np.ndarray
    radius: float | None

    def deviations(self, chosen: Sequence[int], sigma: float) -> np.ndarray:
        """The predicted standard deviation of each element of the target."""
        covariance = np.linalg.inv(self.information(chosen, sigma))
        variance = np.einsum("ij,jk,ik->i", self.target, covariance, self.target)
        sums = np.bincount(self.target_owner, variance)
        return np.asarray(np.sqrt(sums / np.bincount(self.target_owner)))

    def information(self, chosen: Sequence[int], sigma: float) -> np.ndarray:
        """P + JᵀJ/σ² of some elements."""
        rows = self.rows[np.isin(self.owner, list(chosen))]
        return np.asarray(np.diag(self.prior**-2) + rows.T @ rows / sigma**2)

    def singular_values(self, chosen: Sequence[int]) -> tuple[np.ndarray, float | None]:
        """Singular values of the rows of some elements, and a bound of their errors."""
        J = self.rows[np.isin(self.owner, list(chosen))]
        U, s, V = np.linalg.svd(J, full_matrices=False)
        if self.radius is None or not s.size:
            return s, None
        norm, width = float(np.linalg.norm(J)), max(J.shape) + 2

        def gap(A: np.ndarray) -> float:
            found = np.linalg.norm(A.T @ A - np.eye(A.shape[1]))
            return float(found) + width * _ROUNDING * float(np.linalg.norm(A)) ** 2

        f, g = gap(U), gap(V.T)
        rest = float(np.linalg.norm(J - (U * s) @ V))
        rest += 4 * width * _ROUNDING * (norm + float(np.linalg.norm(U * s) * np.linalg.norm(V)))
        slack = 2 * (np.sqrt((1 + f) * (1 + g)) - 1) * float(s[0])
        return s, float((self.radius + rest + slack) * (1 + 1e-10))


def sensitivity(question: RecordingQuestion, seed: int = 0) -> Sensitivity:
    """The derivatives at instance 0 of a seed (measured weights are the circuit's own).

    Parameters
    ----------
    question : RecordingQuestion
        With a target.
    seed : int, optional

    Raises
    ------
    InputError
        If the network has no activation function.
    """
    problem = question.parametrized
    network = problem.network.base if isinstance(problem.network, Parametrized) else problem.network
    if not isinstance(network, ActivatedNetwork):
        raise InputError(
            "`noise`: predicted for networks of the kinds rnn and ffn, not for "
            f"{network.title} ones"
        )
    own = Problem(network, {}, problem.support, problem.distribution, values=problem.values)
    instance = draw_instance(own, seed, 0)
    cells = list(question.allocation.cells)
    rows, owner = _rows(network, problem, cells, instance.weights, instance.X, question.owners)
    kept = np.isin(owner, question.allowed)
    target = question.target
    assert target is not None
    aims, of = _rows(network, problem, cells, instance.weights, instance.X, target.owners)
    known = of < len(target.elements)
    radius = None
    if rows.size <= _ENCLOSED:
        balls, _ = _rows(
            network, problem, cells,
            {name: as_balls(w) for name, w in instance.weights.items()}, as_balls(instance.X),
            question.owners,
        )  # fmt: skip
        far = [
            float((ball - float(mid)).abs_upper())
            for ball, mid in zip(balls.flat, rows.flat, strict=True)
        ]
        radius = float(np.linalg.norm(far)) * (1 + 1e-12)
    prior = np.array([_prior(problem, network, cell) for cell in cells])
    return Sensitivity(rows[kept], owner[kept], aims[known], of[known], prior, radius)


def _prior(problem: Problem, network: ActivatedNetwork, cell: Cell) -> float:
    name = cell[0]
    if isinstance(problem.network, Parametrized) and name in problem.network.parameters_of:
        name, update, _, _ = problem.network.parameters_of[name]
        if isinstance(update, Gain):
            return 1.0
    return float(factor_of(problem.distribution, name) / np.sqrt(network.shapes[name][1]))


def _rows(
    network: ActivatedNetwork, problem: Problem, cells: Sequence[Cell],
    weights: Mapping[str, np.ndarray], X: np.ndarray, owners: Owners,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Derivatives of all numbers of some readings in the ring of the weights, and their owners."""
    exact = X.dtype == object
    arithmetic = network.entries(ball_product) if exact else network.entries(matmul, truediv)
    blocks, program = network.placed(weights, X), network.program()
    moves: dict[Cell, dict[Cell, Any]] = {cell: {cell: 1.0} for cell in cells}
    if isinstance(problem.network, Parametrized):
        if any(isinstance(update, LowRank) for _, update in problem.network.updates):
            raise InputError("`noise`: low-rank updates have no law before the recording")
        moves |= problem.network.moves_in(weights, cells)
    # A gain moves no weight that is 0.
    moved = [{own: times for own, times in moves[cell].items() if times != 0} for cell in cells]
    single = sorted({cell for move in moved for cell in move})
    place = {cell: k for k, cell in enumerate(single)}
    mix = np.zeros((len(single), len(cells)), dtype=X.dtype)
    for k, move in enumerate(moved):
        for cell, times in move.items():
            mix[place[cell], k] = times
    parts, of = [], []
    for source, inside in owners:
        for node, owner in zip(network.nodes_of(source), inside, strict=True):
            check_time()
            J = program_jacobian(program, arithmetic, blocks, single, node)
            J = J.reshape(owner.size, len(single))
            parts.append(J @ mix if not exact else ball_product(J, mix))
            of.append(owner.ravel())
    return np.concatenate(parts), np.concatenate(of)


# -- the fewest elements below an error ---------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """Elements chosen so that the predicted error is below a bound.

    Attributes
    ----------
    chosen : tuple of int
    least : int
        No smaller number of elements is enough, as far as doubles show.
    """

    chosen: tuple[int, ...]
    least: int


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
    wanted = below**2 * len(found.target)
    prior = np.diag(found.prior**-2)
    parts = {}
    for k in allowed:
        rows = found.rows[found.owner == k]
        parts[k] = rows.T @ rows / sigma**2

    def error(information: np.ndarray) -> float:
        return float(np.trace(found.target @ np.linalg.solve(information, found.target.T)))

    if error(prior + sum(parts.values())) >= wanted:
        return None
    chosen = list(must)
    information = prior + sum((parts[k] for k in chosen), np.zeros_like(prior))
    while error(information) >= wanted:
        check_time()
        errors = {k: error(information + parts[k]) for k in allowed if k not in chosen}
        best = min(errors, key=lambda k: errors[k])
        chosen.append(best)
        information = information + parts[best]
    stack = np.array([parts[k] for k in allowed])
    fixed = [i for i, k in enumerate(allowed) if k in set(must)]
    least = len(must)
    while least < len(chosen) and not _may_suffice(found, prior, stack, fixed, least, wanted):
        least += 1
    return Choice(tuple(sorted(chosen)), least)


def _may_suffice(
    found: Sensitivity, prior: np.ndarray, stack: np.ndarray, fixed: list[int], count: int,
    wanted: float,
) -> bool:  # fmt: skip
    """Whether the convex bound leaves open that `count` elements are enough."""
    x = np.full(len(stack), count / len(stack))
    for step in range(_STEPS):
        check_time()
        inverse = np.linalg.inv(prior + np.tensordot(x, stack, 1))
        moved = found.target @ inverse
        value = float(np.trace(moved @ found.target.T))
        slopes = -np.einsum("ij,kjl,il->k", moved, stack, moved)
        order = np.argsort(slopes, kind="stable")
        best = [*fixed, *(k for k in order.tolist() if k not in fixed)][:count]
        bound = value - float(slopes @ x) + float(slopes[best].sum())
        if bound * (1 - 1e-9) >= wanted:
            return False
        corner = np.zeros(len(stack))
        corner[best] = 1
        x += 2 / (step + 3) * (corner - x)
    return True


# -- results -------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class NoisyRecording(Recording):
    """A recording with the predicted error of its target.

    Attributes
    ----------
    sigma : float
        Standard deviation of the noise of recorded numbers.
    below : float or None
        The required error, if the recording was chosen for it.
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
    below: float | None = None
    singular_values: tuple[float, ...] = field(default=(), repr=False)
    singular_value_error: float | None = None
    deviation: tuple[float, ...] = ()
    total: float = 0.0

    @property
    def is_optimal(self) -> bool:
        """Whether the cost is proved to be the least: not by a bound in doubles."""
        return self.below is None and super().is_optimal

    @property
    def is_stopped(self) -> bool:
        """Whether a search was stopped."""
        return self.below is None and super().is_stopped

    def to_dict(self) -> dict[str, Any]:
        """Beside the keys of a recording ``noise``, ``singular_values`` and the deviations."""
        found = super().to_dict()
        for entry, deviation in zip(found["target"], self.deviation, strict=True):
            entry["deviation"] = deviation
        return found | {
            "noise": self.sigma,
            "below": self.below,
            "deviation": self.total,
            "singular_values": list(self.singular_values),
            "singular_value_error": self.singular_value_error,
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
        found = super().document()
        values = [f"{value:.3g}" for value in self.singular_values]
        shown_values = ", ".join(values if len(values) < 9 else [*values[:4], "…", *values[-3:]])
        error = self.singular_value_error
        lines = [
            f"  at these parameters, noise {self.sigma:g}: predicted deviation of the target "
            f"{self.total:.3g}, between {min(self.deviation):.3g} and {max(self.deviation):.3g}",
            f"  singular values at these parameters: {shown_values}"
            + ("" if error is None else f" (each within {error:.1e})"),
        ]
        if self.below is None:
            return replace(found, parts=(*found.parts, *map(Paragraph, lines)))
        count, least = len(self.recorded), self.bound
        lines.insert(
            0,
            f"  predicted deviation below {self.below:g} at these parameters: a greedy choice of "
            f"{count}; at least {least} are needed (a bound in doubles, not a proof)",
        )
        of = len(self.question.allowed)
        facts = {"noise": self.sigma, "below": self.below, "recorded": count, "at_least": least}
        title = f"record {count} of {of}: {', '.join(self.names) or 'nothing'}"
        return Document(title, facts, tuple(map(Paragraph, lines)))


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
    for name, value in (("noise", sigma), ("below", below)):
        if value is not None and not 0 < value < np.inf:
            raise InputError(f"`{name}` ({shown(value)}) must be a number above 0")
    if not options.get("target"):
        raise InputError("`noise`: name a `target`, the activities whose error is predicted")
    if below is None:
        known = record(problem, what, seed=seed, **options)
        question = known.question
        found = sensitivity(question, seed)
    else:
        for name in ("costs", "caps"):
            if options.get(name):
                raise InputError(f"`below`: elements are counted there, without {name}")
        aims = {k: options[k] for k in ("must", "forbidden", "target") if k in options}
        question = recording_question(problem, what, seed=seed, **aims)
        found = sensitivity(question, seed)
        choice = fewest(found, question.allowed, sorted(question.must), sigma, below)
        if choice is None:
            most = np.sqrt(_total(found, question.allowed, sigma))
            raise Unfinished(
                f"`below` ({below:g}): with all {len(question.allowed)} elements recorded the "
                f"predicted deviation is {most:.3g}; record more samples, or with less noise"
            )
        chosen = frozenset(choice.chosen)
        aim = target_states(question, chosen, TARGET)
        known = Recording(
            question, tuple(question.elements[k] for k in choice.chosen),
            question.cost(chosen), Fraction(choice.least), question.rank,
            fibre_of(question, question.rank), Fraction(1), (),
            "a greedy choice, with a lower bound in doubles", TargetEvidence((), ()), aim=aim,
        )  # fmt: skip
    chosen_ones = [k for k, e in enumerate(question.elements) if e in set(known.recorded)]
    values, error = found.singular_values(chosen_ones)
    own = {f.name: getattr(known, f.name) for f in fields(Recording)}
    return NoisyRecording(
        **own, sigma=sigma, below=below, singular_values=tuple(values.tolist()),
        singular_value_error=error,
        deviation=tuple(found.deviations(chosen_ones, sigma).tolist()),
        total=float(np.sqrt(_total(found, chosen_ones, sigma))),
    )  # fmt: skip


def _total(found: Sensitivity, chosen: Sequence[int], sigma: float) -> float:
    """Mean variance of all numbers of the target."""
    covariance = np.linalg.inv(found.information(chosen, sigma))
    total = np.einsum("ij,jk,ik->", found.target, covariance, found.target)
    return float(total) / len(found.target)
