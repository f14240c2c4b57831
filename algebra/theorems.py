"""The first paper's theorems *as stated*, as predicates.

What a theorem says of an allocation is kept apart from what is true (`algebra.jacobian`,
`algebra.certificate`): some of them fail as stated; ``docs/theorems.md`` has true versions.

Every theorem is applied under the paper's own assumptions: exactly r = dm learnable
weights, all in one matrix, and no more samples than the network has inputs (so that
samples are independent).  Elsewhere a theorem is silent.

* 3.1 (decoder; also the linear estimator of section 2.1 and the last layer of a
  feed-forward net, "which acts as the decoder"): every row has exactly m learnable
  weights: maximal, else minimal.
* 3.2 (encoder): no row of B has more than Tm and no column more than Td: maximal, else
  minimal.
* 3.4 (recurrent): a row of W with more than Tb, or a column with more than Td: minimal.
* 3.5 (recurrent): each row has Tb or 0, or each column has Td or 0: maximal.
* 4.1 (an intermediate or encoder layer): "one of" — no row has more than m; no column has
  more than d: maximal, otherwise minimal.  Read literally one condition is enough; the
  proof uses both.  Both readings are kept.

A theorem looks at the numbers of learnable weights in rows and columns only, so its word
is found for many allocations at once.

Lemmas D.3 and D.4 (shallow ReLU) speak of activation patterns, see `infeasible_by_d3` and
`infeasible_by_d4`.

References
----------
.. [1] O. Schlisselberg, R. Darshan, "The impact of allocation strategies in subset
   learning on the expressive power of neural networks", arXiv 2502.06300.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np

from algebra.allocation import Allocation
from algebra.errors import InputError
from algebra.networks import LinearEstimator, LinearFeedForward, LinearRNN, Network, ShallowReLU

MAXIMAL, MINIMAL, SILENT = "maximal", "minimal", "silent"
WORDS = {1: MAXIMAL, -1: MINIMAL, 0: SILENT}

Counts = np.ndarray


@dataclass(frozen=True)
class Theorem:
    """A theorem as stated.

    Attributes
    ----------
    name : str
        Its number in the paper.
    statement : str
    applies : callable
        ``applies(network, matrix)``: whether it speaks of this matrix.
    words : callable
        ``words(network, rows, columns)``: 1 (maximal), -1 (minimal) or 0 (silent) for each
        allocation; `rows` and `columns` hold its numbers of learnable weights.
    """

    name: str
    statement: str
    applies: Callable[[Network, str], bool]
    words: Callable[[Network, Counts, Counts], np.ndarray]

    def says(self, allocation: Allocation) -> str:
        """What it says of one allocation, under the paper's assumptions."""
        network = allocation.network
        if not assumptions_hold(network, allocation.size) or len(allocation.matrices) != 1:
            return SILENT
        (name,) = allocation.matrices
        if not self.applies(network, name):
            return SILENT
        rows = np.array([allocation.row_counts(name)])
        columns = np.array([allocation.column_counts(name)])
        return WORDS[int(self.words(network, rows, columns)[0])]

    def __str__(self) -> str:
        return f"Theorem {self.name}: {self.statement}"


def assumptions_hold(network: Network, budget: int) -> bool:
    """Whether r = dm and the samples can be independent."""
    return (
        network.is_linear and budget == network.outputs and network.m <= network.input_shape[0]
    )


def readout(network: Network) -> str | None:
    """The matrix that acts as the decoder."""
    if isinstance(network, LinearRNN):
        return "D"
    if isinstance(network, LinearFeedForward):
        return f"W{network.layers}"
    return "W" if isinstance(network, LinearEstimator) else None


def _either(maximal: np.ndarray) -> np.ndarray:
    return np.where(maximal, 1, -1)


def _of_rnn(name: str) -> Callable[[Network, str], bool]:
    return lambda network, matrix: isinstance(network, LinearRNN) and matrix == name


def _inner_layer(network: Network, matrix: str) -> bool:
    return isinstance(network, LinearFeedForward) and matrix != readout(network)


def _word_31(network: Network, rows: Counts, columns: Counts) -> np.ndarray:
    return _either((rows == network.m).all(axis=1))


def _word_32(network: Network, rows: Counts, columns: Counts) -> np.ndarray:
    assert isinstance(network, LinearRNN)
    T, m, d = network.T, network.m, network.d
    return _either((rows.max(axis=1) <= T * m) & (columns.max(axis=1) <= T * d))


def _word_34(network: Network, rows: Counts, columns: Counts) -> np.ndarray:
    assert isinstance(network, LinearRNN)
    T, b, d = network.T, network.b, network.d
    return np.where((rows.max(axis=1) > T * b) | (columns.max(axis=1) > T * d), -1, 0)


