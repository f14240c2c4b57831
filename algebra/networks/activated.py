r"""Networks with an activation function and, where asked for, biases: what their kinds share.

Every kind here is a sequence of stages and a read-out,

.. math:: u_k = z_{k-1} \,(+\, B x_k), \quad a_k = M_k u_k + c_k, \quad z_k = φ(a_k),
   \quad Y = D z_K + e,

with z_0 = X, or nothing where inputs come in at each stage.  Samples are columns and never mix,
so the derivatives are those of back-propagation, one sample at a time: with
δ_k = ∂Y/∂a_k, the cell (i, j) of M moves a label by the sum of δ_k[i] u_k[j] over the stages k at
which M stands, a bias by δ_k[i], an input weight by (M^T δ_k)[i] x_k[j].
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from algebra.errors import InputError, shown
from algebra.networks.activation import ANALYTIC, LINEAR, POLYNOMIAL, Activation
from algebra.networks.base import (
    Axis,
    Cell,
    Factors,
    Lowering,
    Matmul,
    Matrix,
    Network,
    NotKnown,
    Point,
)
from algebra.networks.limits import NEVER, MatrixLimits, least
from algebra.networks.readings import LABELS, STATES, TRACES, Reading

# Takes pre-activations and the layer's number to values and slopes.
Phi = Callable[[Any, int], tuple[Any, Any]]


@dataclass(frozen=True)
class Stage:
    """One step: which weights it uses.

    Attributes
    ----------
    matrix : str
    bias : str or None
    drive : (int, int) or None
        Rows of X that come in here.
    layer : int
        Stages with the same weights have the same number.
    """

    matrix: str
    bias: str | None
    drive: tuple[int, int] | None
    layer: int


@dataclass(frozen=True)
class Pass:
    """What a forward pass computes: one entry a stage, and the labels.

    Attributes
    ----------
    received, sums, values, slopes : tuple of matrix
        u_k, a_k, z_k and φ'(a_k).
    read : matrix
        What D reads: z_K, or X where there is no stage.
    labels : matrix
    """

    received: tuple[Matrix, ...]
    sums: tuple[Matrix, ...]
    values: tuple[Matrix, ...]
    slopes: tuple[Matrix, ...]
    read: Matrix
    labels: Matrix


@dataclass(frozen=True)
class Identical(Lowering):
    """The lowering of a network whose activation is linear: the same weights, the same labels."""

    linear: Network

    @property
    def network(self) -> Network:
        """The linear network with the same matrices."""
        return self.linear


class ActivatedNetwork(Network):
    """Base of the kinds ``rnn`` and ``ffn``; a kind gives `stages`, `output` and its shapes.

    Attributes
    ----------
    encoder : str or None
        The matrix that inputs pass at every stage.
    output : str
        The read-out matrix D.
    """

    needs_entries: ClassVar[bool] = True
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {"activation": (*ANALYTIC, LINEAR, POLYNOMIAL)}
    words_with_numbers: ClassVar[frozenset[str]] = frozenset({POLYNOMIAL})
    encoder: ClassVar[str | None] = None

    activation: Any
    biases: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "activation", Activation.read(self.activation))
        if not isinstance(self.biases, bool):
            raise InputError(f"`biases` ({shown(self.biases)}) must be true or false")

    @abstractmethod
    def stages(self) -> tuple[Stage, ...]:
        """The stages, first to last."""

    @abstractmethod
    def linear_kind(self) -> Network:
        """The linear network with the same matrices."""

    def lower(self) -> Identical | None:
        """The linear network, where the activation is linear and there are no biases."""
        plain = self.activation.is_linear and not self.biases
        return Identical(self.linear_kind()) if plain else None

    def axes(self) -> tuple[Axis, ...]:
        """Those of the linear kind; a bias moves with the rows of the matrix it is added to."""
        biases = {stage.matrix: stage.bias for stage in self.stages()}
        biases[self.output] = self.output_bias
        found = []
        for axis in self.linear_kind().axes():
            moved = (biases.get(name) for name, side in axis.places if side == 0)
            more = tuple((bias, 0) for bias in moved if bias is not None)
            found.append(replace(axis, places=axis.places + more))
        return tuple(found)

    @property
    def output(self) -> str:
        """The read-out matrix."""
        return next(iter(self.shapes))

    @property
    def read_out(self) -> str:
        return self.output

    @property
    def output_bias(self) -> str | None:
        """What is added to the labels."""
        return "e" if self.biases else None

    @property
    def sizes(self) -> dict[str, Any]:
        plain = super().sizes
        plain["activation"] = self.activation.plain
        if not self.biases:
            del plain["biases"]
        return plain

    def __str__(self) -> str:
        plain = {k: v for k, v in self.sizes.items() if k not in ("activation", "biases")}
        said = [f"{k} = {v}" for k, v in plain.items()]
        form = "φ(z) = " if self.activation.name == POLYNOMIAL else "φ = "
        said.append(f"{form}{self.activation}")
        return f"{self.title}: {', '.join(said)}{', biases' if self.biases else ''}"

    @property
    def is_linear(self) -> bool:  # type: ignore[override]
        """Whether it is a linear network by another name."""
        return bool(self.activation.is_linear) and not self.biases

    @property
    def equations_are(self) -> str:
        """ "polynomial" or "analytic"."""
        return "polynomial" if self.activation.is_polynomial else "analytic"

    @property
    def ranks_are_exact(self) -> bool:
        return self.activation.is_polynomial or bool(self.activation.independence)

    @property
    def rank_decides(self) -> bool:
        return True

    @property
    def independent_columns(self) -> int:
        """All of them: no label follows linearly from others."""
        return self.columns

    def phi(self, a: Any, layer: int) -> tuple[Any, Any]:
        """Values and slopes of sums, in the arithmetic of their entries; for `run`, `tangents`."""
        z = self.activation.values(a)
        return z, self.activation.slopes(a, z)

    # -- values and derivatives ----------------------------------------------------------

    def run(
        self,
        weights: Mapping[str, Matrix],
        X: Matrix,
        phi: Phi,
        matmul: Matmul = operator.matmul,
        reduced: Callable[[Any], Any] = lambda value: value,
    ) -> Pass:
        """The forward pass, in any arithmetic.

        Parameters
        ----------
        weights : mapping of str to matrix
        X : matrix
        phi : callable
            Values and slopes of pre-activations.
        matmul, reduced : callable, optional
            Product of two matrices, and what brings a sum to its canonical form (modulo p).
        """
        z: Any = X
        received, sums, values, slopes = [], [], [], []
        for number, stage in enumerate(self.stages()):
            u = z
            if stage.drive is not None:
                assert self.encoder is not None
                u = matmul(weights[self.encoder], X[slice(*stage.drive)])
                if number:
                    u = reduced(u + z)
            a = matmul(weights[stage.matrix], u)
            if stage.bias is not None:
                a = reduced(a + weights[stage.bias])
            z, slope = phi(a, stage.layer)
            received.append(u)
            sums.append(a)
            values.append(z)
            slopes.append(slope)
        labels = matmul(weights[self.output], z)
        if self.output_bias is not None:
            labels = reduced(labels + weights[self.output_bias])
        return Pass(tuple(received), tuple(sums), tuple(values), tuple(slopes), z, labels)

    def forward(
        self, weights: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> Matrix:
        return self.run(
            weights, X, lambda a, layer: (self.activation.values(a), None), matmul
        ).labels

    def tangents(
        self,
        weights: Mapping[str, np.ndarray],
        X: np.ndarray,
        phi: Phi,
        names: Sequence[str] | None = None,
        matmul: Matmul = operator.matmul,
        reduced: Callable[[Any], Any] = lambda value: value,
        product: Matmul = operator.mul,
    ) -> Factors:
        """The factors L (S×d×m×rows) and R (S×columns×m) of the derivatives.

        Parameters
        ----------
        weights, X, phi, matmul, reduced
            As for `run`.
        product : callable, optional
            Entrywise product.
        names : sequence of str, optional
            Only these matrices.

        Returns
        -------
        dict of str to (ndarray, ndarray)
            The cell (i, j) moves the label (k, c) by the sum of L[s, k, c, i] R[s, j, c].
        """
        wanted = set(self.shapes if names is None else names)
        found = self.run(weights, X, phi, matmul, reduced)
        return self._output_tangents(
            found, len(self.stages()) - 1, weights, X, wanted, matmul, reduced, product
        )

    def _output_tangents(
        self,
        found: Pass,
        last: int,
        weights: Mapping[str, np.ndarray],
        X: np.ndarray,
        wanted: Collection[str],
        matmul: Matmul,
        reduced: Callable[[Any], Any],
        product: Matmul,
    ) -> Factors:
        """Of the outputs read from the values of one stage (-1: of the samples)."""
        d, m = self.d, self.m
        D, read = weights[self.output], found.values[last] if last >= 0 else found.read
        one = found.labels.flat[0] * 0 + 1
        identity = np.broadcast_to((np.eye(d, dtype=np.int64) * one)[:, None, :], (d, m, d))
        parts = self._stage_tangents(
            found, last, np.broadcast_to(D[:, None, :], (d, m, D.shape[1])), weights, X, wanted,
            matmul, reduced, product,
        )  # fmt: skip
        if self.output in wanted:
            parts[self.output] = (identity[None], read[None])
        if self.output_bias in wanted:
            parts[str(self.output_bias)] = (identity[None], np.full((1, 1, m), one))
        return parts

    def _stage_tangents(
        self,
        found: Pass,
        last: int,
        left: np.ndarray,
        weights: Mapping[str, np.ndarray],
        X: np.ndarray,
        wanted: Collection[str],
        matmul: Matmul,
        reduced: Callable[[Any], Any],
        product: Matmul,
    ) -> Factors:
        """Back from the values of a stage, of which `left` (rows × m × units) is the derivative."""
        rows, m = left.shape[:2]
        ones = np.full((1, m), found.labels.flat[0] * 0 + 1)
        parts: dict[str, list[tuple[Any, Any]]] = {}

        def note(name: str | None, L: Any, R: Any) -> None:
            if name is not None and name in wanted:
                parts.setdefault(name, []).append((L, R))

        for number in reversed(range(last + 1)):
            stage = self.stages()[number]
            delta = product(left, found.slopes[number].T[None])
            note(stage.matrix, delta, found.received[number])
            note(stage.bias, delta, ones)
            if number == 0 and self.encoder not in wanted:
                break
            M = weights[stage.matrix]
            left = matmul(delta.reshape(rows * m, -1), M).reshape(rows, m, M.shape[1])
            if stage.drive is not None:
                note(self.encoder, left, X[slice(*stage.drive)])
        return {
            name: (np.stack([part[0] for part in some]), np.stack([part[1] for part in some]))
            for name, some in parts.items()
        }

    @staticmethod
    def columns_of(factors: Factors, cells: Sequence[Cell]) -> np.ndarray:
        """The derivatives of the labels by some weights, (dm)×(cells), from `tangents`."""
        columns = []
        for name, i, j in cells:
            L, R = factors[name]
            columns.append((L[:, :, :, i] * R[:, None, j, :]).sum(axis=0).ravel())
        return np.stack(columns, axis=1)

    def reached(self, weights: Mapping[str, Matrix], X: Matrix) -> Matrix:
        zero = self.activation.vanishes_at_zero

        def phi(a: Any, layer: int) -> tuple[Any, Any]:
            return (a != 0).astype(object) if zero else a * 0 + 1, None

        return self.run(weights, X, phi).labels

    def affine_in(self, names: Collection[str]) -> bool:
        return bool(names) and set(names) <= {self.output, self.output_bias}

    # -- over GF(p) ------------------------------------------------------------------------

    def modular_phi(self, p: int, seed: int) -> Phi:
        """Values and slopes over GF(p): see `algebra.networks.activation`."""
        return lambda a, layer: self.activation.modular(a, layer, p, seed)

    def modular_tangents(self, point: Point, names: Sequence[str] | None) -> Factors:
        phi = self.modular_phi(point.p, point.seed)
        return self.tangents(
            point.weights, point.X, phi, names, point.matmul, point.reduced, point.times
        )

    def modular_forward(self, point: Point) -> Matrix:
        return self._modular_run(point).labels

    def _modular_run(self, point: Point) -> Pass:
        """A pass in matrices over GF(p), such as dual numbers; without slopes."""

        def phi(a: Any, layer: int) -> tuple[Any, Any]:
            if self.activation.is_polynomial:
                return self.activation.values(a), None
            modular = self.modular_phi(point.p, point.seed)
            return a.mapped(lambda value: modular(value, layer)), None

        return self.run(point.weights, point.X, phi)

    # -- what can be recorded --------------------------------------------------------------

    @property
    def label_steps(self) -> tuple[int | None, ...]:
        return (len(self.stages()) - 1,) if self.encoder else (None,)

    def readings(self, what: str) -> tuple[Reading, ...]:
        """The states are the values z_k of the stages, a recurrent net's those of its steps."""
        stages = self.stages()
        if what == TRACES and self.encoder:
            return tuple(Reading("outputs", t, self.d) for t in range(len(stages)))
        if what != STATES or not stages:
            return super().readings(what)
        return tuple(
            Reading("hidden units", t, self.shapes[stage.matrix][0])
            if self.encoder
            else Reading(f"hidden layer {stage.layer}", None, self.shapes[stage.matrix][0])
            for t, stage in enumerate(stages)
        )

    def modular_readings(
        self, what: str, point: Point, names: Sequence[str] | None
    ) -> list[Factors]:
        if what == LABELS:
            return super().modular_readings(what, point, names)
        readings = self.readings(what)
        wanted = set(self.shapes if names is None else names)
        weights, X, matmul, reduced = point.weights, point.X, point.matmul, point.reduced
        found = self.run(weights, X, self.modular_phi(point.p, point.seed), matmul, reduced)
        if what == TRACES:
            return [
                self._output_tangents(found, k, weights, X, wanted, matmul, reduced, point.times)
                for k in range(len(readings))
            ]
        out = []
        for k, reading in enumerate(readings):
            n = reading.size
            left = np.broadcast_to(np.eye(n, dtype=np.int64)[:, None, :], (n, self.m, n))
            out.append(
                self._stage_tangents(
                    found, k, left, weights, X, wanted, matmul, reduced, point.times
                )
            )
        return out

    def factor_entries(self, what: str) -> int:
        """Left factors differ from sample to sample: rows × samples × units, of each stage."""
        stages = self.stages()
        widths = [sum(self.shapes[stage.matrix]) for stage in stages]
        if what == LABELS:
            return self.d * self.m * sum(widths)
        rows = [reading.size for reading in self.readings(what)]
        return self.m * sum(n * sum(widths[: k + 1]) for k, n in enumerate(rows))

    def modular_values(self, what: str, point: Point) -> list[Matrix]:
        if what == LABELS:
            return super().modular_values(what, point)
        count = len(self.readings(what))
        weights, values = point.weights, self._modular_run(point).values[:count]
        if what == STATES:
            return list(values)
        traces = [weights[self.output] @ z for z in values]
        bias = self.output_bias
        return traces if bias is None else [Y + weights[bias] for Y in traces]

    @property
    def label_dimension_bound(self) -> int:
        """dm, or the number of weights."""
        return min(self.outputs, self.parameters)

    @property
    def entry_degree(self) -> int:
        """Degree of an entry: a sum over paths of weights, slopes and what came in.

        Formal values are drawn like weights, and slopes have degree at most 2 in them.
        """
        return self._sizes[0]

    @property
    def entry_bits(self) -> int:
        """From the same recursion, with all denominators multiplied out."""
        return self._sizes[1]

    @property
    def formal_collisions(self) -> int:
        """Different sums of one unit that may be equal by chance, or 0, each counted thrice.

        The difference of two is a polynomial of degree at most 3 (M B x) with coefficients ±1.
        """
        if self.activation.is_polynomial:
            return 0
        stages = self.stages()
        units = {stage.layer: self.shapes[stage.matrix][0] for stage in stages}
        times = {layer: sum(s.layer == layer for s in stages) for layer in units}
        sums = {layer: times[layer] * self.m for layer in units}
        return sum(3 * n * (sums[layer] * (sums[layer] + 1) // 2) for layer, n in units.items())

    @property
    def _sizes(self) -> tuple[int, int]:
        """Degree and bits of the entries: each stage multiplies by a slope and a weight."""
        φ, stages = self.activation, self.stages()
        drive = 2 if self.encoder else 1
        if φ.is_polynomial:
            scale = 1
            for c in φ.coefficients:
                scale *= c.denominator
            top = sum(abs(c) * scale for c in φ.coefficients) * max(1, φ.degree)
            own = (int(top) + scale).bit_length()
        received, bits, degree, total = drive, 1, 1, 0
        for stage in stages:
            width = self.shapes[stage.matrix][1].bit_length()
            inside = 0 if self.encoder is None else self.shapes[self.encoder][1].bit_length()
            if φ.is_polynomial:
                a, a_bits = received + 1, bits + width + inside + 1
                z, z_bits = φ.degree * a, φ.degree * a_bits + own
                slope, slope_bits = (φ.degree - 1) * a, (φ.degree - 1) * a_bits + own
            else:
                z, z_bits, slope, slope_bits = 1, 1, 2, 2
            received, bits = max(z, drive), z_bits + inside + 1
            degree += slope + 1
            total += slope_bits + width
        last = self.shapes[self.output][1].bit_length()
        return degree + received + 1, total + bits + last + len(stages).bit_length() + 1

    @property
    def own_forms(self) -> tuple[str, ...]:
        if not self.activation.is_polynomial:
            raise NotKnown(self, "polynomial equations", f"{self.activation} is no polynomial")
        return ("sums",)

    # -- counting ------------------------------------------------------------------------

    def enough_rank(self, name: str) -> int:
        """See `Network.enough_rank`: a matrix receives one column a sample and stage."""
        stages = self.stages()
        times = sum(name in (stage.matrix, stage.bias) for stage in stages)
        if name == self.encoder:
            times = len(stages)
        return min(*self.shapes[name], max(times, 1) * self.m)

    def limits(self) -> dict[str, MatrixLimits]:
        """Row i of a matrix acts through the sums a_k[i], of which there are m at each stage.

        Columns act through slopes that differ from unit to unit: no limit of their own, but for
        the read-out, whose factors are those of a linear layer.  All that hidden weights move lies
        in the columns of D, for each sample.  Rows of hidden weights move the labels of each sample
        in one direction where there is one stage (D[:, i]), which crosses with columns of D need;
        with more stages in directions that differ from sample to sample, and no cross is known.
        """
        d, m, out = self.d, self.m, {}
        count, width = len(self.stages()), self.shapes[self.output][1]
        for name in self.shapes:
            if name == self.output:
                reach = min(width + self.biases, m)
                out[name] = MatrixLimits(least(("m", m)), least(("d", d)), 1, 1, d, reach)
            elif name == self.output_bias:
                out[name] = MatrixLimits(least(("m", m)), least(("d", d)), 1, 1, d, m)
            else:
                times = sum(name in (s.matrix, s.bias) for s in self.stages())
                times = count if name == self.encoder else times
                row = least(("Tm", times * m), ("dm", d * m)) if times > 1 else least(("m", m))
                lam = 1 if count == 1 else NEVER
                out[name] = MatrixLimits(row, None, lam, NEVER, min(width, d), m)
        return out
