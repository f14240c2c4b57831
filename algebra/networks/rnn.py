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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from flint import fmpq_mat

from algebra.declarations import InFile, Keyword
from algebra.errors import InputError, known_name, shown, whole_number
from algebra.networks.activated import SUMS, VALUES, ActivatedNetwork, Stage
from algebra.networks.activation import ActivationForm
from algebra.networks.base import MAX_CELLS, STATES, TRACES, Support
from algebra.networks.chain import RecurrentChain
from algebra.networks.masks import held, lines_with_entries
from algebra.networks.own_point import OwnPoint, as_fmpq, as_rational_matrix
from algebra.networks.recurrent import LinearRNN, SequenceRNN
from algebra.programs.leaks import LEAK, LEARNABLE, NO_LEAK, leaked, plain_leak, read_leak
from algebra.programs.program import Builder, Program, Value

# The outputs that may be labels.
READ = ("last", "all")
# What the state of a unit is, what it is at first, and what gains multiply.
RATES, CURRENTS = STATE = ("rates", "currents")
ZERO, INITIAL = ("zero", LEARNABLE)
NO_GAIN, PRESYNAPTIC = ("none", "presynaptic")
GAIN = (NO_GAIN, PRESYNAPTIC, RATES)
# The columns of initial states and of gains.
START, GAINS = "h0", "g"
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
        return found if self.own_point is None else found.at(self.own_point.with_samples(m))

    def at(self, own: OwnPoint) -> Self:
        """The network at given parameters and samples."""
        found = replace(self)
        object.__setattr__(found, "own_point", own)
        return found

    def at_parameters(self, weights: Mapping[str, np.ndarray], X: np.ndarray) -> Self:
        """The network at given rational parameters and samples, with its activation pattern.

        Parameters
        ----------
        weights : mapping of str to ndarray of Fraction
        X : ndarray of Fraction

        Raises
        ------
        InputError
            If a unit is exactly at its kink, and moves with a bias or an initial current.
        """
        signs: list[np.ndarray] = []
        below, n = as_fmpq(self.activation.below or Fraction(0)), self.n
        tables = {name: as_rational_matrix(table) for name, table in weights.items()}
        driven = [
            tables["B"] * as_rational_matrix(X[t * self.b : (t + 1) * self.b])
            for t in range(self.T)
        ]
        ones = as_rational_matrix(np.full((1, X.shape[1]), Fraction(1), dtype=object))
        zero = tables["B"] * as_rational_matrix(X[: self.b] * 0)

        def spread(name: str) -> fmpq_mat:
            """A column beside itself for every sample."""
            return tables[name] * ones if name in tables else zero

        def scaled(column: Sequence[Any], table: fmpq_mat) -> fmpq_mat:
            rows = [[f * v for v in row] for f, row in zip(column, table.tolist(), strict=True)]
            return fmpq_mat(rows)

        def values(a: fmpq_mat, moves: str) -> fmpq_mat:
            rows = a.tolist()
            for i, row in enumerate(rows):
                if moves in tables and not all(row) and not self._silent(weights, i):
                    raise InputError(
                        f"unit {i} is exactly at its kink at these parameters (step {len(signs)}): "
                        f"give it another value of {moves}"
                    )
            signs.append(np.array([[v > 0 for v in row] for row in rows]))
            return fmpq_mat([[v if v > 0 else below * v for v in row] for row in rows])

        if self.leak == LEARNABLE:
            rate = [as_fmpq(v) for v in weights[LEAK][:, 0]]
        else:
            given = (Fraction(1),) if self.leak == NO_LEAK else self.leak
            rate = [as_fmpq(v) for v in given] * (n // len(given))
        kept = [1 - v for v in rate]
        c, h = spread("c"), spread(START)
        gains = [as_fmpq(v) for v in weights[GAINS][:, 0]] if GAINS in weights else [as_fmpq(1)] * n
        if not self.has_currents:
            for x in driven:
                h = scaled(kept, h) + scaled(rate, values(tables["W"] * (h + x) + c, "c"))
            return self.at(OwnPoint(weights, X, tuple(signs)))
        sent = scaled(gains, values(h + c, "c" if self.biases else START))
        for x in driven:
            h = scaled(kept, h) + scaled(rate, tables["W"] * sent + x)
            sent = scaled(gains, values(h + c, "c" if self.biases else START))
        return self.at(OwnPoint(weights, X, tuple(signs)))

    def _silent(self, weights: Mapping[str, np.ndarray], unit: int) -> bool:
        """Whether no bias and no initial current of a unit is there."""
        own = [weights[name][unit, 0] for name in ("c", START) if name in weights]
        return not own

    def stages(self) -> tuple[Stage, ...]:
        bias = "c" if self.biases else None
        return tuple(Stage("W", bias, (t * self.b, (t + 1) * self.b), 1) for t in range(self.T))

    def relays(self, support: Support) -> list[int]:
        """The hidden units that no synapse and no bias reaches.

        h_t = φ(W (h_{t-1} + B x_t) + c) stays at φ(0) there: what W multiplies is their input.
        `matchprob.from_torch` makes one for each input of an ``nn.RNN``.  To currents inputs are
        added without weights of W: none is a relay.
        """
        if "W" not in support or self.has_currents:
            return []
        is_reached = lines_with_entries(held(support, "W"))
        if self.biases:
            is_reached |= support["c"].any(axis=1) if "c" in support else True
        return [int(unit) for unit in np.flatnonzero(~is_reached)]

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
        if not self.reads_all:
            return build.program(traces[-1])
        where = np.arange(len(traces) * self.d).reshape(len(traces), self.d).T
        return build.program(build.index(where, *traces))