def _word_35(network: Network, rows: Counts, columns: Counts) -> np.ndarray:
    assert isinstance(network, LinearRNN)
    T, b, d = network.T, network.b, network.d
    by_rows = np.isin(rows, (0, T * b)).all(axis=1)
    by_columns = np.isin(columns, (0, T * d)).all(axis=1)
    return np.where(by_rows | by_columns, 1, 0)


def _word_41_one(network: Network, rows: Counts, columns: Counts) -> np.ndarray:
    return _either((rows.max(axis=1) <= network.m) | (columns.max(axis=1) <= network.d))


def _word_41_both(network: Network, rows: Counts, columns: Counts) -> np.ndarray:
    return _either((rows.max(axis=1) <= network.m) & (columns.max(axis=1) <= network.d))


THEOREMS: tuple[Theorem, ...] = (
    Theorem(
        "3.1",
        "decoder: every row m weights ⇔ maximal, else minimal",
        lambda network, matrix: matrix == readout(network),
        _word_31,
    ),
    Theorem(
        "3.2", "encoder: rows ≤ Tm and columns ≤ Td ⇔ maximal, else minimal", _of_rnn("B"), _word_32
    ),
    Theorem("3.4", "recurrent: a row > Tb or a column > Td ⇒ minimal", _of_rnn("W"), _word_34),
    Theorem(
        "3.5", "recurrent: rows Tb or 0, or columns Td or 0 ⇒ maximal", _of_rnn("W"), _word_35
    ),
    Theorem(
        "4.1 (one of)", "layer: rows ≤ m or columns ≤ d ⇔ maximal", _inner_layer, _word_41_one
    ),
    Theorem(
        "4.1 (both)", "layer: rows ≤ m and columns ≤ d ⇔ maximal", _inner_layer, _word_41_both
    ),
)


def what_theorems_say(network: Network, allocation: Allocation) -> dict[str, str]:
    """What each theorem as stated says of an allocation, by the theorem's name.

    Examples
    --------
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> what_theorems_say(net, Allocation.rows(net, "W", [0]))["3.5"]
    'maximal'
    """
    return {theorem.name: theorem.says(allocation) for theorem in THEOREMS}


def infeasible_by_d3(pattern: np.ndarray, d: int) -> np.ndarray:
    """Lemma D.3: samples whose pattern has fewer than d active units.

    Parameters
    ----------
    pattern : ndarray of 0/1, shape (k, m)
        Units with learnable weights against samples: 1 where a unit is active.
    d : int

    Returns
    -------
    ndarray of bool, shape (m,)
        Where True, a student with this pattern matches with probability 0.

    Notes
    -----
    As stated the lemma holds for every sample.  It does not where the right-hand side,
    the label less the fixed units' contribution, is exactly 0: then no active unit at all
    is fine.
    """
    return np.asarray(pattern).sum(axis=0) < d


def infeasible_by_d4(pattern: np.ndarray, row_counts: np.ndarray) -> np.ndarray:
    """Lemma D.4: units active on fewer samples than they have learnable weights.

    Parameters
    ----------
    pattern : ndarray of 0/1, shape (k, m)
    row_counts : ndarray of int, shape (k,)
        Learnable weights of each unit.

    Returns
    -------
    ndarray of bool, shape (k,)
        Where True, columns of the linear system depend on each other, so that dm
        weights cannot meet dm generic equations (the lemma assumes r = dm).
    """
    return np.asarray(pattern).sum(axis=1) < np.asarray(row_counts)


def feasible_pattern_counts(allocation: Allocation) -> dict[str, int]:
    """How many activation patterns of a ReLU allocation the lemmas leave.

    Returns
    -------
    dict
        ``patterns`` 2^(km); ``d3``: every sample has d active units or more,
        (Σ_{i≥d} C(k, i))^m; ``d4``: every unit is active on as many samples as it has
        weights, Π_i Σ_{j≥r_i} C(m, j).

    Examples
    --------
    >>> net = ShallowReLU(q=2, n=2, d=2, m=2)
    >>> feasible_pattern_counts(Allocation.rows(net, "W1", [0, 1]))
    {'patterns': 16, 'd3': 1, 'd4': 1}
    """
    network = allocation.network
    if not isinstance(network, ShallowReLU):
        raise InputError(f"Lemmas D.3 and D.4 are about shallow ReLU nets, not {network.title}")
    counts = [c for c in allocation.row_counts("W1") if c]
    k, m, d = len(counts), network.m, network.d
    by_units = 1
    for c in counts:
        by_units *= sum(comb(m, j) for j in range(c, m + 1))
    return {
        "patterns": 2 ** (k * m),
        "d3": sum(comb(k, i) for i in range(d, k + 1)) ** m,
        "d4": by_units,
    }
