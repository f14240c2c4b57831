"""Theorem 3's equivalence on many random masks: size of a matching and rank modulo a prime.

    python benchmarks/bench_sparse_masks.py [MASKS_PER_SIZE] [EXAMPLES.json]

By default 25,000 masks for each of eight sizes, 200,000 in all.  Every disagreement that remains
modulo five primes is written to the JSON file, with masks and primes.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

import numpy as np

from algebra.linalg.primes import random_prime
from algebra.linalg.ranks import batched_rank
from algebra.linalg.residues import random_residues
from algebra.plugins.normalization.khatri_rao import khatri_rao, product_patterns, structural_ranks

# Densities near the threshold of each size: both cases are frequent.
SIZES = [
    (2, 2, 4, 0.60),
    (2, 2, 6, 0.45),
    (3, 2, 6, 0.60),
    (3, 3, 9, 0.65),
    (3, 3, 12, 0.50),
    (4, 3, 12, 0.65),
    (4, 4, 16, 0.70),
    (4, 4, 24, 0.50),
]
# Masks compared at once.
_CHUNK = 20_000
# Number of points at which the rank must be below the size of the matching.
_POINTS = 5


def modular_ranks(left: np.ndarray, right: np.ndarray, p: int, rng: random.Random) -> np.ndarray:
    """Ranks modulo p of Khatri–Rao products with given patterns, at random residues.

    Parameters
    ----------
    left : ndarray, shape (N, n, w)
    right : ndarray, shape (N, m, w)
        Zero patterns.
    p : int
    rng : random.Random

    Returns
    -------
    ndarray of int64, shape (N,)
        Lower bounds of the generic ranks; each is smaller than that with probability at
        most 2·nm/p (Schwartz–Zippel; minors have degree at most 2nm and coefficients ±1).
    """
    A = random_residues(left.shape, p, rng) * (np.asarray(left) != 0)
    B = random_residues(right.shape, p, rng) * (np.asarray(right) != 0)
    product = khatri_rao(A, B) % p
    if product.shape[1] < product.shape[2]:
        product = product.transpose(0, 2, 1)
    return batched_rank(product, p)


@dataclass(frozen=True)
class Disagreement:
    """Masks for which the rank modulo p stays below the matching's size.

    Attributes
    ----------
    left, right : tuple of tuple of int
        Masks of W_2 and of W_1 transposed.
    structural, modular : int
    primes : tuple of int
        The primes modulo which it was computed.
    """

    left: tuple[tuple[int, ...], ...]
    right: tuple[tuple[int, ...], ...]
    structural: int
    modular: int
    primes: tuple[int, ...]


@dataclass(frozen=True)
class Agreement:
    """Comparison of matchings and generic ranks on random masks.

    Attributes
    ----------
    masks : int
    full, deficient : int
        Masks whose pattern has a matching that covers every row, and the other masks.
    unlucky : int
        Masks with too small a rank at the first point and the correct one at another point.
    disagreements : tuple of Disagreement
    """

    masks: int
    full: int
    deficient: int
    unlucky: int
    disagreements: tuple[Disagreement, ...] = field(default=())

    def __str__(self) -> str:
        return (
            f"{self.masks} random masks: {self.full} with a covering matching, {self.deficient} "
            f"without; {len(self.disagreements)} disagreements with the rank modulo a prime "
            f"({self.unlucky} unlucky points)"
        )


def compare_ranks(
    sizes: Iterable[tuple[int, int, int, float]], masks: int, seed: int = 0
) -> Agreement:
    """Compare the size of a matching with the rank modulo random primes, on random masks.

    Parameters
    ----------
    sizes : iterable of (n, m, width, density)
    masks : int
        For each size.
    seed : int, optional

    Returns
    -------
    Agreement

    Examples
    --------
    >>> str(compare_ranks([(2, 2, 4, 0.5)], 100)).endswith("0 disagreements with the rank "
    ...     "modulo a prime (0 unlucky points)")
    True
    """
    numbers = random.Random(f"sparse/{seed}")
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0x5BA5,)))
    total = full = unlucky = 0
    found: list[Disagreement] = []
    chunks = [
        (size, min(_CHUNK, masks - start)) for size in sizes for start in range(0, masks, _CHUNK)
    ]
    for (n, m, width, density), count in chunks:
        left, right = (rng.random((count, size, width)) < density for size in (n, m))
        structural = structural_ranks(product_patterns(left, right))
        p = random_prime(numbers)
        modular = modular_ranks(left, right, p, numbers)
        primes = [p]
        open_ = np.flatnonzero(structural != modular)
        first = len(open_)
        while len(open_) and len(primes) < _POINTS:
            primes.append(random_prime(numbers))
            again = modular_ranks(left[open_], right[open_], primes[-1], numbers)
            modular[open_] = np.maximum(modular[open_], again)
            open_ = open_[structural[open_] != modular[open_]]
        unlucky += first - len(open_)
        for k in open_:
            found.append(
                Disagreement(
                    tuple(tuple(map(int, row)) for row in left[k]),
                    tuple(tuple(map(int, row)) for row in right[k]),
                    int(structural[k]), int(modular[k]), tuple(primes),
                )
            )  # fmt: skip
        total += count
        full += int((structural == n * m).sum())
    return Agreement(total, full, total - full, unlucky, tuple(found))


def main() -> int:
    """Compare and report; status 1 if there is a disagreement."""
    masks = int(sys.argv[1]) if len(sys.argv) > 1 else 25_000
    examples = []
    total = 0
    for size in SIZES:
        start = time.perf_counter()
        found = compare_ranks([size], masks)
        n, m, width, density = size
        print(
            f"{n}×{m}, w = {width:2d}, p = {density:.2f}: {found} "
            f"({time.perf_counter() - start:.1f} s)"
        )
        total += found.masks
        examples += [{"size": size, **asdict(d)} for d in found.disagreements]
    print(f"{total} masks, {len(examples)} disagreements")
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            json.dump(examples, file, indent=1)
    return bool(examples)


if __name__ == "__main__":
    sys.exit(main())
