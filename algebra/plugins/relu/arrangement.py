r"""The arrangement of a ReLU unit over Q, and refutations by Lagrangian duality.

With the other weights fixed, unit i of a shallow ReLU net maps its ρ learnable weights w to
activations relu(h_s(w)), h_s(w) = x_s·w + c_s, which are linear on each cell of the arrangement of
the m hyperplanes h_s = 0 in R^ρ.  A match needs Σ_i W2[:, i] relu(h_i) = G, so for any μ (d×m),
with a = W2ᵀ μ,

    Σ_i φ_i(w_i) = Σ μ G,    φ_i(w) = Σ_s a[i, s] relu(h_s(w)).

On a polyhedron given by signs of some h_s, φ_i is linear on each cell; if the x_s span R^ρ every
cell has a vertex, so the minimum of φ_i is attained at a vertex of the arrangement unless φ_i
decreases along an extreme ray of a cell.  There are finitely many of both: vertices solve ρ of the
equations h_s = 0, extreme rays ρ − 1 of the equations x_s·e = 0.  Hence

    Σ_i min φ_i > Σ μ G     refutes every match in the polyhedra,

with μ as the only evidence.  The convex hull of {relu(h(w))} is the strongest convex relaxation of
a unit, and these μ are its Farkas vectors (Rockafellar, *Convex Analysis*, section 28, for the
duality; Avis and Fukuda 1996 for vertices of arrangements).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from algebra.linalg.arrangements import vertices_and_rays
from algebra.linalg.rational import column, rational_matrix
from algebra.plugins.relu.equations import U_ZERO, V_ZERO, ReluSystem


@dataclass(frozen=True)
class Arrangement:
    """Vertices and candidate extreme rays of one unit's arrangement.

    Attributes
    ----------
    vertices : ndarray of fmpq, V×m
        The inputs h at each vertex.
    rays : ndarray of fmpq, R×m
        The slopes x_s·e of each direction e in which ρ − 1 independent inputs are constant.
    rank : int
        ρ, the dimension of the set of inputs.
    """

    vertices: np.ndarray
    rays: np.ndarray
    rank: int

    @property
    def is_central(self) -> bool:
        """Whether all hyperplanes meet in one point."""
        return len(self.vertices) == 1 and self.rank < self.vertices.shape[1]

    @property
    def is_simple(self) -> bool:
        """Whether hyperplanes are in general position, except that all may meet in one point.

        Then vertices and rays of nearby hyperplanes have the same signs.
        """
        m = self.vertices.shape[1]
        at, along = self.signs
        rays = 2 * comb(m, self.rank - 1) if self.rank else 0
        if len(along) != rays or ((along == 0).sum(axis=1) != max(self.rank - 1, 0)).any():
            return False
        if self.is_central:
            return not at.any()
        return len(at) == comb(m, self.rank) and bool(((at == 0).sum(axis=1) == self.rank).all())

    @cached_property
    def signs(self) -> tuple[np.ndarray, np.ndarray]:
        """Signs of `vertices` and `rays`."""
        return _signs(self.vertices), _signs(self.rays)

    @cached_property
    def _positive(self) -> tuple[fmpq_mat, fmpq_mat]:
        return _positive(self.vertices), _positive(self.rays)

    def least(self, slope: Sequence[Any], fixed: np.ndarray, *, strict: bool = False) -> Any:
        """The minimum of Σ_s slope[s] relu(h_s) under the signs, or a word if there is none.

        Parameters
        ----------
        slope : sequence of fmpq, length m
        fixed : ndarray of int, length m
            `FREE`, `U_ZERO` (h_s ≤ 0) or `V_ZERO` (h_s ≥ 0).
        strict : bool, optional
            Whether the sum must increase along every active ray.

        Returns
        -------
        fmpq, or "empty" if no weights have these signs, or "unbounded"
        """
        at, along = (allowed(signs, fixed) for signs in self.signs)
        if not at.any():
            return "empty"
        sums = column(slope)
        vertices, rays = self._positive
        falls = (rays * sums).entries() if along.any() else []
        # Along an inactive ray the sum remains 0, also for nearby inputs.
        active = np.atleast_1d((self.signs[1] > 0).any(axis=1))
        for value, use, moves in zip(falls, along, active, strict=False):
            if use and (value < 0 or (strict and moves and value == 0)):
                return "unbounded"
        values = (vertices * sums).entries()
        return min(value for value, use in zip(values, at, strict=True) if use)


def allowed(signs: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """The rows of signs (−1, 0, 1) that agree with a row of fixings."""
    wrong = ((fixed == U_ZERO) & (signs > 0)) | ((fixed == V_ZERO) & (signs < 0))
    return ~wrong.any(axis=-1)


def arrangement(own: Sequence[Sequence[Any]], constants: Sequence[Any]) -> Arrangement:
    """The arrangement of h_s(w) = Σ_j w_j own[j][s] + constants[s], of ρ×m and m numbers.

    Dependent rows of `own` are omitted, since they do not change the set of inputs h.
    """
    return Arrangement(*vertices_and_rays(own, constants))


class Refuter:
    """Checks refutations of one instance; each unit's arrangement is computed once.

    Parameters
    ----------
    system : ReluSystem
        Its learnable weights are in W1.
    """

    def __init__(self, system: ReluSystem) -> None:
        self.system = system
        self._known: dict[int, Arrangement] = {}

    def arrangement(self, unit: int) -> Arrangement:
        """The arrangement of the learning unit with this index (0 ≤ unit < k)."""
        if unit not in self._known:
            own = [list(values) for _, values in self.system.terms[unit]]
            self._known[unit] = arrangement(own, list(self.system.c[unit]))
        return self._known[unit]

    def refutes(self, fixed: np.ndarray, mu: np.ndarray, *, strict: bool = False) -> bool:
        """Whether μ proves that no weights with these signs reach the labels.

        Parameters
        ----------
        fixed : ndarray of int, k×m
        mu : ndarray of fmpq, d×m
        strict : bool, optional
            Whether μ must also refute every nearby instance.

        Notes
        -----
        If the arrangements are simple, signs of vertices and rays are the same for all nearby
        instances; a sum that increases along active rays does so there, and the minima and Σ μ G
        are continuous.
        """
        k, m = self.system.pairs
        W2, G = self.system.outer, self.system.G
        if fixed.shape != (k, m) or mu.shape != G.shape or not self.system.is_shallow:
            return False
        gap = -sum((mu[o, s] * G[o, s] for o in range(len(G)) for s in range(m)), fmpq(0))
        slopes = rational_matrix(W2[:, :k].T) * rational_matrix(mu)
        unbounded = False
        for i in range(k):
            own = self.arrangement(i)
            if strict and not (own.is_simple and own.rank == min(len(self.system.terms[i]), m)):
                return False
            least = own.least([slopes[i, s] for s in range(m)], fixed[i], strict=strict)
            if isinstance(least, str):
                if least == "empty":
                    return True
                unbounded = True
            else:
                gap += least
        return not unbounded and bool(gap > 0)


def _signs(rows: np.ndarray) -> np.ndarray:
    out = np.zeros(rows.shape, dtype=np.int8)
    for place, value in np.ndenumerate(rows):
        out[place] = (value > 0) - (value < 0)
    return out


def _positive(rows: np.ndarray) -> fmpq_mat:
    zero = fmpq(0)
    return rational_matrix([[v if v > 0 else zero for v in row] for row in rows], rows.shape[1])
