"""Sizes and index tables of a chain, the input of every compiled kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numeric.chains.chain import Chain

# Kinds of learnable cells, as numbered in the kernels.
IN_M, IN_S0, IN_D = 0, 1, 2


class ChainTable(NamedTuple):
    """Sizes and index tables of one chain (`numeric.chains.chain.Chain`).

    Attributes
    ----------
    steps, columns, labels, samples, unknowns : int
        K, columns c of a state, rows d and columns m of Y, learnable weights r.
    read_all : bool
        Whether ``Z = Σ_k S_k P_k`` (else ``Z = S_K``).
    size : int
        Length of a parameter vector.
    s0_at, d_at, y_at : int
        Offsets of S_0, D and Y in a parameter vector.
    states, z_size : int
        Entries of all states S_0, …, S_K together, and of Z.
    widest : int
        The largest width.
    widths : ndarray of int, shape (K + 1,)
        Rows of each state.
    s_at : ndarray of int, shape (K + 2,)
        Offset of each state among all states, then their number.
    m_at, p_at : ndarray of int, shape (K + 1,)
        Offsets of M_k and P_k in a parameter vector, k from 1.
    cells : ndarray of int, shape (r, 5)
        Kind, step, row, column and offset of each learnable cell.
    equations : ndarray of int, shape (r, 2)
        Row and column of Y for each equation.
    """

    steps: int
    columns: int
    labels: int
    samples: int
    unknowns: int
    read_all: bool
    size: int
    s0_at: int
    d_at: int
    y_at: int
    states: int
    z_size: int
    widest: int
    widths: np.ndarray
    s_at: np.ndarray
    m_at: np.ndarray
    p_at: np.ndarray
    cells: np.ndarray
    equations: np.ndarray


def chain_table(chain: Chain) -> ChainTable:
    """The table of a chain."""
    n, c = chain.widths, chain.columns
    s_at = np.concatenate([[0], np.cumsum(n * c)]).astype(np.int64)
    return ChainTable(
        steps=chain.steps, columns=c, labels=chain.network.d, samples=chain.samples,
        unknowns=chain.unknowns, read_all=bool(chain.read_all), size=chain.size,
        s0_at=chain.s0_at, d_at=chain.d_at, y_at=chain.y_at, states=int(s_at[-1]),
        z_size=int(n[-1]) * chain.samples, widest=int(n.max()), widths=n, s_at=s_at,
        m_at=chain.m_at, p_at=chain.p_at, cells=chain.cells, equations=chain.equations,
    )  # fmt: skip
