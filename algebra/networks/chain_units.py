"""Units and lines of chains of matrix products: symmetries, limits, ranks that are enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from algebra.networks.base import Axis
from algebra.networks.limits import MatrixLimits, least

if TYPE_CHECKING:
    from algebra.networks.chain import ChainNetwork


def limits_of_chain(net: ChainNetwork) -> dict[str, MatrixLimits]:
    """Limits of the lines of each matrix."""
    chain, d, m = net.chain(), net.d, net.columns
    letter = net.column_letter
    if chain.recurrent is None:
        sizes = [("q", net.step_inputs)]
        sizes += [(f"n{k}", n) for k, n in enumerate(net.inner_widths, 1)]
        out = {}
        for k, name in enumerate((*chain.steps, chain.output)):
            row = least((letter, m), *sizes[: k + 1])
            column = least(("d", d), *sizes[k + 1 :])
            out[name] = MatrixLimits(row, column, 1, 1, column[0], row[0])
        return out
    n, T, b = net.inner_widths[0], net.steps, net.step_inputs
    Tb, Tm, Td, dm = ("Tb", T * b), ("Tm", T * net.m), ("Td", T * d), (f"d{letter}", d * m)
    D, M, column = min(d, n), net.independent_columns, least(Td, dm)
    assert chain.start is not None
    return {
        chain.output: MatrixLimits(least((letter, m), Tb), least(("d", d)), 1, 1, d, min(n, M)),
        chain.recurrent: MatrixLimits(least(Tb, Tm, dm), column, T, T, D, min(M, T * n)),
        chain.start: MatrixLimits(least(Tm, dm), column, T, T, D, M),
    }


def becomes_transposed(net: ChainNetwork) -> dict[str, str]:
    """The matrix that each becomes by transposition, if U has full row rank and the chain has
    the same sizes from both ends.

    Then the labels determine all products of the chain, and their transposes are those of the
    reversed chain.
    """
    chain, shapes = net.chain(), net.shapes
    if net.independent_columns < net.input_shape[0]:
        return {}
    becomes = dict(zip(chain.names, reversed(chain.names), strict=True))
    fits = all(shapes[becomes[name]] == shape[::-1] for name, shape in shapes.items())
    return becomes if fits else {}


def axes_of_chain(net: ChainNetwork) -> tuple[Axis, ...]:
    """The units that may be renamed, outputs first."""
    chain = net.chain()
    first, shapes = chain.names[-1], net.shapes
    found = [Axis("outputs", net.d, ((chain.output, 0),))]
    if chain.recurrent and chain.start:
        places = ((chain.output, 1), (chain.recurrent, 0), (chain.recurrent, 1))
        found.append(Axis("hidden units", net.inner_widths[0], (*places, (chain.start, 0))))
    else:
        names = [*chain.steps, chain.output]
        for layer in range(len(chain.steps), 0, -1):
            size = shapes[names[layer - 1]][0]
            pair = ((names[layer], 1), (names[layer - 1], 0))
            found.append(Axis(f"hidden layer {layer}", size, pair))
    return (*found, Axis("inputs", shapes[first][1], ((first, 1),)))


def enough_rank_of(net: ChainNetwork, name: str) -> int:
    """See `HasJacobian.enough_rank`.

    The input of D has at most the rank of U.  The recurrent W multiplies T·(columns) states in
    the span of W^s B, s < T, and is followed by D W^s, s < T; B is followed by as many rows.
    The ranks of a layer's inputs and of the maps after it are bounded by the widths of the
    other layers.
    """
    chain, own = net.chain(), min(net.shapes[name])
    if chain.recurrent is None:
        inner = min(net.inner_widths, default=own)
        return min(own, inner, net.d, net.independent_columns)
    if name == chain.output:
        return min(own, net.independent_columns)
    T = net.steps
    own = min(own, T * net.d, T * net.columns)
    return own if name == chain.start else min(own, T * net.step_inputs)


def ends_of(net: ChainNetwork) -> dict[str, tuple[int, int]]:
    """The hidden layers of the rows and of the columns of each matrix; −1: inputs, outputs."""
    chain = net.chain()
    if chain.recurrent is not None:
        assert chain.start is not None
        return {chain.output: (-1, 0), chain.recurrent: (0, 0), chain.start: (0, -1)}
    ends = {name: (k, k - 1) for k, name in enumerate(chain.steps)}
    return {**ends, chain.output: (-1, len(chain.steps) - 1)}
