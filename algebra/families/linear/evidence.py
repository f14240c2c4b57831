"""Evidence for a verdict on a linear network, declared for proof files.

The context of reading is that of `context_of`: the problem with its network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import numpy as np
from flint import fmpz_poly

from algebra.certificates.certificate import INTERMEDIATE, MAXIMAL, UNDECIDED
from algebra.certificates.checks import CheckFailed
from algebra.certificates.claim import Claim
from algebra.certificates.fields import RefusedAt
from algebra.certificates.on_ranks import RootEvidence
from algebra.certificates.points import Matrices, RankClaim, need_numbers, need_support, rational
from algebra.certificates.records import (
    Cells,
    Context,
    Converted,
    Counts,
    Primes,
    Record,
    WholeText,
    matrices,
    matrix,
    rational_of,
    read_form,
    table,
    write_form,
)
from algebra.declarations import Count, Keyword, Size, named_key
from algebra.errors import one_line
from algebra.families.linear.dual_bases import COLUMN, ROW
from algebra.families.linear.surplus.infinity import AtInfinity
from algebra.families.linear.surplus.partial_products import FixedProducts
from algebra.families.linear.verification.definite import DefiniteForm
from algebra.networks.base import Cell
from algebra.networks.limits import plural
from algebra.polynomials.parametrization import Parametrization
from algebra.problems.allocation import Allocation
from algebra.problems.laws.values import pins
from algebra.problems.problem import Problem
from algebra.problems.updates import Tied
from algebra.ranks.matroid import smallest_circuit
from algebra.systems.elimination import BY_HASH, ORDERS
from algebra.systems.forms import forms
from algebra.systems.root_count import with_few_samples

# A weight or sample, of at most 64 characters; those of certification have at most four.
_Entry = rational_of(64)
# A coordinate of a solution, of at most 200 characters: enough for any double.
_Coordinate = rational_of(200)
_Weights = Annotated[Matrices, matrices(_Entry)]
_Samples = Annotated[np.ndarray, matrix(lambda context: context["network"].input_shape, _Entry)]


def context_of(problem: Problem) -> dict[str, Any]:
    """The context in which evidence on a problem is read."""
    return {"problem": problem, "network": problem.network}


def circuit_reason(allocation: Allocation, support: Mapping[str, np.ndarray], seed: int) -> str:
    """The reason if no budget is violated: a dependent set of weights."""
    cells = smallest_circuit(allocation, support, seed)
    names = " ".join(f"{name}[{i},{j}]" for name, i, j in cells)
    return f"no budget is violated, but these {len(cells)} are dependent: {names}"


_Polynomial = Annotated[
    fmpz_poly,
    Converted(
        tuple[WholeText, ...],
        lambda value, place, context: fmpz_poly(
            list(read_form(tuple[WholeText, ...], value, place))
        ),
        lambda value: [str(c) for c in value.coeffs()],
    ),
]


@dataclass(frozen=True)
class ParametrizationTable(Record):
    """See `algebra.polynomials.parametrization.Parametrization`."""

    w: _Polynomial
    denominator: _Polynomial
    scale: WholeText
    numerators: tuple[_Polynomial, ...]


@dataclass(frozen=True)
class Witness(Record):
    """A rational instance with all its complex solutions as a parametrization.

    Attributes
    ----------
    index : int
        Number of the instance.
    form : str
        The lifted form whose core the points solve.
    order : int
        Monomial order of the elimination: see `algebra.systems.elimination.ORDERS`.
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
    order: Annotated[int, Keyword("minimum", min(ORDERS)), Keyword("maximum", max(ORDERS))] = field(
        default=BY_HASH, kw_only=True
    )
    weights: _Weights
    teacher: _Weights
    X: _Samples
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
        _need_drawn(self, problem, place)


@dataclass(frozen=True)
class Enclosed(Record):
    """A rational instance with points near one of each pair of its conjugate solutions.

    Attributes
    ----------
    weights, teacher : mapping of str to ndarray of fmpq
    X : ndarray of fmpq
    points : tuple of ndarray of fmpq, shape (r, 2)
        Real and imaginary parts of the learnable weights.
    """

    weights: _Weights
    teacher: _Weights
    X: _Samples
    points: tuple[
        Annotated[
            np.ndarray, matrix(lambda context: (context["problem"].allocation.size, 2), _Coordinate)
        ],
        ...,
    ]

    def check(self, place: str, context: Context) -> None:
        """The instance must be drawable."""
        _need_drawn(self, context["problem"], place)


