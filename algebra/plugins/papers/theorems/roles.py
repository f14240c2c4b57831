"""The matrices and layers that the papers' theorems are about, of the networks that they treat."""

from __future__ import annotations

from algebra.networks.base import Network
from algebra.networks.chain import ChainNetwork
from algebra.networks.recurrent import LinearRNN


def roles(network: Network) -> dict[str, tuple[str, ...]]:
    """The matrices in the papers' theorems, by their role.

    Roles are "decoder", "encoder", "recurrent", "hidden layers" and "rectified layer"; a network
    that the papers do not treat has none.
    """
    chain = network.chain()
    if isinstance(network, LinearRNN):
        return {"decoder": ("D",), "recurrent": ("W",), "encoder": ("B",)}
    if chain is None:
        return {"rectified layer": ("W1",)} if network.kind == "relu" else {}
    return {} if chain.recurrent else {"decoder": (chain.output,), "hidden layers": chain.names[1:]}


def too_narrow(net: Network) -> list[str]:
    """Layers too narrow for "a fully-learned teacher can express any linear function"."""
    if not isinstance(net, ChainNetwork):
        return []
    d, b = net.d, net.step_inputs
    if net.chain().recurrent:
        T, n = net.steps, net.inner_widths[0]
        return [
            f"it needs {letters} ≤ n, but {letters} = {value}, n = {n}"
            for letters, value in (("Tb", T * b), ("Td", T * d))
            if value > n
        ]
    return [
        f"it needs hidden layers of at least q = {b} and d = {d} units, but widths[{k}] = {width}"
        for k, width in enumerate(net.inner_widths)
        if width < max(b, d)
    ]
