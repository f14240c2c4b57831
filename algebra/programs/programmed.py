"""Base class of networks given by a program: values and derivatives in any ring.

Programs are loaded where one is evaluated: a chain of matrices needs none for its ranks.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import ctx, fmpq

if TYPE_CHECKING:
    from algebra.programs.arrays import EntryArithmetic, Function
    from algebra.programs.balls import BallArithmetic
    from algebra.programs.jacobian import ProgramCell
    from algebra.programs.program import Node, Program

Matrix = Any
Matmul = Callable[[Matrix, Matrix], Matrix]

# Precisions at which signs are computed.
_PRECISIONS = (64, 256, 1024)


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

    def function_bounds(self, node: Node) -> tuple[Any, Any]:
        """Numbers below and above all values of the function that a node applies, or None.

        Of functions that `algebra.programs.ranges` does not know by name.
        """
        return None, None

    def vanishes_at_zero(self, node: Node) -> bool:
        """Whether the function that a node applies is known to be 0 at 0."""
        return node.name in ("tanh", "erf", "sin")

    def entries(
        self, matmul: Matmul = operator.matmul, number: Callable[[int, int], Any] = fmpq
    ) -> EntryArithmetic:
        """The arithmetic of entries that know their own ring: arguments of `EntryArithmetic`."""
        from algebra.programs.arrays import EntryArithmetic

        return EntryArithmetic(self.function, matmul, number)

    def jacobian(
        self, weights: Mapping[str, Matrix], X: Matrix, cells: Sequence[ProgramCell],
        matmul: Matmul = operator.matmul,
    ) -> np.ndarray:  # fmt: skip
        """The derivatives of the labels by some weights, (d·columns)×(cells), in the entries' ring.

        A rectified unit whose input is 0 counts as inactive.
        """
        from algebra.programs.arrays import number_in
        from algebra.programs.jacobian import program_jacobian

        # Constants are in the ring too: φ of an initial current 0 is a ball among balls.
        arithmetic, blocks = self.entries(matmul, number_in(X)), self.placed(weights, X)
        return program_jacobian(self.program(), arithmetic, blocks, cells)

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
        from algebra.programs.arrays import number_in
        from algebra.programs.evaluate import evaluate

        program, blocks = self.program(), self.placed(weights, X)
        labels = evaluate(program, self.entries(matmul, number_in(X)), blocks)[program.output]
        # Outputs of several steps are columns side by side.
        return np.reshape(labels, (len(labels), -1))

    def placed(self, weights: Mapping[str, Matrix], X: Matrix) -> dict[str, np.ndarray]:
        """Weights and samples as blocks of the program."""
        from algebra.programs.arrays import placed

        return placed(self.program(), weights, {"X": self.drive(X)})

    def ball_blocks(
        self, weights: Mapping[str, np.ndarray], X: np.ndarray, number: int
    ) -> dict[str, np.ndarray]:
        """The blocks of the program at a rational point, as balls.

        `number` determines all data that are drawn besides weights and samples.
        """
        from algebra.programs.balls import as_balls

        return self.placed({name: as_balls(w) for name, w in weights.items()}, as_balls(X))

    def signs_at(
        self, weights: Mapping[str, np.ndarray], X: np.ndarray, number: int
    ) -> dict[int, np.ndarray]:
        """The activation pattern at a rational point: the signs, by the nodes that choose.

        Raises
        ------
        SignUnknown
            If a value that decides a choice is not separated from 0 at any precision.
        """
        return self.balls_at(weights, X, number).pattern

    def balls_at(self, weights: Mapping[str, Any], X: np.ndarray, number: int) -> BallArithmetic:
        """The arithmetic that knows the pattern at a rational point, and values that are 0.

        Parameters
        ----------
        weights : mapping of str to ndarray or SparseMatrix
        X : ndarray
        number : int
            As of `ball_blocks`.

        Raises
        ------
        SignUnknown
            As of `signs_at`.
        """
        from algebra.programs.balls import BallArithmetic, SignUnknown
        from algebra.programs.evaluate import evaluate

        before = ctx.prec
        try:
            for bits in _PRECISIONS:
                ctx.prec = bits
                arithmetic = BallArithmetic(self.program())
                try:
                    evaluate(self.program(), arithmetic, self.ball_blocks(weights, X, number))
                except SignUnknown:
                    if bits == _PRECISIONS[-1]:
                        raise
                    continue
                return arithmetic
        finally:
            ctx.prec = before
        raise AssertionError("no precision")

    def drive(self, X: Matrix) -> Matrix:
        """The input of the equations: the samples, or a linear function of them."""
        return X
