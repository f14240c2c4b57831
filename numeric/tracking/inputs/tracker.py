"""Path tracking in the free inputs, between parameter vectors of a chain.

Used by `numeric.tracking.tracker.track` if `numeric.equations.inputs` applies: the same
arguments and results, in a fraction of the time and with few paths lost.
"""

from __future__ import annotations

import numpy as np

from numeric.equations.inputs import InputsForm
from numeric.equations.lanes.inputs import make_inputs
from numeric.tracking.kernel import track_system
from numeric.tracking.settings import TrackerSettings
from numeric.tracking.steps import Lines, PathOutcomes


class InputsLines:
    """Straight lines, or legs of a detour, between instances in their free inputs.

    Parameters
    ----------
    form : InputsForm
    first, second : ndarray of complex, shape (·, chain.size)
    first_turn, second_turn : ndarray of int
        Seeds of equivalent instances (`turn`).
    """

    def __init__(
        self,
        form: InputsForm,
        first: np.ndarray,
        second: np.ndarray,
        first_turn: np.ndarray,
        second_turn: np.ndarray,
    ) -> None:
        self.form = form
        self._ends = [[form.reduce(p) for p in side] for side in (first, second)]
        self._turns = [
            [turn(form, at.vector, int(seed)) for at, seed in zip(side, seeds, strict=True)]
            for side, seeds in zip(self._ends, (first_turn, second_turn), strict=True)
        ]

    @property
    def vectors(self) -> tuple[np.ndarray, np.ndarray]:
        """Parameters of both sides."""
        first, second = (
            np.array([v for v, _ in side]).reshape(-1, self.form.size) for side in self._turns
        )
        return first, second

    def enter(self, of: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Unknowns for roots of the first instances."""
        x = np.full((len(of), self.form.unknowns), np.nan, complex)
        for k in np.unique(of):
            mine = of == k
            factors = self._turns[0][k][1]
            x[mine] = self.form.unknowns_of(self._ends[0][k], weights[mine]) * factors
        return x

    def leave(self, of: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Learnable weights for roots of the second instances."""
        weights = np.full((len(of), self.form.chain.unknowns), np.nan, complex)
        for k in np.unique(of):
            mine = of == k
            factors = self._turns[1][k][1]
            weights[mine] = self.form.weights_of(self._ends[1][k], x[mine] / factors)
        return weights

    def lifts_at(self, of: np.ndarray, lifts: np.ndarray) -> np.ndarray:
        """The unknowns at the second instances themselves, not at their turned ones."""
        factors = np.array([factors for _, factors in self._turns[1]])
        return lifts / factors[of]

    def lifts(self, settings: TrackerSettings) -> int:
        """Number of further unknowns returned with an endpoint: those of the free inputs."""
        return self.form.unknowns

    def run(
        self, settings: TrackerSettings, lines: Lines, roots: np.ndarray, lifts: np.ndarray,
        outcome: PathOutcomes,
    ) -> None:  # fmt: skip
        """Call the kernel, which fills roots, lifts and outcome."""
        settings = settings.for_inputs
        system = self.form.chain.once(
            (make_inputs.__name__, settings.order), lambda: make_inputs(self.form, settings.order)
        )
        track_system(system, settings, lines, roots, lifts, outcome)


def turn(form: InputsForm, vector: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """An equivalent instance and its roots: complex units of time, states and inputs.

    ``W → γ W``, ``F_k → σ γ^k F_k``, ``β_j → g γ^j β_j``, ``u_l → (σ/g) γ^l u_l``.  Seed 0 changes
    nothing.

    Returns
    -------
    vector : ndarray of complex, shape (form.size,)
    factors : ndarray of complex, shape (form.unknowns,)
        Factors of the unknowns.
    """
    n, T, b, e = form.shape
    if seed == 0:
        return vector, np.ones(form.unknowns, complex)
    gamma, sigma, g = np.exp(2j * np.pi * np.random.default_rng(seed).random(3))
    k = np.arange(T + 1)
    out = vector.copy()
    at = (T + 1) * n * b
    out[:at] *= np.repeat(sigma * gamma**k, n * b)
    out[at : at + T * n * e] *= np.repeat(g * gamma ** k[:T], n * e)
    out[at + T * n * e :] *= gamma
    factors = np.concatenate(
        [np.full(len(form.cells), gamma), np.repeat(sigma / g * gamma ** k[1:], e * b)]
    )
    return out, factors
