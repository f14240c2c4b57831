r"""All solutions of a rational instance enclosed by balls, none of which is real: MP < 1.

Given N, the theorem of `algebra.arguments.no_real_root` needs N distinct simple
solutions of one instance, none real.  There they are points of a parametrization over Q; here no
ideal is needed, and each is enclosed by Krawczyk's test, in python-flint's ball arithmetic: about a
point x take a polydisc ``B = {|z_j - x_j| ≤ ρ_j}`` and a regular matrix C.  If

.. math:: |C F(x)|_i + \sum_j |I - C F'(B)|_{ij} ρ_j < ρ_i \quad\text{for every } i,

with F(x) and F'(B) enclosed, then z ↦ z − C F(z) maps B into itself and contracts it: B contains
exactly one solution of F, and it is simple [1]_.  The instance is real, so the complex conjugate of
B also contains exactly one.  If all these polydiscs, N/2 and their conjugates, are pairwise
disjoint, there are N distinct simple solutions, and none is real: a real one would lie in a
polydisc and in its conjugate.

**The equations F.**  There are as many as weights, so that F' is square, and a solution of F is one
of the instance.  The labels of any network of the kind are A X with some matrix A (for a recurrent
net the samples X contain all steps' inputs), so the labels of samples that span all others
determine those of all.  If ρ = dκ, κ the rank of X, the equations of such samples are F. If a layer
of width w is narrower than both d and κ, labels have rank w at most; if the block of the first w
rows and of w of these samples is regular at the instance, a matrix of rank w is determined by those
rows and columns, and their equations are F.  This proves (a) and (b) of the theorem, and (c) is
proved as above; (d) is verified as there.

**Verification.**  The search encloses derivatives over a polydisc in python-flint's balls, from the
network's factors of derivatives.  The check rounds nothing, and derivatives are made forwards:
matrices over Q(i) carry their derivatives along each weight through the network's own map.

**Krawczyk's test with majorants.**  Let the labels F be polynomials in the weights z, x a point, ρ
positive radii, C a matrix over Q(i).  Let M be the Jacobian of the network with every fixed weight
and sample replaced by its modulus: its polynomials have coefficients at least the moduli of those
of F'.  As |y^α − x^α| ≤ (|x| + ρ)^α − |x|^α on the polydisc B = {|y_j − x_j| ≤ ρ_j},

.. math:: |F'(y) - F'(x)| ≤ M(|x| + ρ) - M(|x|) = Δ \quad\text{entry by entry on } B.

So |I − C F'(y)| ≤ |I − C F'(x)| + |C| Δ there, and if

.. math:: |C F(x)|_i + \sum_j (|I - C F'(x)| + |C| Δ)_{ij} ρ_j < ρ_i \quad\text{for every } i,

z ↦ z − C F(z) maps B into its interior and contracts it: B holds exactly one solution, a simple one
(`algebra.linalg.krawczyk` has the reference).  All of this is rational where moduli are replaced by
their bounds |a + bi| ≤ |a| + |b|.

*Survey*: of the first 240 nets of `benchmarks/bench_undecided.py` it decides nine or
ten, nine of them alone.

References
----------
.. [1] R. Krawczyk, Computing 4 (1969) 187-201.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from flint import acb, acb_mat, arb, ctx, fmpq, fmpq_mat, fmpz

from algebra.arguments.argument import OF_ALL, Argument, Claimed, FoundEvidence
from algebra.arguments.evidence import Samples, Weights, need_drawn
from algebra.arguments.no_real_root import PERSISTS, is_smooth
from algebra.certificates.tools import NonRealInstance
from algebra.checker.arrays import matrix
from algebra.checker.checks import PROVED, CheckFailed, Say
from algebra.checker.premises import DENSE, GENERIC_LABELS, NEARBY, NOISY
from algebra.checker.records import Context, Record, rational_of
from algebra.checker.verdicts import INTERMEDIATE
from algebra.linalg.krawczyk import krawczyk_radii, newton_limit
from algebra.linalg.rational import Rationals, rational_matrix, rational_rank
from algebra.networks.chain import need_chain
from algebra.problems.allocation import Cell
from algebra.problems.premises import Feature
from algebra.problems.problem import Problem
from algebra.time_limits import check_time, phase

if TYPE_CHECKING:
    from algebra.arguments.case import Case

PLACE = "evidence.enclosed_solutions"
# Of the search: precisions in bits, tried in order, and the number of Newton steps at each.
_BALL_PRECISIONS = (128, 256, 512)
_BALL_NEWTON = 12
# Of the check: points are refined to multiples of 2^-bits, one precision after the other.
_PRECISIONS = (96, 192, 384)
_NEWTON = 6

BallBox = tuple[list[acb], list[arb]]
# Real and imaginary part; None where it is 0.
Complex = tuple[Rationals, Rationals | None]
Box = tuple[list[int], list[int]]
# A coordinate of a solution, of at most 200 characters: enough for any double.
_Coordinate = rational_of(200)


@dataclass(frozen=True)
class Enclosed(Record):
    """A rational instance with points near one of each pair of its conjugate solutions.

    Attributes
    ----------
    weights, teacher : mapping of str to ndarray of fmpq
    X : ndarray of fmpq
    points : tuple of ndarray of fmpq, shape (r, 2)
        Real and imaginary parts of the learnable weights.
    """

    weights: Weights
    teacher: Weights
    X: Samples
    points: tuple[
        Annotated[
            np.ndarray, matrix(lambda context: (context["problem"].allocation.size, 2), _Coordinate)
        ],
        ...,
    ]

    def check(self, place: str, context: Context) -> None:
        """The instance must be drawable."""
        need_drawn(context["problem"], self.weights, self.teacher, place)


def search(case: Case) -> FoundEvidence | None:
    """A guess of an instance without real solutions, if balls prove it."""
    candidates, roots = case.effort.tools.candidates, case.roots
    if candidates is None or roots is None:
        return None
    case.tried[ARGUMENT.name] = "no instance without real solutions was found by descent"
    with phase("search for an instance without real solutions"):
        for guess in candidates(case.problem, roots.value):
            enclosed = enclosed_evidence(case.problem, guess, roots.value)
            if enclosed is not None:
                rule = f"an instance with {roots.value} complex solutions, none real{case.how}"
                return FoundEvidence(INTERMEDIATE, rule, enclosed)
    return None


def enclosed_evidence(problem: Problem, guess: NonRealInstance, count: int) -> Enclosed | None:
    """An instance as evidence, if balls prove that it has `count` solutions, none of them real."""
    if 2 * len(guess.solutions) != count:
        return None
    Y = problem.network.forward(guess.teacher, guess.X)
    points = [[acb(arb(re), arb(im)) for re, im in point] for point in guess.solutions]
    if _no_proof(problem, guess.weights, guess.X, Y, points):
        return None
    return Enclosed(guess.weights, guess.teacher, guess.X, tuple(guess.solutions))


def _no_proof(
    problem: Problem,
    weights: Mapping[str, np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    points: Sequence[Sequence[acb]],
) -> str:
    """Why the points are not distinct simple non-real solutions; "" if they are."""
    chosen = label_equations(problem, X, Y)
    if chosen is None or not is_smooth(problem, X, Y, len(chosen)):
        return "no square system of label equations determines the solutions at this instance"
    boxes: list[BallBox] = []
    before = ctx.prec
    try:
        for k, point in enumerate(points):
            for bits in _BALL_PRECISIONS:
                check_time()
                ctx.prec = bits
                box = _BallEquations(problem, weights, X, Y, chosen).enclose(list(point))
                if box is not None:
                    break
            else:
                return f"Krawczyk's test shows no solution near point {k}"
            boxes.append(box)
        ctx.prec = _BALL_PRECISIONS[-1]
        mirrored = [([z.conjugate() for z in centre], radii) for centre, radii in boxes]
        for number, (one, other) in enumerate(combinations([*boxes, *mirrored], 2)):
            if number % 1000 == 0:
                check_time()
            if not any(
                abs(a - b) > q + s
                for a, b, q, s in zip(one[0], other[0], one[1], other[1], strict=True)
            ):
                return "the balls of two solutions, or of one and a conjugate, are not disjoint"
    finally:
        ctx.prec = before
    return ""


class _BallEquations:
    """The label equations of an instance and their Jacobian, at the current precision."""

    def __init__(
        self,
        problem: Problem,
        weights: Mapping[str, np.ndarray],
        X: np.ndarray,
        Y: np.ndarray,
        chosen: list[tuple[int, int]],
    ) -> None:
        exact = np.frompyfunc(lambda value: acb(arb(value)), 1, 1)
        self.network, self.chosen = need_chain(problem.network), chosen
        self.cells = problem.allocation.cells
        self.weights = {name: exact(value) for name, value in weights.items()}
        self.X, self.Y = exact(X), exact(Y)

    def enclose(self, x: list[acb]) -> BallBox | None:
        """A polydisc that contains exactly one solution, near an approximate one; None if none is
        found."""
        goal = arb(2) ** (-(ctx.prec * 3) // 5)
        found = newton_limit(self.at, x, _BALL_NEWTON, goal, arb(1))
        if found is None:
            return None
        radii = krawczyk_radii(self.at, found, (4,), arb(2) ** (-ctx.prec))
        return None if radii is None else (found, radii)

    def at(self, x: Sequence[acb]) -> tuple[acb_mat, acb_mat]:
        """Enclosed residuals and Jacobian at given weights."""
        weights = {name: value.copy() for name, value in self.weights.items()}
        for (name, i, j), value in zip(self.cells, x, strict=True):
            weights[name][i, j] = value
        labels = self.network.forward(weights, self.X, _ball_product)
        J = self.network.jacobian(weights, self.X, self.cells, _ball_product)
        J = J.reshape(*labels.shape, len(x))
        F = acb_mat(len(x), 1, [labels[at] - self.Y[at] for at in self.chosen])
        return F, acb_mat([list(J[at]) for at in self.chosen])


def _ball_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Product of matrices of balls and rationals, by python-flint."""
    left, right = (acb_mat(x.shape[0], x.shape[1], list(map(acb, x.flat))) for x in (a, b))
    out = np.empty(a.shape[0] * b.shape[1], dtype=object)
    out[:] = (left * right).entries()
    return out.reshape(a.shape[0], b.shape[1])


