r"""Depth instead of width: skip connections add the input block by block (Theorem 2).

A layer ``W* x + b*`` of a target of width d is realized by s = ⌈d/k⌉ frozen layers of width dk and
a last linear one, with x cut into blocks x_1, …, x_s of k entries (the last padded with zeros):

.. math:: L_1 = Γ_1 W_1 A_1 x_1 + β_1, \quad
          L_i = Γ_i W_i (σ(L_{i-1}) + A_i x_i) + β_i, \quad f(x) = V L_s,

A_i dk×k, W_i dk×dk, V d×dk frozen, Γ_i and β_i tuned.  If all units are active f is affine and
block i of x is multiplied by M_i Γ_i W_i A_i, with M_s = V and M_{i-1} = M_i Γ_i W_i.  So the
scales are computed one block after the other, the last first, each from a linear system of dk
equations in dk unknowns:

.. math:: (M_i ⊙ (W_i A_i)^T) \mathrm{vecd}(Γ_i) = \mathrm{vec}(W^*_i).

This requires nonsingular systems.  For generic matrices it suffices that no scale is 0; Lemma 3
says that none is 0, with probability 1, if no block of the target is 0.
`TunedSkipBlock.zero_scales` counts those of one net.  For all generic nets of a size one point
modulo a prime proves it (the tests do): the determinants and, by Cramer's rule, the numerators of
the scales are polynomials; none is the zero polynomial if none vanishes at some point.

Constants: c_1 = β_1 and c_i = Γ_i W_i c_{i-1} + β_i are the constant parts of L_i.  The entries of
its linear part are bounded by row norms times the radius; c_i is chosen as these bounds for i < s,
and for i = s so that V c_s = b*.

References
----------
.. [1] A. Giannou, S. Rajput, D. Papailiopoulos, "The expressive power of tuning only the
   normalization layers", COLT 2023 (arXiv 2302.07937).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import fmpq

from algebra.errors import InputError
from algebra.linalg.rational import Rationals, rational_solution
from algebra.plugins.normalization.dense import norm_bound, rational_array
from algebra.plugins.normalization.scales import Unreachable, solve_scales


@dataclass(frozen=True)
class SkipBlock:
    """The frozen matrices that realize one layer of the target, in rationals or doubles.

    Attributes
    ----------
    mixing : tuple of matrices
        W_1, …, W_s, each dk×dk.
    feeding : tuple of matrices
        A_1, …, A_s, each dk×k.
    output : matrix
        V, d×dk.
    """

    mixing: tuple[np.ndarray, ...]
    feeding: tuple[np.ndarray, ...]
    output: np.ndarray

    @classmethod
    def of(cls, mixing: Sequence[Any], feeding: Sequence[Any], output: Any) -> SkipBlock:
        """From arrays, as rationals, with their sizes checked."""
        V = rational_array(output, "V")
        W = tuple(rational_array(matrix, f"W{i}") for i, matrix in enumerate(mixing, 1))
        A = tuple(rational_array(matrix, f"A{i}") for i, matrix in enumerate(feeding, 1))
        if not W or len(W) != len(A):
            raise InputError(f"`mixing` has {len(W)} matrices, `feeding` {len(A)}: one each")
        width, k = V.shape[1], A[0].shape[1]
        for i, (mix, feed) in enumerate(zip(W, A, strict=True), 1):
            if mix.shape != (width, width) or feed.shape != (width, k):
                raise InputError(
                    f"`W{i}` {mix.shape} and `A{i}` {feed.shape} must be {width}×{width} and "
                    f"{width}×{k}"
                )
        return cls(W, A, V)

    @property
    def k(self) -> int:
        """Number of inputs added at a layer."""
        return int(self.feeding[0].shape[1])

    @property
    def steps(self) -> int:
        """Number s of layers with scales."""
        return len(self.mixing)

    def parts(self, X: np.ndarray) -> list[np.ndarray]:
        """Blocks of k rows, the last padded with zeros."""
        missing = self.steps * self.k - len(X)
        if missing:
            X = np.concatenate([X, np.zeros((missing, X.shape[1]), X.dtype) * X[:1]])
        return [X[i * self.k : (i + 1) * self.k] for i in range(self.steps)]

    def scales(
        self, target: np.ndarray, solve: Callable[[np.ndarray, np.ndarray, np.ndarray, int], Any]
    ) -> tuple[np.ndarray, ...]:
        """Γ_1, …, Γ_s, one block after the other, the last first.

        Parameters
        ----------
        target : matrix, d×q
        solve : callable
            γ with M diag(γ) C = the target's part, from M, C, this part and the block's number,
            from 1.

        Raises
        ------
        InputError
            If the sizes do not fit.
        """
        (d, q), k = target.shape, self.k
        if self.output.shape != (d, d * k) or self.steps != -(-q // k):
            raise InputError(
                f"a {d}×{q} target with blocks of {k} needs {-(-q // k)} layers of width {d * k} "
                f"and an output of {d}×{d * k}; there are {self.steps}, the output is "
                f"{self.output.shape}"
            )
        M, found = self.output, list[np.ndarray]()
        for i, part in reversed(list(enumerate(self.parts(target.T)))):
            mix = self.mixing[i]
            found.insert(0, solve(M, mix @ self.feeding[i], part.T, i + 1))
            M = M @ (found[0][:, None] * mix)
        return tuple(found)


@dataclass(frozen=True)
class TunedSkipBlock:
    """A skip block with its scales and shifts, in rationals or doubles.

    Attributes
    ----------
    block : SkipBlock
    scales, shifts : tuple of vectors
        Γ_1, …, Γ_s and β_1, …, β_s.
    """

    block: SkipBlock = field(repr=False)
    scales: tuple[np.ndarray, ...] = field(repr=False)
    shifts: tuple[np.ndarray, ...] = field(repr=False)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Outputs, before the target's own activation, for samples X, one in each column."""
        state = None
        for i, part in enumerate(self.block.parts(X)):
            fed = self.block.feeding[i] @ part
            if state is not None:
                fed = fed + state * (state > 0)
            linear = self.block.mixing[i] @ fed
            state = self.scales[i][:, None] * linear + self.shifts[i][:, None]
        return self.block.output @ state

    @property
    def zero_scales(self) -> int:
        """Number of scales that are 0: Lemma 3 says none."""
        return sum(int(entry == 0) for scale in self.scales for entry in scale)


