r"""Some complex solutions along lines of labels: a match where N is unknown or too large.

A complete count follows all N solutions.  One real solution is enough to decide a match, and a few
hundred paths, where N is many thousands, often find one, without N and without a start system.
Draw complex learnable weights w; together with the student's labels G(w) they are an instance with
one known solution.  Along the line of labels

    Y(t) = (1 − t) G(w) + t Y,    0 ≤ t ≤ 1,

all other parameters stay those of the real instance, and the solution w is followed to one of the
instance's N solutions.  G is dominant (the allocation is not minimal), so that G(w) is a generic
point of the label space and the line, for w outside a set of measure 0, meets no singular labels
before t = 1: almost every path ends at a solution, and every solution can be reached, as the set of
all (w, Y) is irreducible.  Starts are independent: there is no monodromy, and duplicates are
frequent only for small N.  Not all solutions are equally frequent; those with large weights are
rare.  Paths may also jump to one another (`TrackerSettings.quick`): any solution will do.

Real starts are not suitable: on a real line solutions meet in pairs and become complex (one path in
a hundred arrived at n = 12), while complex lines avoid these folds.  Endpoints that look real are
passed to Krawczyk's test on the exact instance (`numeric.engines.search`); one that passes it is a
proved match, as in a complete count.  If none passes, nothing is proved.

The search stops when most endpoints are repetitions: N is small then, and a complete count is
preferable.  The criterion is Good's estimate: the share of the unseen solutions is about the share
of endpoints found once [1]_.

References
----------
.. [1] I. J. Good, "The population frequencies of species and the estimation of population
   parameters", Biometrika 40 (1953).
"""

from __future__ import annotations

import numpy as np

from numeric.equations.arrays import labels
from numeric.equations.chain import Chain
from numeric.tracking.inputs.tracker import InputsLines
from numeric.tracking.monodromy import match
from numeric.tracking.tracker import DONE, TrackerSettings, WeightLines, follow
from numeric.trials.instances import Instance

# Paths of the first batch (each batch is twice as large as the one before), and of the largest.
_FIRST = 16
_LARGEST = 256
# Endpoints with smaller imaginary parts, relative to the largest weight, are tested.
_LOOKS_REAL = 1e-5
# The search is saturated if at most this share of the endpoints was found only once, of at least
# this number.
_FOUND_ONCE = 0.05
_FEWEST_ENDS = 64
# The free inputs are used if the number of their unknowns is at most this multiple of r.
_MORE_UNKNOWNS = 1.5


class LabelPaths:
    """Paths to one instance, tracked in batches.

    Parameters
    ----------
    instance : Instance
    chain : Chain
        The chain of its allocation.
    seed : int, optional

    Attributes
    ----------
    paths, arrived : int
        Number of paths tracked, and of those that reached the end.

    Raises
    ------
    InputError
        If the instance is special: its samples are dependent.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> from algebra.problems.problem import Problem
    >>> from numeric.equations.chain import make_chain
    >>> from numeric.trials.instances import draw_instance
    >>> problem = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]})
    >>> paths = LabelPaths(draw_instance(problem, 0, 0), make_chain(problem.allocation))
    >>> while not paths.repeats:
    ...     ends = paths.follow(1000)
    >>> paths.paths, paths.distinct  # a pair of conjugates counts once
    (112, 1)
    """

    def __init__(self, instance: Instance, chain: Chain, seed: int = 0) -> None:
        self._chain = chain
        form = chain.free_inputs(labels_only=True)
        is_worth = form is not None and form.unknowns <= _MORE_UNKNOWNS * chain.unknowns
        self._form = form if is_worth else None
        self._spread = instance.spread / np.sqrt(2.0)
        self._target = chain.parameters(instance).astype(complex)
        self._ends = _Ends(chain)
        self._rng = np.random.default_rng(
            np.random.SeedSequence(seed, spawn_key=(instance.index, 0x3358))
        )
        self.paths = self.arrived = 0

    @property
    def distinct(self) -> int:
        """Number of distinct endpoints, up to conjugation; they are approximations, not proofs."""
        return len(self._ends.known)

    @property
    def repeats(self) -> bool:
        """Whether nearly all endpoints are repetitions, so that nearly all solutions were seen."""
        return self._ends.repeat

    def follow(self, most: int) -> np.ndarray:
        """Track the next batch of paths, twice as large as the last, up to `most` in all.

        Returns
        -------
        ndarray of complex, shape (·, r)
            Endpoints that look real.
        """
        count = min(self.paths + _FIRST, _LARGEST, most - self.paths)
        pair = self._rng.standard_normal((2, count, self._chain.unknowns)) * self._spread
        ends = self._followed(pair[0] + 1j * pair[1])
        self.paths += count
        self.arrived += len(ends)
        self._ends.add(ends)
        return ends[_looks_real(ends)]

    def _followed(self, starts: np.ndarray) -> np.ndarray:
        """Ends (·, r) of the paths from weights (·, r) that arrive at the instance."""
        chain, target, count = self._chain, self._target, len(starts)
        first = np.repeat(target[None], count, axis=0)
        rows, columns = chain.equations.T
        first[:, chain.y_at + rows * chain.samples + columns] = labels(chain, target, starts)[0]
        ends = first, target[None], np.zeros(count, np.int64), np.zeros(1, np.int64)
        lines: InputsLines | WeightLines
        if self._form is not None:
            lines = InputsLines(self._form, *ends)
        else:
            lines = WeightLines(chain, *ends)
        tracked = follow(
            lines, np.arange(count), np.zeros(count, np.int64), starts, TrackerSettings().quick()
        )
        good = (tracked.status == DONE) & np.isfinite(tracked.roots).all(axis=1)
        return tracked.roots[good]


def _looks_real(ends: np.ndarray) -> np.ndarray:
    return np.abs(ends.imag).max(axis=1) <= _LOOKS_REAL * np.abs(ends).max(axis=1)


class _Ends:
    """The distinct endpoints so far, one of each pair of conjugates, and their frequencies."""

    def __init__(self, chain: Chain) -> None:
        self.known = np.zeros((0, chain.unknowns), complex)
        self.times = np.zeros(0, np.int64)

    @property
    def count(self) -> int:
        """Number of all endpoints."""
        return int(self.times.sum())

    @property
    def repeat(self) -> bool:
        """Whether hardly any endpoint was found only once."""
        once = int((self.times == 1).sum())
        return self.count >= _FEWEST_ENDS and once <= _FOUND_ONCE * self.count

    def add(self, ends: np.ndarray) -> None:
        """Count endpoints."""
        # Conjugates have the same labels: the endpoint above the real axis represents the pair.
        below = ends.imag.sum(axis=1) < 0
        ends = np.where(below[:, None], ends.conj(), ends)
        for end in ends:
            place = int(match(end[None], self.known)[0])
            if place < 0:
                self.known = np.vstack([self.known, end])
                self.times = np.append(self.times, 0)
                place = len(self.times) - 1
            self.times[place] += 1
