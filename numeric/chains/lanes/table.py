"""The table of a chain's lane kernels: sizes, index tables and slot offsets.

Slots hold complex numbers for `LANES` paths each (`numeric.chains.lanes.linalg`); vectors and
matrices are stored row by row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from numeric.chains.table import IN_M, ChainTable, chain_table

if TYPE_CHECKING:
    from numeric.chains.chain import Chain

# How Z is computed from the states: the last one, a sum of products with P, or (P the identity,
# as many samples as inputs) the columns of each state at their positions.
READ_LAST, READ_SUM, READ_EACH = 0, 1, 2


class Slots(NamedTuple):
    """First slot of each vector and matrix; K, c, d, m, r as in `ChainTable`, order J.

    Attributes
    ----------
    now, base, slope : int
        Parameter vector at t, at t = 0, and its direction.
    weights, states, z : int
        Taylor coefficients 0 … J of the learnable weights w (r slots an order), of all states S
        and of Z.
    rest, sigma : int
        Arrays for all states.
    new_weights, guess, new_states, new_z : int
        A trial point: its weights, its states before and after a Newton step, its Z.
    step : int
        A Newton increment of the weights: r slots.
    jacobian : int
        The condensed Jacobian, r×r, then its factors.
    adjoints : int
        ``D M_K … M_{K-q+1}`` for q = 0 … K, each in d times the largest width slots.
    hidden : int
        ``H_q = Σ_k S_{k-1} P_{k+q}`` for q < K, each in the largest width times m slots.
    scratch : int
        Two slots of `factor`.
    labels : int
        Array for labels: d×m.
    lifted, row_scale, column_scale, right_side : int
        The lifted matrix (then its factors), the inverse of each row's largest entry, the scale of
        each unknown, a right-hand side; empty if the lifted system is not used.
    units, gram, phi : int
        Arrays of `numeric.tracking.pade`: its window of coefficients, their products, its factors.
    total : int
        Total number of slots.
    """

    now: int
    base: int
    slope: int
    weights: int
    states: int
    z: int
    rest: int
    new_weights: int
    guess: int
    new_states: int
    step: int
    sigma: int
    new_z: int
    jacobian: int
    adjoints: int
    hidden: int
    scratch: int
    labels: int
    lifted: int
    row_scale: int
    column_scale: int
    right_side: int
    units: int
    gram: int
    phi: int
    total: int


class Places(NamedTuple):
    """Positions of unknowns and equations in the lifted system.

    Attributes
    ----------
    column, row : ndarray of int, shape (states,)
        Of each state entry in storage order; -1 for S_0, which is not an unknown.
    cell : ndarray of int, shape (r,)
        Column of each learnable weight.
    label : ndarray of int, shape (r,)
        Row of each label equation.
    """

    column: np.ndarray
    row: np.ndarray
    cell: np.ndarray
    label: np.ndarray


class LanesTable(NamedTuple):
    """Input of the kernels for one chain.

    Attributes
    ----------
    chain : ChainTable
    slot : Slots
    places : Places
    reading : int
        `READ_LAST`, `READ_SUM` or `READ_EACH`.
    order : int
        Order J of Taylor series.
    free : int
        Number of entries of S_1, …, S_K, which are unknowns of the lifted system.
    groups : ndarray of int, shape (r,)
        Group of each unknown for error norms, one group for each matrix row.
    group_count : int
        Number of these groups; S_0, …, S_K are the groups that follow.
    """

    chain: ChainTable
    slot: Slots
    places: Places
    reading: int
    order: int
    free: int
    groups: np.ndarray
    group_count: int


def _reading(chain: Chain) -> int:
    if not chain.read_all:
        return READ_LAST
    return READ_EACH if chain.samples == chain.steps * chain.columns else READ_SUM


def make_table(chain: Chain, order: int, lifted: bool = False) -> LanesTable:
    """The table of a chain, for Taylor series of an order."""
    K, d, m, r = chain.steps, chain.network.d, chain.samples, chain.unknowns
    sizes = chain_table(chain)
    states, z, wide = sizes.states, sizes.z_size, sizes.widest
    free = states - int(sizes.s_at[1])
    full = r + free if lifted else 0
    rows = {(int(kind), int(k), int(i)) for kind, k, i, _, _ in chain.cells}
    index = {row: g for g, row in enumerate(sorted(rows))}
    groups = np.array([index[int(a), int(b), int(i)] for a, b, i, _, _ in chain.cells], np.int64)
    lengths = {
        "now": chain.size, "base": chain.size, "slope": chain.size,
        "weights": (order + 1) * r, "states": (order + 1) * states, "z": (order + 1) * z,
        "rest": states, "new_weights": r, "guess": states, "new_states": states,
        "step": r, "sigma": states, "new_z": z,
        "jacobian": r * r, "adjoints": (K + 1) * d * wide, "hidden": max(K, 1) * wide * m,
        "scratch": 2, "labels": d * m,
        "lifted": full * full, "row_scale": full, "column_scale": full, "right_side": full,
        "units": 7 * (r + states), "gram": 49, "phi": 3,
    }  # fmt: skip
    offsets, count = {}, 0
    for name, size in lengths.items():
        offsets[name] = count
        count += size
    return LanesTable(
        sizes, Slots(**offsets, total=count), positions(chain), _reading(chain), order, free,
        groups, len(index),
    )  # fmt: skip


def positions(chain: Chain) -> Places:
    """Positions of unknowns and equations in the lifted system.

    Rows without learnable cells come first, each state with its own equation; then, row by
    row, learnable weights with the equations of their row; last the states of learnable rows.
    """
    n, c, K = chain.widths, chain.columns, chain.steps
    starts = np.concatenate([[0], np.cumsum(n * c)]).astype(int)
    column = np.full(starts[-1], -1, np.int64)
    row = np.full(starts[-1], -1, np.int64)
    cell = np.full(chain.unknowns, -1, np.int64)
    learn: dict[tuple[int, int], list[int]] = {}
    for v, (kind, step, i, _, _) in enumerate(chain.cells):
        if kind == IN_M:
            learn.setdefault((int(step), int(i)), []).append(v)
    at = 0
    rest: list[int] = []

    def cells_of(k: int, i: int) -> list[int]:
        return learn.get((0, i), []) if chain.read_all else learn.get((k, i), [])

    for k in range(1, K + 1):
        for i in range(n[k]):
            for x in range(c):
                entry = starts[k] + i * c + x
                if cells_of(k, i):
                    rest.append(entry)
                else:
                    column[entry] = row[entry] = at
                    at += 1
    # Equations of the learnable rows, grouped by matrix row.
    order = sorted(rest, key=lambda e: _row_of(e, starts, n, c, chain.read_all))
    next_row = at
    for entry in order:
        row[entry] = next_row
        next_row += 1
    for key in sorted(learn):
        for v in learn[key]:
            cell[v] = at
            at += 1
    for v in range(chain.unknowns):
        if cell[v] < 0:
            cell[v] = at
            at += 1
    for entry in order:
        column[entry] = at
        at += 1
    label_row = next_row + np.arange(chain.unknowns)
    return Places(column, row, cell, label_row.astype(np.int64))


def _row_of(
    entry: int, starts: np.ndarray, n: np.ndarray, c: int, shared: bool
) -> tuple[int, int, int]:
    k = int(np.searchsorted(starts, entry, side="right")) - 1
    i = (entry - int(starts[k])) // c
    return (0, i, entry) if shared else (k, i, entry)
