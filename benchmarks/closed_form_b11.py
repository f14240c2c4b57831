r"""True match probabilities of the first paper's section B.1.1, by a closed form.

A linear RNN with n = 2, T = 2, b = d = 1, m = 2.  X is square and regular, so the labels are
matched if and only if D W B = A_1 and D W² B = A_2, the teacher's.  With two learnable weights of W
on a diagonal the first equation is affine in them and eliminates one; the second becomes a x² + b x
+ c = 0, and a match exists if and only if its discriminant is not negative.  No tracker, no Gröbner
basis and no random stream of the project is used.

    python benchmarks/closed_form_b11.py --draws 20000000

20 million draws, seed 2026 (15 s): see `examples/papers/paper1_small_nets.py`, which cites them.
"""

from __future__ import annotations

import argparse
from math import sqrt

import numpy as np

CELLS = {"diagonal": ((0, 0), (1, 1)), "off-diagonal": ((0, 1), (1, 0))}
_CHUNK = 500_000


def matches(cells: tuple[tuple[int, int], ...], draws: int, rng: np.random.Generator) -> int:
    """The number of random instances with a real solution.

    Parameters
    ----------
    cells : two pairs of int
        Learnable entries of W, no two in one row or column.
    draws : int
    rng : numpy Generator
    """
    scale = sqrt(0.5)
    # Variance 1/(number of columns): W and D have two, B has one.
    W, V = rng.standard_normal((2, draws, 2, 2)) * scale
    D, E = rng.standard_normal((2, draws, 2)) * scale
    B, C = rng.standard_normal((2, draws, 2))
    VC = np.einsum("nij,nj->ni", V, C)
    first = np.einsum("ni,ni->n", E, VC)
    second = np.einsum("ni,nij,nj->n", E, V, VC)

    def residuals(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        student = W.copy()
        for (row, column), value in zip(cells, (x, y), strict=True):
            student[:, row, column] = value
        WB = np.einsum("nij,nj->ni", student, B)
        return (
            np.einsum("ni,ni->n", D, WB) - first,
            np.einsum("ni,nij,nj->n", D, student, WB) - second,
        )

    zero, one = np.zeros(draws), np.ones(draws)
    base = residuals(zero, zero)[0]
    dx, dy = residuals(one, zero)[0] - base, residuals(zero, one)[0] - base
    # The quadratic through its values at -1, 0 and 1.
    values = [residuals(x * one, -(base + dx * x) / dy)[1] for x in (-1.0, 0.0, 1.0)]
    c = values[1]
    a, b = (values[2] + values[0]) / 2 - c, (values[2] - values[0]) / 2
    return int((b * b >= 4 * a * c).sum())


def main() -> None:
    """Print both probabilities with their standard errors."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=20_000_000)
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args()
    for name, cells in CELLS.items():
        rng = np.random.default_rng(options.seed)
        found = left = 0
        for start in range(0, options.draws, _CHUNK):
            left = min(_CHUNK, options.draws - start)
            found += matches(cells, left, rng)
        share = found / options.draws
        error = sqrt(share * (1 - share) / options.draws)
        print(f"{name:<13} {share:.6f} ± {error:.6f} (standard error, {options.draws} draws)")


if __name__ == "__main__":
    main()