def check(problem: Problem, witness: Enclosed, claimed: Claimed) -> str:
    """An instance with N simple solutions in disjoint polydiscs, none real; N counted again."""
    from algebra.arguments.recount import check_root_count

    assert claimed.roots is not None
    _check_instance(problem, witness, claimed.roots.value, claimed.say)
    return check_root_count(problem, problem.allocation, claimed.roots, claimed)


def _check_instance(problem: Problem, witness: Enclosed, expected: int, say: Say) -> None:
    """The instance has as many solutions; see the module's docstring."""
    if 2 * len(witness.points) != expected:
        text = f"{len(witness.points)} pairs of conjugate solutions, not half of {expected}"
        raise CheckFailed(f"{PLACE}.points", text)
    Y = problem.network.forward(witness.teacher, witness.X)
    chosen = label_equations(problem, witness.X, Y)
    if chosen is None or not is_smooth(problem, witness.X, Y, len(chosen)):
        text = "no square system of label equations determines the solutions at this instance"
        raise CheckFailed(PLACE, text)
    system = _System(problem, witness.weights, witness.X, Y, chosen)
    complaint = "the polydiscs of two solutions, or of one and a conjugate, are not disjoint"
    for bits in _PRECISIONS:
        boxes = []
        for k, point in enumerate(witness.points):
            check_time()
            box = system.box(point, bits)
            if box is None:
                complaint = f"Krawczyk's test shows no solution near point {k}"
                break
            boxes.append(box)
        else:
            if _disjoint(boxes):
                text = f"{expected} simple solutions in disjoint polydiscs, none real (Krawczyk)"
                say(PLACE, PROVED, text)
                say(PLACE, PROVED, "instances near it have as many solutions near these")
                return
    raise CheckFailed(PLACE, complaint)


