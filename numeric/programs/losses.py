"""Mean squared errors of a batch of students, their gradients and Jacobians.

The loss of a run is the mean of the squared errors of its d × columns labels.  Labels and their
derivatives are those of the network's program in doubles (`numeric.programs.reverse`); at
a kink the derivative is that of an inactive unit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algebra.time_limits import check_time
from numeric.programs.reverse import RunSweep
from numeric.programs.students import Students

# The first paper's criterion of a match (its Appendix E.1).
MSE = 1e-2


@dataclass(frozen=True)
class Loss:
    """Errors of a batch of students, and their derivatives.

    Attributes
    ----------
    students : Students
    """

    students: Students

    def take(self, rows: np.ndarray) -> Loss:
        """The loss of some of the runs."""
        return Loss(self.students.take(rows))

    def at(self, w: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Errors and derivatives of some runs: the function of `levenberg_marquardt`."""
        check_time()
        part = self if len(which) == len(self.students) else self.take(which)
        return part.jacobian(w)

    def errors(self, w: np.ndarray) -> np.ndarray:
        """Errors (runs, d, columns) of the labels at learnable weights (runs, r)."""
        return self._errors(self._sweep(w))

    def slope(self, w: np.ndarray, seen: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean squared errors (runs,), and the slopes (runs, r) of those of the columns `seen`."""
        sweep = self._sweep(w)
        errors = self._errors(sweep)
        size = errors[0].size
        factor = np.full(errors.shape[-1], 2.0 / size)
        if seen is not None:
            factor[:] = 0.0
            factor[seen] = 2.0 * errors.shape[-1] / (size * len(seen))
        combination = (factor * errors).reshape(sweep.labels.shape)
        found = sweep.slopes(combination, self.students.places)
        return (errors * errors).sum(axis=(1, 2)) / size, self.students.gather(found, ())

    def jacobian(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Errors (runs, e) and their derivatives (runs, e, r)."""
        sweep = self._sweep(w)
        errors = self._errors(sweep)
        runs, samples = len(w), sweep.labels.shape[-1]
        labels = (errors[0].size // samples, samples)
        J = self.students.gather(sweep.jacobian(self.students.places), labels)
        return errors.reshape(runs, -1), J.reshape(runs, errors[0].size, -1)

    def _sweep(self, w: np.ndarray) -> RunSweep:
        students = self.students
        blocks = {name: matrix[..., None] for name, matrix in students.matrices(w).items()}
        return RunSweep(students.network, blocks | {"X": students.X}, students.learning)

    def _errors(self, sweep: RunSweep) -> np.ndarray:
        return np.asarray(sweep.labels.reshape(self.students.Y.shape) - self.students.Y)
