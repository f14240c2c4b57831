"""Instances and their cores: a student, a teacher and samples over GF(p) or Q.

An instance is determined by a text that seeds its random stream.  These texts are contracts
(witnesses, tables of root counts and stored records identify an instance by its numbers), and so is
the order of the draws: all matrices of the student in the order of `Network.shapes`, then those of
the teacher, then the samples.  If a witness needs short numbers the entries are multiples of 1/8 of
absolute value at most 3.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from algebra.linalg.modular import matmul
from algebra.linalg.residues import Residues, random_bytes
from algebra.networks.base import Network, Support
from algebra.polynomials.rings import PrimeField, RationalField
from algebra.problems.allocation import Allocation
from algebra.problems.laws.pinned import masks_of, residue, restrict
from algebra.problems.problem import Problem
from algebra.programs.arrays import ArrayArithmetic, number_in
from algebra.programs.residues import ModularArithmetic
from algebra.systems.core import Core, CoreSystem
from algebra.systems.elimination import eliminate
from algebra.systems.forms import FORMS, batch_of, preferred_form
from algebra.systems.modular_elimination import core_of
from algebra.systems.system import WrittenSystem, build_system, residue_system

Matrices = dict[str, np.ndarray]

_GRID = 8
_REACH = 24


@dataclass(frozen=True, eq=False)
class ModularInstance:
    """An instance over GF(p).

    Attributes
    ----------
    allocation : Allocation
    p : int
    weights : dict of str to ndarray of int64
        The student's weights.
    teacher : dict of str to ndarray of int64
        The student's weights if no teacher was drawn.
    X : ndarray of int64
    """

    allocation: Allocation
    p: int
    weights: Matrices
    teacher: Matrices
    X: Residues

    def _product(self, a: Residues, b: Residues) -> Residues:
        return matmul(a, b, self.p)

    def _entries(self, weights: Mapping[str, Residues]) -> tuple[Matrices, np.ndarray]:
        """Weights and samples as arrays of `nmod`."""
        constant = PrimeField(self.p).constant
        arrays = [*weights.values(), self.X]
        *own, X = (np.frompyfunc(constant, 1, 1)(array) for array in arrays)
        return dict(zip(weights, own, strict=True)), X

    @property
    def Y(self) -> Residues:
        """The teacher's labels."""
        if self.allocation.network.needs_entries:
            return _residues(self.allocation.network.forward(*self._entries(self.teacher)))
        return self.allocation.network.teach(self.teacher, self.X, self._product) % self.p

    def system(self, form: str) -> WrittenSystem:
        """The equations in one form."""
        return residue_system(self.allocation, self.weights, self.X, self.Y, self.p, form)

    def solution(self, form: str) -> dict[str, int]:
        """Values of the student's weights and auxiliary unknowns, by name.

        They solve the system if the student is its own teacher.
        """
        network = self.allocation.network
        values = {f"{n}_{i}_{j}": int(self.weights[n][i, j]) for n, i, j in self.allocation.cells}
        arithmetic: ArrayArithmetic
        if network.needs_entries:
            weights, X = self._entries(self.weights)
            arithmetic = network.entries(number=number_in(X))
        else:
            weights, X = self.weights, self.X
            arithmetic = ModularArithmetic(self.p)
        given = network.placed(weights, X)
        lifted = FORMS[form].program(network).values(arithmetic, given, batch_of(network))
        for prefix, array in lifted.items():
            for (i, j), value in np.ndenumerate(array):
                values[f"{prefix}_{i}_{j}"] = int(value)
        return values


