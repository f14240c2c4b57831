r"""Linear recurrent networks: kinds ``lrnn`` and ``lrnn-sequence``, which is read at every step.

Read at every step,

.. math:: h_t = W h_{t-1} + B x_t, \quad Y_t = D W h_t, \quad t = 1, …, T, \quad h_0 = 0.

The labels are the trajectories Y = (Y_1 | … | Y_T), d×Tm: column (t − 1)m + c is the output at step
t for sample c.  As a chain it is the linear RNN with an extended
input: with A_k = D W^k B,

.. math:: Y_t = \sum_{s ≤ t} A_{t-s+1} X_s, \quad Y = (A_T | … | A_1) U, \quad
          U_{s, t} = X_{s-(T-t)} \ (0 \text{ where } s ≤ T − t),

where U (Tb×Tm) is block triangular with X_1 on its diagonal.  So rank U = T·min(b, m) for generic
samples, and

- if m ≥ b, the labels determine A_1, …, A_T and depend on nothing else: rank, number of solutions
  and match probability are those of the linear RNN with the same n, T, b, d and at least Tb
  samples.  Thus b samples suffice here, where last outputs need Tb;
- if m < b, the labels determine A_1, …, A_T on the spans of X_1, …, X_T.

Symmetries and budgets are the same, since they depend only on D, W, B and U: a row of W takes part
in min(Tb, Tm) equations, a column in Td.  The first paper's theorems are stated for the last output
and do not apply to this kind.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from algebra.networks.base import Matmul, Matrix
from algebra.networks.chain import RecurrentChain


@dataclass(frozen=True)
class LinearRNN(RecurrentChain):
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


@dataclass(frozen=True)
class SequenceRNN(RecurrentChain):
    """Linear recurrent network whose labels are the outputs ``D W h_t`` of all T steps.

    The samples X are (Tb)×m, the labels d×Tm: first all samples at step 1, then at step 2, ….

    Parameters
    ----------
    n, T, b, d, m : int
        Hidden units, time steps, inputs a step, outputs a step, samples.

    Examples
    --------
    >>> net = SequenceRNN(n=3, T=2, b=1, d=1, m=1)
    >>> net.shapes, net.columns
    ({'D': (1, 3), 'W': (3, 3), 'B': (3, 1)}, 2)
    >>> net.drive(np.array([[5], [7]])).tolist()
    [[0, 5], [5, 7]]
    """

    kind: ClassVar[str] = "lrnn-sequence"
    title: ClassVar[str] = "linear RNN read at every step"
    column_letter: ClassVar[str] = "Tm"
    drive_letter: ClassVar[str] = "U"

    @property
    def columns(self) -> int:
        """Columns of the label matrix: m for each of the T steps."""
        return self.T * self.m

    @property
    def label_steps(self) -> tuple[int | None, ...]:
        return tuple(range(self.T))

    @property
    def independent_columns(self) -> int:
        """Rank T·min(b, m) of U."""
        return self.T * min(self.b, self.m)

    def drive(self, X: Matrix) -> Matrix:
        zero = X[: self.b] - X[: self.b]
        blocks = [X[t * self.b : (t + 1) * self.b] for t in range(self.T)]
        late = [[zero] * (self.T - 1 - t) + blocks[: t + 1] for t in range(self.T)]
        return np.concatenate([np.concatenate(column) for column in late], axis=-1)

    def forward(
        self, weights: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> Matrix:
        # Computed directly, step by step: the states of the chain are T times as wide.
        D, W, B = weights["D"], weights["W"], weights["B"]
        read, h, outputs = matmul(D, W), None, []
        for t in range(self.T):
            new = matmul(B, X[t * self.b : (t + 1) * self.b])
            h = new if h is None else new + matmul(W, h)
            outputs.append(matmul(read, h))
        return np.concatenate(outputs, axis=-1)
