r"""Labels that no values of the learnable weights give: outputs that read bounded values.

Let the labels of one sample be read out by a last matrix (`algebra.programs.read_out`), y = D z +
e, and take the rows of D and e in which nothing learns.  A unit z_j that depends on no learnable
weight has its value; of the others an interval [a_j, b_j] is known that contains their values for
all weights (`algebra.programs.ranges`: −1 and 1 of tanh).  So if for some λ

.. math:: λ · (y − e − \sum_{j \text{ still}} D_j z_j) >
    \sum_{j \text{ moved}} \max(λ · D_j a_j, λ · D_j b_j),

no student has these labels: the instance has no match, however many weights learn.  The inequality
is proved in balls, of the instance's numbers and of the teacher's labels themselves; λ is found in
doubles (`numeric.families.activations.reach`).
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from flint import arb, ctx, fmpq

from algebra.arguments.stuck_output import BoundedReading, reading
from algebra.checker.reading import PROOF_LIMITS
from algebra.checker.records import Converted, Record, rational_of, read_form, write_form
from algebra.declarations import Count
from algebra.problems.problem import Problem
from algebra.programs.arrays import number_in
from algebra.programs.balls import as_balls, ball_product
from algebra.programs.evaluate import evaluate
from algebra.ranks.parametrized import by_updates

_BITS = 106
_NUMBER: Any = rational_of(PROOF_LIMITS.digits)
_NUMBERS: Any = tuple[_NUMBER, ...]
_Factors = Annotated[
    tuple[Any, ...],
    Converted(
        _NUMBERS,
        lambda value, place, context: read_form(_NUMBERS, value, place, context),
        lambda value: write_form(_NUMBERS, value),
    ),
]


@dataclass(frozen=True)
class SeparatedLabels(Record):
    """Labels that are out of reach: one sample's, at one reading.

    Attributes
    ----------
    sample : int
    reading : int
        The number of the reading, such as a time step.
    factors : tuple of fmpq
        λ: one number for each row of the read-out in which nothing learns.
    """

    sample: Count
    reading: Count
    factors: _Factors


@dataclass(frozen=True, eq=False)
class LabelReach:
    """What the outputs of an allocation can read.

    Attributes
    ----------
    problem : Problem
        With a fixed allocation.
    reading : BoundedReading
    rows : ndarray of int
        Rows of the read-out in which nothing learns.
    """

    problem: Problem
    reading: BoundedReading
    rows: np.ndarray

    @classmethod
    def of(cls, problem: Problem) -> LabelReach | None:
        """None if nothing is known of the values that the outputs read, or all rows learn."""
        problem = by_updates(problem)
        if problem.network.equations_are != "analytic":
            return None
        found = reading(problem)
        if found is None:
            return None
        masks, read = problem.learning.moving.masks, found.read
        learns = np.asarray(masks[read.matrix]).ravel()[read.weights].any(axis=1)
        if read.bias is not None and read.biases is not None:
            learns |= np.asarray(masks[read.bias]).ravel()[read.biases] != 0
        rows = np.flatnonzero(~learns)
        return cls(problem, found, rows) if len(rows) else None

    def parts(
        self, weights: Mapping[str, Any], X: Any, labels: np.ndarray, matmul: Any = operator.matmul
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """The columns D of moved units, and for each reading the labels without all else.

        Parameters
        ----------
        weights, X
            Of the student, in doubles or in balls; some of the samples.
        labels : ndarray, shape (labels of a sample, samples)
        matmul : callable, optional
        """
        network, read, rows = self.problem.network, self.reading.read, self.rows
        program, moved = network.program(), self.reading.moved
        D = np.asarray(weights[read.matrix]).ravel()[read.weights[rows]]
        e: Any = 0
        if read.bias is not None and read.biases is not None:
            e = np.asarray(weights[read.bias]).ravel()[read.biases[rows]][:, None]
        arithmetic = network.entries(matmul, number_in(X))
        nodes = [node for node, _ in read.values]
        values = evaluate(program, arithmetic, network.placed(weights, X), nodes)
        columns, found = iter(read.labels[rows].T), []
        for node, entries in read.values:
            value = np.reshape(values[node], (program.nodes[node].size, -1))
            for units in entries.T:
                still = matmul(D[:, ~moved], value[units[~moved]]) if (~moved).any() else 0
                found.append(labels[next(columns)] - e - still)
        return D[:, moved], found

    def separates(
        self, found: SeparatedLabels, weights: Mapping[str, np.ndarray], X: np.ndarray,
        teacher: Mapping[str, np.ndarray] | None, Y: Any = None,
    ) -> bool:  # fmt: skip
        """Whether the inequality holds for one sample of an instance.

        Parameters
        ----------
        found : SeparatedLabels
        weights, X : mapping of str to ndarray, ndarray
            Of the instance: exact numbers.
        teacher : mapping of str to ndarray or None
            The weights that give the labels; None if `Y` are the labels.
        Y : ndarray of exact numbers, optional
        """
        read, network = self.reading.read, self.problem.network
        if (
            found.sample >= network.m
            or found.reading >= read.labels.shape[1]
            or len(found.factors) != len(self.rows)
        ):
            return False
        before = ctx.prec
        try:
            ctx.prec = _BITS
            sample = as_balls(X[:, [found.sample]])
            if teacher is None:
                labels = as_balls(np.reshape(Y, (-1, network.m))[:, [found.sample]])
            else:
                own = {name: as_balls(value) for name, value in teacher.items()}
                labels = network.forward(own, sample, ball_product).reshape(-1, 1)
            student = {name: as_balls(value) for name, value in weights.items()}
            D, readings = self.parts(student, sample, labels, ball_product)
            factors = as_balls(np.array(found.factors, dtype=object))
            most = sum((self._most(c) for c in factors @ D), arb(0))
            return bool((factors @ readings[found.reading])[0] > most)
        finally:
            ctx.prec = before

    def _most(self, c: arb) -> arb:
        """A bound of a factor times the value of a moved unit."""
        own = self.reading.range
        ends = [arb(fmpq(e.numerator, e.denominator)) for e in (own.low, own.high) if e is not None]
        if len(ends) == 2:
            return (c * ends[0]).union(c * ends[1])
        # Towards the side without an end the product must fall.
        at_end = c <= 0 if own.high is None else c >= 0
        return c * ends[0] if at_end else arb("inf")