def label_equations(problem: Problem, X: Rationals, Y: Rationals) -> list[tuple[int, int]] | None:
    """Rows and columns of the labels taken as equations; None where there are none such."""
    network, size = need_chain(problem.network), problem.allocation.size
    d, columns = Y.shape
    if size == Y.size:
        return [(i, s) for i in range(d) for s in range(columns)]
    if network.drive(X) is not X:
        return None
    basis: list[int] = []
    for s in range(columns):
        if rational_rank(X[:, [*basis, s]]) > len(basis):
            basis.append(s)
    width = min([d, len(basis), *network.inner_widths])
    chosen = [(i, s) for i in range(d) for s in basis if i < width or s in basis[:width]]
    regular = width == min(d, len(basis)) or rational_rank(Y[:width, basis[:width]]) == width
    return chosen if size == len(chosen) and regular else None


@dataclass(frozen=True, eq=False)
class Jets:
    """A matrix over Q(i) and its derivatives along some weights.

    Attributes
    ----------
    parts : mapping of int to (real, imaginary)
        The value at 0, the derivative along weight k at k + 1; those that are 0 are left out.
    """

    parts: Mapping[int, Complex]

    def __matmul__(self, other: Jets) -> Jets:
        parts = {k: _times(a, other.parts[0]) for k, a in self.parts.items()}
        for k, b in other.parts.items():
            if k:
                product = _times(self.parts[0], b)
                parts[k] = _plus(parts[k], product) if k in parts else product
        return Jets(parts)

    def __add__(self, other: Jets) -> Jets:
        parts = dict(self.parts)
        for k, b in other.parts.items():
            parts[k] = _plus(parts[k], b) if k in parts else b
        return Jets(parts)

    def __getitem__(self, key: Any) -> Jets:
        return Jets({
            k: (re[key], None if im is None else im[key]) for k, (re, im) in self.parts.items()
        })  # fmt: skip

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        # NumPy's protocol for foreign array classes: `np.concatenate` of such matrices.
        if function is not np.concatenate:
            return NotImplemented
        [blocks] = args
        zeros = [block.parts[0][0] * 0 for block in blocks]

        def joined(k: int) -> Complex:
            own = [b.parts.get(k, (zero, None)) for b, zero in zip(blocks, zeros, strict=True)]
            re = np.concatenate([part[0] for part in own], **kwargs)
            if all(part[1] is None for part in own):
                return re, None
            pairs = zip(own, zeros, strict=True)
            return re, np.concatenate([z if p[1] is None else p[1] for p, z in pairs], **kwargs)

        return Jets({k: joined(k) for k in sorted({k for b in blocks for k in b.parts})})


