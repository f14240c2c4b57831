"""Evidence for a verdict on a linear network: written as plain data, read with exact types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from flint import fmpq, fmpz, fmpz_poly

from algebra.certificates.checks import CheckFailed
from algebra.certificates.fields import (
    PRIMES,
    Fields,
    RefusedAt,
    cells,
    items,
    matrices_of,
    matrix_of,
    matrix_rows,
    prime_and_point,
    rational_text,
    whole,
    whole_text,
)
from algebra.certificates.records import Counts, Record
from algebra.certificates.vanishing import says_vanishing
from algebra.errors import one_line
from algebra.linear.dual_bases import COLUMN, ROW, Vector
from algebra.linear.infinity import AtInfinity
from algebra.linear.verification.definite import DefiniteForm
from algebra.networks.base import Cell, Point
from algebra.polynomials.parametrization import Parametrization
from algebra.problems.allocation import Allocation
from algebra.problems.laws.values import pins, residue
from algebra.problems.problem import Problem
from algebra.problems.updates import Tied
from algebra.ranks.jacobian import random_point
from algebra.ranks.matroid import smallest_circuit
from algebra.systems.elimination import BY_HASH, ORDERS
from algebra.systems.forms import forms
from algebra.systems.root_count import DEGREE, LINEAR, TRACE

# A weight or sample, of at most 64 characters; those of certification have at most four.
_entry = partial(rational_text, digits=64)
# A coordinate of a solution, of at most 200 characters: enough for any double.
_coordinate = partial(rational_text, digits=200)

Matrices = Mapping[str, np.ndarray]


# -- writing --------------------------------------------------------------------------


def circuit_reason(allocation: Allocation, support: Mapping[str, np.ndarray], seed: int) -> str:
    """The reason if no budget is violated: a dependent set of weights."""
    cells = smallest_circuit(allocation, support, seed)
    names = " ".join(f"{name}[{i},{j}]" for name, i, j in cells)
    return f"no budget is violated, but these {len(cells)} are dependent: {names}"


# -- reading --------------------------------------------------------------------------


@dataclass(frozen=True)
class RankClaim:
    """A claimed generic rank and the point at which it is attained.

    Attributes
    ----------
    place : str
        Place of the claim in the file.
    rank, upper_bound : int
    proved : bool
        Whether the rank is claimed to equal its upper bound.
    points : int
        Number of points that were tried.
    point : Point
        The witness; `number` is its seed, whether or not its entries are given.
    """

    place: str
    rank: int
    upper_bound: int
    proved: bool
    points: int
    point: Point


@dataclass(frozen=True)
class RootEvidence:
    """A claimed generic root count: see `algebra.systems.root_count.RootCount`."""

    value: int
    rule: str
    form: str
    blocks: tuple[int, ...]
    primes: tuple[int, ...]

    @property
    def source(self) -> str:
        """The source of the claim, in words."""
        return f"modulo {', '.join(map(str, self.primes))}" if self.primes else self.rule


@dataclass(frozen=True)
class Witness:
    """A rational instance with all its complex solutions as a parametrization.

    Attributes
    ----------
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

    form: str
    order: int
    weights: Matrices
    teacher: Matrices
    X: np.ndarray
    complex: int
    real: int
    unknowns: tuple[str, ...]
    points: Parametrization | None


@dataclass(frozen=True)
class Enclosed:
    """A rational instance with points near one of each pair of its conjugate solutions.

    Attributes
    ----------
    weights, teacher : mapping of str to ndarray of fmpq
    X : ndarray of fmpq
    points : tuple of ndarray of fmpq, shape (r, 2)
        Real and imaginary parts of the learnable weights.
    """

    weights: Matrices
    teacher: Matrices
    X: np.ndarray
    points: tuple[np.ndarray, ...]


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
class LinearEvidence:
    """The evidence that a certificate of a linear network can contain."""

    labels_vanish: bool
    network_rank: RankClaim | None
    allocation_rank: RankClaim | None
    root_count: RootEvidence | None
    sub_allocation: Allocation | None
    tied: Problem | None
    no_real_root: Witness | None
    enclosed_solutions: Enclosed | None
    teacher_reached: Reached | None
    dual_bases: tuple[Vector, ...] | None
    whole_column: int | None
    at_infinity: AtInfinity | None
    definite_form: DefiniteForm | None


