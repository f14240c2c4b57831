"""What a search for a verdict may use: seed, limits of its work, methods in floating point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from algebra.problems.problem import Problem
from algebra.work import Limits

if TYPE_CHECKING:
    from algebra.checker.records import Record
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
    """Floating-point methods passed as arguments; their results are checked exactly or marked.

    Attributes
    ----------
    candidates : callable or None
        Given the problem to solve (possibly a reduced one) and N, yields instances for which all
        solutions were found, none of them real: guesses to be proved.
    definite_form : callable or None
        For linear recurrent networks: searches a positive definite form that proves MP < 1, as
        `numeric.arguments.definite_search.definite_form` does.
    growths : callable or None
        Given a problem with more weights than equations, and their number, yields whole numbers for
        the weights, guesses of how they grow towards solutions at infinity
        (`algebra.arguments.at_infinity`), as
        `numeric.arguments.growths.tracked_growths` does.
    root_counter : callable or None
        Counts solutions if msolve is missing or does not finish, as
        `numeric.tracking.root_count.monodromy_root_count` does.
    refuted : callable or None
        For problems of ReLU nets: searches a persistent instance without a match, as
        `numeric.plugins.relu.evidence.refuted_instance` does.
    """

    candidates: Callable[[Problem, int], Iterable[NonRealInstance]] | None = None
    root_counter: RootCounter | None = None
    refuted: Callable[[Problem], Mapping[str, Any] | None] | None = None
    definite_form: Callable[[Problem], Record | None] | None = None
    growths: Callable[[Problem, int], Iterable[tuple[int, ...]]] | None = None


@dataclass(frozen=True)
class Effort:
    """Seed, limits and tools of one call."""

    seed: int = 0
    limits: Limits = field(default_factory=Limits)
    tools: Tools = field(default_factory=Tools)
