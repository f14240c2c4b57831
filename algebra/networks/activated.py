r"""Base class of networks with an activation function and optional biases.

Every kind here is a sequence of stages and a read-out,

.. math:: u_k = z_{k-1} \,(+\, B x_k), \quad a_k = M_k u_k + c_k, \quad z_k = φ(a_k),
   \quad Y = D z_K + e,

with z_0 = X, or without z_0 if inputs enter at every stage.  If the units of a recurrent network
leak, the state h_k = (1 − α) h_{k-1} + α z_k, h_0 = 0, takes the place of z_k in the next stage and
in the read-out.  `ActivatedNetwork.build` builds this as a program (`algebra.programs`), from which
values and derivatives are computed in every arithmetic.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from algebra.errors import InputError, shown
from algebra.linalg.primes import EntryBound
from algebra.networks.activation import (
    ANALYTIC,
    LEAKY,
    LINEAR,
    PIECEWISE,
    POLYNOMIAL,
    RELU,
    Activation,
)
from algebra.networks.base import (
    LABELS,
    POLYNOMIAL_LABELS,
    STATES,
    TRACES,
    Axis,
    Factors,
    Point,
    Reading,
    Support,
)
from algebra.networks.chain import ChainNetwork
from algebra.networks.limits import NEVER, MatrixLimits, least
from algebra.networks.masks import columns_by_row, held, lines_with_entries
from algebra.networks.protocols import HasJacobian, HasLimits, HasUnits
from algebra.programs.jacobian import Sweep, factors
from algebra.programs.leaks import (
    LEAK,
    LEARNABLE,
    NO_LEAK,
    currents_are_independent,
    leaked,
    sums_are_independent,
)
from algebra.programs.program import Builder, Node, Program, Value
from algebra.programs.residues import ModularArithmetic

# Names of values of a program: pre-activations and activations, beside those that can be recorded.
SUMS, VALUES = "sums", "values"
# Functions that are enclosed over wide intervals, and the unknowns up to which all their values are
# divided into boxes: with more of them, most searches would not end.
ENCLOSED = ("tanh", "sigmoid", "softplus", "erf", RELU)
MOST_DIVIDED = 4
# The columns of initial currents and of gains, beside that of leaks.
START, GAINS = "h0", "g"


@dataclass(frozen=True)
class Stage:
    """One stage: the weights that it uses.

    Attributes
    ----------
    matrix : str
    bias : str or None
    drive : (int, int) or None
        The rows of X that enter at this stage.
    layer : int
        Stages with the same weights have the same number.
    """

    matrix: str
    bias: str | None
    drive: tuple[int, int] | None
    layer: int


def kinked(verb: str) -> str:
    """Why a verb does not support ReLU here."""
    return (
        f"{verb} with ReLU: ranks depend on which units are active; identify and record compute "
        "them at the circuit's own parameters"
    )


class ActivatedNetwork(HasUnits, HasLimits, HasJacobian):
    """Base class of the kinds ``rnn`` and ``ffn``, which define `stages`, `output` and shapes.

    Attributes
    ----------
    encoder : str or None
        The matrix applied to the inputs of every stage.
    output : str
        The read-out matrix D.
    """

    family: ClassVar[str] = "activations"
    needs_entries: ClassVar[bool] = True
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "activation": (*ANALYTIC, LINEAR, POLYNOMIAL, *PIECEWISE)
    }
    words_with_numbers: ClassVar[frozenset[str]] = frozenset({POLYNOMIAL, LEAKY})
    encoder: ClassVar[str | None] = None

    activation: Any
    biases: bool

    @property
    def leak(self) -> Any:
        """The leaks α, the share of the state replaced in a step: `algebra.programs.leaks`."""
        return NO_LEAK

    @property
    def has_currents(self) -> bool:
        """Whether states are currents: inputs are added behind the weights, φ is applied before."""
        return False

    @property
    def unit_columns(self) -> tuple[str, ...]:
        """Columns of weights of the hidden units, besides biases."""
        return self.rates

    @property
    def reads_all(self) -> bool:
        """Whether the labels are the outputs of all stages, or only of the last."""
        return False

    @property
    def columns(self) -> int:
        return self.m * (len(self.stages()) if self.reads_all else 1)

    @property
    def has_kinks(self) -> bool:  # type: ignore[override]
        """Whether the activation is ReLU, leaky or not."""
        return bool(self.activation.is_piecewise)

    def at_parameters(
        self, weights: Mapping[str, np.ndarray], X: np.ndarray, support: Support | None = None
    ) -> Self:
        """The network at given rational parameters, of a kind whose activation may have kinks."""
        raise NotImplementedError

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """Whether samples are generic and the activation has no kink."""
        return not self.activation.is_piecewise

    @property
    def rates(self) -> tuple[str, ...]:  # type: ignore[override]
        """Leaks that are weights."""
        return (LEAK,) if self.leak == LEARNABLE else ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "activation", Activation.read(self.activation))
        if not isinstance(self.biases, bool):
            raise InputError(f"`biases` ({shown(self.biases)}) must be true or false")

    @abstractmethod
    def stages(self) -> tuple[Stage, ...]:
        """The stages, first to last."""

    @abstractmethod
    def linear_kind(self) -> ChainNetwork:
        """The linear network with the same matrices."""

    def lower(self) -> ChainNetwork | None:
        """The linear network, if the activation is linear and there are no biases."""
        return self.linear_kind() if self.is_linear else None

    def axes(self) -> tuple[Axis, ...]:
        """The axes of the linear kind; biases and leaks are permuted with the rows of their units'
        matrix.

        Units with different fixed leaks cannot be renamed, but have names.
        """
        columns = {stage.matrix: (stage.bias, *self.unit_columns) for stage in self.stages()}
        columns[self.output] = (self.output_bias,)
        found = []
        for axis in self.linear_kind().axes():
            moved = (n for name, side in axis.places if side == 0 for n in columns.get(name, ()))
            more = tuple((name, 0) for name in moved if name is not None)
            found.append(replace(axis, places=axis.places + more))
        return tuple(found)

    def need_ranks(
        self, verb: str, support: Support, attained: Callable[[], bool] | None = None
    ) -> None:
        if self.activation.is_piecewise and self.own_point is None:
            raise InputError(kinked(verb))
        if not self.ranks_are_exact(support) and not (attained and attained()):
            given = "these leaks" if self.activation.independence else f"{self.activation.name}"
            raise InputError(
                f"{verb} rests on exact generic ranks, and with {given} only upper bounds of "
                "them are known; inspect, certify, verify, and record without a target, say what "
                "is known"
            )

    def paths(self, support: Support) -> Any:
        """The paths between units (`algebra.networks.rnn.UnitPaths`), if known."""
        return None

    @property
    def output(self) -> str:
        """The read-out matrix."""
        return next(iter(self.shapes))

    @property
    def read_out(self) -> str:
        return self.output

    @property
    def output_bias(self) -> str | None:
        """The bias added to the labels."""
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
        texts = [f"{k} = {v}" for k, v in plain.items()]
        form = "φ(z) = " if self.activation.name == POLYNOMIAL else "φ = "
        texts.append(f"{form}{self.activation}")
        return f"{self.title}: {', '.join(texts)}{', biases' if self.biases else ''}"

    @property
    def is_affine(self) -> bool:
        """Whether the labels are affine in the sample: with biases they may be no linear ones."""
        return self.activation.is_polynomial and self.activation.degree <= 1

    @property
    def is_linear(self) -> bool:  # type: ignore[override]
        """Whether it is equivalent to a linear network."""
        plain = not self.biases and self.leak == NO_LEAK and not self.has_currents
        return plain and bool(self.activation.is_linear)

    @property
    def equations_are(self) -> str:
        """ "polynomial" or "analytic"."""
        return "polynomial" if self.activation.is_polynomial else "analytic"

    @property
    def divided_unknowns(self) -> int:
        return MOST_DIVIDED if self.activation.name in ENCLOSED else 0

    def why_exact(self, support: Support, seed: object = 0) -> str:
        if self.activation.is_piecewise:
            return POLYNOMIAL_LABELS if self.own_point is not None else ""
        if self.activation.is_polynomial:
            return POLYNOMIAL_LABELS
        known = self.activation.independence
        return known if known and self._values_are_independent(support) else ""

    def _values_are_independent(self, support: Support) -> bool:
        """Whether values at different sums are, of an activation with a theorem."""
        if self.leak == LEARNABLE or (self.leak == NO_LEAK and not self.has_currents):
            return True
        stage, count, n = self.stages()[0], len(self.stages()), self.shapes[self.output][1]

        def exists(name: str | None) -> np.ndarray:
            """The units that have some weight of a matrix."""
            if name not in self.shapes:
                return np.zeros(n, bool)
            mask = held(support, name)
            return np.ones(n, bool) if mask is None else lines_with_entries(mask)

        inputs = columns_by_row(held(support, stage.matrix), (n, n))
        driven, biased, start = (exists(name) for name in (self.encoder, stage.bias, START))
        silent = self.activation.vanishes_at_zero
        if not self.has_currents:
            return sums_are_independent(self.leak, count, inputs, driven, biased, silent)
        return currents_are_independent(self.leak, count, inputs, driven, biased, start, silent)

    @property
    def rank_decides(self) -> bool:
        return True

    @property
    def independent_columns(self) -> int:
        """All columns: no label is a linear function of others."""
        return self.columns

    # -- values and derivatives ----------------------------------------------------------

    def build(self) -> Program:
        """The stages with named pre-activations and values, and the labels."""
        return self._built(self.applied)

    def enclosed_program(self) -> Program:
        """The program in which every activation is a function, with a kink or without."""
        if not self.activation.is_piecewise:
            return self.program()
        return self._built(lambda build, a: build.apply(str(self.activation), a))

    def _built(self, applied: Callable[[Builder, Value], Value]) -> Program:
        build = Builder()
        X = build.sample("X", (self.input_shape[0],))
        blocks = {name: build.weight(name, shape) for name, shape in self.shapes.items()}
        biases = {stage.bias for stage in self.stages()} | {self.output_bias}
        columns = {
            name: build.reshaped(blocks[name], blocks[name].shape[:1])
            for name in blocks
            if name in biases or name in self.rates
        }

        def affine(matrix: str, bias: str | None, u: Value) -> Value:
            product = build.contract("ij,j->i", blocks[matrix], u)
            return product if bias is None else build.add(product, columns[bias])

        z, stages, states = X, self.stages(), list[Value]()
        for k, stage in enumerate(stages):
            u = z
            if stage.drive is not None:
                assert self.encoder is not None
                x = build.index(np.arange(*stage.drive), X)
                u = build.contract("ij,j->i", blocks[self.encoder], x)
                u = build.add(u, z) if k else u
            a = build.name(f"{SUMS} {k}", affine(stage.matrix, stage.bias, u))
            value = build.name(f"{VALUES} {k}", applied(build, a))
            before = states[-1] if states else None
            state = leaked(build, self.leak, columns.get(LEAK), before, value)
            z = build.name(f"{STATES} {k}", state)
            states.append(z)
            if self.encoder is not None:
                build.name(f"{TRACES} {k}", affine(self.output, self.output_bias, z))
        read = states if self.reads_all else [z]
        return self.labelled(build, [affine(self.output, self.output_bias, own) for own in read])

    def labelled(self, build: Builder, traces: Sequence[Value]) -> Program:
        """The program whose labels are the last outputs, or all of them side by side."""
        if not self.reads_all:
            return build.program(traces[-1])
        where = np.arange(len(traces) * self.d).reshape(len(traces), self.d).T
        return build.program(build.index(where, *traces))

    def applied(self, build: Builder, a: Value) -> Value:
        """φ(a) in a program."""
        if self.activation.below is None:
            return build.apply(str(self.activation), a)
        return build.choose(a, a, build.scale(a, self.activation.below))

    def _nodes(self, what: str, program: Program | None = None) -> list[int]:
        """The nodes of the labels, or of one of the named values of all stages."""
        program = program or self.program()
        if what == LABELS:
            return [program.output]
        count = len(self.stages()) + (what == VALUES and self.has_currents)
        return [program.named[f"{what} {k}"] for k in range(count)]

    def function(self, node: Node) -> Activation:
        return self.activation  # type: ignore[no-any-return]

    def function_bounds(self, node: Node) -> tuple[Any, Any]:
        return self.activation.bounds  # type: ignore[no-any-return]

    def vanishes_at_zero(self, node: Node) -> bool:
        return bool(self.activation.vanishes_at_zero)

    # -- over GF(p) ------------------------------------------------------------------------

    def modular(self, point: Point, program: Program) -> ModularArithmetic:
        """Residues, with values and slopes of the activation: `algebra.networks.activation`.

        With ReLU the activation pattern is that of the network's own parameters.
        """
        p, seed = point.p, point.seed
        nodes = [program.nodes[k] for k in self._nodes(VALUES, program)]
        # Values of initial currents are further ones of the same units.
        own = [stage.layer for stage in self.stages()]
        layers = dict(zip(nodes, own[: len(nodes) - len(own)] + own, strict=True))
        if self.activation.is_piecewise:
            if not point.signs:
                raise InputError(kinked("this verb"))
            return ModularArithmetic(p, signs=self.on_pattern(point.signs, program))
        known: dict[Node, tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]] = {}

        def phi(node: Node, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            # Values and slopes are computed together, but requested in two calls.
            if node not in known or known[node][0] is not a:
                known[node] = a, self.activation.modular(a, layers[node], p, seed)
            return known[node][1]

        return ModularArithmetic(p, phi)

    def on_pattern(
        self, signs: Sequence[np.ndarray], program: Program | None = None
    ) -> Callable[[Node, Any], np.ndarray]:
        """An activation pattern as arithmetics ask for it, of a node and its values."""
        program = program or self.program()
        nodes = [program.nodes[k] for k in self._nodes(VALUES, program)]
        patterns = dict(zip(nodes, signs, strict=True))
        return lambda node, a: patterns[node]

    def recorded(self, what: str) -> tuple[Program, list[int]]:
        # The node of the labels of several steps holds them side by side.
        read = TRACES if what == LABELS and self.reads_all else what
        return self.program(), self._nodes(read)

    def factors_of(self, sweep: Sweep, names: Collection[str]) -> Factors:
        return factors(sweep, names)

    # -- what can be recorded --------------------------------------------------------------

    @property
    def label_steps(self) -> tuple[int | None, ...]:
        steps = len(self.stages())
        if self.reads_all:
            return tuple(range(steps))
        return (steps - 1,) if self.encoder else (None,)

    def readings(self, what: str) -> tuple[Reading, ...]:
        """The states passed on by the stages; a recurrent net has one for each step."""
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

    def factor_entries(self, what: str) -> int:
        """Left factors depend on the sample: rows × samples × units, for each stage."""
        stages = self.stages()
        widths = [sum(self.shapes[stage.matrix]) for stage in stages]
        if what == LABELS:
            return self.d * self.columns * sum(widths)
        rows = [reading.size for reading in self.readings(what)]
        return self.m * sum(n * sum(widths[: k + 1]) for k, n in enumerate(rows))

    @property
    def sized(self) -> Any:  # type: ignore[override]
        return self.activation.sized

    @property
    def entry_bound(self) -> EntryBound:
        """Of the program; at given parameters their bits count as often as they are factors."""
        degree, bits, _ = super().entry_bound
        own = 0 if self.own_point is None else self.own_point.bits
        return EntryBound(degree, bits + degree * own, self.formal_collisions)

    @property
    def formal_collisions(self) -> int:
        """Pairs of pre-activations that may coincide or vanish by chance, counted thrice.

        The difference of two is a polynomial of degree at most 3 (M B x) with coefficients ±1;
        leaks that are weights add T to the degree; with fixed leaks the coefficients are integers
        below w^T (divided by w^T, w a leak's denominator), and a random prime divides one with
        probability at most 50/2^30 (or 50/2^60) for each 30 of its bits.
        """
        if self.activation.is_polynomial or self.activation.is_piecewise:
            return 0
        stages = self.stages()
        units = {stage.layer: self.shapes[stage.matrix][0] for stage in stages}
        more = int(self.has_currents)
        times = {layer: sum(s.layer == layer for s in stages) + more for layer in units}
        sums = {layer: times[layer] * self.m for layer in units}
        each = 3
        if self.leak == LEARNABLE:
            each += len(stages)
        elif self.leak != NO_LEAK:
            each += 50 * (len(stages) * self._leak_bits // 30 + 1)
        return sum(each * n * (sums[layer] * (sums[layer] + 1) // 2) for layer, n in units.items())

    @property
    def _leak_bits(self) -> int:
        """Bits of the common denominators of fixed leaks."""
        if self.leak in (NO_LEAK, LEARNABLE):
            return 0
        return max(rate.denominator for rate in self.leak).bit_length()

    # -- counting ------------------------------------------------------------------------

    def enough_rank(self, name: str) -> int:
        """`HasJacobian.enough_rank`: a matrix multiplies one column for each sample and stage."""
        stages = self.stages()
        times = sum(name in (stage.matrix, stage.bias) for stage in stages)
        if name == self.encoder:
            times = len(stages)
        if name in (self.output, self.output_bias):
            return min(*self.shapes[name], self.columns)
        return min(*self.shapes[name], max(times, 1) * self.m)

    def limits(self) -> dict[str, MatrixLimits]:
        """Row i of a matrix acts through the pre-activations a_k[i], m at each stage.

        Columns act through slopes that differ between units, so they have no limit of their own,
        except in the read-out, whose factors are those of a linear layer.  For each sample, all
        changes by hidden weights lie in the column space of D.  Rows of hidden weights change the
        labels of each sample in one direction if there is a single stage (D[:, i]), which crosses
        with columns of D need; with several stages the directions differ from sample to sample, and
        no cross is known.
        """
        d, m, out = self.d, self.m, {}
        count, width, wide = len(self.stages()), self.shapes[self.output][1], self.columns
        label = ("Tm" if self.reads_all else "m", wide)
        for name in self.shapes:
            if name == self.output:
                reach = min(width + self.biases, wide)
                out[name] = MatrixLimits(least(label), least(("d", d)), 1, 1, d, reach)
            elif name == self.output_bias:
                out[name] = MatrixLimits(least(label), least(("d", d)), 1, 1, d, wide)
            else:
                own = self.unit_columns
                times = sum(name in (s.matrix, s.bias, *own) for s in self.stages())
                times = count if name == self.encoder else times
                # Of currents the initial ones count as well.
                times += int(self.has_currents)
                labels = (f"d{label[0]}", d * wide)
                row = least(("Tm", times * m), labels) if times > 1 else least(("m", m))
                lam = 1 if count == 1 else NEVER
                out[name] = MatrixLimits(row, None, lam, NEVER, min(width, d), wide)
        return out