def read_evidence(fields: Fields, problem: Problem) -> LinearEvidence:
    """The evidence of a certificate of a linear network.

    Raises
    ------
    CheckFailed
        If something cannot be read; the message gives its place.
    """
    vanish = says_vanishing(fields)

    def optional(key: str, read: Any) -> Any:
        return read(fields.raw(key), fields.at(key), problem) if fields.has(key) else None

    def alone(key: str, read: Any) -> Any:
        return read(fields.raw(key), fields.at(key)) if fields.has(key) else None

    def needed(key: str, read: Any) -> Any:
        return None if vanish else read(fields.raw(key), fields.at(key), problem)

    evidence = LinearEvidence(
        labels_vanish=vanish,
        network_rank=needed("network_rank", _read_rank),
        allocation_rank=needed("allocation_rank", partial(_read_rank, student=True)),
        root_count=alone("root_count", _read_roots),
        sub_allocation=optional("sub_allocation", _read_part),
        tied=optional("tied", _read_tied),
        no_real_root=optional("no_real_root", read_witness),
        enclosed_solutions=optional("enclosed_solutions", read_enclosed),
        teacher_reached=alone("teacher_reached", Reached.from_dict),
        dual_bases=alone("dual_bases", _read_dual_bases),
        whole_column=alone("whole_column", partial(whole, least=0)),
        at_infinity=alone("at_infinity", AtInfinity.from_dict),
        definite_form=alone("definite_form", DefiniteForm.from_dict),
    )
    fields.finish()
    return evidence


def _read_rank(data: Any, place: str, problem: Problem, student: bool = False) -> RankClaim:
    fields = Fields(data, place)
    support = problem.student() if student else problem.support
    network = problem.network
    p, number = prime_and_point(fields)
    with RefusedAt(f"{place}.witness"):
        numbers = {cell: residue(p)(_rational(value)) for cell, value in pins(support).items()}
    points = fields.items("points")
    for k, tried in enumerate(points):
        for value in items(tried, f"{place}.points[{k}]"):
            whole(value, f"{place}.points[{k}]", 0)
    if fields.has("witness_point"):
        given = fields.table("witness_point")
        below = partial(whole, least=0, most=p - 1)
        weights = matrices_of(given.table("weights"), network.shapes, below)
        X = matrix_of(given.raw("X"), given.at("X"), network.input_shape, below)
        given.finish()
        point = Point(
            p, number, {n: w.astype(np.int64) for n, w in weights.items()}, X.astype(np.int64)
        )
        _need_support(point.weights, problem, given.at("weights"))
        _need_numbers(point.weights, numbers, given.at("weights"))
    else:
        point = random_point(network, p, number, support)
    evidence = RankClaim(
        place=place,
        rank=fields.whole("rank", 0),
        upper_bound=fields.whole("upper_bound", 0),
        proved=fields.flag("proved"),
        points=len(points),
        point=point,
    )
    fields.finish()
    return evidence


def _read_roots(data: Any, place: str) -> RootEvidence:
    fields = Fields(data, place)
    value = fields.whole("value", 1)
    rule, form = fields.text("rule"), fields.text("form")
    if rule not in (LINEAR, DEGREE, TRACE):
        raise CheckFailed(fields.at("rule"), f"{one_line(rule)} is not a method of counting")
    blocks, primes = fields.wholes("blocks", 1), fields.wholes("primes", 2)
    fields.whole("seed")
    if fields.has("trace"):
        fields.table("trace")
    elif rule == TRACE:
        raise CheckFailed(fields.at("trace"), "is missing")
    if rule == DEGREE and int(np.prod(np.array(blocks, dtype=object))) != value:
        raise CheckFailed(fields.at("blocks"), f"their product is not {value}")
    if rule != DEGREE and blocks:
        raise CheckFailed(fields.at("blocks"), f"by {rule} there are none")
    for k, p in enumerate(primes):
        if rule == TRACE or not (PRIMES[0] < p < PRIMES[1] and fmpz(p).is_prime()):
            raise CheckFailed(f"{fields.at('primes')}[{k}]", f"by {rule}: no prime {one_line(p)}")
    if rule == LINEAR and value != 1:
        raise CheckFailed(fields.at("value"), f"a linear system has one solution, not {value}")
    fields.finish()
    return RootEvidence(value, rule, form, blocks, primes)


def _read_part(data: Any, place: str, problem: Problem) -> Allocation:
    chosen = cells(data, place)
    outside = set(chosen) - set(problem.allocation.cells)
    if outside or len(set(chosen)) != len(chosen):
        raise CheckFailed(place, "is not a set of cells of the allocation")
    with RefusedAt(place):
        return Allocation.from_cells(problem.network, chosen)


def _read_tied(data: Any, place: str, problem: Problem) -> Problem:
    fields = Fields(data, place)
    updates = {}
    for name in fields:
        if name not in problem.network.shapes:
            raise CheckFailed(fields.at(one_line(name)), "is no matrix of the network")
        own = fields.table(name)
        rows = matrix_rows(own.raw("tied"), own.at("tied"), problem.network.shapes[name])
        updates[name] = Tied([[whole(v, own.at("tied"), 0) for v in row] for row in rows])
        own.finish()
    fields.finish()
    if pins(problem.student()):
        raise CheckFailed(place, "problems of ties know no exact numbers ([values])")
    with RefusedAt(place):
        return Problem(problem.network, updates, problem.support)


