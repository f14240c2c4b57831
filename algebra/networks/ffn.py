"""Feed-forward networks with an activation function: kind ``ffn``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from algebra.declarations import InFile
from algebra.errors import InputError
from algebra.networks.activated import ActivatedNetwork, Stage
from algebra.networks.activation import LEAKY, LINEAR, RELU, ActivationForm
from algebra.networks.base import Network
from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.rectified import HasRectifiedLayers


@dataclass(frozen=True)
class FeedForward(ActivatedNetwork, HasRectifiedLayers):
    """Network ``z_l = φ(W_l z_{l-1} + c_l)``, ``Y = W_L z_{L-1} + e``, z_0 = X.

    With ReLU its instances are decided over activation patterns, as those of kind ``relu``
    (`algebra.plugins.relu`).

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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.activation.name == LEAKY:
            raise InputError(
                f"`activation` ({self.activation}): feed-forward networks with leaky ReLU are of "
                'the kind program; "relu" is decided over activation patterns'
            )

    @property
    def family(self) -> str:  # type: ignore[override]
        """That of ReLU networks, or of networks with activations."""
        return "relu" if self._is_rectified else super().family

    @property
    def _is_rectified(self) -> bool:
        return bool(self.activation.name == RELU)

    @property
    def rectified_layers(self) -> tuple[tuple[str, str | None], ...]:
        if not self._is_rectified:
            return ()
        hidden = tuple((stage.matrix, stage.bias) for stage in self.stages())
        return (*hidden, (self.output, self.output_bias))

    @property
    def has_kinks(self) -> bool:  # type: ignore[override]
        """No: instances are decided over activation patterns, not at given parameters."""
        return False

    @property
    def equations_are(self) -> str:
        return "" if self._is_rectified else super().equations_are

    @property
    def rank_decides(self) -> bool:
        return not self._is_rectified

    def all_active(self) -> Network:
        return replace(self, activation=LINEAR) if self.biases else self.linear_kind()

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
