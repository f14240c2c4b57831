r"""Proof modulo a prime that no scales realize a target: fast if rationals are long.

The system K γ = v (Lemma 1) has no solution if (K | v) has larger rank than K.  K has w columns; so
rank(K | v) = w + 1 *modulo a prime*, which is at most the rank over Q, is a proof. With the inverse
output scales δ as unknowns the system K γ − B δ = 0 has only the solution 0 if its matrix has full
column rank w + n, which again a rank modulo a prime proves.

The proof is the prime: anyone can reduce the data (doubles are rationals whose denominators are
powers of two) and compute the rank.  Unlike `algebra.plugins.normalization.scales.Obstruction` it
needs no vector with thousands of digits; but it applies only to systems whose columns are
independent, as generic ones are below the needed width.  It is about one block:
`algebra.plugins.normalization.reconstruct` says what it proves of a network.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from algebra.linalg.primes import random_prime
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import rational_residues
from algebra.plugins.normalization.dense import rational_array
from algebra.plugins.normalization.khatri_rao import khatri_rao

_PRIMES = 3


def prove_unreachable(
    W2: Any, W1: Any, target: Any, *, second_scales: bool = False, seed: int = 0
) -> int:
    """A prime that proves that no scales γ (and γ') give W_2 diag(γ) W_1 = target.

    Parameters
    ----------
    W2, W1, target : matrices, n×w, w×m and n×m
    second_scales : bool, optional
        Whether nonzero output scales γ' may be chosen too.
    seed : int, optional
        It determines the primes.

    Returns
    -------
    int
        0 if none of three random primes is a proof; this proves nothing.

    Examples
    --------
    >>> prove_unreachable([[1], [2]], [[1, 3]], [[1, 0], [0, 1]]) > 0
    True
    >>> prove_unreachable([[1], [2]], [[1, 3]], [[1, 3], [2, 6]])
    0
    """
    rng = random.Random(f"unreachable/{seed}")
    for p in (random_prime(rng) for _ in range(_PRIMES)):
        try:
            if shows_unreachable(W2, W1, target, p, second_scales=second_scales):
                return p
        except ZeroDivisionError:
            continue
    return 0


def shows_unreachable(
    W2: Any, W1: Any, target: Any, p: int, *, second_scales: bool = False
) -> bool:
    """Whether a prime is a proof."""
    A, B, T = (
        rational_residues(rational_array(value, name), p)
        for value, name in ((W2, "W2"), (W1, "W1"), (target, "target"))
    )
    K = khatri_rao(A, B.T) % p
    more = khatri_rao(np.eye(len(T), dtype=np.int64), T.T) if second_scales else T.reshape(-1, 1)
    whole = np.concatenate([K, more], axis=1)
    return whole.shape[1] <= T.size and modular_rank(whole, p) == whole.shape[1]
