r"""All real weights as finitely many boxes: charts of R^r, and the equations in them.

**Groups.**  Two unknowns are in one group if some argument of an activation, or a label, depends on
both before another activation is applied (`linear_groups`): the weights of a row, with its bias.

**Charts.**  For each group g either every |w_k| ≤ R, or its largest weight w_q is ± 1/τ with
0 ≤ τ ≤ 1/R and the others are w_k = θ_k/τ with |θ_k| ≤ 1.  Every w ∈ R^r is in one of the
Π (1 + 2 |g|) charts, with τ > 0: its coordinates are w_k, θ_k, and τ in the place of w_q.  The
coordinates of a chart range over a box, and a proof that no point of any of the boxes has the
labels is a proof that no weights have them.

Arguments of activations are linear in a group (`algebra.programs.homogeneous`): near τ = 0 most of
them are large of known sign, so that their values are known.

**Equations.**  In a box, labels minus given ones are enclosed by the operations of the program
(`ChartEquations.residuals`); where one of them is not 0, the box has no match.  Where τ > 0 the
derivatives by the coordinates follow from those by the weights, with
∂w_k/∂θ_k = 1/τ and ∂w_k/∂τ = −θ_k/τ².  By the mean value theorem no point x of a box
with centre c has f(x) = 0 if for some vector u the number u·f(c) is farther from 0 than
Σ_j |u·∂_j f| ρ_j, ρ_j half the width of the box [1]_.

References
----------
.. [1] A. Neumaier, Interval Methods for Systems of Equations, Cambridge 1990, section 2.3; 5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np

from algebra.networks.activated import ActivatedNetwork
from algebra.problems.allocation import Cell
from algebra.programs.arrays import EntryArithmetic, Function
from algebra.programs.evaluate import evaluate
from algebra.programs.homogeneous import Homogeneous, limit_of, plain
from algebra.programs.jacobian import program_jacobian
from algebra.programs.program import Node

# R: the bound of weights in bounded groups.
REACH = 4
Groups = tuple[tuple[int, ...], ...]
# For each group None if it is bounded, else the place of its largest weight and that weight's sign.
Chart = tuple[tuple[int, int] | None, ...]


@dataclass(frozen=True)
class ChartRing:
    """Sets of real numbers, with operations that enclose those of their elements.

    Attributes
    ----------
    number : callable
        The element of a rational number, from numerator and denominator.
    functions : mapping of str to Function
        Analytic functions on arrays of elements, homogeneous ones included.
    """

    number: Callable[[int, int], Any]
    functions: Mapping[str, Function]


class _MetUnknowns(frozenset[int]):
    """The unknowns on which a value depends, not through a function."""

    def __add__(self, other: Any) -> _MetUnknowns:
        return _MetUnknowns(self | other) if isinstance(other, frozenset) else self

    __radd__ = __mul__ = __rmul__ = __add__  # type: ignore[assignment]

    def __truediv__(self, other: Any) -> _MetUnknowns:
        return self

    def __neg__(self) -> _MetUnknowns:
        return self

    def __pow__(self, exponent: int) -> _MetUnknowns:
        return self


def linear_groups(network: ActivatedNetwork, cells: Sequence[Cell]) -> Groups:
    """The places of unknowns, those together that meet in an argument of a function or in a label.

    Examples
    --------
    >>> from algebra.networks.rnn import RNN
    >>> net = RNN(n=2, T=2, b=1, d=1, m=3, activation="tanh", biases=True)
    >>> linear_groups(net, [("W", 0, 0), ("W", 1, 1), ("c", 0, 0)])
    ((0, 2), (1,))
    """
    met: list[_MetUnknowns] = []

    class Recorded:
        def values(self, a: Any) -> Any:
            met.extend(a.ravel().tolist())
            return _filled(a.shape)

        def slopes(self, a: Any, z: Any) -> Any:
            raise AssertionError("no derivatives are computed")

    def _filled(shape: tuple[int, ...]) -> np.ndarray:
        out = np.empty(shape, dtype=object)
        out[...] = _MetUnknowns()
        return out

    weights = {name: _filled(shape) for name, shape in network.shapes.items()}
    for k, (name, i, j) in enumerate(cells):
        weights[name][i, j] = _MetUnknowns({k})
    arithmetic = EntryArithmetic(lambda _: Recorded(), number=lambda a, b: _MetUnknowns())
    program = network.enclosed_program()
    blocks = network.placed(weights, _filled(network.input_shape))
    met.extend(evaluate(program, arithmetic, blocks)[program.output].ravel().tolist())
    groups = [{k} for k in range(len(cells))]
    for reached in met:
        together = [group for group in groups if group & reached]
        if len(together) > 1:
            groups = [group for group in groups if not group & reached]
            groups.append(set().union(*together))
    return tuple(sorted(tuple(sorted(group)) for group in groups))


def charts(groups: Groups) -> Iterator[Chart]:
    """The charts that cover all weights."""
    yield from product(*([None, *((q, s) for q in group for s in (1, -1))] for group in groups))


def first_box(groups: Groups, chart: Chart) -> list[tuple[Fraction, Fraction]]:
    """The box of a chart's coordinates, a pair of ends for each unknown."""
    bound = Fraction(REACH)
    box = [(-bound, bound)] * sum(map(len, groups))
    for group, largest in zip(groups, chart, strict=True):
        for k in group if largest is not None else ():
            assert largest is not None
            box[k] = (Fraction(0), 1 / bound) if k == largest[0] else (Fraction(-1), Fraction(1))
    return box


