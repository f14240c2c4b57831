"""The interface of a family of networks.

`algebra.families.registry` lists the families; it is the only place that chooses one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from algebra.checker.checks import Checked, CheckEffort
from algebra.checker.premises import common
from algebra.networks.base import Network, Support
from algebra.problems.allocation import Allocation
from algebra.problems.premises import Features, Premises
from algebra.problems.problem import Problem

if TYPE_CHECKING:
    from algebra.certificates.certificate import Certificate
    from algebra.certificates.tools import Effort
    from algebra.systems.inspection import Inspection
    from algebra.systems.written import SymbolicSystem


class Family(ABC):
    """Networks that are inspected, certified and verified by the same functions.

    A method imports the function that it calls: one verb of one family needs few modules.

    Attributes
    ----------
    name : str
        That of `Network.family`.
    """

    name: ClassVar[str]

    @abstractmethod
    def theorems(self) -> tuple[Premises, ...]:
        """The theorems that its verdicts follow from, besides those of arguments."""

    def covered(self) -> Features:
        """The features of problems that some theorem covers; with others nothing is known."""
        return common(self.theorems())

    @abstractmethod
    def certify(self, problem: Problem, effort: Effort) -> Certificate:
        """Verdict on an allocation, with evidence."""

    @abstractmethod
    def verify(self, data: Mapping[str, Any], effort: CheckEffort) -> Checked:
        """Verify a certificate."""

    @abstractmethod
    def inspect(
        self, allocation: Allocation, support: Support, seed: int = 0, all_forms: bool = False
    ) -> Inspection:
        """The equations of an allocation and their structure; the seed determines a random point.

        With `all_forms` every form is eliminated, not only the one with the smaller core.
        """

    def reaches_any_labels(self, network: Network) -> bool:
        """Whether its theorems are about arbitrary labels (`algebra.families.arbitrary_labels`)."""
        return False

    def own_theorems(self, problem: Problem) -> dict[str, str]:
        """What theorems on this family only, as stated in the papers, say of a problem."""
        return {}

    def forms(self) -> Mapping[str, Callable[[Allocation], SymbolicSystem]]:
        """Forms of equations of this family only, by name; see also `algebra.systems.written`."""
        return {}