def modular_instance(
    allocation: Allocation,
    p: int,
    seed: int,
    support: Support | None = None,
    *,
    key: str = "instance",
    teacher: bool = False,
) -> ModularInstance:
    """A random instance over GF(p): entries independent and uniform.

    Parameters
    ----------
    allocation : Allocation
    p, seed : int
    support : mapping of str to mask, optional
    key : str, optional
        First word of the text that seeds the stream.
    teacher : bool, optional
        Whether a separate teacher gives the labels; otherwise the student itself does.
    """
    network, rng = allocation.network, random.Random(f"{key}/{p}/{seed}")

    def drawn(shape: tuple[int, ...]) -> Residues:
        return drawn_residues(shape, p, rng)

    weights = {name: drawn(shape) for name, shape in network.shapes.items()}
    other = {name: drawn(shape) for name, shape in network.shapes.items()} if teacher else weights
    X = drawn(network.input_shape)
    restrict(weights, support, residue(p))
    if teacher:
        restrict(other, masks_of(support), residue(p))
    return ModularInstance(allocation, p, weights, other, X)


def modular_core(
    allocation: Allocation,
    p: int,
    seed: int,
    form: str,
    support: Support | None = None,
    *,
    defer: bool = True,
) -> tuple[Core, tuple[int, ...]]:
    """Core of a random instance over GF(p), and the known solution's core values.

    Returns
    -------
    core : Core
    root : tuple of int
        A root of the core: the student from which the labels were computed.
    """
    instance = modular_instance(allocation, p, seed, support)
    core = core_of(instance.system(form), defer=defer)
    values = instance.solution(form)
    return core, tuple(values[name] for name in core.unknowns)


def rational_instance(
    problem: Problem, seed: int, index: int
) -> tuple[Matrices, Matrices, np.ndarray]:
    """Student weights, teacher weights and samples on the grid of eighths, all exact.

    Weights have the signs of the problem's law; a weight of 0 that has a sign becomes the smallest
    on the grid.  Weights of the student with exact numbers have these.
    """
    network = problem.network
    rng = random.Random(f"witness/{seed}/{index}")

    def entry() -> fmpq:
        return fmpq(rng.randint(-_REACH, _REACH), _GRID)

    student, teacher = _drawn(network, entry), _drawn(network, entry)
    X = _matrix(network.input_shape, entry)
    student, teacher = (_oriented(matrices, problem) for matrices in (student, teacher))
    restrict(student, problem.student(), fmpq)
    restrict(teacher, problem.support, fmpq)
    return student, teacher, X


def rational_core(
    allocation: Allocation,
    student: Mapping[str, np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    form: str | None = None,
    *,
    defer: bool = True,
) -> CoreSystem:
    """The core of an instance over Q; by default in the form with the smaller core."""
    form = form or preferred_form(allocation)
    system = build_system(allocation, student, X, Y, RationalField(), form)
    return eliminate(system, defer=defer)


def _residues(entries: np.ndarray) -> Residues:
    return np.array([int(value) for value in entries.flat], np.int64).reshape(entries.shape)


def _drawn(network: Network, entry: Callable[[], fmpq]) -> Matrices:
    return {name: _matrix(shape, entry) for name, shape in network.shapes.items()}


def _matrix(shape: tuple[int, int], entry: Callable[[], fmpq]) -> np.ndarray:
    out = np.empty(shape, object)
    for cell in np.ndindex(shape):
        out[cell] = entry()
    return out


def _oriented(matrices: Matrices, problem: Problem) -> Matrices:
    signs = problem.distribution.masks
    for name in signs:
        matrices[name][matrices[name] == 0] = fmpq(1, _GRID)
    return problem.distribution.oriented(matrices) if signs else matrices


def drawn_residues(shape: tuple[int, ...], p: int, rng: random.Random) -> Residues:
    """The residues that ``rng.randrange(p)`` gives one after another, drawn at once.

    Python draws as many bits as p has, again where they are not below p; bits are the upper ones
    of the generator's words of 32.

    Examples
    --------
    >>> drawn_residues((2, 2), 101, random.Random("a")).tolist()
    [[34, 64], [8, 77]]
    """
    count, shift = math.prod(shape), 32 - p.bit_length()
    parts: list[Residues] = []
    while count:
        values = np.frombuffer(random_bytes(4 * count, rng), "<u4").astype(np.int64) >> shift
        parts.append(values[values < p])
        count -= len(parts[-1])
    return np.concatenate(parts).reshape(shape) if parts else np.zeros(shape, np.int64)