def _determinant(rows: list[list[Any]]) -> Any:
    """By the first row's minors."""
    if len(rows) == 1:
        return rows[0][0]
    total: Any = 0
    for k, entry in enumerate(rows[0]):
        rest = [[*row[:k], *row[k + 1 :]] for row in rows[1:]]
        term = entry * _determinant(rest)
        total = total + term if k % 2 == 0 else total - term
    return total


class ChartEquations:
    """Labels minus given ones in boxes of charts, and their derivatives by coordinates.

    Parameters
    ----------
    network : ActivatedNetwork
    cells : sequence of cell
        The unknowns, as many as labels.
    weights : mapping of str to ndarray
        Elements of the ring; those of the cells have no meaning.
    X : ndarray
        The samples.
    ring : ChartRing
    """

    def __init__(
        self, network: ActivatedNetwork, cells: Sequence[Cell],
        weights: Mapping[str, np.ndarray], X: np.ndarray, ring: ChartRing,
    ) -> None:  # fmt: skip
        self.network, self.cells, self.weights, self.X = network, tuple(cells), weights, X
        self.groups = linear_groups(network, cells)
        self._program = network.enclosed_program()
        self._arithmetic = EntryArithmetic(self._function_of(ring), number=ring.number)

    def _function_of(self, ring: ChartRing) -> Callable[[Node], Function]:
        return lambda node: ring.functions[node.name]

    def labels(self, weights: Mapping[str, np.ndarray]) -> list[Any]:
        """The labels under some weights."""
        blocks = self.network.placed(weights, self.X)
        found = evaluate(self._program, self._arithmetic, blocks)[self._program.output]
        return list(found.ravel())

    def unknowns(self, values: Sequence[Any], scales: Sequence[Any | None]) -> list[Any]:
        """The weights of a chart.

        Parameters
        ----------
        values : sequence of elements, length r
            w_k, or θ_k, which is 1 or −1 for the largest weight.
        scales : sequence of elements or None
            τ for each group, None for bounded ones.
        """
        found, taus = list(values), tuple(tau for tau in scales if tau is not None)
        unbounded = [
            group for group, tau in zip(self.groups, scales, strict=True) if tau is not None
        ]
        for g, group in enumerate(unbounded):
            degrees = tuple(int(g == other) for other in range(len(taus)))
            for k in group:
                found[k] = Homogeneous(values[k], degrees, taus)
        return found

    def student(self, unknowns: Sequence[Any]) -> dict[str, np.ndarray]:
        """The weights with given unknowns."""
        student = {name: value.copy() for name, value in self.weights.items()}
        for (name, i, j), value in zip(self.cells, unknowns, strict=True):
            student[name][i, j] = value
        return student

    def residuals(self, unknowns: Sequence[Any], labels: Sequence[Any]) -> list[Any]:
        """Labels minus given ones, homogeneous or not."""
        found = self.labels(self.student(unknowns))
        return [own - given for own, given in zip(found, labels, strict=True)]

    def minors(self, unknowns: Sequence[Any], labels: Sequence[Any]) -> list[Any]:
        """Numbers that are 0 wherever the labels are given ones for some weights of the read-out.

        The labels of an output are affine in its k learnable weights of the last layer: M b = y,
        with M and y functions of the other unknowns.  If a solution b exists every minor of k + 1
        rows of (M, y) is 0.  Unlike the residuals they do not depend on b, which may tend to
        infinity while M tends to 0, or the other way round.
        """
        network, found = self.network, list[Any]()
        last = (network.output, network.output_bias)
        read = [k for k, (name, _, _) in enumerate(self.cells) if name in last]
        if not read or len(read) == len(self.cells):
            return found
        columns = network.columns
        student = self.student(unknowns)
        zero = {name: student[name].copy() for name in last if name is not None}
        for name, i, j in (self.cells[k] for k in read):
            zero[name][i, j] = 0 * self.weights[name][i, j]
        fixed = [
            own - given for own, given in zip(self.labels(student | zero), labels, strict=True)
        ]
        for o in range(network.d):
            own = [self.cells[k] for k in read if self.cells[k][1] == o]
            if not own or len(own) >= columns:
                continue
            at = range(o * columns, (o + 1) * columns)
            table = [[fixed[s] for s in at]]
            for name, i, j in own:
                # Only this weight, and it is 1.
                alone = {of: 0 * zero[of] for of in zero}
                alone[name][i, j] = alone[name][i, j] + 1
                values = self.labels(student | alone)
                table.append([values[s] for s in at])
            for rows in combinations(range(columns), len(own) + 1):
                found.append(_determinant([[row[s] for s in rows] for row in table]))
        return found

    def derivatives(
        self, unknowns: Sequence[Any], scales: Sequence[Any | None]
    ) -> tuple[list[list[Any]], list[list[Any]]]:
        """Derivatives of the labels by w_k or θ_k (labels × r), and by τ (labels × groups).

        Every τ must be positive; the derivative by τ of a bounded group is 0.
        """
        blocks = self.network.placed(self.student(unknowns), self.X)
        slopes = program_jacobian(self._program, self._arithmetic, blocks, self.cells)
        by_weight = [[limit_of(entry) for entry in row] for row in slopes]
        by_scale: list[list[Any]] = [[0] * len(self.groups) for _ in by_weight]
        for g, (group, tau) in enumerate(zip(self.groups, scales, strict=True)):
            if tau is None:
                continue
            for a, row in enumerate(by_weight):
                for k in group:
                    row[k] = row[k] / tau
                    by_scale[a][g] = by_scale[a][g] - row[k] * plain(unknowns[k]) / tau
        return by_weight, by_scale
