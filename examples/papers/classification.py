"""Structured data: which allocations let a random ReLU net classify every sample (Figure 3c).

A match is here arg max_o (W2 relu(W1 x_s))_o = label of s for all m samples: inequalities, not
equations.  As in the first paper a first-order method (Adam, on the cross-entropy) searches
weights; these are verified afterwards, so the share of matches is a lower bound.

Verification: with unit roundoff u and γ_k = k u / (1 − k u), a computed product of matrices with
inner dimension k has an error of at most γ_k |A||B| in every entry (Higham, *Accuracy and Stability
of Numerical Algorithms*, 2002, section 3.5); relu does not increase errors.  So margins above the
bound are certified, and the few samples below it are evaluated over Q.
"""

from __future__ import annotations

import gzip
import importlib
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from flint import fmpq

from algebra.errors import InputError
from algebra.installing import missing
from numeric.programs.descent import Adam
from numeric.trials.instances import to_rational

_ROUNDOFF = 2.0**-53
_TINY = 1e-12
_NAMES = (
    ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    ("train-images.idx3-ubyte", "train-labels.idx1-ubyte"),
    ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
)


@dataclass(frozen=True)
class Samples:
    """Labelled samples.

    Attributes
    ----------
    name : str
    X : ndarray, q×N
        Each feature of mean 0; entries of variance 1 on average.
    labels : ndarray of int, N
        From 0 to classes − 1.
    classes : int
    """

    name: str
    X: np.ndarray
    labels: np.ndarray
    classes: int


def load_digits() -> Samples:
    """Scikit-learn's bundled digits: 1,797 images of 8×8.

    Raises
    ------
    InputError
        Without scikit-learn.
    """
    try:
        datasets = importlib.import_module("sklearn.datasets")
    except ImportError:
        raise InputError(missing("the bundled digits need", "scikit-learn", "digits")) from None
    found = datasets.load_digits()
    return _samples("digits", found.data, found.target)


def load_idx(folder: Path) -> Samples:
    """MNIST's images and labels from a folder of IDX files, gzipped or not.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    InputError
        Where the files are missing, damaged or do not belong together.
    """
    for images, labels in _NAMES:
        for suffix in ("", ".gz"):
            first, second = folder / f"{images}{suffix}", folder / f"{labels}{suffix}"
            if first.is_file() and second.is_file():
                X, y = _read_idx(first), _read_idx(second)
                if X.ndim != 3 or y.ndim != 1 or len(X) != len(y) or not len(X):
                    raise InputError(
                        f"{folder}: {len(X)} images and {len(y)} labels do not belong together"
                    )
                return _samples(folder.name or "idx", X.reshape(len(X), -1), y)
    raise InputError(
        f"`data` ({folder}): no MNIST files there; expected {_NAMES[0][0]} and {_NAMES[0][1]}, "
        "with or without .gz"
    )


def _read_idx(path: Path) -> np.ndarray:
    """One IDX file: two zero bytes, type, number of dimensions, sizes, data."""
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: {error}") from None
    if len(raw) < 4 or raw[:3] != b"\x00\x00\x08":
        raise InputError(f"{path}: not an IDX file of bytes")
    dimensions = raw[3]
    if len(raw) < 4 + 4 * dimensions:
        raise InputError(f"{path}: the header is cut off")
    sizes = struct.unpack(f">{dimensions}I", raw[4 : 4 + 4 * dimensions])
    data = np.frombuffer(raw, np.uint8, offset=4 + 4 * dimensions)
    if data.size != int(np.prod(sizes)):
        raise InputError(f"{path}: {data.size} bytes of data, the header promises {sizes}")
    return data.reshape(sizes)


def _samples(name: str, rows: np.ndarray, labels: np.ndarray) -> Samples:
    X = np.asarray(rows, float).T
    X = X - X.mean(axis=1, keepdims=True)
    labels = np.asarray(labels, int)
    return Samples(name, X / max(float(X.std()), 1e-300), labels, int(labels.max()) + 1)


@dataclass(frozen=True)
class Classified:
    """One trial.

    Attributes
    ----------
    index : int
    matched : bool
        Whether verified weights classify all samples.
    right : int
        Samples classified rightly at the end.
    steps : int
    exact : int
        Samples whose margin needed rational arithmetic.
    """

    index: int
    matched: bool
    right: int
    steps: int
    exact: int


