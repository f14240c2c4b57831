r"""The first paper's theorems, as stated, as predicates.

Each `Theorem` says "maximal" (MP = 1), "minimal" (MP = 0) or nothing of an allocation, as
the text of [1]_ does, whether or not it is right.  `algebra.plugins.papers.audit` compares them
with the exact verdict; `algebra.plugins.papers.theorems.corrected` has true versions;
docs/theorems.md explains where the statements fail and why.

**Assumptions.**  A theorem gives no conclusion unless

- r = dm (section 2: "we investigate MP(A, r/d)"), all in one weight matrix, the one it is about;
- m ≤ Tb or m ≤ q (section 2: any m samples are linearly independent);
- for recurrent nets Tb ≤ n and Td ≤ n (section 3, from Theorem B.1);
- for feed-forward nets no hidden layer is narrower than q or d (section 4).

Not enforced: n ≫ b, d, which has no definite meaning; every known failure holds for all
larger n too.  Gaussian weights and inputs, without structural zeros, are assumed.

The theorems use row and column counts only, so a whole batch of allocations is judged
at once (`Theorem.codes`).

References
----------
.. [1] O. Schlisselberg, R. Darshan, "The impact of allocation strategies in subset learning
   on the expressive power of neural networks", arXiv 2502.06300.

Examples
--------
>>> from algebra.networks.feedforward import LinearFeedForward
>>> net = LinearFeedForward(q=3, widths=(3,), d=2, m=2)
>>> cells = [("W1", 0, 1), ("W1", 0, 2), ("W1", 1, 0), ("W1", 2, 0)]
>>> verdicts = what_theorems_say(net, Allocation.from_cells(net, cells))
>>> verdicts["4.1 (both)"], verdicts["3.4"]
('maximal', 'silent')
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from algebra.networks.base import Network
from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.plugins.papers.theorems.roles import roles, too_narrow
from algebra.problems.allocation import Allocation

MAXIMAL, MINIMAL, SILENT = "maximal", "minimal", "silent"
VERDICT_OF_CODE = {1: MAXIMAL, -1: MINIMAL, 0: SILENT}

Masks = np.ndarray
Codes = np.ndarray
Matrices = Callable[[Network], tuple[str, ...]]
Decide = Callable[[Any, str, Masks], Codes]

_PAPER = "Schlisselberg & Darshan, arXiv 2502.06300"


@dataclass(frozen=True)
class Theorem:
    """A statement about allocations inside one weight matrix.

    Attributes
    ----------
    name : str
        Its number in the paper, such as "3.2"; "4.1 (both)" and "4.1 (one of)" are the two
        readings of Theorem 4.1.
    statement, source : str
    any_size : bool
        Whether it applies to any number r of learnable weights, not only to r = dm.
    """

    name: str
    statement: str
    source: str
    any_size: bool = False
    _matrices: Matrices = field(repr=False, default=lambda network: ())
    _decide: Decide = field(repr=False, default=lambda network, name, masks: np.zeros(len(masks)))
    _gaps: Callable[[Network], list[str]] = field(repr=False, default=lambda network: [])

    def matrices(self, network: Network) -> tuple[str, ...]:
        """The weight matrices to which it applies; empty for other network kinds."""
        return self._matrices(network)

    def gaps(self, network: Network, allocation: Allocation | None = None) -> tuple[str, ...]:
        """Its assumptions that do not hold, as texts.

        Parameters
        ----------
        network : Network
        allocation : Allocation, optional
            Without it, only the assumptions on the sizes are checked.
        """
        names = self.matrices(network)
        if not names:
            return (f"it is not about a {network.title}",)
        found = self._gaps(network)
        if allocation is not None:
            learning = allocation.matrices
            if len(learning) != 1 or learning[0] not in names:
                found.append(
                    f"it needs all learnable weights in {' or in '.join(names)}, but "
                    + (f"{', '.join(learning)} learn" if learning else "nothing learns")
                )
            if not self.any_size and allocation.size != network.outputs:
                found.append(f"it needs r = dm = {network.outputs}, but r = {allocation.size}")
        return tuple(found)

    def applies(self, network: Network, allocation: Allocation) -> bool:
        """Whether all its assumptions hold."""
        return not self.gaps(network, allocation)

    def says(self, network: Network, allocation: Allocation) -> str:
        """ "maximal", "minimal" or "silent"; also "silent" if it does not apply."""
        if not self.applies(network, allocation):
            return SILENT
        name = allocation.matrices[0]
        return VERDICT_OF_CODE[int(self.codes(network, name, allocation.masks[name][None])[0])]

    def codes(self, network: Network, name: str, masks: Masks) -> Codes:
        """Its conclusions for many allocations inside one matrix; their number r is not checked.

        Parameters
        ----------
        network : Network
        name : str
            One of `matrices`.
        masks : ndarray of 0 and 1, shape (N, rows, columns)

        Returns
        -------
        ndarray of int8, shape (N,)
            1 maximal, -1 minimal, 0 silent.
        """
        return np.asarray(self._decide(network, name, masks), np.int8)

    def __str__(self) -> str:
        return f"Theorem {self.name}: {self.statement} ({self.source})"


def decoder(network: Network) -> tuple[str, ...]:
    """The matrix that is applied last: D of a linear RNN, the last layer."""
    return roles(network).get("decoder", ())


def encoder(network: Network) -> tuple[str, ...]:
    """B of a linear RNN."""
    return roles(network).get("encoder", ())


def recurrent(network: Network) -> tuple[str, ...]:
    """W of a linear RNN."""
    return roles(network).get("recurrent", ())


def hidden_layers(network: Network) -> tuple[str, ...]:
    """All layers of a feed-forward net but the last."""
    return roles(network).get("hidden layers", ())


def _as_in_the_paper(network: Network) -> list[str]:
    found = too_narrow(network)
    inputs = network.input_shape[0]
    if network.m > inputs:
        letters = "Tb" if recurrent(network) else "q"
        found.append(
            f"it needs m ≤ {letters} (independent samples), but m = {network.m}, "
            f"{letters} = {inputs}"
        )
    return found


def _counts(masks: Masks) -> tuple[np.ndarray, np.ndarray]:
    return masks.sum(axis=2, dtype=np.int64), masks.sum(axis=1, dtype=np.int64)


def _theorem_31(network: Network, name: str, masks: Masks) -> Codes:
    rows, _ = _counts(masks)
    return np.where((rows == network.m).all(axis=1), 1, -1)


def _theorem_32(network: LinearRNN, name: str, masks: Masks) -> Codes:
    rows, columns = _counts(masks)
    fits = (rows <= network.T * network.m).all(axis=1)
    fits &= (columns <= network.T * network.d).all(axis=1)
    return np.where(fits, 1, -1)


def _theorem_34(network: LinearRNN, name: str, masks: Masks) -> Codes:
    rows, columns = _counts(masks)
    over = (rows > network.T * network.b).any(axis=1)
    over |= (columns > network.T * network.d).any(axis=1)
    return np.where(over, -1, 0)


def _theorem_35(network: LinearRNN, name: str, masks: Masks) -> Codes:
    rows, columns = _counts(masks)
    by_rows = ((rows == 0) | (rows == network.T * network.b)).all(axis=1)
    by_columns = ((columns == 0) | (columns == network.T * network.d)).all(axis=1)
    return np.where(by_rows | by_columns, 1, 0)


def _theorem_41(network: LinearFeedForward, name: str, masks: Masks, both: bool) -> Codes:
    rows, columns = _counts(masks)
    one = (rows <= network.m).all(axis=1)
    other = (columns <= network.d).all(axis=1)
    return np.where(one & other if both else one | other, 1, -1)


def _stated(name: str, statement: str, where: str, matrices: Matrices, decide: Decide) -> Theorem:
    return Theorem(name, statement, f"{where}, {_PAPER}", False, matrices, decide, _as_in_the_paper)


THEOREMS: dict[str, Theorem] = {
    theorem.name: theorem
    for theorem in (
        _stated(
            "3.1",
            "An allocation learning the decoder is maximal if every row has exactly m learnable "
            "weights, else it is minimal.",
            "Theorem 3.1; section 2.1 (linear estimator); section 4 (last layer)",
            decoder,
            _theorem_31,
        ),
        _stated(
            "3.2",
            "An allocation learning the encoder B is maximal if no row has more than Tm and no "
            "column more than Td learnable weights; every other one is minimal.",
            "Theorem 3.2 (B.14)",
            encoder,
            _theorem_32,
        ),
        _stated(
            "3.4",
            "An allocation learning W is minimal if a row has more than Tb or a column more than "
            "Td learnable weights.",
            "Theorem 3.4 (B.5, B.8)",
            recurrent,
            _theorem_34,
        ),
        _stated(
            "3.5",
            "An allocation learning W is maximal if each row has Tb or 0 learnable weights, or "
            "each column has Td or 0.",
            "Theorem 3.5 (B.6, B.9)",
            recurrent,
            _theorem_35,
        ),
        _stated(
            "4.1 (one of)",
            "An allocation learning an intermediate or encoder layer is maximal if no row has "
            "more than m learnable weights or no column more than d, else it is minimal.",
            "Theorem 4.1 (C.1) as printed",
            hidden_layers,
            lambda network, name, masks: _theorem_41(network, name, masks, False),
        ),
        _stated(
            "4.1 (both)",
            "An allocation learning an intermediate or encoder layer is maximal if no row has "
            "more than m learnable weights and no column more than d, else it is minimal.",
            "Theorem 4.1 (C.1) as its proof by Lemma B.12 reads",
            hidden_layers,
            lambda network, name, masks: _theorem_41(network, name, masks, True),
        ),
    )
}


def what_theorems_say(network: Network, allocation: Allocation) -> dict[str, str]:
    """The conclusion of each theorem, as stated, for an allocation.

    Parameters
    ----------
    network : Network
    allocation : Allocation

    Returns
    -------
    dict of str to str
        For every name in `THEOREMS` "maximal", "minimal" or "silent".
    """
    return {name: theorem.says(network, allocation) for name, theorem in THEOREMS.items()}
