"""Small linear programs max c·x, A x = b, x ≥ 0, and the check of a proof that one has no point."""

import numpy as np
from flint import fmpq


def small_program(rng, rows, columns, feasible):
    """A, b and c of small integers."""
    A = rng.integers(-3, 4, (rows, columns))
    b = A @ rng.integers(0, 3, columns) if feasible else rng.integers(-4, 5, rows)
    return A, b, rng.integers(-3, 4, columns)


def rationals(values):
    """Nested lists of fmpq."""
    if isinstance(values, (list, np.ndarray)):
        return [rationals(v) for v in values]
    return fmpq(int(values))


def refutes(y, A, b):
    """Whether y·A ≤ 0 and y·b > 0, by Farkas' lemma."""
    on_columns = [sum((v * int(a) for v, a in zip(y, c, strict=True)), fmpq(0)) for c in A.T]
    on_b = sum((v * int(c) for v, c in zip(y, b, strict=True)), fmpq(0))
    return all(v <= 0 for v in on_columns) and on_b > 0
