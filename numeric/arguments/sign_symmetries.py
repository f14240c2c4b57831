r"""Sign symmetries of linear recurrent nets: instances whose solutions come in pairs.

Let S, S_D, S_B be diagonal matrices of signs, and s that of a column of the samples.  The students
(D, W, B) and (S_D D S, −S W S, S B S_B) have the same labels, up to signs, for samples whose rows
change signs accordingly: the entries at step t, which meet the power T + 1 − t of W, by (−1)^(T + 1
− t) S_B s.  An entry is odd if its sign changes.  Where all fixed weights, samples and labels that
are odd are 0, the change of the signs of odd learnable weights takes solutions to solutions.  A
teacher whose odd weights are 0 has such labels.

A solution whose odd weights are all 0 is its own partner.  Where fewer even weights learn than
there are even labels, even labels of a generic instance have no such solution, so that solutions
come in pairs.  Squares and products of odd weights then solve equations with N/2 solutions, and a
real one of these belongs to real weights only if squares are positive.  So instances without real
solutions are more frequent.  A symmetric instance is no witness unless it has N simple solutions,
as a generic one has; few symmetries keep N.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from algebra.networks.recurrent import LinearRNN
from algebra.problems.laws.pinned import masks_of, pins
from algebra.problems.problem import Problem
from numeric.trials.instances import Instance

# Nets with more units, outputs and inputs have too many symmetries.
_LARGEST = 12
# Relative size of what is taken for 0; an angle on which no weight is expected to lie.
_EQUAL = 1e-7
_TURN = np.exp(-0.7j)


@dataclass(frozen=True, eq=False)
class SignSymmetry:
    """A sign symmetry.

    Attributes
    ----------
    odd : mapping of str to ndarray of bool
        Which entries of each weight matrix are odd.
    odd_samples : ndarray of bool
        Which entries of X are odd; none where samples are as many as inputs, and the labels of any
        samples follow from those of the powers of W.
    signs : ndarray of float, shape (r,)
        −1 for an odd learnable weight, 1 for an even one.
    """

    odd: Mapping[str, np.ndarray]
    odd_samples: np.ndarray
    signs: np.ndarray

    def symmetric(self, instance: Instance) -> Instance:
        """The instance with 0 for all fixed weights, weights of the teacher and samples that are
        odd."""
        weights, teacher = (
            {name: np.where(self.odd[name], 0, value) for name, value in matrices.items()}
            for matrices in (instance.weights, instance.teacher)
        )
        X = np.where(self.odd_samples, 0, instance.X)
        return replace(instance, weights=weights, teacher=teacher, X=X)

    def random(self, problem: Problem, rng: np.random.Generator) -> Instance:
        """A random complex symmetric instance."""

        def drawn(shape: tuple[int, ...]) -> np.ndarray:
            parts = rng.standard_normal((2, *shape))
            return np.asarray((parts[0] + 1j * parts[1]) / np.sqrt(shape[-1]))

        network, exists = problem.network, masks_of(problem.support)
        weights, teacher = (
            {name: drawn(shape) * exists.get(name, 1) for name, shape in network.shapes.items()}
            for _ in range(2)
        )
        X = drawn(network.input_shape)
        return self.symmetric(Instance(problem, problem.allocation, 0, 0, weights, teacher, X))

    def partners(self, roots: np.ndarray) -> np.ndarray:
        """All solutions, from one of each pair: those with an odd weight that is not 0 twice."""
        size = np.linalg.norm(roots, axis=1)
        moves = np.linalg.norm(roots[:, self.signs < 0], axis=1) > _EQUAL * size
        return np.concatenate([roots, self.signs * roots[moves]])

    def representatives(self, roots: np.ndarray) -> np.ndarray:
        """One solution of each pair of which at least one is given."""
        odd = roots[:, self.signs < 0]
        # Of partners the odd weight of largest modulus is the same, with opposite signs.
        shown = np.take_along_axis(odd, np.argmax(np.abs(odd), axis=1)[:, None], axis=1)[:, 0]
        turned = np.where((shown * _TURN).real < 0, -1, 1)[:, None]
        found = np.where(self.signs < 0, turned * roots, roots)
        mixed = np.arcsinh(found) @ np.exp(1j * np.arange(found.shape[1]))
        order = np.argsort(mixed)
        return found[order[np.abs(np.diff(mixed[order], prepend=np.inf)) > _EQUAL]]


def sign_symmetries(problem: Problem) -> Iterator[SignSymmetry]:
    """Sign symmetries that may keep the number of solutions, the most promising first.

    Half of the labels or about as many are odd, no more even weights learn than there are even
    labels, and D, B and X keep their ranks.

    Parameters
    ----------
    problem : Problem
        With a fixed allocation.
    """
    network = problem.network
    if type(network) is not LinearRNN or problem.distribution.signs or pins(problem.student()):
        return
    n, T, b, d = network.n, network.T, network.b, network.d
    if n + b + d > _LARGEST:
        return
    cells, shapes = problem.allocation.cells, network.shapes
    exists = {
        name: np.broadcast_to(masks_of(problem.support).get(name, 1), shape) != 0
        for name, shape in shapes.items()
    }
    found = list[tuple[tuple[int, int], SignSymmetry]]()
    rng = np.random.default_rng(0)
    has_inputs = network.m >= T * b
    odd_samples = range(1) if has_inputs else range(1, network.m)
    for own in product((False, True), repeat=n + d + b - 1):
        # If all signs change nothing is changed.
        unit, output, entry = np.split(np.array((False, *own)), [n, n + d])
        odd = {
            "W": unit[:, None] == unit,
            "B": unit[:, None] ^ entry,
            "D": output[:, None] ^ unit,
        }
        if any(
            np.linalg.matrix_rank(rng.standard_normal(shapes[name]) * (exists[name] & ~odd[name]))
            < min(shapes[name])
            for name in ("B", "D")
        ):
            continue
        signs = np.array([-1.0 if odd[name][i, j] else 1.0 for name, i, j in cells])
        inputs = np.concatenate([entry ^ bool((T + 1 - t) % 2) for t in range(1, T + 1)])
        for many in odd_samples:
            columns = inputs if has_inputs else np.arange(network.m) < many
            labels = output[:, None] ^ columns
            even = int((~labels).sum())
            unbalanced = abs(labels.size - 2 * even)
            if (signs > 0).sum() > even or (signs > 0).all() or unbalanced > d:
                continue
            samples = np.zeros(network.input_shape, bool)
            if not has_inputs:
                samples = inputs[:, None] ^ columns
            zeros = sum(int((odd[name] & exists[name]).sum()) for name in odd)
            found.append(((unbalanced, zeros), SignSymmetry(odd, samples, signs)))
    found.sort(key=lambda entry: entry[0])
    yield from (symmetry for _, symmetry in found)
