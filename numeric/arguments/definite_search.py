"""Search for a positive definite form that proves MP < 1
(`algebra.arguments.definite_form`).

For random D and P the form q is written in the unknowns y of the theorem (weights of short rows,
states of long ones) and restricted to {D w P = 0}; K is projected to the left kernel of D's columns
at long rows.  D, P and K are changed at random, many ways at once, and changes are kept that raise
the ratio of q's smallest eigenvalue to its largest one.  Once it is positive the matrices are
rounded to integers, and an exact check decides.

Not every allocation can have such a form.  q is a sum of products of two linear forms, b of them (b
the number of inputs) for each unit that reads through learnable cells and is read through learnable
cells of short rows.  A product has at most one positive eigenvalue, a sum at most as many as its
terms together, a restriction no more (Sylvester's law of inertia).  So the form is not searched for
if {D w P = 0} has a larger dimension than q has products.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq, fmpz

from algebra.arguments.definite_form import (
    DefiniteForm,
    Lines,
    inputs_of_first_power,
    learnable_cells,
    why_not_definite,
)
from algebra.linalg.rational import rational_kernel
from algebra.problems.problem import Problem
from algebra.time_limits import check_time

# Changes that are tried at once.
_AT_ONCE = 32
# How often, and how often without success before a new start.
_ROUNDS = 400
_PATIENCE = 20
# Sizes of changes, and the share of entries that change.
_STEPS = (0.05, 0.3, 1.0)
_SHARE = 0.3
# The ratio of eigenvalues from which on rounding is tried, and the largest rounded entries.
_MARGIN = 0.01
_SCALES = (8, 32, 128)

# D, P and K; or stacks of them.
Matrices = tuple[np.ndarray, np.ndarray, np.ndarray]


def definite_form(problem: Problem, seed: int) -> DefiniteForm | None:
    """Matrices to which the theorem applies, checked; None if none were found.

    Parameters
    ----------
    problem : Problem
        With a fixed allocation that is not minimal.
    seed : int
    """
    inputs = inputs_of_first_power(problem)
    if not inputs:
        return None
    outputs = problem.network.d
    sizes: dict[Lines, tuple[int, int]] = {
        "rows": (outputs, inputs), "columns": (inputs, outputs),
    }  # fmt: skip
    for number, (lines, own) in enumerate(sizes.items()):
        form = _Form(learnable_cells(problem, lines), *own)
        if len(form.long) >= form.outputs or not form.has_enough_products:
            continue
        for found in form.positive(np.random.default_rng([seed, number])):
            for claimed in _rounded(found, form.long, lines):
                if not why_not_definite(problem, claimed):
                    return claimed
    return None


@dataclass(frozen=True)
class _Form:
    """The form of an allocation's cells, for any D, P and K."""

    mask: np.ndarray
    outputs: int
    inputs: int

    @cached_property
    def long(self) -> list[int]:
        """Rows with more learnable cells than inputs."""
        return [int(i) for i in np.flatnonzero(self.mask.sum(axis=1) > self.inputs)]

    @cached_property
    def cells(self) -> np.ndarray:
        """Learnable cells of short rows."""
        short = self.mask.copy()
        short[self.long] = False
        return np.argwhere(short)

    @property
    def has_enough_products(self) -> bool:
        """Whether the number of positive eigenvalues can be the dimension of {D w P = 0}."""
        reading = self.mask.sum(axis=1) > 0
        products = self.inputs * int(reading[np.unique(self.cells[:, 1])].sum())
        unknowns = len(self.cells) + self.inputs * len(self.long)
        return products >= unknowns - self.inputs * self.outputs

    def positive(self, rng: np.random.Generator) -> Iterator[Matrices]:
        """D, P and K whose form is positive definite."""
        n = len(self.mask)
        shapes = ((self.outputs, n), (n, self.inputs), (self.inputs, self.outputs))
        best: list[np.ndarray] = []
        idle, ratio = _PATIENCE, -np.inf
        for _ in range(_ROUNDS):
            check_time()
            tried = [rng.standard_normal((_AT_ONCE, *shape)) for shape in shapes]
            if idle < _PATIENCE:
                sizes = rng.choice(_STEPS, _AT_ONCE)[:, None, None]
                tried = [
                    M + sizes * step * (rng.random(step.shape) < _SHARE)
                    for M, step in zip(best, tried, strict=True)
                ]
            else:
                ratio = -np.inf
            ratios = self.ratios(*tried)
            at = int(ratios.argmax())
            idle += 1
            if ratios[at] > ratio:
                best, ratio, idle = [M[at] for M in tried], ratios[at], 0
                if ratio > _MARGIN:
                    yield best[0], best[1], best[2]

    def ratios(self, D: np.ndarray, P: np.ndarray, K: np.ndarray) -> np.ndarray:
        """Smallest eigenvalues of the restricted forms over the largest absolute ones."""
        (count, n, inputs), own = P.shape, len(self.cells)
        rows, columns = self.cells.T
        states = np.zeros((count, own + inputs * len(self.long), n, inputs))
        states[:, np.arange(own), rows] = P[:, columns]
        for s, i in enumerate(self.long):
            at = own + inputs * s
            states[:, at : at + inputs, i] = np.eye(inputs)
        if self.long:
            across = np.linalg.qr(D[:, :, self.long])[0]
            K = K - K @ across @ across.swapaxes(1, 2)
        forms = np.zeros((count, *states.shape[1:2] * 2))
        forms[:, :own] = np.einsum("cet,cyte->cty", (K @ D)[:, :, rows], states[:, :, columns])
        forms += forms.swapaxes(1, 2)
        labels = (D[:, None] @ states).reshape(count, states.shape[1], -1)
        kernel = np.linalg.qr(labels, mode="complete")[0][:, :, labels.shape[2] :]
        if not kernel.size:
            return np.full(count, -1.0)
        values = np.linalg.eigvalsh(kernel.swapaxes(1, 2) @ forms @ kernel)
        # Where the restricted form is 0, rounding errors of the form are left.
        largest = np.maximum(np.abs(values).max(axis=1), 1e-9 * np.abs(forms).max(axis=(1, 2)))
        return np.asarray(values[:, 0] / np.maximum(largest, 1e-300))


def _rounded(found: Matrices, long: list[int], lines: Lines) -> Iterator[DefiniteForm]:
    """Integer matrices near those found, K orthogonal to the columns of D at long rows."""
    for scale in _SCALES:
        D, P = (np.rint(M * (scale / abs(M).max())).astype(int) for M in found[:2])
        basis = np.eye(len(D), dtype=int)
        if long:
            kernel = rational_kernel(D[:, long].T.tolist(), len(D))
            basis = np.array([_whole(row) for row in kernel]).reshape(len(kernel), len(D))
        K = np.linalg.lstsq(basis.T.astype(float), found[2].T, rcond=None)[0].T
        K = np.rint(K * (scale / max(abs(K).max(), 1e-300))).astype(int) @ basis
        if lines == "columns":
            D, P, K = P.T, D.T, K.T
        yield DefiniteForm(lines, *(tuple(map(tuple, M.tolist())) for M in (D, P, K)))


def _whole(row: list[fmpq]) -> list[int]:
    """A multiple of a rational vector with integer entries."""
    common = fmpz(1)
    for value in row:
        common = common.lcm(value.q)
    return [int(value.p * (common // value.q)) for value in row]
