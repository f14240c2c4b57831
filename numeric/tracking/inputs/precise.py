"""The end of a path in the free inputs, in many bits: for roots near infinity.

If W gets a large eigenvalue R, inputs grow like R^k and the equations' condition like a power
of R.  Newton's basin shrinks with it: at a condition of 10^12 a prediction must be right to about
8 digits, while Taylor coefficients computed in doubles are right to 4, and the path becomes slow
or is lost.  Such paths are few.  Each is followed from its last point to the end
in python-flint's arithmetic: with exact coefficients a step is as long as the series' radius
of convergence allows, and about ten steps reach the end.  On the line inputs may grow to 10^35, the
condition to 10^50: if 256 bits do not suffice, steps are halved again and again, and the
path continues with 768 bits.

The line ends at an instance in doubles, whose rounding alone moves a root of condition 10^12 by
10^-4 of its size.  A last line leads from there to the instance itself, which is rational.

The equations, in the notation of `numeric.chains.inputs`, with ``F = (F_0 | … | F_T)`` and the
block Toeplitz matrix U of the inputs: ``F = α + (β_0 | … | β_{T-1}) U``, and
``W_i (F_0 | … | F_{T-1}) = (F_1 | … | F_T)_i`` for every row i that is left.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import acb, acb_mat, arb, ctx, fmpq, fmpq_mat

from algebra.time_limits import check_time
from numeric.chains.inputs import InputsForm, Reduced
from numeric.instances import Instance

# Precisions in order, and the number of halvings of a step after which the next one is used.
_BITS = (256, 768)
_MOST_HALVINGS = 8
_ORDER = 20
# Target for the predictor's relative error, and the largest first Newton step accepted:
# well inside the basin at the worst condition observed.
_AIM = 1e-12
_BASIN = 1e-8
# Relative accuracy of the points, as a share of the bits.
_GOAL = 0.6
_SHORTEST = 1e-6
_MOST_STEPS = 200
# A path with larger unknowns diverges: the instance is special.
_FAR = 1e60


@dataclass(frozen=True)
class Parameters:
    """α, β and the fixed weights of the remaining rows, as exact balls.

    Attributes
    ----------
    alpha : acb_mat, shape (n, (T + 1) b)
    beta : acb_mat, shape (n, T e)
    rows : acb_mat, shape (rows, n)
    """

    alpha: acb_mat
    beta: acb_mat
    rows: acb_mat

    def plus(self, other: Parameters, factor: acb) -> Parameters:
        """``self + factor · other``."""
        return Parameters(
            *((a + b * factor).mid() for a, b in zip(self.matrices, other.matrices, strict=True))
        )

    @property
    def matrices(self) -> tuple[acb_mat, acb_mat, acb_mat]:
        """All three."""
        return self.alpha, self.beta, self.rows


def parameters_of(form: InputsForm, vector: np.ndarray) -> Parameters:
    """A vector of doubles (`Reduced.vector`) as matrices."""
    n, T, b, e = form.shape
    ends = np.cumsum([(T + 1) * n * b, T * n * e])
    alpha, beta, rows = np.split(vector, ends)
    return Parameters(
        _matrix(alpha.reshape(T + 1, n, b).transpose(1, 0, 2).reshape(n, -1)),
        _matrix(beta.reshape(T, n, e).transpose(1, 0, 2).reshape(n, -1)),
        _matrix(rows.reshape(-1, n)),
    )


@dataclass(frozen=True)
class Exact:
    """An instance in its free inputs, at the current precision.

    Attributes
    ----------
    parameters : Parameters
    W : acb_mat, shape (n, n)
        In the unit of time; learnable cells 0.
    unit : acb
        See `numeric.chains.inputs.Reduced`.
    """

    parameters: Parameters
    W: acb_mat
    unit: acb

    @classmethod
    def of(cls, form: InputsForm, instance: Instance, at: Reduced) -> Exact:
        """The rational instance; `at` fixes the basis V of the free directions."""
        chain, R = form.chain, form.learning.tolist()
        n, T, b, e = form.shape
        weights, X, Y = instance.exact
        chosen = chain.independent_samples(instance.X)
        drive = fmpq_mat(_table(chain.network.drive(X[:, chosen])))
        labels = _balls(fmpq_mat(_table(chain.label_columns(Y, chosen))) * drive.inv())
        unit = fmpq(*at.unit.as_integer_ratio())
        W = np.array(weights["W"], dtype=object) * unit
        W.reshape(-1)[chain.cells[:, 4] - chain.m_at[1]] = fmpq(0)
        D = weights["D"]
        fixed = [i for i in range(n) if i not in R]
        DR = fmpq_mat(_table(D[:, R]))
        inverse = DR.transpose() * (DR * DR.transpose()).inv()
        Q = np.array(W)
        rest = -(inverse * fmpq_mat(_table(D[:, fixed])) * fmpq_mat(_table(W[fixed])))
        for k, i in enumerate(R):
            Q[i] = [rest[k, j] for j in range(n)]
        closed, back = _balls(fmpq_mat(_table(Q))), _balls(inverse)
        V = _matrix(at.V)
        V = (V - back * (_balls(DR) * V)).mid()
        state = _balls(fmpq_mat(_table(np.asarray(weights["B"]))))
        free = acb_mat(n, e)
        for k, i in enumerate(R):
            for g in range(e):
                free[i, g] = V[k, g]
        alpha, beta = [state], [free]
        for k in range(1, T + 1):
            state = (closed * state).mid()
            wanted = back * _columns(labels, (T - k) * b, b) * acb(at.unit) ** k
            for place, i in enumerate(R):
                for x in range(b):
                    state[i, x] = (state[i, x] + wanted[place, x]).mid()
            alpha.append(state)
            if k < T:
                free = (closed * free).mid()
                beta.append(free)
        W_ = _balls(fmpq_mat(_table(W)))
        rows = acb_mat([[W_[int(i), j] for j in range(n)] for i in form.rows])
        return cls(Parameters(_beside(alpha), _beside(beta), rows), W_, acb(at.unit))

    def weights(self, form: InputsForm, x: Sequence[acb]) -> list[acb] | None:
        """All learnable weights for unknowns x: rows with Tb cells by a linear solve."""
        chain = form.chain
        _, T, b, _ = form.shape
        weights: list[acb] = [acb(0)] * len(chain.cells)
        for place, value in zip(form.numbers.tolist(), x, strict=False):
            weights[place] = value
        F = _states(form, self.parameters, x[len(form.cells) :])
        before, after = _columns(F, 0, T * b), _columns(F, b, T * b)
        fixed = self.W * before
        for i in form.learning.tolist():
            if i in form.rows:
                continue
            mine = np.flatnonzero(chain.cells[:, 2] == i).tolist()
            columns = [int(chain.cells[v, 3]) for v in mine]
            matrix = acb_mat([[before[j, k] for j in columns] for k in range(T * b)]).mid()
            right = acb_mat([[after[i, k] - fixed[i, k]] for k in range(T * b)]).mid()
            try:
                found = matrix.solve(right)
            except ZeroDivisionError:
                return None
            for k, v in enumerate(mine):
                weights[v] = found[k, 0].mid()
        return [w / self.unit for w in weights]


def finish_path(
    form: InputsForm,
    instance: Instance,
    first: np.ndarray,
    second: Reduced,
    t: float,
    x: np.ndarray,
) -> list[acb] | None:
    """Track a root from t to 1 on the line between two instances, then to the exact instance.

    Parameters
    ----------
    form : InputsForm
    instance : Instance
        The instance whose reduction is `second`.
    first : ndarray of complex, shape (form.size,)
        Parameters at t = 0.
    second : Reduced
    t : float
        The last t of the path, in [0, 1).
    x : ndarray of complex, shape (q,)
        Approximate unknowns there.

    Returns
    -------
    list of acb or None
        All learnable weights at the instance, good to more than 30 digits; None if the
        path is lost again.
    """
    saved = ctx.prec
    point = _Point(1.0 - t, [acb(z.real, z.imag) for z in x.tolist()])
    try:
        begin, end = parameters_of(form, first), parameters_of(form, second.vector)
        for bits in _BITS:
            ctx.prec = bits
            point = _InputsLine(form, begin, end).follow(point)
            if point.left == 0.0:
                exact = Exact.of(form, instance, second)
                last = _InputsLine(form, end, exact.parameters).follow(_Point(1.0, point.x))
                if last.left == 0.0:
                    return exact.weights(form, last.x)
        return None
    finally:
        ctx.prec = saved


@dataclass(frozen=True)
class _Point:
    """A point of a path.

    Attributes
    ----------
    left : float
        Remaining share of the line.
    x : list of acb
    """

    left: float
    x: list[acb]


class _InputsLine:
    """The equations along a line of parameters."""

    def __init__(self, form: InputsForm, first: Parameters, second: Parameters) -> None:
        self.form = form
        self.second = second
        self.back = first.plus(second, acb(-1))
        self.cells = form.cells.tolist()
        groups = form.cells[:, 0].tolist()
        _, T, b, e = form.shape
        self.groups = groups + [len(form.rows) + k // (e * b) for k in range(T * e * b)]

    def follow(self, point: _Point) -> _Point:
        """Track as far as this precision allows: ``left`` is 0 at the second end."""
        # Relative to the remaining part of the line: steps may be tiny near its end.
        left = point.left
        at = self._at(left)
        x = self._correct(at, point.x, np.inf)
        if x is None:
            return point
        halvings = 0
        for _ in range(_MOST_STEPS):
            if left == 0.0 or max(float(abs(z)) for z in x) > _FAR:
                break
            check_time()
            series = self._expand(at, x)
            step = self._step(series, left)
            while True:
                aim = 0.0 if step >= 0.9 * left else left - step
                at = self._at(aim)
                found = self._correct(at, _sum(series, left - aim), _BASIN)
                if found is not None:
                    break
                halvings += 1
                step = (left - aim) * 0.5
                if step < _SHORTEST * left or halvings > _MOST_HALVINGS:
                    return _Point(left, x)
            left, x = aim, found
        return _Point(left, x)

    def _at(self, left: float) -> Parameters:
        return self.second.plus(self.back, acb(left))

    def _step(self, series: list[list[acb]], left: float) -> float:
        step = left
        for order in (_ORDER - 1, _ORDER):
            size = self._size(series[order], series[0])
            step = min(step, (_AIM / (size + 1e-300)) ** (1.0 / order))
        return step

    def _size(self, change: Sequence[acb], x: Sequence[acb]) -> float:
        """Largest change relative to the largest unknown of its group."""
        units: dict[int, float] = {}
        for g, z in zip(self.groups, x, strict=True):
            units[g] = max(units.get(g, 1e-3), float(abs(z).mid()))
        return max(float(abs(z).mid()) / units[g] for g, z in zip(self.groups, change, strict=True))

    def _rows(self, at: Parameters, x: Sequence[acb]) -> acb_mat:
        rows = acb_mat(at.rows)
        for (i, j), value in zip(self.cells, x, strict=False):
            rows[i, j] = value
        return rows

    def _jacobian(self, at: Parameters, rows: acb_mat, F: acb_mat) -> acb_mat:
        _, T, b, e = self.form.shape
        q = self.form.unknowns
        learn = self.form.rows.tolist()
        J = acb_mat(q, q)
        for v, (i, j) in enumerate(self.cells):
            for k in range(T * b):
                J[i * T * b + k, v] = F[j, k]
        ahead = rows * at.beta
        for i, row in enumerate(learn):
            # Derivative of equation k by u_l: W_i β_{k-1-l} − β_{k-l, i}.
            gain = [
                [
                    (ahead[i, (lag - 1) * e + g] if lag else acb(0)) - at.beta[row, lag * e + g]
                    for g in range(e)
                ]
                for lag in range(T)
            ]
            for k in range(T):
                for moment in range(k + 1):
                    for g in range(e):
                        for y in range(b):
                            column = len(self.cells) + (moment * e + g) * b + y
                            J[(i * T + k) * b + y, column] = gain[k - moment][g]
        return J.mid()

    def _residual(self, rows: acb_mat, F: acb_mat) -> acb_mat:
        """``W_i F_{k-1} − F_{k,i}``, row by row."""
        _, T, b, _ = self.form.shape
        product = rows * _columns(F, 0, T * b)
        return _stack(self.form, product, F)

    def _correct(self, at: Parameters, x: list[acb], basin: float) -> list[acb] | None:
        """Newton's method; None if the first step is larger than `basin` or if it fails."""
        last, goal = np.inf, 2.0 ** (-_GOAL * ctx.prec)
        for sweep in range(12):
            rows = self._rows(at, x)
            F = _states(self.form, at, x[len(self.cells) :])
            try:
                step = self._jacobian(at, rows, F).solve(self._residual(rows, F).mid()).mid()
            except ZeroDivisionError:
                return None
            change = step.entries()
            x = [(z - dz).mid() for z, dz in zip(x, change, strict=True)]
            size = self._size(change, x)
            if not np.isfinite(size) or (sweep == 0 and size > basin):
                return None
            if size < goal:
                return x
            if sweep > 1 and size > 0.3 * last:
                return None
            last = size
        return None

    def _expand(self, at: Parameters, x: list[acb]) -> list[list[acb]]:
        """Taylor coefficients of the root as functions of the distance from here."""
        form, way = self.form, len(self.cells)
        slope = Parameters(*((-m).mid() for m in self.back.matrices))
        rows = self._rows(at, x)
        F = _states(form, at, x[way:])
        inverse = self._jacobian(at, rows, F).inv().mid()
        _, T, b, _ = form.shape
        series, lefts = [x], [rows]
        # F_0 … F_{T-1}, order by order.
        states = [_columns(F, 0, T * b)]
        for order in range(1, _ORDER + 1):
            # All terms except those of this order's own unknowns.
            rest = slope.beta * _toeplitz(form, series[-1][way:])
            left = acb_mat(rows.nrows(), rows.ncols())
            if order == 1:
                rest += slope.alpha
                left = self._rows(slope, [acb(0)] * way)
            rest = rest.mid()
            product = rows * _columns(rest, 0, T * b) + left * states[0]
            for k in range(1, order):
                product += lefts[k] * states[order - k]
            right = _stack(form, product, rest).mid()
            found = [(-z).mid() for z in (inverse * right).entries()]
            series.append(found)
            F = rest + at.beta * _toeplitz(form, found[way:])
            states.append(_columns(F.mid(), 0, T * b))
            full = acb_mat(left)
            for (i, j), value in zip(self.cells, found, strict=False):
                full[i, j] = value
            lefts.append(full)
        return series


