"""Limits of matrices, rows and columns: how many equations weights take part in.

The bounds are proved in `algebra.ranks.budgets.cover` ("Reach" and "Lines" there), whose
budgets hold learnable weights against them.
"""

from __future__ import annotations

from dataclasses import dataclass

from algebra.errors import InputError
from algebra.networks.base import (
    LinearEstimator,
    LinearFeedForward,
    LinearRNN,
    Network,
    ShallowReLU,
)

# A bound, and the bound in words: (4, "Tb = 4 equations").
Limit = tuple[int, str]

# More than any bound: columns of a ReLU layer have none.
NEVER = 10**9


def plural(count: int, text: str) -> str:
    """The noun with an s, where there is not one."""
    return text + "s" * (count != 1)


@dataclass(frozen=True)
class Layer:
    """Limits of a row and of a column, their λ and ρ, and the reach D, M of the matrix."""

    row: Limit
    column: Limit | None
    lam: int
    rho: int
    D: int
    M: int


def _least(*terms: tuple[str, int]) -> Limit:
    letters, value = min(terms, key=lambda term: term[1])
    return value, plural(value, f"{letters} = {value} equation")


def limits_of_lines(network: Network) -> dict[str, Layer]:
    """Limits of the rows and columns of each matrix.

    Raises
    ------
    InputError
        For a network kind whose budgets are not known.
    """
    d, m = network.d, network.m
    match network:
        case LinearEstimator(q=q):
            row = _least(("m", m), ("q", q))
            return {"W": Layer(row, _least(("d", d)), 1, 1, d, row[0])}
        case LinearFeedForward(q=q, widths=widths):
            sizes = [("q", q), *((f"n{k}", n) for k, n in enumerate(widths, 1))]
            rows = [_least(("m", m), *sizes[: k + 1]) for k in range(len(sizes))]
            columns = [_least(("d", d), *sizes[k + 1 :]) for k in range(len(sizes))]
            return {
                f"W{k}": Layer(row, column, 1, 1, column[0], row[0])
                for k, (row, column) in enumerate(zip(rows, columns, strict=True), 1)
            }
        case LinearRNN(n=n, T=T, b=b):
            Tb, Tm, Td, dm = ("Tb", T * b), ("Tm", T * m), ("Td", T * d), ("dm", d * m)
            D, M, column = min(d, n), min(m, T * b), _least(Td, dm)
            return {
                "D": Layer(_least(("m", m), Tb), _least(("d", d)), 1, 1, d, min(n, M)),
                "W": Layer(_least(Tb, Tm, dm), column, T, T, D, min(M, T * n)),
                "B": Layer(_least(Tm, dm), column, T, T, D, M),
            }
        case ShallowReLU(n=n):
            return {
                "W2": Layer(_least(("m", m)), _least(("d", d)), 1, 1, d, min(n, m)),
                "W1": Layer(_least(("m", m)), None, 1, NEVER, min(n, d), m),
            }
    raise InputError(
        f"`network` ({network.kind!r}): equation budgets are known for linear, lrnn, lffn and "
        "relu nets only; use the generic rank instead"
    )


def limit_of_matrices(network: Network, names: tuple[str, ...]) -> Limit:
    """Limit of whole matrices, named from the output on."""
    layers = [limits_of_lines(network)[name] for name in names]
    dm = limit = network.d * network.m
    for cut in range(len(layers)):
        D, M = max(layer.D for layer in layers), max(layer.M for layer in layers)
        u, v = max(x.D for x in layers[cut:]), max((x.M for x in layers[:cut]), default=0)
        limit = min(limit, u * M + D * v - u * v)
    if isinstance(network, LinearRNN):
        limit = min(limit, network.n * (network.b + network.d - ("W" not in names)))
    if limit == dm:
        return _least(("dm", dm))
    return limit, plural(limit, f"{limit} independent equation") + f" (of dm = {dm})"
