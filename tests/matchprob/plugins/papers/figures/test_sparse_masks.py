"""Random masks: matching against brute force over all masks, against bounds."""

from itertools import product

import numpy as np
from matchprob.plugins.papers.figures.papers.sparse_masks import (
    draw_masks,
    solvable_by_counting,
    sparse_success,
)

from algebra.plugins.normalization.khatri_rao import product_patterns, structural_rank
from tests.refusals import refuses


def test_probability_by_enumeration():
    """For d = 1, w = 2 the probability is 1 − (1 − p²)²; for d = 2 all masks are enumerated."""
    found = sparse_success(1, 2, 0.5, trials=4000)
    assert found.interval.low < 1 - 0.75**2 < found.interval.high
    p, d, w = 0.8, 2, 4
    masks = [np.array(bits).reshape(d, w) for bits in product((0, 1), repeat=d * w)]
    weight = [p ** m.sum() * (1 - p) ** (d * w - m.sum()) for m in masks]
    good = sum(
        weight[a] * weight[b]
        for a, left in enumerate(masks)
        if left.any(axis=0).all()
        for b, right in enumerate(masks)
        if right.any(axis=0).all() and structural_rank(product_patterns(left, right)) == d * d
    )
    found = sparse_success(d, w, p, trials=4000)
    assert found.interval.low < good < found.interval.high


def test_counting_never_excludes_a_solvable_mask():
    """Masks that the counts refuse have no covering matching."""
    left, right = draw_masks(2, 5, 0.5, 300, np.random.default_rng(3))
    kept = solvable_by_counting(left, right)
    ranks = [structural_rank(x) for x in product_patterns(left, right)]
    assert not any(r == 4 and not k for r, k in zip(ranks, kept, strict=True))
    assert 0 < kept.sum() < 300


def test_more_width_helps():
    """At the same density a wider net succeeds at least as often, significantly so here."""
    narrow, wide = sparse_success(4, 16, 0.6, 400), sparse_success(4, 32, 0.6, 400)
    assert narrow.interval.high < wide.interval.low


def test_wrong_density_is_told():
    """A density outside [0, 1] is rejected."""
    refuses("density", sparse_success, 2, 4, 1.5)