def read_witness(data: Any, place: str, problem: Problem) -> Witness:
    fields = Fields(data, place)
    network = problem.network
    fields.whole("index", 0)
    form = fields.text("form")
    if form not in (*forms(network, problem.allocation), "direct"):
        raise CheckFailed(fields.at("form"), f"{one_line(form)} does not fit the network")
    order = BY_HASH
    if fields.has("order"):
        order = fields.whole("order", min(ORDERS), max(ORDERS))
    witness = Witness(
        form=form,
        order=order,
        weights=matrices_of(fields.table("weights"), network.shapes, _entry),
        teacher=matrices_of(fields.table("teacher"), network.shapes, _entry),
        X=matrix_of(fields.raw("X"), fields.at("X"), network.input_shape, _entry),
        complex=fields.whole("complex", 1),
        real=fields.whole("real", 0),
        unknowns=fields.texts("unknowns"),
        points=_read_points(fields.table("parametrization"))
        if fields.has("parametrization")
        else None,
    )
    fields.finish()
    _need_drawn(witness, problem, fields)
    return witness


def read_enclosed(data: Any, place: str, problem: Problem) -> Enclosed:
    fields, network, size = Fields(data, place), problem.network, problem.allocation.size
    found = Enclosed(
        weights=matrices_of(fields.table("weights"), network.shapes, _entry),
        teacher=matrices_of(fields.table("teacher"), network.shapes, _entry),
        X=matrix_of(fields.raw("X"), fields.at("X"), network.input_shape, _entry),
        points=tuple(
            matrix_of(point, f"{fields.at('points')}[{k}]", (size, 2), _coordinate)
            for k, point in enumerate(fields.items("points"))
        ),
    )
    fields.finish()
    _need_drawn(found, problem, fields)
    return found


def _read_points(fields: Fields) -> Parametrization:
    def polynomial(value: Any, at: str) -> fmpz_poly:
        return fmpz_poly([whole_text(c, at) for c in items(value, at)])

    points = Parametrization(
        polynomial(fields.raw("w"), fields.at("w")),
        polynomial(fields.raw("denominator"), fields.at("denominator")),
        whole_text(fields.raw("scale"), fields.at("scale")),
        tuple(
            polynomial(value, f"{fields.at('numerators')}[{k}]")
            for k, value in enumerate(fields.items("numerators"))
        ),
    )
    fields.finish()
    return points


def _read_dual_bases(data: Any, place: str) -> tuple[Vector, ...]:
    found = []
    for k, given in enumerate(items(data, place)):
        at = f"{place}[{k}]"
        numbers = [whole(v, f"{at}[{c}]", 0) for c, v in enumerate(items(given, at))]
        if len(numbers) != 3 or numbers[0] not in (ROW, COLUMN):
            text = f"{one_line(given)} is no side (0: row of P, 1: column of Q), layer and unit"
            raise CheckFailed(at, text)
        found.append((numbers[0], numbers[1], numbers[2]))
    return tuple(found)


def _need_drawn(witness: Witness | Enclosed, problem: Problem, fields: Fields) -> None:
    """The instance and its neighbours must be drawable: structural zeros, signs, exact numbers."""
    for name in ("weights", "teacher"):
        matrices, place = getattr(witness, name), fields.at(name)
        _need_support(matrices, problem, place)
        # A match does not depend on the values before learning; exact numbers are not drawn.
        free: set[Cell] = set()
        if name == "weights":
            free = {*problem.allocation.cells, *pins(problem.student())}
        for own, i, j in problem.distribution.against(matrices, problem.support, free):
            text = f"{matrices[own][i, j]} does not have the sign that it is drawn with"
            raise CheckFailed(f"{place}.{own}[{i}][{j}]", text)
    numbers = {cell: _rational(value) for cell, value in pins(problem.student()).items()}
    _need_numbers(witness.weights, numbers, fields.at("weights"))


def _need_numbers(matrices: Matrices, numbers: Mapping[Cell, Any], place: str) -> None:
    """Weights with exact numbers must have these."""
    for (name, i, j), value in numbers.items():
        if matrices[name][i, j] != value:
            raise CheckFailed(f"{place}.{name}[{i}][{j}]", f"is not {value}, as in [values]")


def _rational(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _need_support(matrices: Matrices, problem: Problem, place: str) -> None:
    for name, mask in problem.support.items():
        if any(v != 0 for v in matrices[name][np.asarray(mask) == 0]):
            raise CheckFailed(f"{place}.{name}", f"is not 0 outside support.{name}")
