"""A witness: a rational instance with all its solutions, as a file has it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from algebra.arguments.evidence import Samples, Weights, need_drawn
from algebra.arguments.points import ParametrizationTable
from algebra.checker.checks import CheckFailed
from algebra.checker.records import Context, Record, table
from algebra.declarations import Count, Size, named_key
from algebra.errors import one_line
from algebra.polynomials.parametrization import Parametrization
from algebra.problems.problem import Problem
from algebra.systems.forms import forms


@dataclass(frozen=True)
class Witness(Record):
    """A rational instance with all its complex solutions as a parametrization.

    Attributes
    ----------
    index : int
        Number of the instance.
    form : str
        The lifted form whose core the points solve.
    weights, teacher : mapping of str to ndarray of fmpq
    X : ndarray of fmpq
    complex, real : int
        Claimed numbers of solutions.
    unknowns : tuple of str
        Names of the core's unknowns.
    points : Parametrization or None
        None if the core has one unknown: then the core itself is the parametrization.
    """

    index: Count
    form: str
    weights: Weights
    teacher: Weights
    X: Samples
    complex: Size
    real: Count
    unknowns: tuple[str, ...]
    points: Annotated[Parametrization, table(Parametrization, ParametrizationTable)] | None = field(
        default=None, metadata=named_key("parametrization")
    )

    def check(self, place: str, context: Context) -> None:
        """The form must fit the network, and the instance must be drawable."""
        problem: Problem = context["problem"]
        if self.form not in (*forms(problem.network, problem.allocation), "direct"):
            text = f"{one_line(self.form)} does not fit the network"
            raise CheckFailed(f"{place}.form", text)
        need_drawn(problem, self.weights, self.teacher, place)
