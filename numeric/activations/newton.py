"""Solutions of an instance of a network with activations, from many starts, each certified.

Levenberg-Marquardt with the exact Jacobian, in doubles, from the student's own weights, the
teacher's, and random ones; ends are proved by Krawczyk's test.  Each certified solution is a real
match, distinct from the others, so their number is a lower bound.  That none is found proves
nothing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from algebra.networks.activated import ActivatedNetwork
from algebra.programs.leaks import LEAK, LEARNABLE, NO_LEAK
from algebra.time_limits import check_time
from numeric.activations.krawczyk import SolutionBox, enclose
from numeric.instances import Instance
from numeric.levenberg_marquardt import Damping, levenberg_marquardt

_BATCH = 32
_STEPS = 200
# Ends with a relative residual above this are not worth a test.
_CLOSE = 1e-9


class FloatSystem:
    """The equations of an instance in doubles: labels minus the teacher's.

    Parameters
    ----------
    instance : Instance
    """

    def __init__(self, instance: Instance) -> None:
        network = instance.allocation.network
        assert isinstance(network, ActivatedNetwork)
        self.network, self.instance = network, instance
        self.cells = instance.allocation.cells
        self.labels = instance.labels
        self.places: dict[str | None, list[tuple[int, int, int]]] = {}
        for k, (name, i, j) in enumerate(self.cells):
            self.places.setdefault(name, []).append((k, i, j))

    def __call__(self, points: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals (·, e) and Jacobians (·, e, r) at points (·, r), all at once.

        Back-propagation through the stages, with the points as a first axis.
        """
        network, X, φ = self.network, self.instance.X, self.network.activation
        many, d, m = len(points), network.d, network.m
        weights = {
            name: np.repeat(value[None], many, axis=0)
            for name, value in self.instance.weights.items()
        }
        for k, (name, i, j) in enumerate(self.cells):
            weights[name][:, i, j] = points[:, k]
        z: np.ndarray = X
        received, slopes, moved = [], [], []
        states: list[np.ndarray] = []
        rate = self._rate(weights)
        for number, stage in enumerate(network.stages()):
            u = z
            if stage.drive is not None:
                assert network.encoder is not None
                x = weights[network.encoder] @ X[slice(*stage.drive)]
                u = x + z if number else x
            a = weights[stage.matrix] @ u
            if stage.bias is not None:
                a = a + weights[stage.bias]
            value = φ.values(a)
            slopes.append(rate * φ.slopes(a, value))
            z_before = states[-1] if states and network.leak != NO_LEAK else 0.0
            moved.append(value - z_before)
            # Without a leak the state is the value itself.
            z = value if network.leak == NO_LEAK else z_before + rate * moved[-1]
            received.append(u)
            states.append(z)
        labels, J = [], np.zeros((many, d, network.columns, len(self.cells)))
        D = weights[network.output]
        last = len(states) - 1
        for step, read in enumerate(range(last + 1) if network.reads_all else [last]):
            z = states[read] if states else X
            Y = D @ z
            if network.output_bias is not None:
                Y = Y + weights[network.output_bias]
            labels.append(Y)
            block = J[:, :, step * m : (step + 1) * m]

            def add(name: str | None, left: np.ndarray, right: Any, J: np.ndarray = block) -> None:
                """What moving a cell does: left (·, d, m, rows) times right (·, m)."""
                for k, i, j in self.places.get(name, ()):
                    J[..., k] += left[..., i] * (1.0 if right is None else right[..., None, j, :])

            identity = np.eye(d)[None, :, None, :]
            add(network.output, identity, z)
            add(network.output_bias, identity, None)
            left = np.broadcast_to(D[:, :, None, :], (many, d, m, D.shape[2]))
            for number in reversed(range(read + 1)):
                stage = network.stages()[number]
                for name in network.rates:
                    add(name, left * moved[number].swapaxes(-1, -2)[..., None, :, :], None)
                delta = left * slopes[number].swapaxes(-1, -2)[..., None, :, :]
                add(stage.matrix, delta, received[number])
                add(stage.bias, delta, None)
                kept = left * (1 - np.swapaxes(rate, -1, -2)[..., None, :, :])
                left = delta.reshape(many, d * m, -1) @ weights[stage.matrix]
                left = left.reshape(many, d, m, -1)
                if stage.drive is not None:
                    add(network.encoder, left, X[slice(*stage.drive)])
                if network.leak != NO_LEAK:
                    left = left + kept
        f = np.concatenate(labels, axis=-1) - self.labels
        return f.reshape(many, -1), J.reshape(many, J.shape[1] * J.shape[2], -1)

    def _rate(self, weights: Mapping[str, np.ndarray]) -> np.ndarray:
        """The leaks as a column: α of each unit, 1 where nothing leaks."""
        network = self.network
        if network.leak == LEARNABLE:
            return weights[LEAK]
        rates = [1] if network.leak == NO_LEAK else network.leak
        return np.array([float(rate) for rate in rates])[:, None]


def certified_solutions(
    instance: Instance,
    starts: int,
    *,
    enough: int | None = None,
    seconds: float = float("inf"),
) -> tuple[list[SolutionBox], int, int]:
    """Certified solutions of an instance, from many starts.

    Parameters
    ----------
    instance : Instance
        With as many learnable weights as labels.
    starts : int
        Random ones, besides those from the student's and the teacher's own weights.
    enough : int, optional
        Stop after so many.
    seconds : float, optional
        No new batch after so much processor time.

    Returns
    -------
    solutions : list of SolutionBox
        Pairwise disjoint.
    done, converged : int
        Starts, and how many ended at a small residual.
    """
    began = time.process_time()
    system = FloatSystem(instance)
    size = max(float(np.abs(system.labels).max()), 1e-300)
    rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(instance.index, 0x5A7)))
    teacher = np.array([instance.teacher[name][i, j] for name, i, j in system.cells])
    first = np.stack([instance.before, teacher])
    found: list[SolutionBox] = []
    done = converged = 0
    while True:
        check_time()
        runs = levenberg_marquardt(
            system, first, _STEPS, enough=(1e-15 * size) ** 2, damping=Damping()
        )
        good = np.sqrt(runs.cost) <= _CLOSE * size
        done += len(first)
        converged += int(good.sum())
        for end in runs.ends[good]:
            if any(np.allclose(end, other.middle, rtol=1e-9, atol=1e-12) for other in found):
                continue
            box = enclose(instance, end)
            if box is not None and not any(box.overlaps(other) for other in found):
                found.append(box)
        over = time.process_time() - began > seconds
        if over or done >= starts + 2 or (enough is not None and len(found) >= enough):
            return found, done, converged
        count = min(_BATCH, starts + 2 - done)
        spread = 2.0 ** rng.uniform(-2.0, 2.0, (count, 1))
        first = rng.standard_normal((count, len(system.cells))) * spread
