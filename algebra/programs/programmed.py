"""Base class of networks given by a program: values and derivatives in any ring."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from flint import fmpq

from algebra.programs.arrays import EntryArithmetic, Function, number_in, placed
from algebra.programs.evaluate import evaluate
from algebra.programs.jacobian import ProgramCell, program_jacobian
from algebra.programs.program import Node, Program

Matrix = Any
Matmul = Callable[[Matrix, Matrix], Matrix]


@lru_cache(maxsize=64)
def _program(owner: Programmed) -> Program:
    return owner.build()


class Programmed(ABC):
    """A network given by a program; hashable, since the program is cached."""

    def program(self) -> Program:
        """The program; built once."""
        return _program(self)

    @abstractmethod
    def build(self) -> Program:
        """The program, in which the network's input is named X: for `program`."""

    def function(self, node: Node) -> Function:
        """The function that a node of the program applies."""
        raise AssertionError(f"no function is known of {node}")

    def entries(
        self, matmul: Matmul = operator.matmul, number: Callable[[int, int], Any] = fmpq
    ) -> EntryArithmetic:
        """The arithmetic of entries that know their own ring: arguments of `EntryArithmetic`."""
        return EntryArithmetic(self.function, matmul, number)

    def jacobian(
        self, weights: Mapping[str, Matrix], X: Matrix, cells: Sequence[ProgramCell],
        matmul: Matmul = operator.matmul, number: Callable[[int, int], Any] = fmpq,
    ) -> np.ndarray:  # fmt: skip
        """The derivatives of the labels by some weights, (d·columns)×(cells), in the entries' ring.

        A rectified unit whose input is 0 counts as inactive.
        """
        program, arithmetic = self.program(), self.entries(matmul, number)
        blocks = placed(program, weights, {"X": self.drive(X)})
        return program_jacobian(program, arithmetic, blocks, cells)

    def forward(
        self, weights: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> Matrix:
        """Labels Y (d×columns) of the samples X under the given weights.

        Parameters
        ----------
        weights : mapping of str to matrix
            One matrix for each of the program's weights.
        X : matrix
            Samples, one in each column.
        matmul : callable, optional
            Product of two matrices; `operator.matmul` by default.

        Returns
        -------
        matrix
            The labels, in the ring of the entries.
        """
        program = self.program()
        blocks = placed(program, weights, {"X": self.drive(X)})
        labels = evaluate(program, self.entries(matmul, number_in(X)), blocks)[program.output]
        # Outputs of several steps are columns side by side.
        return np.reshape(labels, (len(labels), -1))

    def drive(self, X: Matrix) -> Matrix:
        """The input of the equations: the samples, or a linear function of them."""
        return X
