"""An instance given by the user: weights, samples and a teacher or labels, as rationals in TOML.

The format is in docs/problem-files.md::

    [weights]
    W = [["1/2", 0.25], [-1, 3]]
    B = [[1], [0]]
    D = [[1, 1]]

    [samples]
    X = [[1, 0], ["2/3", 1]]

    [labels]
    Y = [[1, 2]]

Instead of ``[labels]`` a ``[teacher]`` of the same matrices as ``[weights]`` may give the labels.
A number is an integer, a decimal (exact: 0.1 is 1/10) or a text "p/q".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from flint import fmpq

from algebra.declarations import Keyword, read_declared, read_tables
from algebra.errors import ErrorsAt, InputError, one_line
from algebra.files.opening import FILE_LIMITS, path_text
from algebra.given import given_rows
from algebra.linalg.numbers import exact_number
from algebra.linalg.rational import Rationals
from algebra.problems.files import read_toml
from algebra.problems.problem import Problem

_Number = Annotated[Any, Keyword("type", ("number", "string"))]
_Numbers = list[list[_Number]]


@dataclass(frozen=True)
class SamplesTable:
    """The samples in an instance file."""

    X: Annotated[_Numbers, "the samples, one in each column"]


@dataclass(frozen=True)
class LabelsTable:
    """The labels in an instance file."""

    Y: Annotated[_Numbers, "the labels, one in each column"]


@dataclass(frozen=True)
class InstanceFile:
    """The tables of an instance file."""

    weights: Annotated[dict[str, _Numbers], "the student's weights"]
    samples: SamplesTable
    teacher: Annotated[dict[str, _Numbers] | None, "the weights that give the labels"] = None
    labels: LabelsTable | None = None


@dataclass(frozen=True, eq=False)
class GivenNumbers:
    """The numbers of an instance, all rational.

    Attributes
    ----------
    problem : Problem
        The problem whose learnable weights are to match the labels.
    weights : mapping of str to ndarray of fmpq
        The student's weights; those of learnable cells are not used.
    X : ndarray of fmpq
        Samples.
    teacher : mapping of str to ndarray of fmpq, or None
        The weights that give the labels; None if the labels are given.
    labels : ndarray of fmpq or None
        Given labels; None if there is a teacher.
    """

    problem: Problem
    weights: Mapping[str, Rationals]
    X: Rationals
    teacher: Mapping[str, Rationals] | None = None
    labels: Rationals | None = None

    @cached_property
    def Y(self) -> Rationals:
        """The labels."""
        if self.labels is not None:
            return self.labels
        assert self.teacher is not None
        return np.asarray(self.problem.network.teach(self.teacher, self.X))

    @property
    def has_teacher(self) -> bool:
        """Whether a teacher of the architecture gives the labels, as in the match probability."""
        return self.teacher is not None


def given_numbers(data: Mapping[str, Any], problem: Problem) -> GivenNumbers:
    """The instance described by plain data.

    Parameters
    ----------
    data : mapping
        Tables "weights" and "samples", and "teacher" or "labels"; matrices are rows of numbers.
    problem : Problem
        Its allocation must be fixed.

    Raises
    ------
    InputError
        If a table or an entry is wrong; the message names it.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> problem = Problem(LinearEstimator(q=2, d=1, m=1), {"W": [[1, 0]]})
    >>> own = given_numbers(
    ...     {"weights": {"W": [[0, "1/2"]]}, "samples": {"X": [[1], [2]]}, "labels": {"Y": [[3]]}},
    ...     problem,
    ... )
    >>> own.weights["W"][0, 1], own.has_teacher
    (1/2, False)
    """
    network = problem.network
    read_tables(InstanceFile, data)
    if ("teacher" in data) == ("labels" in data):
        raise InputError(
            "give [teacher] (weights of the same architecture, which give the labels) or [labels] "
            "(Y as it is), and not both"
        )
    masks = problem.allocation.masks
    whole = {n for n, mask in masks.items() if (mask == problem.support.get(n, 1)).all()}
    weights = _matrices(data["weights"], "weights", network.shapes, problem, optional=whole)
    samples = read_declared(SamplesTable, data["samples"], "[samples]")
    X = _matrix(samples["X"], "samples.X", network.input_shape)
    if "labels" in data:
        labels = read_declared(LabelsTable, data["labels"], "[labels]")
        Y = _matrix(labels["Y"], "labels.Y", (network.d, network.columns))
        return GivenNumbers(problem, weights, X, labels=Y)
    teacher = _matrices(data["teacher"], "teacher", network.teacher_shapes, problem)
    return GivenNumbers(problem, weights, X, teacher)


def load_instance(path: str | Path, problem: Problem) -> GivenNumbers:
    """Read an instance file.

    Parameters
    ----------
    path : str or Path
    problem : Problem
        With a fixed allocation.

    Raises
    ------
    InputError
        If the file is missing, is not TOML or does not fit the problem; the message begins with its
        name.
    """
    path = Path(path)
    # Decimals stay texts: conversion to double would change them.
    data = read_toml(path, most=FILE_LIMITS.instance, decimal=str)
    with ErrorsAt(path_text(path)):
        return given_numbers(data, problem)


def _matrices(
    table: Mapping[str, Any],
    name: str,
    shapes: Mapping[str, tuple[int, int]],
    problem: Problem,
    optional: set[str] | None = None,
) -> dict[str, Rationals]:
    """A matrix for each name; where all weights learn, a missing matrix is 0."""
    for key in table:
        if key not in shapes:
            raise InputError(
                f"[{name}] names `{one_line(key)}`, but a {problem.network.title} has "
                + ", ".join(shapes)
            )
    found = {}
    for key, shape in shapes.items():
        if key not in table:
            if key not in (optional or ()):
                raise InputError(f"[{name}] lacks `{key}`, a {shape[0]}×{shape[1]} matrix")
            found[key] = np.full(shape, fmpq(0), dtype=object)
            continue
        found[key] = _matrix(table[key], f"{name}.{key}", shape)
        mask = problem.support.get(key)
        if mask is None:
            continue
        for i, j in np.argwhere(np.asarray(mask) == 0):
            if found[key][i, j] != 0:
                raise InputError(
                    f"{name}.{key}[{i}][{j}] is {found[key][i, j]}, but support.{key}[{i}][{j}] is "
                    "0: a weight that does not exist is 0"
                )
    return found


def _matrix(value: Any, name: str, shape: tuple[int, int]) -> Rationals:
    """Check rows of numbers, and convert them to rationals."""
    rows, out = given_rows(value, name, "rows of numbers", shape), np.empty(shape, dtype=object)
    for i, j in np.ndindex(shape):
        with ErrorsAt(f"{name}[{i}][{j}]"):
            number = exact_number(rows[i][j])
        out[i, j] = fmpq(number.numerator, number.denominator)
    return out
