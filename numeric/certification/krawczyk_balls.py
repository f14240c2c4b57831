"""Krawczyk's test in balls of any precision, on the exact rational instance.

Used for roots that double precision cannot separate or certify: near a double
root, or with very large weights.  The test is that of `numeric.certification.krawczyk`, in
python-flint's ball arithmetic (`acb`); the precision is doubled until the test succeeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from flint import acb, arb, ctx

from algebra.linalg.krawczyk import krawczyk_radii, newton_limit
from numeric.certification.krawczyk import NONREAL, REAL, Certified
from numeric.equations.balls import BallSystem
from numeric.equations.system import ParameterSystem
from numeric.trials.instances import Instance

_NEWTON = 30
# First and last precision in bits; it doubles in between.  Of a root given in balls, which pairs of
# doubles could not hold, the first ones would fail.
_BITS = 128
_BITS_OF_BALLS = 512
_MOST_BITS = 1024


def certify_exact(
    of: ParameterSystem,
    instance: Instance,
    approximations: np.ndarray | Sequence[Sequence[acb]],
    most_bits: int = _MOST_BITS,
) -> Certified:
    """Krawczyk's test for approximate roots, in balls.

    Parameters
    ----------
    of : ParameterSystem
    instance : Instance
    approximations : ndarray of complex, shape (·, r), or the same in balls
        Approximate roots.  Near infinity a double may lie outside the region in which Newton's
        method converges; balls have more digits.
    most_bits : int, optional
        The last precision tried.

    Returns
    -------
    Certified
        Centres are rounded to doubles, and radii increased so that they cover the rounding of
        the centre.
    """
    points = [_balls(root) for root in approximations]
    roots = np.array(
        [[complex(float(z.real.mid()), float(z.imag.mid())) for z in point] for point in points],
        complex,
    ).reshape(-1, of.unknowns)
    kind = np.zeros(len(roots), np.int64)
    radii = np.full(roots.shape, np.inf)
    if not len(roots):
        return Certified(kind, roots, radii)
    vector = _exact_vector(of, instance)
    bits = _BITS if isinstance(approximations, np.ndarray) else min(_BITS_OF_BALLS, most_bits)
    for number, root in enumerate(points):
        for test in _tests(of, vector, most_bits, bits):
            found = test.test(root)
            if found is not None:
                kind[number], roots[number], radii[number] = found
                break
    return Certified(kind, roots, radii)


def decide_real_root(
    of: ParameterSystem,
    instance: Instance,
    root: np.ndarray,
    decide: Callable[[list[arb]], bool | None],
) -> bool | None:
    """Decide a question about a real root at the first precision that suffices.

    Parameters
    ----------
    of : ParameterSystem
    instance : Instance
    root : ndarray of float, shape (r,)
        An approximate root.
    decide : callable
        From balls that enclose the weights of a certified real root near `root` to True, False or
        None (the balls are too wide); called with flint's precision set to that of the balls.

    Returns
    -------
    bool or None
        None if no precision sufficed.
    """
    for test in _tests(of, _exact_vector(of, instance)):
        found = test.enclose(_balls(root))
        if found is not None and found[0] == REAL:
            _, centre, radii = found
            balls = [arb(z.real.mid(), q) for z, q in zip(centre, radii, strict=True)]
            answer = decide(balls)
            if answer is not None:
                return answer
    return None


def _exact_vector(of: ParameterSystem, instance: Instance) -> np.ndarray:
    """The instance's parameter vector over Q."""
    chosen = of.independent_samples(instance.X)
    weights, X, Y = instance.exact
    return of.raw(weights, X[:, chosen], of.label_columns(Y, chosen))


def _tests(
    of: ParameterSystem, vector: np.ndarray, most_bits: int = _MOST_BITS, bits: int = _BITS
) -> Iterator[_Test]:
    """Krawczyk's tests at increasing precision, each twice the last."""
    saved = ctx.prec
    try:
        while bits <= most_bits:
            ctx.prec = bits
            yield _Test(of, [acb(arb(x)) for x in vector])
            bits *= 2
    finally:
        ctx.prec = saved


class _Test(BallSystem):
    """Krawczyk's test at the current precision."""

    def test(self, root: np.ndarray | Sequence[acb]) -> tuple[int, np.ndarray, np.ndarray] | None:
        """Kind, centre and radii as doubles of the certified root near an approximate one."""
        found = self.enclose(_balls(root))
        return None if found is None else (found[0], *_rounded(found[1], found[2]))

    def enclose(self, root: list[acb]) -> tuple[int, list[acb], list[arb]] | None:
        """Kind, centre and radii of the certified root near an approximate one, or None."""
        if not all(z.is_finite() for z in root):
            return None
        goal = arb(2) ** (-(ctx.prec * 3) // 5)
        x = newton_limit(self.evaluate, root, _NEWTON, goal, goal)
        if x is None:
            return None
        near_real = all(
            abs(z.imag) < arb(2) ** (-ctx.prec // 3) * (abs(z) + arb(2) ** (-10)) for z in x
        )
        for as_real in (True, False):
            if as_real and not near_real:
                continue
            centre = [acb(z.real.mid()) for z in x] if as_real else x
            tiny = arb(2) ** (-2 * ctx.prec)
            rho = krawczyk_radii(self.evaluate, centre, (2, 64), tiny)
            if rho is None:
                continue
            apart = any(abs(z.imag) > q for z, q in zip(centre, rho, strict=True))
            if as_real or apart:
                return (REAL if as_real else NONREAL), centre, rho
        return None


def _balls(root: np.ndarray | Sequence[acb]) -> list[acb]:
    """A point as exact balls."""
    return [z if isinstance(z, acb) else acb(float(z.real), float(z.imag)) for z in root]


def _rounded(centre: list[acb], rho: list[arb]) -> tuple[np.ndarray, np.ndarray]:
    """Centre and radii as doubles; the radius grows by the rounding of the centre."""
    points, radii = [], []
    for z, q in zip(centre, rho, strict=True):
        point = complex(float(z.real.mid()), float(z.imag.mid()))
        off = abs(z - acb(point.real, point.imag)) + q
        bound = float(off.abs_upper()) * (1 + 2.0**-40) + 5e-324
        points.append(point)
        radii.append(bound)
    return np.array(points), np.array(radii)
