"""Solutions of an instance of a network with activations, from many starts, each certified.

Levenberg-Marquardt runs with the exact Jacobian, in doubles, start at the drawn weights, at the
teacher's, and at random ones; their endpoints are certified by Krawczyk's test.  Each certified
solution is a real match, distinct from the others, so their number is a lower bound of the number
of matches.  If no solution is found, nothing is proved.
"""

from __future__ import annotations

import time

import numpy as np

from algebra.time_limits import check_time
from numeric.families.activations.krawczyk import SolutionBox, enclose
from numeric.linalg.levenberg_marquardt import Damping, levenberg_marquardt
from numeric.programs.losses import Loss
from numeric.programs.students import Students
from numeric.trials.instances import Instance

_BATCH = 32
_STEPS = 200
# Endpoints with a larger relative residual are not tested.
_CLOSE = 1e-9


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
        Number of random starts, besides those at the drawn and at the teacher's weights.
    enough : int, optional
        Number of solutions after which the search stops.
    seconds : float, optional
        Processor time in seconds after which no new batch of starts begins.

    Returns
    -------
    solutions : list of SolutionBox
        Pairwise disjoint.
    done, converged : int
        Number of starts, and of those that ended at a small residual.
    """
    began = time.process_time()
    loss = Loss(Students.of([instance], _BATCH))
    size = max(float(np.abs(instance.labels).max()), 1e-300)
    rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(instance.index, 0x5A7)))
    teacher = np.array([instance.teacher[name][i, j] for name, i, j in instance.allocation.cells])
    first = np.stack([instance.before, teacher])
    found: list[SolutionBox] = []
    done = converged = 0
    while True:
        check_time()
        runs = levenberg_marquardt(
            loss.at, first, _STEPS, enough=(1e-15 * size) ** 2, damping=Damping()
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
        first = rng.standard_normal((count, len(teacher))) * spread