def classify(
    samples: Samples,
    *,
    m: int,
    n: int,
    budget: int,
    rows: int,
    seed: int,
    index: int,
    steps: int = 1500,
    rate: float = 0.05,
) -> Classified:
    """Train the learnable weights of a random net on m random samples, and verify.

    Parameters
    ----------
    samples : Samples
    m, n : int
        Samples and hidden units.
    budget, rows : int
        Learnable weights, drawn in the first rows of W1, each row with one at least.
    seed, index : int
        The trial is a function of these.
    steps : int, optional
        Most steps of Adam.
    rate : float, optional

    Raises
    ------
    InputError
        Where the numbers do not fit.
    """
    q, available = samples.X.shape
    if not 1 <= m <= available:
        raise InputError(f"`m` ({m}) must be from 1 to the {available} samples there are")
    if not 1 <= rows <= n:
        raise InputError(f"`rows` ({rows}) must be from 1 to n = {n}")
    if not rows <= budget <= rows * q:
        raise InputError(f"`budget` ({budget}) must be from {rows} to rows·q = {rows * q}")
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index, rows, 0x3C)))
    chosen = rng.permutation(available)[:m]
    X, labels = samples.X[:, chosen], samples.labels[chosen]
    W1 = rng.standard_normal((n, q)) / np.sqrt(q)
    W2 = rng.standard_normal((samples.classes, n)) / np.sqrt(n)
    mask = np.zeros((rows, q), bool)
    mask[np.arange(rows), rng.integers(q, size=rows)] = True
    free = np.flatnonzero(~mask.ravel())
    mask.ravel()[rng.permutation(free)[: budget - rows]] = True
    fixed = W2[:, rows:] @ np.maximum(W1[rows:] @ X, 0.0)
    W1[:rows], used = _adam(W1[:rows], W2[:, :rows], mask, X, labels, fixed, steps, rate)
    right, exact = verify_classes(W1, W2, X, labels)
    return Classified(index, right == m, right, used, exact)


def _adam(
    W: np.ndarray,
    V: np.ndarray,
    mask: np.ndarray,
    X: np.ndarray,
    labels: np.ndarray,
    fixed: np.ndarray,
    steps: int,
    rate: float,
) -> tuple[np.ndarray, int]:
    """Adam on the cross-entropy until every sample is right, or `steps` are done."""
    W = W.copy()
    state = Adam(W, _TINY)
    each = np.arange(len(labels))
    for t in range(1, steps + 1):
        h = W @ X
        z = V @ np.maximum(h, 0.0) + fixed
        if (z.argmax(axis=0) == labels).all():
            return W, t - 1
        p = np.exp(z - z.max(axis=0))
        p /= p.sum(axis=0)
        p[labels, each] -= 1.0
        slope = ((V.T @ p) * (h > 0)) @ X.T * mask
        W -= state.step(slope, rate)
    return W, steps


def verify_classes(
    W1: np.ndarray, W2: np.ndarray, X: np.ndarray, labels: np.ndarray
) -> tuple[int, int]:
    """How many samples the net classifies rightly, for certain.

    Parameters
    ----------
    W1, W2, X : ndarray
        n×q, d×n and q×m, read as exact dyadic numbers.
    labels : ndarray of int, m

    Returns
    -------
    (right, exact)
        Samples whose label has the strictly largest output, and how many of all samples had to
        be evaluated over Q because the rounding error bound did not settle them.
    """
    q, n = X.shape[0], W1.shape[0]
    gamma_q, gamma_n = (k * _ROUNDOFF / (1 - k * _ROUNDOFF) for k in (q + 1, n + 2))
    h = W1 @ X
    u = np.maximum(h, 0.0)
    z = W2 @ u
    h_error = gamma_q * (np.abs(W1) @ np.abs(X)) * 1.01
    error = (np.abs(W2) @ (gamma_n * (u + h_error) + h_error)) * 1.01
    each = np.arange(len(labels))
    low = (z - error)[labels, each]
    high = z + error
    high[labels, each] = -np.inf
    surely = low > high.max(axis=0)
    upper = (z + error)[labels, each]
    others = z - error
    others[labels, each] = -np.inf
    never = upper < others.max(axis=0)
    right, doubtful = int(surely.sum()), np.flatnonzero(~surely & ~never)
    for s in doubtful:
        outputs = _exact_outputs(W1, W2, X[:, s])
        own = outputs[labels[s]]
        right += all(own > value for o, value in enumerate(outputs) if o != labels[s])
    return right, len(doubtful)


def _exact_outputs(W1: np.ndarray, W2: np.ndarray, x: np.ndarray) -> list[fmpq]:
    exact = to_rational(x)
    zero = fmpq(0)
    hidden = [
        max(sum((w * v for w, v in zip(row, exact, strict=True)), zero), zero)
        for row in to_rational(W1)
    ]
    return [
        sum((w * v for w, v in zip(row, hidden, strict=True) if v), zero) for row in to_rational(W2)
    ]
