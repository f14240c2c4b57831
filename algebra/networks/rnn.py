r"""Recurrent networks with an activation function: kind ``rnn``.

The state of a unit is its rate, or its current:

.. math:: \text{rates:} \quad & h_t = (1 − α) h_{t-1} + α φ(W (h_{t-1} + B x_t) + c), \quad
          r_t = h_t; \\
          \text{currents:} \quad & h_t = (1 − α) h_{t-1} + α (W (g ∘ φ(h_{t-1} + c)) + B x_t),
          \quad r_t = φ(h_t + c) \text{ or } g ∘ φ(h_t + c).

The labels are D r_t + e, of the last step or of all.  The second form is that of circuit models of
whole brains [1]_: synapses from unit j act with the gain g_j, inputs enter the current directly,
and h_0 may be unknown.  What is recorded of a hidden unit is r_t.

References
----------
.. [1] M. Beiran and A. Litwin-Kumar, "Prediction of neural activity in connectome-constrained
   recurrent networks", Nature Neuroscience (2025).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from algebra.declarations import InFile, Keyword
from algebra.errors import InputError, shown, whole_number
from algebra.given import known_name
from algebra.linalg.rational import array, rational_matrix
from algebra.linalg.sparse import SparseMatrix
from algebra.networks.activated import GAINS, START, SUMS, VALUES, ActivatedNetwork, Stage
from algebra.networks.activation import ActivationForm
from algebra.networks.base import MAX_CELLS, STATES, TRACES, Support
from algebra.networks.chain import RecurrentChain
from algebra.networks.masks import held, lines_with_entries
from algebra.networks.own_point import OwnPoint
from algebra.networks.recurrent import LinearRNN, SequenceRNN
from algebra.programs.arrays import EntryArithmetic
from algebra.programs.evaluate import evaluate
from algebra.programs.leaks import LEAK, LEARNABLE, NO_LEAK, leaked, plain_leak, read_leak
from algebra.programs.presence import presence
from algebra.programs.program import Builder, Node, Program, Value

# The outputs that may be labels.
READ = ("last", "all")
# What the state of a unit is, what it is at first, and what gains multiply.
RATES, CURRENTS = STATE = ("rates", "currents")
ZERO, INITIAL = ("zero", LEARNABLE)
NO_GAIN, PRESYNAPTIC = ("none", "presynaptic")
GAIN = (NO_GAIN, PRESYNAPTIC, RATES)
# Numbers of cells of matrices of which rows and columns are held.
_MOST_CELLS = 1 << 26
# Weights that parameters move: rows, columns, numbers of the parameters.
Moved = Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]]
# One rate, one for each unit, or a file of them.
_Rate = (
    Annotated[float, Keyword("exclusiveMinimum", 0), Keyword("maximum", 1)]
    | Annotated[str, Keyword("pattern", r"^[0-9]+/[0-9]+$|^[0-9]*\.?[0-9]+(e-?[0-9]+)?$")]
)
_Leak = (
    _Rate
    | list[_Rate]
    | dict[str, _Rate]
    | Annotated[str, Keyword("const", LEARNABLE)]
    | Annotated[str, Keyword("pattern", r"\.(csv|npy)$"), "a file beside this one"]
)


@dataclass(frozen=True)
class RNN(ActivatedNetwork):
    """Recurrent network ``h_t = φ(W (h_{t-1} + B x_t) + c)``, ``Y = D h_T + e``, h_0 = 0.

    With a leak h_t = (1 − α) h_{t-1} + α φ(…).  With linear activation and without biases and leak
    it is the linear RNN: h_t here is W h_t there.

    Parameters
    ----------
    n, T, b, d, m : int
        Hidden units, time steps, inputs a step, outputs, samples.
    activation : str or mapping
        See `algebra.networks.activation.Activation.read`.
    biases : bool, optional
        Whether c and e exist: columns of weights that may learn like all others.
    leak : number, sequence of numbers or "learnable", optional
        α of all units, or one for each: above 0, at most 1.  "learnable": a column of weights that
        may learn, drawn between 0 and 1.
    read : {"last", "all"}, optional
        The outputs that are labels: that of the last step, or those of all steps (all samples at
        step 1, then at step 2, …).
    state : {"rates", "currents"}, optional
        What h_t is: see the module.
    initial : {"zero", "learnable"}, optional
        With currents: h_0 = 0, or a column ``h0`` of weights, the same for all samples.
    gain : {"none", "presynaptic", "rates"}, optional
        With currents: a column ``g`` of weights multiplies the rates in W g ∘ φ(h + c) alone, or
        also where they are read and recorded.

    Examples
    --------
    >>> RNN(n=2, T=3, b=1, d=1, m=2, activation="tanh").shapes
    {'D': (1, 2), 'W': (2, 2), 'B': (2, 1)}
    """

    kind: ClassVar[str] = "rnn"
    title: ClassVar[str] = "recurrent"
    encoder: ClassVar[str | None] = "B"
    sparse: ClassVar[frozenset[str]] = frozenset({"W"})
    bounded_by_support: ClassVar[frozenset[str]] = sparse
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **ActivatedNetwork.words, "read": READ, "state": STATE, "initial": (ZERO, INITIAL),
        "gain": GAIN,
    }  # fmt: skip

    n: int
    T: int
    b: int
    d: int
    m: int
    activation: Annotated[Any, InFile(ActivationForm)] = "tanh"
    biases: bool = False
    leak: Annotated[Any, InFile(_Leak)] = NO_LEAK
    read: Annotated[str, Keyword("enum", READ)] = "last"
    state: Annotated[str, Keyword("enum", STATE)] = RATES
    initial: Annotated[str, Keyword("enum", (ZERO, INITIAL))] = ZERO
    gain: Annotated[str, Keyword("enum", GAIN)] = NO_GAIN

    @classmethod
    def choices(cls) -> frozenset[str]:
        return super().choices() | {"leak"}

    def __post_init__(self) -> None:
        known_name(self.read, "read", READ)
        known_name(self.state, "state", STATE)
        known_name(self.initial, "initial", (ZERO, INITIAL))
        known_name(self.gain, "gain", GAIN)
        if self.state == RATES and (self.initial, self.gain) != (ZERO, NO_GAIN):
            key, value = ("initial", self.initial) if self.initial != ZERO else ("gain", self.gain)
            raise InputError(
                f'`{key}` ({shown(value)}) is about networks with state = "currents"; gains of '
                'rates are those of columns of W, learnable by W = { gain = "columns" }'
            )
        object.__setattr__(self, "n", whole_number(self.n, "n", 1, MAX_CELLS))
        object.__setattr__(self, "leak", read_leak(self.leak, self.n))
        super().__post_init__()

    @property
    def reads_all(self) -> bool:
        return self.read == "all"

    @property
    def sizes(self) -> dict[str, Any]:
        plain = super().sizes
        plain["leak"] = plain_leak(self.leak)
        for name, usual in (
            ("leak", NO_LEAK), ("read", "last"), ("state", RATES), ("initial", ZERO),
            ("gain", NO_GAIN),
        ):  # fmt: skip
            if plain[name] == usual:
                del plain[name]
        return plain

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        found = {"D": (self.d, self.n), "W": (self.n, self.n), "B": (self.n, self.b)}
        if self.biases:
            found |= {"c": (self.n, 1), "e": (self.d, 1)}
        if self.leak == LEARNABLE:
            found[LEAK] = (self.n, 1)
        if self.initial == INITIAL:
            found[START] = (self.n, 1)
        if self.gain != NO_GAIN:
            found[GAINS] = (self.n, 1)
        return found

    @property
    def has_currents(self) -> bool:
        return self.state == CURRENTS

    @property
    def unit_columns(self) -> tuple[str, ...]:
        own = (LEAK, START, GAINS)
        return tuple(name for name in own if name in self.shapes)

    @property
    def input_shape(self) -> tuple[int, int]:
        return (self.T * self.b, self.m)

    def with_samples(self, m: int) -> Self:
        found = super().with_samples(m)
        return found if self.own_point is None else found.at(self.own_point)

    def with_input(self) -> Self:
        return replace(self, b=self.b + 1)

    def at(self, own: OwnPoint) -> Self:
        """The network at given parameters and samples."""
        found = replace(self)
        object.__setattr__(found, "own_point", own)
        return found

    def at_parameters(
        self, weights: Mapping[str, np.ndarray], X: np.ndarray, support: Support | None = None
    ) -> Self:
        """The network at given rational parameters and samples, with its activation pattern.

        Parameters
        ----------
        weights : mapping of str to ndarray or SparseMatrix of fmpq
        X : ndarray of fmpq
        support : mapping of str to ndarray, optional
            The weights that exist, and so may move.

        Raises
        ------
        InputError
            If a unit is exactly at its kink, and its pre-activation moves with the weights.
        SignUnknown
            If a pre-activation of a large circuit is not separated from 0 at any precision.
        """
        program, nodes = self.program(), self._nodes(VALUES)
        above, zeros = self._pattern(weights, X)
        exists: dict[str, Any] = {
            name: np.ones(shape, bool)
            if (mask := held(support, name)) is None
            else mask
            if isinstance(mask, SparseMatrix)
            else np.asarray(mask, bool)
            for name, shape in self.shapes.items()
        } | {"X": np.asarray(X != 0, bool)}
        # Pre-activations that differ from 0 at some parameters nearby.
        inputs = [program.nodes[k].inputs[0] for k in nodes]
        moves = presence(
            program, exists, {}, self.vanishes_at_zero, inputs, lambda node, a: above[node]
        )
        for step, (k, sum_of) in enumerate(zip(nodes, inputs, strict=True)):
            at_kink = zeros[program.nodes[k]] & moves[sum_of].there.reshape(self.n, -1)
            if at_kink.any():
                raise InputError(
                    f"unit {np.argwhere(at_kink)[0][0]} is exactly at its kink at these parameters "
                    f"(step {step}): give it another value of {'c' if self.biases else 'W'}"
                )
        return self.at(OwnPoint(weights, X, tuple(above[program.nodes[k]] for k in nodes)))

    def _pattern(
        self, weights: Mapping[str, Any], X: np.ndarray
    ) -> tuple[dict[Node, np.ndarray], dict[Node, np.ndarray]]:
        """The positive pre-activations, and those that are 0, by the nodes of the activation.

        They are computed in rationals, whose digits grow from step to step; with a sparse matrix,
        of a large circuit, in balls, which decide the same signs or none.
        """
        program, nodes = self.program(), self._nodes(VALUES)
        if any(isinstance(table, SparseMatrix) for table in weights.values()):
            found = self.balls_at(weights, X, 0)
            above, zeros = (
                {program.nodes[k]: of[k] for k in nodes} for of in (found.pattern, found.zeros)
            )
            return above, zeros
        above, zeros = {}, {}

        def pattern(node: Node, a: np.ndarray) -> np.ndarray:
            zeros[node] = np.asarray(a == 0, bool)
            return above.setdefault(node, np.asarray(a > 0, bool))

        arithmetic = EntryArithmetic(self.function, _product, signs=pattern)
        evaluate(program, arithmetic, self.placed(weights, X), nodes)
        return above, zeros

    def stages(self) -> tuple[Stage, ...]:
        bias = "c" if self.biases else None
        return tuple(Stage("W", bias, (t * self.b, (t + 1) * self.b), 1) for t in range(self.T))

    def relays(self, support: Support) -> list[int]:
        """The hidden units that no synapse and no bias reaches.

        h_t = φ(W (h_{t-1} + B x_t) + c) stays at φ(0) there: what W multiplies is their input.
        `matchprob.from_torch` makes one for each input of an ``nn.RNN``.  To currents inputs are
        added without weights of W: none is a relay.  With leaks that are weights and φ(0) ≠ 0 the
        state shows the leak.
        """
        shows_leak = self.leak == LEARNABLE and not self.activation.vanishes_at_zero
        if "W" not in support or self.has_currents or shows_leak:
            return []
        is_reached = lines_with_entries(held(support, "W"))
        if self.biases:
            is_reached |= support["c"].any(axis=1) if "c" in support else True
        return [int(unit) for unit in np.flatnonzero(~is_reached)]

    def paths(self, support: Support) -> UnitPaths | None:
        """The paths between units; None if there are too many weights."""
        sizes = [np.prod(self.shapes[name]) for name in self.shapes if name not in self.sparse]
        is_sparse = isinstance(held(support, "W"), SparseMatrix) or self.n**2 <= _MOST_CELLS
        return UnitPaths(self, support) if is_sparse and max(sizes) <= _MOST_CELLS else None

    def linear_kind(self) -> RecurrentChain:
        kind = SequenceRNN if self.reads_all else LinearRNN
        return kind(n=self.n, T=self.T, b=self.b, d=self.d, m=self.m)

    def population(self, name: str, line: str) -> str:
        """ "input", "hidden" or "output"."""
        if line == "row":
            return "output" if name in ("D", "e") else "hidden"
        return "input" if name in ("B", "c", "e", *self.unit_columns) else "hidden"

    def build(self) -> Program:
        """The steps with named pre-activations, values and rates, and the labels."""
        if not self.has_currents:
            return super().build()
        build = Builder()
        X = build.sample("X", (self.input_shape[0],))
        blocks = {name: build.weight(name, shape) for name, shape in self.shapes.items()}
        columns = {
            name: build.reshaped(blocks[name], blocks[name].shape[:1])
            for name in blocks
            if blocks[name].shape[1:] == (1,) and name not in ("D", "W", "B")
        }

        def rates(k: int, state: Value) -> tuple[Value, Value]:
            """What W multiplies, and what is read, of a state."""
            a = build.add(state, columns["c"]) if self.biases else state
            z = build.name(f"{VALUES} {k}", self.applied(build, a))
            if self.gain == NO_GAIN:
                return z, z
            scaled = build.multiply(columns[GAINS], z)
            return scaled, scaled if self.gain == RATES else z

        # The same for all samples, but a value of each.
        h = build.index(np.full(self.n, -1), X)
        before = None
        if self.initial == INITIAL:
            h = before = build.add(h, columns[START])
        sent, _ = rates(0, h)
        traces = []
        for k, stage in enumerate(self.stages()):
            assert stage.drive is not None
            x = build.index(np.arange(*stage.drive), X)
            current = build.add(
                build.contract("ij,j->i", blocks["B"], x),
                build.contract("ij,j->i", blocks["W"], sent),
            )
            h = leaked(build, self.leak, columns.get(LEAK), before, current)
            before = h = build.name(f"{SUMS} {k}", h)
            sent, read = rates(k + 1, h)
            read = build.name(f"{STATES} {k}", read)
            label = build.contract("ij,j->i", blocks["D"], read)
            if self.biases:
                label = build.add(label, columns["e"])
            traces.append(build.name(f"{TRACES} {k}", label))
        return self.labelled(build, traces)


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product of two matrices of rationals."""
    return array((rational_matrix(a) * rational_matrix(b)).tolist(), b.shape[1])