def _plus(a: Complex, b: Complex) -> Complex:
    im = b[1] if a[1] is None else a[1] if b[1] is None else a[1] + b[1]
    return a[0] + b[0], im


def _times(a: Complex, b: Complex) -> Complex:
    re = _product(a[0], b[0])
    if a[1] is not None and b[1] is not None:
        re = re - _product(a[1], b[1])
    parts = [
        _product(x, y) for x, y in ((a[0], b[1]), (a[1], b[0])) if x is not None and y is not None
    ]
    return re, sum(parts[1:], parts[0]) if parts else None


def _product(a: Rationals, b: Rationals) -> Rationals:
    return _array(rational_matrix(a) * rational_matrix(b))


def _array(found: fmpq_mat) -> Rationals:
    out = np.empty(found.nrows() * found.ncols(), dtype=object)
    out[:] = found.entries()
    return out.reshape(found.nrows(), found.ncols())


class _System:
    """The label equations of an instance, with exact values and derivatives."""

    def __init__(
        self, problem: Problem, weights: Mapping[str, Rationals], X: Rationals, Y: Rationals,
        chosen: Sequence[tuple[int, int]],
    ) -> None:  # fmt: skip
        self.network, self.cells = need_chain(problem.network), problem.allocation.cells
        self.weights, self.X, self.Y, self.chosen = weights, X, Y, chosen

    def box(self, point: Rationals, bits: int) -> Box | None:
        """Centre (real, then imaginary parts) and radii of a polydisc with exactly one solution.

        In multiples of 2^-bits.  None where the test fails.
        """
        x, r, unit = _rounded(point.T.ravel(), bits), len(point), fmpq(1, fmpz(2) ** bits)
        # The least radius is far above the rounding of the centre and below any visible distance.
        least = [unit * 2 ** (bits // 2) * (1 + abs(x[j]) + abs(x[r + j])) for j in range(r)]
        try:
            for _ in range(_NEWTON):
                F, J = self.at(x)
                inverse = J.inv()
                step = (inverse * F).entries()
                x = _rounded([a - b for a, b in zip(x, step, strict=True)], bits)
                if all(abs(step[j]) + abs(step[r + j]) < least[j] / 8 for j in range(r)):
                    break
            F, J = self.at(x)
            C = fmpq_mat(2 * r, 2 * r, _rounded(J.inv().entries(), bits))
        except ZeroDivisionError:
            return None
        off, size = (C * F).entries(), range(r)
        slack = _moduli(fmpq_mat(2 * r, 2 * r, [int(i == j) for i in range(2 * r)
                                                for j in range(2 * r)]) - C * J)  # fmt: skip
        centre = [abs(x[j]) + abs(x[r + j]) for j in size]
        grown = self.majorant([c + q for c, q in zip(centre, least, strict=True)])
        slack += _product(_moduli(C), grown - self.majorant(centre))
        for i in size:
            reach = sum((slack[i, j] * least[j] for j in size), abs(off[i]) + abs(off[r + i]))
            if not reach < least[i]:
                return None
        scale = 1 / unit
        return [int((v * scale).p) for v in x], [int((q * scale).ceil()) for q in least]

    def at(self, x: Sequence[fmpq]) -> tuple[fmpq_mat, fmpq_mat]:
        """Residuals (real, then imaginary parts) and the Jacobian, as real matrices."""
        r = len(self.cells)
        found = self._labels(x[:r], x[r:], lambda value: value)
        value, zero = found.parts[0], fmpq(0)

        def entry(part: Rationals | None, at: tuple[int, int]) -> fmpq:
            return zero if part is None else part[at]

        F = [entry(value[0], at) - self.Y[at] for at in self.chosen]
        F += [entry(value[1], at) for at in self.chosen]
        none = (None, None)
        re, im = (
            [
                [entry(found.parts.get(k + 1, none)[part], at) for k in range(r)]
                for at in self.chosen
            ]
            for part in (0, 1)
        )
        J = [[*a, *(-v for v in b)] for a, b in zip(re, im, strict=True)]
        J += [[*b, *a] for a, b in zip(re, im, strict=True)]
        return fmpq_mat(2 * r, 1, F), rational_matrix(J)

    def majorant(self, moduli: Sequence[fmpq]) -> Rationals:
        """Jacobian of the network of moduli, at moduli of the weights."""
        found = self._labels(moduli, None, abs).parts
        out = np.zeros((len(self.chosen), len(self.cells)), dtype=object)
        for k in range(len(self.cells)):
            for e, at in enumerate(self.chosen):
                out[e, k] = found[k + 1][0][at] if k + 1 in found else fmpq(0)
        return out

    def _labels(
        self, re: Sequence[fmpq], im: Sequence[fmpq] | None, of: Callable[[Any], Any]
    ) -> Jets:
        """The labels and their derivatives, with a function applied to all that is fixed."""
        applied = np.frompyfunc(of, 1, 1)
        weights = {}
        for name, value in self.weights.items():
            own = [(k, cell) for k, cell in enumerate(self.cells) if cell[0] == name]
            parts: dict[int, Complex] = {0: (applied(value), None)}
            if own:
                parts[0] = _placed(parts[0][0], own, re), None
                if im is not None:
                    parts[0] = parts[0][0], _placed(value * 0, own, im)
            for k, cell in own:
                parts[k + 1] = _placed(value * 0, [(0, cell)], [fmpq(1)]), None
            weights[name] = Jets(parts)
        labels = self.network.forward(weights, Jets({0: (applied(self.X), None)}))
        assert isinstance(labels, Jets)
        return labels


def _placed(array: Rationals, own: Sequence[tuple[int, Cell]], values: Sequence[fmpq]) -> Rationals:
    out = array.copy()
    for k, (_, i, j) in own:
        out[i, j] = values[k]
    return out


def _rounded(values: Sequence[fmpq] | Rationals, bits: int) -> list[fmpq]:
    """To multiples of 2^-bits."""
    scale = fmpz(2) ** bits
    return [fmpq((v * scale + fmpq(1, 2)).floor(), scale) for v in values]


def _moduli(found: fmpq_mat) -> Rationals:
    """Bounds on the moduli of a complex matrix, from its real form ((a, −b), (b, a))."""
    rows, columns = found.nrows() // 2, found.ncols() // 2
    array = _array(found)
    re, im = array[:rows, :columns], array[rows:, :columns]
    return np.asarray(abs(re) + abs(im), dtype=object)


def _disjoint(boxes: Sequence[Box]) -> bool:
    """Whether polydiscs and their mirror images are disjoint, all of them from each other."""
    r = len(boxes[0][1]) if boxes else 0
    mirrored = [([*x[:r], *(-v for v in x[r:])], radii) for x, radii in boxes]
    for number, (one, other) in enumerate(combinations([*boxes, *mirrored], 2)):
        if number % 1000 == 0:
            check_time()
        if not any(
            abs(a - b) > one[1][j % r] + other[1][j % r]
            for j, (a, b) in enumerate(zip(one[0], other[0], strict=True))
        ):
            return False
    return True


ARGUMENT = Argument(
    name="enclosed_solutions",
    form=Enclosed,
    why={INTERMEDIATE: PERSISTS},
    search=search,
    check=check,
    covers={
        INTERMEDIATE: {
            **NEARBY,
            Feature.EXACT: "the instance has the exact numbers; all others move",
            Feature.ARBITRARY_LABELS: GENERIC_LABELS,
            Feature.NOISE: NOISY,
            Feature.DENSE_TARGET: DENSE,
        }
    },
    counts=OF_ALL,
)
