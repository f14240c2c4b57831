"""Network architectures: sizes, weight matrices and the map they compute.

A network here is a *description*: which weight matrices there are, their shapes, and
how the output follows from them.  It holds no weights.  The forward map is written
once, over any ring: the entries may be integers mod p, rationals, polynomials, SymPy
expressions or machine numbers, whatever ``@`` (or the ``matmul`` handed in) accepts.

Shapes and letters are those of Schlisselberg & Darshan, "The impact of allocation
strategies in subset learning on the expressive power of neural networks"
(arXiv 2502.06300), with 0-based indices.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from algebra.errors import InputError, shown, whole_number

Matrix = Any
Matmul = Callable[[Matrix, Matrix], Matrix]

# A dense matrix beyond this many entries cannot be held or certified on one machine.
MAX_CELLS = 10**8


class Network:
    """Base of the network kinds; use one of its subclasses, which are frozen dataclasses.

    Attributes
    ----------
    kind : str
        The name of the kind in a problem file.
    """

    kind: ClassVar[str] = ""
    title: ClassVar[str] = ""
    is_linear: ClassVar[bool] = True

    d: int
    m: int

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            size: Any
            if isinstance(field.default, str):
                # A choice between words, checked by its own class.
                continue
            if field.name in ("widths", "hidden"):
                name = field.name
                if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
                    raise InputError(f"`{name}` ({shown(value)}) must be a list of whole numbers")
                size = tuple(
                    whole_number(width, f"{name}[{k}]", 1, MAX_CELLS)
                    for k, width in enumerate(value)
                )
            else:
                size = whole_number(value, field.name, 1, MAX_CELLS)
            object.__setattr__(self, field.name, size)
        held = {**self.shapes, "the samples X": self.input_shape, "the labels Y": (self.d, self.m)}
        for name, (rows, columns) in held.items():
            if rows * columns > MAX_CELLS:
                raise InputError(
                    f"{name} would be {rows}×{columns}: more than {MAX_CELLS:.0e} entries; "
                    "choose smaller sizes"
                )

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Weight matrices in the order in which they act last to first: name to (rows, columns)."""
        raise NotImplementedError

    @property
    def input_shape(self) -> tuple[int, int]:
        """Shape of the sample matrix X, one column a sample."""
        raise NotImplementedError

    @property
    def teacher_shapes(self) -> dict[str, tuple[int, int]]:
        """Weight matrices of the teacher: the student's own, unless a kind says otherwise."""
        return self.shapes

    def teach(
        self, teacher: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> Matrix:
        """Labels Y (d×m) that a teacher gives the samples."""
        return self.forward(teacher, X, matmul)

    @property
    def sizes(self) -> dict[str, Any]:
        """The sizes as they stand in a problem file."""
        return {
            f.name: list(v) if isinstance(v := getattr(self, f.name), tuple) else v
            for f in fields(self)  # type: ignore[arg-type]
        }

    @property
    def outputs(self) -> int:
        """Number of label entries, dm."""
        return self.d * self.m

    @property
    def parameters(self) -> int:
        """Number of weights p."""
        return sum(rows * columns for rows, columns in self.shapes.values())

    def forward(
        self, weights: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> Matrix:
        """Labels Y (d×m) of the samples X under the given weights.

        Parameters
        ----------
        weights : mapping of str to matrix
            One matrix for each name in `shapes`.
        X : matrix
            Samples, of shape `input_shape`.
        matmul : callable, optional
            Product of two matrices; `operator.matmul` by default.

        Returns
        -------
        matrix
            The d×m labels, in the ring of the entries.
        """
        raise NotImplementedError

    def __str__(self) -> str:
        sizes = ", ".join(f"{k} = {v}" for k, v in self.sizes.items())
        return f"{self.title}: {sizes}"


@dataclass(frozen=True)
class LinearEstimator(Network):
    """Linear estimator ``Y = W X`` (paper 1, section 2.1).

    Parameters
    ----------
    q, d, m : int
        Inputs, outputs and samples.

    Examples
    --------
    >>> LinearEstimator(q=2, d=2, m=2).shapes
    {'W': (2, 2)}
    """

    kind: ClassVar[str] = "linear"
    title: ClassVar[str] = "linear estimator"

    q: int
    d: int
    m: int

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        return {"W": (self.d, self.q)}

    @property
    def input_shape(self) -> tuple[int, int]:
        return (self.q, self.m)

    def forward(
        self, weights: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> Matrix:
        return matmul(weights["W"], X)


@dataclass(frozen=True)
class LinearRNN(Network):
    """Linear recurrent network ``h_t = W h_{t-1} + B x_t``, ``Y = D W h_T`` (Eq. 3.3).

    The samples X are (Tb)×m: the inputs X_1, …, X_T of the T steps, stacked.

    Parameters
    ----------
    n, T, b, d, m : int
        Hidden units, time steps, inputs a step, outputs, samples.

    Examples
    --------
    >>> LinearRNN(n=2, T=2, b=1, d=1, m=2).shapes
    {'D': (1, 2), 'W': (2, 2), 'B': (2, 1)}
    """

    kind: ClassVar[str] = "lrnn"
    title: ClassVar[str] = "linear RNN"

    n: int
    T: int
    b: int
    d: int
    m: int

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        return {"D": (self.d, self.n), "W": (self.n, self.n), "B": (self.n, self.b)}

    @property
    def input_shape(self) -> tuple[int, int]:
        return (self.T * self.b, self.m)

    def states(
        self, weights: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> list[Matrix]:
        """Hidden states h_1, …, h_T and the state ``W h_T`` that D reads, each n×m."""
        W, B = weights["W"], weights["B"]
        states: list[Matrix] = []
        for t in range(self.T):
            h = matmul(B, X[t * self.b : (t + 1) * self.b])
            if states:
                h = h + matmul(W, states[-1])
            states.append(h)
        states.append(matmul(W, states[-1]))
        return states

    def forward(
        self, weights: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> Matrix:
        return matmul(weights["D"], self.states(weights, X, matmul)[-1])


@dataclass(frozen=True)
class LinearFeedForward(Network):
    """Multi-layer linear network ``Y = W_L … W_1 X`` (paper 1, section 4).

    Parameters
    ----------
    q : int
        Inputs.
    widths : sequence of int
        Widths n_1, …, n_{L-1} of the hidden layers.
    d, m : int
        Outputs and samples.

    Examples
    --------
    >>> LinearFeedForward(q=4, widths=(5, 6), d=3, m=2).shapes
    {'W3': (3, 6), 'W2': (6, 5), 'W1': (5, 4)}
    """

    kind: ClassVar[str] = "lffn"
    title: ClassVar[str] = "multi-layer linear"

    q: int
    widths: tuple[int, ...]
    d: int
    m: int

    @property
    def layers(self) -> int:
        """Number L of weight matrices."""
        return len(self.widths) + 1

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        sizes = [self.q, *self.widths, self.d]
        return {
            f"W{layer}": (sizes[layer], sizes[layer - 1]) for layer in range(self.layers, 0, -1)
        }

    @property
    def input_shape(self) -> tuple[int, int]:
        return (self.q, self.m)

    def forward(
        self, weights: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> Matrix:
        for layer in range(1, self.layers + 1):
            X = matmul(weights[f"W{layer}"], X)
        return X


@dataclass(frozen=True)
class ShallowReLU(Network):
    """Shallow network ``Y = W2 relu(W1 X)`` (paper 1, section 5).

    Parameters
    ----------
    q, n, d, m : int
        Inputs, hidden units, outputs, samples.

    Examples
    --------
    >>> ShallowReLU(q=6, n=8, d=4, m=6).shapes
    {'W2': (4, 8), 'W1': (8, 6)}
    """

    kind: ClassVar[str] = "relu"
    title: ClassVar[str] = "shallow ReLU"
    is_linear: ClassVar[bool] = False

    q: int
    n: int
    d: int
    m: int

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        return {"W2": (self.d, self.n), "W1": (self.n, self.q)}

    @property
    def input_shape(self) -> tuple[int, int]:
        return (self.q, self.m)

    def forward(
        self, weights: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> Matrix:
        hidden = matmul(weights["W1"], X)
        # Multiplying by the 0/1 pattern keeps exact entries exact.
        return matmul(weights["W2"], hidden * (hidden > 0))


KINDS: dict[str, type[Network]] = {
    cls.kind: cls for cls in (LinearEstimator, LinearRNN, LinearFeedForward, ShallowReLU)
}
