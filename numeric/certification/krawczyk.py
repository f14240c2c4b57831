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

from dataclasses import dataclass

import numpy as np

from numeric.certification.krawczyk_kernel import (
    FAILED,
    NONREAL,
    REAL,
    DiscTapes,
    make_krawczyk_buffers,
    make_system,
    overlaps,
    prove_all,
)
from numeric.chains.chain import Chain
from numeric.chains.discs import Discs, make_discs, run
from numeric.chains.lanes.condensed import ChainWriter, jacobian_sizes
from numeric.chains.lanes.lifted import (
    natural_places,
    write_lifted_matrix,
    write_lifted_residual,
)
from numeric.chains.lanes.tape import Layout, Tape
from numeric.instances import Instance

__all__ = [
    "FAILED", "NONREAL", "REAL", "Certified", "RootPool", "Target", "certify", "make_target",
    "prove",
]  # fmt: skip


@dataclass(frozen=True)
class Target:
    """An instance in original coordinates with enclosed labels, as certification needs it.

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
    """

    kind: np.ndarray
    roots: np.ndarray
    radii: np.ndarray


def make_target(chain: Chain, instance: Instance, chosen: np.ndarray | None = None) -> Target:
    """The instance as discs: exact weights and samples, labels enclosed by disc arithmetic.

    Parameters
    ----------
    chain : Chain
    instance : Instance
    chosen : ndarray of int, optional
        The instance's independent samples (`Chain.independent_samples`), if they are known.
    """
    if chosen is None:
        chosen = chain.independent_samples(instance.X)
    X = instance.X[:, chosen]
    middle = chain.raw(instance.weights, X, np.zeros((chain.network.d, chain.samples)))
    # The labels of the teacher, enclosed.
    teacher = chain.raw(
        instance.teacher, X, np.zeros((chain.network.d, chain.samples)), keep_cells=True
    )
    table, at, slots = chain.once("labels in discs", lambda: _write_labels(chain))
    x = make_discs(slots)
    x.mid[: chain.size] = teacher
    if not run(x, table):
        raise ArithmeticError("the labels have no enclosure")
    Y = slice(at, at + chain.network.d * chain.samples)
    middle = middle.astype(complex)
    radius = np.zeros(chain.size)
    middle[chain.y_at :][: Y.stop - at] = x.mid[Y]
    radius[chain.y_at :][: Y.stop - at] = x.rad[Y]
    return Target(middle, radius)


def write_disc_tapes(chain: Chain, lifted: bool) -> DiscTapes:
    """The equations of a chain in its weights, or the lifted ones."""
    t = chain.table
    states = t.states - int(t.s_at[1]) if lifted else 0
    n = states + t.unknowns
    take = Layout()
    p, s, z = take.take(t.size), take.take(t.states), take.take(t.z_size)
    write = ChainWriter(t, p, take.take(t.labels * t.samples))
    f, jacobian = take.take(n), take.take(n * n)
    begin, values, derivatives = Tape(), Tape(), Tape()
    places = p + t.cells[:, 4]
    if lifted:
        natural, first = natural_places(t), int(t.s_at[1])
        write.states(begin, s)
        places = np.concatenate([s + np.arange(first, t.states), places])
        values.copy(s, p + t.s0_at, first)
        write.read_out(values, s, z)
        rest, step = take.take(t.states), take.take(t.unknowns)
        write_lifted_residual(write, natural, values, s, z, rest, step, f)
        write_lifted_matrix(write, natural, derivatives, s, z, jacobian)
    else:
        write.states(values, s)
        write.read_out(values, s, z)
        write.residual(values, z, f)
        adjoints, hidden = (take.take(count) for count in jacobian_sizes(t))
        write.jacobian(derivatives, s, z, adjoints, hidden, jacobian)
    return DiscTapes(
        states, places, begin.table()[0], values.table()[0], derivatives.table()[0], f, jacobian,
        take.slots,
    )  # fmt: skip


