"""The first paper's method: `scipy.optimize.fsolve` from up to 400 random starts.

Kept as a baseline that shows its omissions.  The paper's rule is "a match" if one of 400 runs
converges and "no match" if none does.  Appendix E gives the solver and the number of
starts (twice the 200 after which no new solutions were seen), but neither the
unknowns, the Jacobian, the tolerance nor the law of the starts.  Assumed here: the learnable
weights as unknowns, fsolve's defaults (Powell's hybrid method, Jacobian by differences,
``xtol`` 1.49e-8), starts from the student's own law, and convergence if fsolve reports it
and the error of no label exceeds 1e-6 of the largest label.

Evidence is kept separate from the paper's rule.  A point of convergence is tested by
Krawczyk's test; if certified, it is a real solution and the trial a match.  If no run
converged the trial is undetermined; the verdict of the paper's rule is
`InstanceCount.paper_match`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from algebra.errors import InputError
from algebra.problems.problem import Problem
from algebra.time_limits import check_time
from numeric.certification.pool import RealPool
from numeric.engines.base import PAPER_STARTS
from numeric.engines.multistart import LowerBoundEngine
from numeric.equations.chain import Chain
from numeric.trials.counts import InstanceCount, lower_bound
from numeric.trials.instances import Instance

# Largest error of a label, relative to the largest label, at a point that counts as converged.
TOLERANCE = 1e-6
# Number of endpoints certified together.
_BATCH = 20


class FsolveEngine(LowerBoundEngine):
    """Real solutions found by fsolve.

    Parameters
    ----------
    problem, **how
        As for `LowerBoundEngine`.
    starts : int, optional
        Runs of fsolve for each instance.

    Raises
    ------
    InputError
        If the system is not square or generically singular, or `starts` is below 1.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> from numeric.trials.instances import draw_instance
    >>> problem = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 1], [0, 0]]})
    >>> found = FsolveEngine(problem, starts=20).count(draw_instance(problem, 0, 0))
    >>> found.real, found.status, found.paper_match
    (1, 'undetermined', True)
    """

    def __init__(self, problem: Problem, *, starts: int = PAPER_STARTS, **how: Any) -> None:
        if starts < 1:
            raise InputError(f"`starts` ({starts}) must be at least 1")
        super().__init__(problem, **how)
        self.starts = starts

    def search(self, instance: Instance) -> InstanceCount:
        """The solutions that fsolve finds in one instance: never a complete count."""
        # Loaded here: this engine is rarely used.
        from scipy.optimize import fsolve

        began = time.process_time()
        equations = paper_equations(self.chain, instance)
        pool = RealPool(self.chain, instance)
        key = (instance.index, 0xF501)
        rng = np.random.default_rng(np.random.SeedSequence(instance.seed, spawn_key=key))
        scale = instance.spread
        largest = float(np.abs(instance.labels).max())
        ends: list[np.ndarray] = []
        done = converged = 0
        while done < self.starts and (self.enough is None or len(pool) < self.enough):
            check_time()
            if time.process_time() - began > self.timeout:
                break
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore", RuntimeWarning)
                w, info, flag, _ = fsolve(
                    equations, rng.standard_normal(len(scale)) * scale, full_output=True
                )
            done += 1
            if flag == 1 and np.abs(info["fvec"]).max(initial=0.0) <= TOLERANCE * largest:
                converged += 1
                ends.append(w)
            if len(ends) >= (_BATCH if self.enough is None else 1):
                pool.take(np.array(ends))
                ends.clear()
        pool.take(np.array(ends))
        verdict = "a match" if converged else "no match"
        note = f"{converged} of {done} starts converged: {verdict} by the first paper's rule"
        if converged and not len(pool):
            note += ", but no solution is certified"
        elif not converged:
            note += ", which proves nothing"
        return lower_bound(
            instance.index, pool.solutions, note, paths=done,
            seconds=time.process_time() - began, paper_match=converged > 0,
        )  # fmt: skip


def paper_equations(chain: Chain, instance: Instance) -> Callable[[np.ndarray], np.ndarray]:
    """The errors (r,) of the labels as a function of the learnable weights (r,).

    The coordinates are those of the instance.  Dependent labels are omitted, because fsolve needs
    as many equations as unknowns.
    """
    chosen = chain.independent_samples(instance.X)
    X, Y = instance.X[:, chosen], chain.label_columns(instance.labels, chosen)
    rows, columns = chain.equations.T
    goal = Y[rows, columns]
    network = instance.problem.network
    student = {name: np.array(value) for name, value in instance.weights.items()}
    places = []
    for name in chain.allocation.matrices:
        own = [k for k, cell in enumerate(chain.allocation.cells) if cell[0] == name]
        _, i, j = zip(*(chain.allocation.cells[k] for k in own), strict=True)
        places.append((student[name], np.array(i), np.array(j), np.array(own)))

    def equations(w: np.ndarray) -> np.ndarray:
        for matrix, i, j, own in places:
            matrix[i, j] = w[own]
        return np.asarray(network.forward(student, X))[rows, columns] - goal

    return equations
