"""Settings of the path tracker."""

from __future__ import annotations

from dataclasses import dataclass, replace

from numeric.tracking.steps import TrackerOptions


@dataclass(frozen=True)
class TrackerSettings:
    """Settings of the path tracker.

    Attributes
    ----------
    order : int
        Order of the Taylor predictor.
    tolerance : float
        Target for the relative error of the predictor.
    contraction : float
        Largest ratio of the second Newton increment to the first.
    accuracy : float
        Largest relative second increment.
    shortest : float
        Step length at which a path counts as stuck.
    most_steps, most_rejected : int
        Numbers of accepted and rejected steps at which a path is abandoned.
    refined : float
        Second increment at the end below which no further round refines the root.
    lifted : bool
        Whether the chain's states are unknowns too (for weights that become large).
    """

    order: int = 10
    tolerance: float = 1e-5
    contraction: float = 0.05
    accuracy: float = 1e-6
    shortest: float = 1e-9
    most_steps: int = 500
    most_rejected: int = 60
    refined: float = 1e-12
    lifted: bool = False

    @property
    def for_inputs(self) -> TrackerSettings:
        """The settings for the free inputs.

        Near infinity Newton's basin is as small as 10^-8 of the unknowns: a point that is not
        that accurate is outside, and its path lost.  The second increment must be smaller.
        """
        return replace(self, order=self.order + 4, accuracy=self.accuracy * 0.1)

    @property
    def options(self) -> TrackerOptions:
        """The settings in the form that the kernels take."""
        return TrackerOptions(
            self.tolerance, self.contraction, self.accuracy, self.shortest, self.most_steps,
            self.most_rejected, self.refined,
        )  # fmt: skip

    def quick(self) -> TrackerSettings:
        """Longer steps, for paths whose ends show whether one has jumped to another.

        Where N distinct roots must arrive a jump is noticed, and where any root will do it does no
        harm.
        """
        return replace(
            self, order=self.order - 3, tolerance=self.tolerance * 300,
            contraction=self.contraction * 10, accuracy=self.accuracy * 1e4,
            refined=1e-6,
        )  # fmt: skip

    def careful(self) -> TrackerSettings:
        """The lifted system, smaller steps, and a stricter test against jumps to other paths."""
        return TrackerSettings(
            order=self.order,
            tolerance=self.tolerance * 1e-1,
            contraction=self.contraction * 0.2,
            accuracy=self.accuracy * 100,
            shortest=self.shortest * 1e-2,
            most_steps=self.most_steps * 2,
            most_rejected=self.most_rejected * 2,
            lifted=True,
        )
