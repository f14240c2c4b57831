"""Certified roots: Krawczyk's test in double-precision discs, in balls where that fails.

Around an approximate root x the test takes a polydisc ``X = {|z_j - x_j| ≤ ρ_j}``, an
approximate inverse C of the Jacobian, and shows

    |C F(x)|_i + Σ_j |I - C F'(X)|_ij ρ_j < ρ_i    for every i,

with F(x) and F'(X) enclosed rigorously.  Then X holds exactly one root of F, a simple one.
(F is holomorphic and X convex, so ``F(y) - F(z) = M (y - z)`` with M in the convex
enclosure of F'(X): the map z - C F(z) is a contraction of X into itself.)

If x is real, X is its own mirror image and F has real coefficients, so the root's
conjugate lies in X too; as X holds only one root, the root is real.  A root is non-real if some
``|Im x_j| > ρ_j``.  Roots are distinct if their polydiscs are disjoint.

The labels enter as discs that contain the exact teacher's labels, so the statements hold for
the exact rational instance, not for its rounded labels.

References
----------
.. [1] R. Krawczyk, Computing 4 (1969); R. E. Moore, SIAM J. Numer. Anal. 14 (1977).
.. [2] P. Breiding, K. Rose, S. Timme, "Certifying zeros of polynomial systems using interval
   arithmetic", ACM Trans. Math. Softw. 49 (2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from numeric.certification.krawczyk_kernel import (
    FAILED,
    NONREAL,
    REAL,
    conjugate_partners,
    make_disc_system,
    make_krawczyk_buffers,
    overlaps,
    pool_roots,
    prove_all,
)
from numeric.equations.discs import Discs, make_discs, run_discs_of
from numeric.equations.system import ParameterSystem, labels_of_samples
from numeric.kernels import call
from numeric.trials.instances import Instance, labels_of, stacked

__all__ = [
    "FAILED", "NONREAL", "REAL", "Certified", "RootPool", "Target", "certify_instances",
    "certify_roots", "make_target", "make_targets", "prove",
]  # fmt: skip


@dataclass(frozen=True)
class Target:
    """An instance in original coordinates with enclosed labels, as certification needs it.

    Of several instances (`make_targets`) the arrays have one more axis, the first.

    Attributes
    ----------
    middle : ndarray of complex
        A parameter vector (not normalised).
    radius : ndarray of float
        Radii, zero except for the labels.
    """

    middle: np.ndarray
    radius: np.ndarray


@dataclass(frozen=True)
class Certified:
    """Results for a batch of approximate roots.

    Attributes
    ----------
    kind : ndarray of int
        `FAILED`, `REAL` or `NONREAL`.
    roots : ndarray of complex, shape (·, r)
        Centres; exactly real for real roots.
    radii : ndarray of float, shape (·, r)
        Radii of the polydiscs; infinite for roots that failed.
    """

    kind: np.ndarray
    roots: np.ndarray
    radii: np.ndarray


def make_target(
    of: ParameterSystem, instance: Instance, chosen: np.ndarray | None = None
) -> Target:
    """The instance as discs: exact weights and samples, labels enclosed by disc arithmetic.

    Parameters
    ----------
    of : ParameterSystem
    instance : Instance
    chosen : ndarray of int, optional
        The instance's independent samples (`ParameterSystem.independent_samples`), if known.
    """
    if chosen is None:
        chosen = of.independent_samples(instance.X)
    found = make_targets(of, [instance], [chosen])
    return Target(found.middle[0], found.radius[0])


def make_targets(
    of: ParameterSystem, instances: Sequence[Instance], chosen: Sequence[np.ndarray]
) -> Target:
    """`make_target` of several instances, along the first axis of the arrays.

    Parameters
    ----------
    of : ParameterSystem
    instances : sequence of Instance
    chosen : sequence of ndarray of int
        The independent samples of each.
    """
    count, first = len(instances), of.y_at
    X = np.array([one.X[:, own] for one, own in zip(instances, chosen, strict=True)])
    nothing = np.zeros((count, *of.label_shape))
    end = first + nothing[0].size
    weights = stacked([one.weights for one in instances])
    radius = np.tile(of.constant_radii, (count, 1))
    drawn = [one.drawn_labels for one in instances]
    if drawn[0] is not None:
        Y = labels_of_samples(of, labels_of(instances), chosen)
        middle = of.raw_of(weights, X, Y).astype(complex)
        if drawn[0].dtype == object:
            # Rationals, rounded to nearest.
            radius[:, first:end] = np.spacing(np.abs(middle[:, first:end]))
        return Target(middle, radius)
    middle = of.raw_of(weights, X, nothing).astype(complex)
    # The labels of the teachers, enclosed.
    teachers = of.raw_of(stacked([one.teacher for one in instances]), X, nothing, keep_cells=True)
    table, at, slots = of.once("labels in discs", of.labels_as_tape)
    labels = make_discs(*nothing.reshape(count, -1).shape)
    vectors = Discs(np.ascontiguousarray(teachers, complex), radius.copy())
    if not call(run_discs_of, make_discs(slots), table, vectors, at, labels):
        raise ArithmeticError("the labels have no enclosure")
    middle[:, first:end], radius[:, first:end] = labels
    return Target(middle, radius)


def certify_roots(
    of: ParameterSystem, target: Target, roots: np.ndarray, *, lifted_first: bool = False
) -> Certified:
    """Krawczyk's test for each approximate root, in double-precision discs.

    First with the equations in the weights; for roots that fail, which may have large weights,
    with the lifted equations.  For a root or two of a system that is used once the other order is
    the quicker one: the derivatives of the lifted equations are written in a fraction of the time.

    Parameters
    ----------
    of : ParameterSystem
    target : Target
    roots : ndarray of complex, shape (·, r)
    lifted_first : bool, optional

    Returns
    -------
    Certified
    """
    roots = np.array(roots, complex).reshape(-1, of.unknowns)
    out = Certified(np.full(len(roots), FAILED), roots, np.full(roots.shape, np.inf))
    both = (lifted_first, not lifted_first) if of.has_states else (False,)
    for lifted in both:
        # Roots that were not found are NaN.
        if np.isfinite(out.roots[out.kind == FAILED]).all(axis=1).any():
            prove(of, target, out, lifted=lifted)
    return out


def prove(of: ParameterSystem, target: Target, certified: Certified, *, lifted: bool) -> None:
    """Test the roots that are `FAILED` with one of the two systems; `certified` is updated.

    Parameters
    ----------
    of : ParameterSystem
    target : Target
    certified : Certified
        The roots of kind `FAILED` are approximate.
    lifted : bool
        Whether to use the lifted equations (if there are any) or those in the weights.
    """
    tapes = of.once(("equations", lifted), lambda: of.equations_as_tapes(lifted))
    system = make_disc_system(tapes, Discs(target.middle, target.radius))
    buffers = make_krawczyk_buffers(len(tapes.places))
    parameters = Discs(target.middle[None], target.radius[None])
    first = np.array([0, len(certified.kind)])
    call(prove_all, system, buffers, parameters, first, *_arrays(certified))


def _arrays(certified: Certified) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return certified.roots, certified.kind, certified.radii


def partners(roots: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Index of an earlier root of its instance that seems to be the conjugate of each root, or -1.

    Parameters
    ----------
    roots : ndarray of complex, shape (·, r)
        Approximate roots of instances, one after the other.
    first : ndarray of int, shape (instances + 1,)
        Where the roots of each instance begin.
    """
    found = np.empty(len(roots), np.int64)
    call(conjugate_partners, first, roots, found, np.empty(len(roots)))
    return found


