"""Networks of layers with ReLU between them: what the decision over activation patterns needs."""

from __future__ import annotations

from abc import abstractmethod

from algebra.networks.base import Network


class HasRectifiedLayers(Network):
    """A network of layers with ReLU between them, decided over activation patterns."""

    @property
    @abstractmethod
    def rectified_layers(self) -> tuple[tuple[str, str | None], ...]:
        """The matrix and the bias of each layer, first to last; none if units are no ReLU."""

    @property
    def is_shallow(self) -> bool:
        """Whether there is one hidden layer."""
        return len(self.rectified_layers) == 2

    @abstractmethod
    def all_active(self) -> Network:
        """The network with all units active: a linear one, with the same weights."""
