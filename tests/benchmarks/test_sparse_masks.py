"""Random masks: matchings compared with ranks."""

import numpy as np

from benchmarks import bench_sparse_masks
from benchmarks.bench_sparse_masks import compare_ranks

SIZES = [(2, 2, 4, 0.6), (3, 3, 9, 0.5), (3, 3, 12, 0.4), (2, 4, 9, 0.5)]


def test_no_disagreement():
    """Matching and generic rank agree on 8000 masks; both cases are frequent."""
    found = compare_ranks(SIZES, 2000)
    assert found.masks == 8000
    assert min(found.full, found.deficient) > 500
    assert found.disagreements == ()


def test_a_disagreement_is_stored(monkeypatch):
    """A rank that remains too small is stored as an example with its masks and primes."""

    def zero(left, right, p, rng):
        return np.zeros(len(left), np.int64)

    monkeypatch.setattr(bench_sparse_masks, "modular_ranks", zero)
    found = compare_ranks([(1, 1, 1, 1.0)], 2)
    assert len(found.disagreements) == 2
    assert found.disagreements[0].left == ((1,),)
    assert len(found.disagreements[0].primes) == 5