def mirror(certified: Certified, partner: np.ndarray) -> None:
    """Make the roots with partners (`partners`) the mirror images of these, if proved non-real.

    A real root's polydisc does not imply a second root.
    """
    certified.kind[partner >= 0] = FAILED
    own = np.flatnonzero((partner >= 0) & (certified.kind[partner] == NONREAL))
    of = partner[own]
    certified.kind[own] = NONREAL
    certified.roots[own] = certified.roots[of].conj()
    certified.radii[own] = certified.radii[of]


def certify_instances(
    of: ParameterSystem, targets: Target, roots: Sequence[np.ndarray]
) -> list[RootPool | None]:
    """Krawczyk's test for all approximate roots of many instances, in one call or two.

    It is that of `certify_roots`: with the equations in the weights, then for instances with roots
    that fail with the lifted equations.

    Parameters
    ----------
    of : ParameterSystem
    targets : Target
        Of `make_targets`.
    roots : sequence of ndarray of complex, shape (·, r)
        Of each instance its approximate roots; of two that seem to be conjugates one is tested.

    Returns
    -------
    list of RootPool or None
        None if not every approximate root of an instance is proved to be a root of its own.
    """
    out: list[RootPool | None] = [None] * len(roots)
    parts = [
        [np.array(own, complex), np.full(len(own), FAILED), np.full(own.shape, np.inf)]
        for own in roots
    ]
    for lifted in (False, True) if of.has_states else (False,):
        left = [k for k, pool in enumerate(out) if pool is None]
        if not left:
            break
        tapes = of.once(("equations", lifted), partial(of.equations_as_tapes, lifted))
        parameters = Discs(targets.middle[left], targets.radius[left])
        system = make_disc_system(tapes, Discs(parameters.mid[0], parameters.rad[0]))
        first = np.cumsum([0, *(len(roots[k]) for k in left)])
        points, kind, radii = (np.concatenate([parts[k][i] for k in left]) for i in range(3))
        found = Certified(kind, points, radii)
        partner = partners(found.roots, first)
        # Not `FAILED`: it is not tested.
        found.kind[partner >= 0] = NONREAL
        buffers = make_krawczyk_buffers(len(tapes.places))
        call(prove_all, system, buffers, parameters, first, *_arrays(found))
        mirror(found, partner)
        pools = (
            np.zeros((2 * len(kind), of.unknowns), complex), np.zeros((2 * len(kind), of.unknowns)),
            np.zeros(2 * len(kind), bool),
        )  # fmt: skip
        counts, new = np.zeros(len(left), np.int64), np.zeros(len(kind), bool)
        places = np.column_stack([first, 2 * first])
        call(pool_roots, places, points, radii, kind, *pools, counts, new)
        bad = np.cumsum([False, *(~new | (kind == FAILED))])
        for k, start, end, count in zip(left, first, first[1:], counts.tolist(), strict=False):
            if bad[start] < bad[end]:
                parts[k] = [part[start:end] for part in (points, kind, radii)]
            else:
                own = slice(2 * start, 2 * start + count)
                out[k] = RootPool(of, *(part[own] for part in pools))
    return out