class UnitPaths:
    """The paths along which parameters move the states of units."""

    def __init__(self, network: RNN, support: Support) -> None:
        self._network, self._support = network, support

    def _those(self, name: str, side: int) -> np.ndarray:
        """The units with an entry of a matrix."""
        found = np.zeros(self._network.n, bool)
        if name in self._network.shapes:
            found[self.cells(name)[side]] = True
        return found

    def cells(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the weights of a matrix that exist."""
        mask = held(self._support, name)
        if isinstance(mask, SparseMatrix):
            there = mask.values != 0
            return mask.rows[there], mask.columns[there]
        rows, columns = np.nonzero(
            np.ones(self._network.shapes[name]) if mask is None else np.asarray(mask)
        )
        return rows, columns

    def reach(self, moved: Moved, size: int) -> Iterator[np.ndarray]:
        """Parameters on which the recorded numbers of each unit may depend, for every step.

        Parameters
        ----------
        moved : mapping of str to (rows, columns, numbers)
            The weights that parameters move, each with the number of its parameter.
        size : int
            Number of parameters.

        Yields
        ------
        ndarray of uint8
            For each unit a bit for each parameter, in words of 64.
        """
        net, (post, pre) = self._network, self.cells("W")
        order = np.argsort(post, kind="stable")
        post, pre = post[order], pre[order]
        units, starts = np.unique(post, return_index=True)
        ends = np.append(starts, len(pre))[1:]

        def put(bits: np.ndarray, name: str, active: np.ndarray | None = None) -> None:
            """Add the parameters of weights into units; of units that are active."""
            if name not in moved:
                return
            rows, columns, numbers = moved[name]
            if active is not None:
                kept = active[columns if name == "W" else rows]
                rows, numbers = rows[kept], numbers[kept]
            bit = np.left_shift(1, 7 - numbers % 8).astype(np.uint8)
            np.bitwise_or.at(bits.view(np.uint8), (rows, numbers // 8), bit)

        def received(sets: np.ndarray) -> np.ndarray:
            """The unions of the sets of presynaptic units."""
            out = np.zeros_like(sets)
            for unit, first, last in zip(units, starts, ends, strict=True):
                np.bitwise_or.reduce(sets[pre[first:last]], axis=0, out=out[unit])
            return out

        driven, biased, always = self._those("B", 0), self._those("c", 0), np.zeros(net.n, bool)
        always[:] = not net.activation.vanishes_at_zero
        h, live = np.zeros((net.n, -(-size // 64)), np.uint64), self._those(START, 0)
        put(h, START)
        read, is_same = h, False
        for _ in range(net.T):
            if is_same:
                # A state that does not change any more.
                yield read.view(np.uint8)
                continue
            sent = h.copy()
            if net.has_currents:
                active = live | biased | always
                put(sent, "c")
                put(sent, GAINS, active)
            else:
                active = live | driven
                put(sent, "B")
            new, now = received(sent), np.zeros(net.n, bool)
            now[post[active[pre]]] = True
            now |= driven if net.has_currents else biased | always
            put(new, "W", active)
            put(new, "B" if net.has_currents else "c")
            if net.leak != NO_LEAK:
                new, now = new | h, now | live
                put(new, LEAK, now)
            is_same = bool((now == live).all() and np.array_equal(h, new))
            h, live = new, now
            read = h.copy()
            if net.has_currents:
                put(read, "c")
                if net.gain == RATES:
                    put(read, GAINS, live | biased | always)
            yield read.view(np.uint8)