def _write_labels(chain: Chain) -> tuple[np.ndarray, int, int]:
    """The tape of the labels of a parameter vector, their slot, and the number of slots."""
    t, tape, take = chain.table, Tape(), Layout()
    p, s, z = take.take(t.size), take.take(t.states), take.take(t.z_size)
    write = ChainWriter(t, p, take.take(t.labels * t.samples))
    write.states(tape, s)
    write.read_out(tape, s, z)
    write.all_labels(tape, z)
    return tape.table()[0], write.labels, take.slots


def certify(chain: Chain, target: Target, roots: np.ndarray) -> Certified:
    """Krawczyk's test for each approximate root, in double-precision discs.

    First with the equations in the weights; for roots that fail, which may have large weights,
    with the lifted equations.

    Parameters
    ----------
    chain : Chain
    target : Target
    roots : ndarray of complex, shape (·, r)

    Returns
    -------
    Certified
    """
    roots = np.array(roots, complex).reshape(-1, chain.unknowns)
    out = Certified(np.full(len(roots), FAILED), roots, np.full(roots.shape, np.inf))
    prove(chain, target, out, lifted=False)
    # Roots that were not found are NaN.
    if chain.steps > 0 and np.isfinite(out.roots[out.kind == FAILED]).all(axis=1).any():
        prove(chain, target, out, lifted=True)
    return out


def prove(chain: Chain, target: Target, certified: Certified, *, lifted: bool) -> None:
    """Test the roots that are `FAILED` with one of the two systems; `certified` is updated.

    Parameters
    ----------
    chain : Chain
    target : Target
    certified : Certified
        The roots of kind `FAILED` are approximate.
    lifted : bool
        Whether to use the lifted equations (for chains with K > 0) or those in the weights.
    """
    tapes = chain.once(("Krawczyk", lifted), lambda: write_disc_tapes(chain, lifted))
    system = make_system(tapes, Discs(target.middle, target.radius))
    buffers = make_krawczyk_buffers(len(tapes.places))
    prove_all(system, buffers, certified.roots, certified.kind, certified.radii)


class RootPool:
    """Certified, pairwise distinct roots of one instance, closed under conjugation.

    The coefficients are real: the conjugate of a non-real root is a root too, and its
    polydisc is the mirror image.
    """

    def __init__(self, chain: Chain) -> None:
        self.roots = np.zeros((0, chain.unknowns), complex)
        self.radii = np.zeros((0, chain.unknowns))
        self.is_real = np.zeros(0, bool)

    def __len__(self) -> int:
        return len(self.roots)

    @property
    def real(self) -> int:
        """Number of real roots."""
        return int(self.is_real.sum())

    def add(self, certified: Certified) -> np.ndarray:
        """Add certified roots that are provably new; returns which ones were added."""
        new = np.zeros(len(certified.kind), bool)
        for k in np.flatnonzero(certified.kind != FAILED):
            root, radii = certified.roots[k], certified.radii[k]
            new[k] = self._add(root, radii, certified.kind[k] == REAL)
        # Conjugates last, so that the endpoint of a path itself counts as new.
        for k in np.flatnonzero(certified.kind == NONREAL):
            self._add(certified.roots[k].conj(), certified.radii[k], False)
        return new

    def owners(self, certified: Certified) -> np.ndarray:
        """Index of the pooled root that each certified one may equal, or -1."""
        out = overlaps(certified.roots, certified.radii, self.roots, self.radii)
        return np.where(certified.kind == FAILED, -1, out)

    def _add(self, root: np.ndarray, radii: np.ndarray, real: bool) -> bool:
        if len(self) and overlaps(root[None], radii[None], self.roots, self.radii)[0] >= 0:
            return False
        self.roots = np.vstack([self.roots, root])
        self.radii = np.vstack([self.radii, radii])
        self.is_real = np.append(self.is_real, real)
        return True
