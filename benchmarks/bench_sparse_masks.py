"""Theorem 3's equivalence on many random masks: matching against rank modulo a prime.

    python benchmarks/bench_sparse_masks.py [MASKS_PER_SIZE] [EXAMPLES.json]

By default 25,000 masks for each of eight sizes, 200,000 in all.  Every disagreement that
outlives five primes is written to the JSON file, masks and primes and all.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict

from numeric.normalization.sparse_masks import compare_ranks

# Densities near the threshold of each size: both outcomes are frequent.
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


def main() -> int:
    """Compare and report; status 1 where anything disagrees."""
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
