"""The limit of whole matrices: the number of equations in which their weights take part.

The limits of single rows and columns come from the network (`Network.limits`); the bounds are
proved in `algebra.ranks.budgets.cover` ("Reach" there).
"""

from __future__ import annotations

from algebra.networks.base import Network
from algebra.networks.limits import Limit, plural


def limit_of_matrices(network: Network, names: tuple[str, ...]) -> Limit:
    """Limit of whole matrices, named from the output on."""
    limits, chain = network.limits(), network.chain()
    layers = [limits[name] for name in names]
    dm = limit = network.outputs
    for cut in range(len(layers)):
        D, M = max(layer.D for layer in layers), max(layer.M for layer in layers)
        u, v = max(x.D for x in layers[cut:]), max((x.M for x in layers[:cut]), default=0)
        limit = min(limit, u * M + D * v - u * v)
    if chain is not None and chain.recurrent is not None:
        (n, _), (_, b) = network.shapes[chain.recurrent], network.shapes[chain.names[-1]]
        limit = min(limit, n * (b + network.d - (chain.recurrent not in names)))
    letters = f"d{network.column_letter} = {dm}"
    if limit == dm:
        return dm, plural(dm, f"{letters} equation")
    return limit, plural(limit, f"{limit} independent equation") + f" (of {letters})"
