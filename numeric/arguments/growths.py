r"""Growths of the weights along paths to infinity: guesses for solutions at infinity.

More weights learn than there are equations: the students of an instance are a variety V of positive
dimension r − ρ, and one of its points is known, the student from which the labels were computed.
Growths v for which the leading parts of the equations have isolated solutions
(`algebra.arguments.at_infinity`) are rational points of V's tropical variety, a fan
of dimension r − ρ in R^r: of growths drawn at random hardly any lies on it.  So one path is
followed: r − ρ of the weights are set to :math:`w_k = w_k(0) e^{a_k t}`, the others follow from the
equations, and for large t each of them grows like a power of e^t, a rational number with a small
denominator.

The instance is complex, so that a real path meets no singular point.  Unknowns are the logarithms u
of the weights.  Where the weights are moderate the path is followed in doubles; since the labels
are differences of ever larger terms, the rest is followed in python-flint's arithmetic.  With
:math:`∂u_j/∂u_k` for the chosen weights k all growths near (a_k) are known.

A path near which the equations become dependent to first order (a place where the leading parts
have a common factor) needs ever smaller steps: it is given up after a few, since the theorem does
not apply there.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction

import numpy as np
from flint import acb, acb_mat, ctx
from scipy.linalg import qr

from algebra.networks.chain import ChainNetwork, need_chain
from algebra.problems.problem import Problem
from algebra.time_limits import check_time
from algebra.work import spend

# Bits of the second part of a path: at first, and at most.
_BITS = 128
_MOST_BITS = 512
# The t at which the second part begins, and at which a path is given up.
_MODERATE = 5.0
_LAST = 90.0
# Steps of the first part, attempted steps of the second one.
_STEPS = 200
_PRECISE_STEPS = 56
# The largest first Newton step accepted, and the smallest length of a step.
_BASIN = 0.1
_SHORTEST = 1e-4
# A Newton step after which a point is accepted: less accurate points are bad predictors.
_ENOUGH = 1e-6
# Points by which the next one is predicted.
_POINTS = 4
# Growths are rational numbers p/q with q up to this one, when they are as near to them as the other
# number divided by q, twice in succession.  A vector that is read off too early costs one look at
# its leading parts; to wait until growths are near to 1e-3 takes a quarter of the time of all
# paths, and more of them are lost.
_DENOMINATOR = 12
_NEAR = 0.03
# Work at a point in doubles, and for each weight at an exact one, in seconds.
_AT = 2e-4
_AT_EXACTLY = 1e-4
# Rates of the chosen weights: that of the first one, and those of the others.
_FIRST = Fraction(1)
_OTHERS = tuple(Fraction(q, 4) for q in (1, 2, 3, 5, -2, -3))
_MOST_PATHS = 30

# t, and logarithms and their derivatives there.
_Past = list[tuple[float, np.ndarray, np.ndarray]]


def tracked_growths(problem: Problem, equations: int, seed: int) -> Iterator[tuple[int, ...]]:
    """Growths at the ends of paths to infinity, each once, without a common factor.

    Parameters
    ----------
    problem : Problem
        Its network is a chain of matrices, with more learnable cells than equations, of full rank.
    equations : int
        Generic rank ρ.
    seed : int

    Yields
    ------
    tuple of int
        v, for each learnable weight.
    """
    rng, seen = np.random.default_rng([seed, 29]), set[tuple[int, ...]]()
    size = problem.allocation.size
    for _ in range(_MOST_PATHS):
        chosen = np.sort(rng.choice(size, size - equations, replace=False))
        rates = [_OTHERS[k] for k in rng.integers(len(_OTHERS), size=len(chosen))]
        rates[rng.integers(len(chosen))] = _FIRST
        found = _Path(problem, equations, chosen, rates, rng).growth(seen)
        if found is not None and found not in seen:
            seen.add(found)
            yield found


class _Path:
    """A path on the variety of students of a random complex instance.

    Parameters
    ----------
    problem : Problem
    equations : int
    chosen : ndarray of int
        Positions of the weights that are given.
    rates : sequence of Fraction
        a, for these weights.
    rng : Generator
    """

    def __init__(
        self,
        problem: Problem,
        equations: int,
        chosen: np.ndarray,
        rates: Sequence[Fraction],
        rng: np.random.Generator,
    ) -> None:
        self.network: ChainNetwork = need_chain(problem.network)
        self.cells, self.rates = problem.allocation.cells, rates
        self.names = problem.allocation.matrices
        self.chosen, self.slopes = chosen, np.array([float(a) for a in rates])
        self.kept = np.setdiff1d(np.arange(len(self.cells)), chosen)

        def drawn(shape: tuple[int, ...]) -> np.ndarray:
            return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)

        self.weights = {name: drawn(shape) for name, shape in self.network.shapes.items()}
        for name, mask in problem.support.items():
            self.weights[name] *= np.asarray(mask)
        self.X = drawn(self.network.input_shape)
        self.start = np.log([self.weights[name][i, j] for name, i, j in self.cells])
        self.labels, jacobian = self._at(self.start)
        # Independent equations.
        self.rows = np.sort(qr(jacobian.T, mode="r", pivoting=True)[1][:equations])

    def growth(self, known: Collection[tuple[int, ...]] = ()) -> tuple[int, ...] | None:
        """v at the path's end; None if it is lost, or does not end soon.

        Of a known one it is enough that the path comes near to it once.
        """
        saved = ctx.prec
        try:
            ctx.prec = _BITS
            # A path that is lost may meet infinite numbers first.
            with np.errstate(all="ignore"):
                return self._precise(*self._moderate(), known)
        except (np.linalg.LinAlgError, ZeroDivisionError, OverflowError, ValueError):
            return None
        finally:
            ctx.prec = saved

    def _whole(self, slopes: list[list[Fraction]]) -> tuple[int, ...]:
        """v, from the growths' derivatives by the rates."""
        v = [sum((x * a for x, a in zip(row, self.rates, strict=True)), Fraction(0))
             for row in slopes]  # fmt: skip
        scale = math.lcm(*(x.denominator for x in v))
        whole = [int(x * scale) for x in v]
        common = math.gcd(*whole)
        return tuple(x // common for x in whole)

    def _at(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Labels, and their derivatives by the logarithms, in doubles."""
        spend(_AT)
        weights, w = {name: value.copy() for name, value in self.weights.items()}, np.exp(u)
        for (name, i, j), value in zip(self.cells, w, strict=True):
            weights[name][i, j] = value
        factors = self.network.tangents(weights, self.X, self.names)
        columns = [
            np.einsum("sd,sm->dm", factors[name][0][:, :, i], factors[name][1][:, j]).ravel()
            for name, i, j in self.cells
        ]
        return self.network.forward(weights, self.X).ravel(), np.stack(columns, axis=1) * w

    def _moderate(self) -> tuple[float, np.ndarray, float, _Past]:
        """The first part: t, the logarithms, the length of the next step, and the last points."""
        u, t, step, past = self.start, 0.0, 0.2, _Past()
        jacobian, labels = self._at(u)[1], self.labels[self.rows]

        def solved(right: np.ndarray) -> np.ndarray:
            matrix = jacobian[np.ix_(self.rows, self.kept)]
            scale = np.abs(matrix).max(axis=1)
            return np.linalg.solve(matrix / scale[:, None], right / scale)

        for _ in range(_STEPS):
            check_time()
            velocity = np.zeros(len(u), complex)
            velocity[self.chosen] = self.slopes
            velocity[self.kept] = solved(-jacobian[np.ix_(self.rows, self.chosen)] @ self.slopes)
            past = [*past[1 - _POINTS :], (t, u, velocity)]
            while True:
                step = min(step, _MODERATE - t)
                new = self._predicted(past, t + step)
                first = size = math.inf
                for _ in range(5):
                    values, jacobian = self._at(new)
                    change = solved(labels - values[self.rows])
                    last, size = size, float(np.abs(change).max())
                    first = min(first, size) if math.isinf(first) else first
                    if not size < (_BASIN if math.isinf(last) else 0.3 * last):
                        break
                    new[self.kept] += change
                    if size < _ENOUGH:
                        break
                if size < 10 * _ENOUGH:
                    break
                step /= 2
                if step < _SHORTEST:
                    return t, u, step, past
            u, t = new, t + step
            if t >= _MODERATE:
                break
            jacobian = self._at(u)[1]
            step = _next(step, first)
        return t, u, step, past

    def _predicted(self, past: _Past, t: float) -> np.ndarray:
        """Hermite's interpolation of the last points and derivatives, at t."""
        times, found = [own for own, _, _ in past], np.zeros_like(past[-1][1])
        for own, u, velocity in past:
            others = [at for at in times if at != own]
            basis = math.prod((t - at) / (own - at) for at in others) ** 2
            slope = sum(1 / (own - at) for at in others)
            found = found + u * ((1 - 2 * (t - own) * slope) * basis)
            found = found + velocity * ((t - own) * basis)
        return self._placed(found, t)

    def _placed(self, u: np.ndarray, t: float) -> np.ndarray:
        """The logarithms, with those of the chosen weights at t; of exact numbers, rounded."""
        given = self.start[self.chosen]
        if u.dtype == object:
            u = _points(u)
            u[self.chosen] = [
                acb(complex(z)) + acb(a) * acb(t) for z, a in zip(given, self.slopes, strict=True)
            ]
        else:
            u[self.chosen] = given + self.slopes * t
        return u

    def _precise(
        self, t: float, u: np.ndarray, step: float, past: _Past,
        known: Collection[tuple[int, ...]],
    ) -> tuple[int, ...] | None:  # fmt: skip
        """The second part: v, from the growths' derivatives by the rates, rational numbers."""
        if t < _MODERATE:
            return None
        exact = _Exact(self)
        point = exact.corrected(self._placed(_exact(u), t))
        past, last = [(own, _exact(x), _exact(v)) for own, x, v in past], None
        while True:
            if point is None or t > _LAST or exact.attempts > _PRECISE_STEPS:
                return None
            check_time()
            exact.set_bits()
            derivatives = exact.derivatives()
            found = [[_rational(z) for z in row] for row in derivatives]
            good = [[q for q in row if q is not None] for row in found]
            if good == found:
                v = self._whole(good)
                if found == last or v in known:
                    return v
            last = found
            velocity = _exact(derivatives @ self.slopes)
            past = [*past[1 - _POINTS :], (t, point, velocity)]
            while (new := exact.corrected(self._predicted(past, t + step))) is None:
                step /= 2
                if step < 10 * _SHORTEST:
                    return None
            point, t = new, t + step
            step = _next(step, exact.first)


class _Exact:
    """A path's equations in python-flint's arithmetic."""

    def __init__(self, path: _Path) -> None:
        self.path = path
        self.weights = {name: _exact(value) for name, value in path.weights.items()}
        self.X = _exact(path.X)
        self.labels = self._at(_exact(path.start), derived=False)
        self.first, self.attempts = math.inf, 0

    def _at(self, u: np.ndarray, derived: bool = True) -> np.ndarray:
        """The labels; their derivatives by the logarithms are kept."""
        path, weights = self.path, self.weights
        spend(_AT_EXACTLY * len(u))
        for (name, i, j), value in zip(path.cells, u, strict=True):
            weights[name][i, j] = value.exp().mid()
        output = path.network.chain().output
        factors = path.network.tangents(weights, self.X, (*path.names, output), _matmul)
        labels = _matmul(weights[output], factors[output][1][0]).ravel()[path.rows]
        if derived:
            found = np.empty((len(path.rows), len(path.cells)), dtype=object)
            for name in path.names:
                self._derive(name, *factors[name], found)
            self.jacobian = found
        return labels

    def _derive(self, name: str, left: np.ndarray, right: np.ndarray, found: np.ndarray) -> None:
        """The columns of one matrix's cells."""
        path = self.path
        own = [k for k, cell in enumerate(path.cells) if cell[0] == name]
        i, j = (np.array([path.cells[k][axis] for k in own]) for axis in (1, 2))
        rows, columns = np.unique(i), np.unique(j)
        d, m = left.shape[1], right.shape[2]
        table = _matmul(
            _exact(left[:, :, rows]).reshape(len(left), -1).T,
            _exact(right[:, columns]).reshape(len(left), -1),
        ).reshape(d, len(rows), len(columns), m)
        for k, row, column in zip(
            own, np.searchsorted(rows, i), np.searchsorted(columns, j), strict=True
        ):
            own_column = table[:, row, column].ravel()[path.rows]
            found[:, k] = own_column * self.weights[name][path.cells[k][1:]]

    def _solved(self, right: np.ndarray) -> np.ndarray:
        """The solution, for the weights that are not chosen, of a column for each right side."""
        n = len(self.path.kept)
        matrix = acb_mat(n, n, self.jacobian[:, self.path.kept].ravel().tolist())
        columns = acb_mat(n, right.shape[1], right.ravel().tolist())
        found = matrix.solve(columns, algorithm="approx").entries()
        return _points(np.array(found, dtype=object)).reshape(right.shape)

    def corrected(self, u: np.ndarray) -> np.ndarray | None:
        """Newton's method; None if it does not converge from here."""
        size = math.inf
        self.attempts += 1
        for _ in range(8):
            values = self._at(u)
            gap = _points(self.labels - values)
            change = self._solved(gap[:, None])[:, 0]
            last, size = size, max(float(abs(z).mid()) for z in change)
            if math.isinf(last):
                self.first = size
            if not size < (_BASIN if math.isinf(last) else 0.3 * last):
                return None
            u = u.copy()
            u[self.path.kept] = _points(u[self.path.kept] + change)
            if size < _ENOUGH:
                return u
        return None

    def set_bits(self) -> None:
        """As many bits as the labels need, which are differences of larger terms."""
        largest = max(map(_exponent, self.jacobian[0]))
        ctx.prec = int(min(_MOST_BITS, max(_BITS, 64 + 2 * largest)))

    def derivatives(self) -> np.ndarray:
        """Of all logarithms by those of the chosen weights, at the last point; in doubles."""
        chosen, kept = self.path.chosen, self.path.kept
        found = np.zeros((len(self.path.cells), len(chosen)), complex)
        found[chosen, np.arange(len(chosen))] = 1
        own = self._solved(-self.jacobian[:, chosen])
        found[kept] = [[complex(z) for z in row] for row in own]
        return found


def _next(step: float, first: float) -> float:
    """The length of the next step, from the size of the first Newton step of the last one."""
    if first < 0.05 * _BASIN:
        return step * 2
    if first < 0.3 * _BASIN:
        return step * 1.4
    return step * 0.7 if first > 0.6 * _BASIN else step


def _rational(value: complex) -> Fraction | None:
    """The rational number with a small denominator near a value, if there is one."""
    if not abs(value) < 30:
        return None
    for q in range(1, _DENOMINATOR + 1):
        found = Fraction(round(value.real * q), q)
        if abs(value - float(found)) < _NEAR / q:
            return found
    return None


def _exponent(value: acb) -> int:
    """The exponent of a number's size, in powers of two; 0 for 0."""
    mantissa, exponent = abs(value).mid().man_exp()
    return int(exponent) + int(mantissa).bit_length()


def _exact(array: np.ndarray) -> np.ndarray:
    """Entries as exact complex numbers."""
    if array.dtype == object:
        return array
    return np.array([acb(complex(z)) for z in array.ravel()], dtype=object).reshape(array.shape)


def _points(array: np.ndarray) -> np.ndarray:
    """Midpoints of balls."""
    return np.array([z.mid() for z in array.ravel()], dtype=object).reshape(array.shape)


def _matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product of matrices of balls, rounded to points."""
    left = acb_mat(a.shape[0], a.shape[1], a.ravel().tolist())
    found = (left * acb_mat(b.shape[0], b.shape[1], b.ravel().tolist())).mid().entries()
    return np.array(found, dtype=object).reshape(a.shape[0], b.shape[1])