class RootPool:
    """Certified, pairwise distinct roots of one instance, closed under conjugation.

    The coefficients are real: the conjugate of a non-real root is a root too, and its
    polydisc is the mirror image.

    Parameters
    ----------
    of : ParameterSystem
    roots, radii, is_real : ndarray, optional
        The first roots, certified and distinct.
    """

    def __init__(
        self,
        of: ParameterSystem,
        roots: np.ndarray | None = None,
        radii: np.ndarray | None = None,
        is_real: np.ndarray | None = None,
    ) -> None:
        if roots is None or radii is None or is_real is None:
            # Arrays of a pool are replaced, never changed.
            roots, radii, is_real = of.once("no roots", lambda: _no_roots(of.unknowns))
        self.roots, self.radii, self.is_real = roots, radii, is_real

    def __len__(self) -> int:
        return len(self.roots)

    @property
    def real(self) -> int:
        """Number of real roots."""
        return int(self.is_real.sum())

    def add(self, certified: Certified) -> np.ndarray:
        """Add certified roots that are provably new; returns which ones were added."""
        new = np.zeros(len(certified.kind), bool)
        if not (certified.kind != FAILED).any():
            return new
        count, more = len(self), 2 * len(certified.kind)
        roots = np.concatenate([self.roots, np.zeros((more, self.roots.shape[1]))])
        radii = np.concatenate([self.radii, np.zeros((more, self.roots.shape[1]))])
        is_real = np.concatenate([self.is_real, np.zeros(more, bool)])
        counts = np.array([count])
        call(
            pool_roots, np.array([[0, 0], [len(new), 0]]), certified.roots, certified.radii,
            certified.kind, roots, radii, is_real, counts, new,
        )  # fmt: skip
        [count] = counts.tolist()
        self.roots, self.radii, self.is_real = roots[:count], radii[:count], is_real[:count]
        return new

    def owners(self, certified: Certified) -> np.ndarray:
        """Index of the pooled root that each certified one may equal, or -1."""
        out = np.empty(len(certified.kind), np.int64)
        call(overlaps, certified.roots, certified.radii, self.roots, self.radii, out)
        return np.where(certified.kind == FAILED, -1, out)


def _no_roots(r: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros((0, r), complex), np.zeros((0, r)), np.zeros(0, bool)
