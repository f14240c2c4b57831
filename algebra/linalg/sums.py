"""Sums of residues modulo a prime p < 2^61: entry by entry, along axes, of groups of columns."""

from __future__ import annotations

import numpy as np

from algebra.linalg.residues import BLOCK, SMALL, Residues, shifted


def sum_of(a: Residues, b: Residues, p: int) -> Residues:
    """Entrywise sum modulo p, of residues; shapes are broadcast."""
    total = np.asarray(np.add(a, b, order="C"))
    # As unsigned numbers negative ones are large.
    words = total.reshape(-1).view(np.uint64)
    for start in range(0, words.size, BLOCK):
        part = words[start : start + BLOCK]
        np.minimum(part, part - np.uint64(p), out=part)
    return total


def added(a: Residues, axis: int | tuple[int, ...], p: int) -> Residues:
    """Sums along axes modulo p, of residues; at most 2^31 of them each."""
    if p <= SMALL:
        return np.asarray(a.sum(axis=axis) % p)
    high, low = (np.asarray(part.sum(axis=axis)) for part in (a >> 31, a & (SMALL - 1)))
    return _of_halves(high, low, p)


def added_groups(a: Residues, starts: np.ndarray, p: int) -> Residues:
    """Sums of neighbouring columns modulo p, of residues: the groups begin at `starts`."""
    if p <= SMALL:
        return np.add.reduceat(a, starts, axis=1) % p
    high, low = (np.add.reduceat(part, starts, axis=1) for part in (a >> 31, a & (SMALL - 1)))
    return _of_halves(high, low, p)


def _of_halves(high: np.ndarray, low: np.ndarray, p: int) -> Residues:
    rest = shifted(high.reshape(-1) % p, 31, p) + low.reshape(-1)
    return (rest % p).reshape(high.shape)