def _few_samples(context: Context) -> tuple[int, int]:
    return with_few_samples(context["problem"].allocation).network.input_shape


_FewSamples = Annotated[np.ndarray, matrix(_few_samples, _Entry)]


@dataclass(frozen=True)
class CriticalInstance(Record):
    """A rational instance and a point with all critical points of the distance from it.

    Attributes
    ----------
    weights : mapping of str to ndarray of fmpq
        Those of learnable cells are the coordinates of the point.
    teacher : mapping of str to ndarray of fmpq
    X : ndarray of fmpq
        Of as many samples as determine the labels of all.
    points : Parametrization
        Of the learnable weights, then the multipliers.
    """

    weights: _Weights
    teacher: _Weights
    X: _FewSamples
    points: Annotated[Parametrization, table(Parametrization, ParametrizationTable)] = field(
        metadata=named_key("parametrization")
    )

    def check(self, place: str, context: Context) -> None:
        """The instance must be drawable."""
        _need_drawn(self, context["problem"], place)


@dataclass(frozen=True)
class CriticalPoints(Record):
    """Critical points of the distance from a point: see `algebra.families.linear.surplus.critical`.

    Attributes
    ----------
    number : int
        For a generic instance and a generic point.
    primes : tuple of int
        Primes modulo which they were counted.
    instance : CriticalInstance or None
        None where the number is odd; otherwise one whose critical points are not real.
    """

    number: Size
    primes: Primes
    instance: CriticalInstance | None = None

    @property
    def verdict(self) -> str:
        """The verdict for which they are an argument."""
        return MAXIMAL if self.instance is None else INTERMEDIATE

    def __str__(self) -> str:
        return plural(self.number, f"{self.number} critical point") + " of the distance"


def _need_drawn(
    witness: Witness | Enclosed | CriticalInstance, problem: Problem, where: str
) -> None:
    """The instance and its neighbours must be drawable: structural zeros, signs, exact numbers."""
    for name in ("weights", "teacher"):
        given, place = getattr(witness, name), f"{where}.{name}"
        need_support(given, problem, place)
        # A match does not depend on the values before learning; exact numbers are not drawn.
        free: set[Cell] = set()
        if name == "weights":
            free = {*problem.allocation.cells, *pins(problem.student())}
        for own, i, j in problem.distribution.against(given, problem.support, free):
            text = f"{given[own][i, j]} does not have the sign that it is drawn with"
            raise CheckFailed(f"{place}.{own}[{i}][{j}]", text)
    numbers = {cell: rational(value) for cell, value in pins(problem.student()).items()}
    need_numbers(witness.weights, numbers, f"{where}.weights")


@dataclass(frozen=True)
class Reached(Record):
    """Blocks of hidden units in which a change of basis makes the teacher a student.

    Attributes
    ----------
    blocks : tuple of tuples of tuples of int
        For each hidden layer, from the input on, its units in blocks.
    """

    blocks: tuple[tuple[Counts, ...], ...]


@dataclass(frozen=True)
class TiedGroups(Record):
    """Groups of cells of a matrix that move together; 0 is fixed."""

    tied: Annotated[np.ndarray, matrix(lambda context: context["shape"], Count)]


def _rank(student: bool) -> Converted:
    """A claimed rank at points of the network, or of the student with its exact numbers."""

    def read(value: Any, place: str, context: Context) -> RankClaim:
        problem: Problem = context["problem"]
        support = problem.student() if student else problem.support
        return RankClaim.from_dict(value, place, {**context, "support": support})

    return Converted(RankClaim, read, RankClaim.to_dict)


def _read_part(value: Any, place: str, context: Context) -> Allocation:
    problem: Problem = context["problem"]
    chosen = read_form(Cells, value, place)
    if set(chosen) - set(problem.allocation.cells):
        raise CheckFailed(place, "is not a set of cells of the allocation")
    with RefusedAt(place):
        return Allocation.from_cells(problem.network, chosen)


def _read_tied(value: Any, place: str, context: Context) -> Problem:
    problem: Problem = context["problem"]
    shapes, updates = problem.network.shapes, {}
    for name, own in read_form(Mapping[str, Any], value, place).items():
        at = f"{place}.{one_line(name)}"
        if name not in shapes:
            raise CheckFailed(at, "is no matrix of the network")
        groups = TiedGroups.from_dict(own, at, {"shape": shapes[name]})
        updates[name] = Tied(groups.tied.tolist())
    if pins(problem.student()):
        raise CheckFailed(place, "problems of ties know no exact numbers ([values])")
    with RefusedAt(place):
        return Problem(problem.network, updates, problem.support)


