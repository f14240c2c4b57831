"""Classification of structured data: loading, training, verification."""

import gzip
import struct
from fractions import Fraction

import numpy as np
import pytest
from matchprob.plugins.papers.figures.papers.classification import (
    classify,
    load_digits,
    load_idx,
    verify_classes,
)

from tests.refusals import refuses


def _idx(array):
    sizes = array.shape
    return (
        b"\x00\x00\x08"
        + bytes([len(sizes)])
        + struct.pack(f">{len(sizes)}I", *sizes)
        + (array.astype(np.uint8).tobytes())
    )


@pytest.fixture(scope="module")
def digits():
    """The bundled digits."""
    pytest.importorskip("sklearn")
    return load_digits()


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_idx_files_are_read(tmp_path, suffix):
    """Images and labels, gzipped or not, in the order of the file."""
    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 256, (20, 3, 4)), np.arange(20) % 5
    pack = gzip.compress if suffix else bytes
    (tmp_path / f"train-images-idx3-ubyte{suffix}").write_bytes(pack(_idx(images)))
    (tmp_path / f"train-labels-idx1-ubyte{suffix}").write_bytes(pack(_idx(labels)))
    found = load_idx(tmp_path)
    assert found.X.shape == (12, 20)
    assert found.classes == 5
    assert (found.labels == labels).all()
    flat = images.reshape(20, -1).T
    scale = found.X[0, 0] - found.X[0, 1]
    assert np.allclose(found.X * (flat[0, 0] - flat[0, 1]), (flat - flat.mean(1)[:, None]) * scale)


@pytest.mark.parametrize(
    ("images", "words"),
    [
        (b"", "not an IDX file"),
        (b"\x00\x00\x08\x03\x00", "cut off"),
        (_idx(np.zeros((3, 2, 2)))[:-1], "promises"),
        (_idx(np.zeros((3, 2, 2))), "belong together"),
        (_idx(np.zeros(4)), "belong together"),
    ],
)
def test_damaged_files_are_refused(tmp_path, images, words):
    """The message names the error in the file."""
    (tmp_path / "train-images-idx3-ubyte").write_bytes(images)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(_idx(np.zeros(4)))
    refuses(words, load_idx, tmp_path)


def test_missing_files_are_named(tmp_path):
    """An empty folder: the message names the expected files."""
    refuses("train-images-idx3-ubyte", load_idx, tmp_path)


def test_many_weights_match_and_few_do_not(digits):
    """2,000 weights classify 100 samples, 12 do not; the same trial twice is the same."""
    easy = classify(digits, m=100, n=200, budget=2000, rows=40, seed=0, index=0)
    assert easy.matched
    assert easy.right == 100
    hard = classify(digits, m=100, n=200, budget=12, rows=4, seed=0, index=0, steps=100)
    assert not hard.matched
    assert hard == classify(digits, m=100, n=200, budget=12, rows=4, seed=0, index=0, steps=100)


@pytest.mark.parametrize(
    ("change", "words"),
    [({"m": 5000}, "`m`"), ({"rows": 0}, "`rows`"), ({"budget": 3}, "`budget`")],
)
def test_bad_sizes_are_named(digits, change, words):
    """Invalid arguments are named with their value."""
    sizes = {"m": 50, "n": 20, "budget": 40, "rows": 5}
    refuses(words, classify, digits, **(sizes | change), seed=0, index=0)


@pytest.mark.parametrize("seed", range(5))
def test_verified_classes_are_those_over_the_rationals(seed):
    """Counts agree with fractions, ties included: a tie is an error."""
    rng = np.random.default_rng(seed)
    W1, W2, X = rng.normal(size=(6, 4)), rng.normal(size=(3, 6)), rng.normal(size=(4, 8))
    if seed == 0:
        W2[1] = W2[0]
    labels = rng.integers(0, 3, 8)
    right = 0
    for s in range(8):
        x = [Fraction(v) for v in X[:, s]]
        h = [max(sum(Fraction(w) * v for w, v in zip(row, x, strict=True)), 0) for row in W1]
        z = [sum(Fraction(w) * v for w, v in zip(row, h, strict=True)) for row in W2]
        right += all(z[labels[s]] > v for o, v in enumerate(z) if o != labels[s])
    found, exact = verify_classes(W1, W2, X, labels)
    assert found == right
    assert exact >= (seed == 0 and (labels < 2).any())
