"""Exact random instances: their streams are contracts, their labels the teacher's."""

import random

import numpy as np
import pytest
from flint import fmpq

from algebra.systems.instances import (
    modular_core,
    modular_instance,
    rational_core,
    rational_instance,
)
from matchprob import Allocation, Problem
from tests.samples import NET, P

DIAGONAL = Allocation.from_cells(NET, [("W", 0, 0), ("W", 1, 1)])


def test_streams_are_contracts():
    """Records and witnesses name instances by number: the texts that seed them never change."""
    rng = random.Random(f"instance/{P}/3")
    modular = modular_instance(DIAGONAL, P, 3)
    for name, shape in NET.shapes.items():
        assert modular.weights[name].ravel().tolist() == [
            rng.randrange(P) for _ in range(shape[0] * shape[1])
        ]
    assert modular.X.ravel().tolist() == [rng.randrange(P) for _ in range(4)]
    rng = random.Random("witness/0/5")
    student, teacher, X = rational_instance(Problem.of(DIAGONAL), 0, 5)
    for matrices in (student, teacher):
        for name in NET.shapes:
            for entry in matrices[name].ravel():
                assert entry == fmpq(rng.randint(-24, 24), 8)
    assert all(entry == fmpq(rng.randint(-24, 24), 8) for entry in X.ravel())


@pytest.mark.parametrize("own", [False, True])
def test_labels_are_the_teacher_s(own):
    """The student's own labels, or those of a teacher drawn after it."""
    found = modular_instance(DIAGONAL, P, 1, teacher=own)
    labels = NET.forward(
        {n: np.array([[int(v) for v in r] for r in w], object) for n, w in found.teacher.items()},
        found.X.astype(object),
    )
    assert np.array_equal(found.Y, labels % P)
    assert (found.teacher is found.weights) != own


def test_structural_zeros():
    """Cells outside the support are 0 in student and teacher, and nothing else changes."""
    mask = np.array([[1, 0], [1, 1]])
    plain = modular_instance(DIAGONAL, P, 2, teacher=True)
    cut = modular_instance(DIAGONAL, P, 2, {"W": mask}, teacher=True)
    for a, b in ((plain.weights, cut.weights), (plain.teacher, cut.teacher)):
        assert np.array_equal(a["W"] * mask, b["W"])
        assert np.array_equal(a["B"], b["B"])
    student, teacher, _ = rational_instance(Problem.of(DIAGONAL, support={"W": mask}), 0, 0)
    assert student["W"][0, 1] == teacher["W"][0, 1] == 0


@pytest.mark.parametrize("form", ["B", "D"])
def test_cores_know_their_root(form):
    """The known solution solves the core, modulo a prime; over Q the core is as large."""
    core, root = modular_core(DIAGONAL, P, 4, form)
    assert all(equation(*root) == 0 for equation in core.equations)
    student, teacher, X = rational_instance(Problem.of(DIAGONAL), 0, 1)
    rational = rational_core(DIAGONAL, student, X, NET.teach(teacher, X), form)
    assert len(rational.unknowns) == len(core.unknowns)