def _stack(form: InputsForm, product: acb_mat, F: acb_mat) -> acb_mat:
    """``product_i − F_{k,i}`` as one column, row by row."""
    _, T, b, _ = form.shape
    return acb_mat(
        [
            [product[i, k] - F[row, b + k]]
            for i, row in enumerate(form.rows.tolist())
            for k in range(T * b)
        ]
    )


def _states(form: InputsForm, at: Parameters, u: Sequence[acb]) -> acb_mat:
    """F_0 … F_T, side by side."""
    return (at.alpha + at.beta * _toeplitz(form, u)).mid()


def _toeplitz(form: InputsForm, u: Sequence[acb]) -> acb_mat:
    """The inputs as a matrix (Te, (T+1)b): block (j, k) is u_{k-j}, 0 where k ≤ j."""
    _, T, b, e = form.shape
    out = acb_mat(T * e, (T + 1) * b)
    for j in range(T):
        for k in range(j + 1, T + 1):
            for g in range(e):
                for x in range(b):
                    out[j * e + g, k * b + x] = u[((k - j - 1) * e + g) * b + x]
    return out


def _sum(series: list[list[acb]], h: float) -> list[acb]:
    step, total = acb(h), list(series[-1])
    for terms in series[-2::-1]:
        total = [(a * step + z).mid() for a, z in zip(total, terms, strict=True)]
    return total


def _matrix(values: np.ndarray) -> acb_mat:
    return acb_mat([[acb(complex(z).real, complex(z).imag) for z in row] for row in values])


def _balls(values: fmpq_mat) -> acb_mat:
    return acb_mat([[acb(arb(z)) for z in row] for row in values.tolist()]).mid()


def _table(values: np.ndarray) -> list[list[fmpq]]:
    return [list(row) for row in values]


def _columns(matrix: acb_mat, first: int, count: int) -> acb_mat:
    return acb_mat([row[first : first + count] for row in matrix.tolist()])


def _beside(parts: Sequence[acb_mat]) -> acb_mat:
    tables = [part.tolist() for part in parts]
    return acb_mat([list(itertools.chain(*rows)) for rows in zip(*tables, strict=True)])