# A vector of dual bases: its side (0: row of P, 1: column of Q), layer and unit.
_Vector = tuple[Annotated[int, Keyword("minimum", ROW), Keyword("maximum", COLUMN)], Count, Count]


class Argument(NamedTuple):
    """An argument for some verdicts: the metadata of its evidence.

    Attributes
    ----------
    verdicts : tuple of str
    alone : bool
        Whether it stands beside no other of this sort.
    counted : bool
        Whether it needs a root count.
    """

    verdicts: tuple[str, ...]
    alone: bool = False
    counted: bool = False


def argues(*verdicts: str, alone: bool = False, counted: bool = False) -> dict[str, Argument]:
    """The metadata of an argument's evidence."""
    return {"argument": Argument(verdicts, alone, counted)}


@dataclass(frozen=True)
class LinearEvidence(Record):
    """The evidence that a certificate of a linear network can contain."""

    labels_vanish: Literal[True] | None = None
    network_rank: Annotated[RankClaim, _rank(student=False)] | None = None
    allocation_rank: Annotated[RankClaim, _rank(student=True)] | None = None
    root_count: RootEvidence | None = field(
        default=None, metadata=argues(MAXIMAL, INTERMEDIATE, UNDECIDED)
    )
    sub_allocation: (
        Annotated[
            Allocation, Converted(Cells, _read_part, lambda part: write_form(Cells, part.cells))
        ]
        | None
    ) = field(default=None, metadata=argues(MAXIMAL, alone=True, counted=True))
    tied: (
        Annotated[
            Problem,
            Converted(
                Mapping[str, TiedGroups], _read_tied, lambda tied: tied.to_dict()["learnable"]
            ),
        ]
        | None
    ) = field(default=None, metadata=argues(MAXIMAL, alone=True, counted=True))
    no_real_root: Witness | None = field(default=None, metadata=argues(INTERMEDIATE, counted=True))
    enclosed_solutions: Enclosed | None = field(
        default=None, metadata=argues(INTERMEDIATE, counted=True)
    )
    teacher_reached: Reached | None = field(default=None, metadata=argues(MAXIMAL, alone=True))
    dual_bases: tuple[_Vector, ...] | None = field(
        default=None, metadata=argues(MAXIMAL, alone=True)
    )
    whole_column: Count | None = field(default=None, metadata=argues(MAXIMAL, alone=True))
    at_infinity: AtInfinity | None = field(default=None, metadata=argues(MAXIMAL, alone=True))
    partial_products: FixedProducts | None = field(
        default=None, metadata=argues(MAXIMAL, alone=True)
    )
    critical_points: CriticalPoints | None = field(
        default=None, metadata=argues(MAXIMAL, INTERMEDIATE, alone=True)
    )
    definite_form: DefiniteForm | None = field(default=None, metadata=argues(INTERMEDIATE))
    normal_form: Mapping[str, Any] | None = field(default=None, metadata=argues(INTERMEDIATE))

    def arguments(self) -> dict[str, Argument]:
        """The arguments that there is evidence of, by name."""
        given = [(f.metadata.get("argument"), f.name, getattr(self, f.name)) for f in fields(self)]
        return {
            name: argument
            for argument, name, value in given
            if argument and value is not None and value is not False
        }

    def check(self, place: str, context: Context) -> None:
        """There are ranks unless all labels are 0."""
        for name in ("network_rank", "allocation_rank"):
            if (getattr(self, name) is None) != bool(self.labels_vanish):
                text = (
                    "does not belong here: all labels are 0" if self.labels_vanish else "is missing"
                )
                raise CheckFailed(f"{place}.{name}", text)


_Read = TypeVar("_Read", bound=LinearEvidence)


def read_evidence(
    form: type[_Read], claim: Claim, problem: Problem | None = None, moved: Problem | None = None
) -> _Read:
    """The evidence of a certificate.

    Parameters
    ----------
    form : type
    claim : Claim
    problem : Problem, optional
        What the evidence is about; by default the claim's.
    moved : Problem, optional
        Whose Jacobian has the regular minor; by default `problem`.

    Raises
    ------
    CheckFailed
        If something cannot be read; the message gives its place.
    """
    problem = problem or claim.problem
    return form.from_dict(
        claim.evidence, "evidence", {**context_of(problem), "moved": moved or problem}
    )
