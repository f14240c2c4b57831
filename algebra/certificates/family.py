"""A family of networks: what it must be able to do, and what it may use.

`algebra.families` lists the families; it is the only place that chooses one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from algebra.certificates.certificate import Certificate
from algebra.certificates.checks import Verification
from algebra.networks.base import Network, Support
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.time_limits import Limits

if TYPE_CHECKING:
    from algebra.systems.inspection import Inspection
    from algebra.systems.root_count import RootCounter


@dataclass(frozen=True, eq=False)
class NonRealInstance:
    """A rational instance and approximations of its complex solutions, none of them real.

    Attributes
    ----------
    weights, teacher : mapping of str to ndarray of fmpq
    X : ndarray of fmpq
    solutions : ndarray of fmpq, shape (N / 2, r, 2)
        Real and imaginary parts of the learnable weights, of one of each pair of conjugates.
    """

    weights: Mapping[str, np.ndarray]
    teacher: Mapping[str, np.ndarray]
    X: np.ndarray
    solutions: np.ndarray


@dataclass(frozen=True)
class Tools:
    """Floating-point methods passed as arguments; their results are checked exactly or named.

    Attributes
    ----------
    candidates : callable or None
        Given the problem that is solved (a reduced one, perhaps) and N, yields instances in
        which all solutions were found, and none that is real: guesses to prove.
    root_counter : callable or None
        Counts solutions if msolve is missing or does not finish, as
        `numeric.tracking.root_count.monodromy_root_count` does.
    refuted : callable or None
        For ReLU nets: looks for an instance without a match that persists, as
        `numeric.relu.evidence.refuted_instance` does.
    """

    candidates: Callable[[Problem, int], Iterable[NonRealInstance]] | None = None
    root_counter: RootCounter | None = None
    refuted: Callable[[], Mapping[str, Any] | None] | None = None


@dataclass(frozen=True)
class Effort:
    """Seed, limits and tools of one call."""

    seed: int = 0
    limits: Limits = field(default_factory=Limits)
    tools: Tools = field(default_factory=Tools)


# What the equations are, and each with its label, as a SymPy expression that must vanish.
WrittenEquations = tuple[str, Sequence[tuple[str, Any]]]


class Inspect(Protocol):
    """Which equations an allocation leads to, and how they hang together."""

    def __call__(
        self, allocation: Allocation, support: Support, seed: int = 0, all_forms: bool = False
    ) -> Inspection:
        """A report; a random point follows from the seed.

        `all_forms` eliminates every form, not only the one with the smaller core.
        """


@dataclass(frozen=True)
class Family:
    """Networks that are inspected, certified and verified in one way.

    Attributes
    ----------
    name : str
        What it is called, by engines for instance.
    accepts : callable
        Whether a network belongs to the family.
    certify : callable
        Verdict on an allocation, with evidence.
    verify : callable
        A certificate checked from scratch.
    inspect : Inspect
    equations : callable
        The equations written out, where there are some for all instances at once.
    """

    name: str
    accepts: Callable[[Network], bool]
    certify: Callable[[Problem, Effort], Certificate]
    verify: Callable[[Mapping[str, Any], Effort], Verification]
    inspect: Inspect
    equations: Callable[[Inspection, Support], WrittenEquations | None]
