"""Feed-forward networks with an activation function: kind ``ffn``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from algebra.declarations import InFile
from algebra.networks.activated import ActivatedNetwork, Stage
from algebra.networks.activation import ActivationForm
from algebra.networks.feedforward import LinearFeedForward


@dataclass(frozen=True)
class FeedForward(ActivatedNetwork):
    """Network ``z_l = φ(W_l z_{l-1} + c_l)``, ``Y = W_L z_{L-1} + e``, z_0 = X.

    Parameters
    ----------
    q : int
        Inputs.
    widths : sequence of int
        Widths n_1, …, n_{L-1} of the hidden layers.
    d, m : int
        Outputs and samples.
    activation : str or mapping
        See `algebra.networks.activation.Activation.read`.
    biases : bool, optional
        Whether c_l and e exist: columns of weights that may learn like all others.

    Examples
    --------
    >>> FeedForward(q=3, widths=(4,), d=2, m=5, activation="tanh", biases=True).shapes
    {'W2': (2, 4), 'W1': (4, 3), 'c1': (4, 1), 'e': (2, 1)}
    """

    kind: ClassVar[str] = "ffn"
    title: ClassVar[str] = "feed-forward"

    q: int
    widths: tuple[int, ...]
    d: int
    m: int
    activation: Annotated[Any, InFile(ActivationForm)] = "tanh"
    biases: bool = False

    @property
    def layers(self) -> int:
        """Number L of weight matrices."""
        return len(self.widths) + 1

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        sizes = [self.q, *self.widths, self.d]
        found = {f"W{k}": (sizes[k], sizes[k - 1]) for k in range(self.layers, 0, -1)}
        if self.biases:
            found |= {f"c{k}": (sizes[k], 1) for k in range(1, self.layers)}
            found["e"] = (self.d, 1)
        return found

    @property
    def input_shape(self) -> tuple[int, int]:
        return (self.q, self.m)

    def stages(self) -> tuple[Stage, ...]:
        return tuple(
            Stage(f"W{k}", f"c{k}" if self.biases else None, None, k) for k in range(1, self.layers)
        )

    def linear_kind(self) -> LinearFeedForward:
        return LinearFeedForward(q=self.q, widths=self.widths, d=self.d, m=self.m)