def realize_by_depth(
    target: Any, shift: Any, block: SkipBlock, *, radius: Any = 1
) -> TunedSkipBlock:
    """Scales and shifts with which a skip block equals ``target @ x + shift`` (Theorem 2).

    Parameters
    ----------
    target : matrix, d×q
    shift : vector, d
    block : SkipBlock
        Of width dk, with ⌈q/k⌉ layers.
    radius : rational, optional
        Radius of the ball of inputs.

    Returns
    -------
    TunedSkipBlock

    Raises
    ------
    InputError
        If sizes do not fit, or a system is singular (with probability 0, except for targets with a
        block of zeros).
    """
    goal, b = rational_array(target, "target"), rational_array(shift, "shift", 1)
    R = rational_array([radius], "radius", 1)[0]
    if len(b) != len(goal):
        raise InputError(f"`shift` has {len(b)} entries; the target has {len(goal)} rows")

    def solve(M: Rationals, mixed: Rationals, part: Rationals, layer: int) -> Rationals:
        try:
            return solve_scales(M, mixed, part, layer=layer)
        except Unreachable:
            raise InputError(
                f"block {layer}: its system is singular, because the frozen matrices are special "
                "or a later block of the target is 0: this construction ends here"
            ) from None

    scales, k, width = block.scales(goal, solve), block.k, block.output.shape[1]
    # Linear part of each L_i as a matrix in x, for the bounds that keep all units active.
    linear = np.array([[fmpq(0)] * (block.steps * k) for _ in range(width)], dtype=object)
    constant = np.array([fmpq(0)] * width, dtype=object)
    shifts: list[Rationals] = []
    for i, gamma in enumerate(scales):
        mix = gamma[:, None] * block.mixing[i]
        linear[:, i * k : (i + 1) * k] += block.feeding[i]
        linear, carried = mix @ linear, mix @ constant
        if i < block.steps - 1:
            constant = np.array([norm_bound(row) * R for row in linear], dtype=object)
        else:
            found = rational_solution(block.output, b, width)
            if found is None:
                raise InputError("`V`: its columns do not span the target's shift")
            constant = np.array(found, dtype=object)
        shifts.append(constant - carried)
    return TunedSkipBlock(block, scales, tuple(shifts))
