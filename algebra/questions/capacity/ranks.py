r"""The number of samples that a set of parameters can fit: the ranks of the verb capacity.

Let J_A(m) be the Jacobian of the labels of m generic samples with respect to the parameters A.

* **Arbitrary labels** near the network's own can be fitted exactly (near generic weights) if J_A(m)
  has full row rank, by the inverse function theorem; if it does not, almost no small change of the
  labels can be.  Rows of samples are exchangeable, so the increments rank J_A(m+1) − rank J_A(m)
  are non-increasing (the rank of a union of spaces is submodular, and generic samples are
  exchangeable): the row rank is full up to some m, the *capacity*, and for no larger m.
* **A teacher's labels** (other weights of the same network, nearby) can be fitted if rank J_A(m) =
  rank J(m), where J is the Jacobian by all parameters.  If the columns of A span those of J for m +
  1 samples, they do so for m.

One elimination gives all these ranks: the rows are in the order of the samples, and the pivots are
the rows independent of earlier ones.  Since increments are non-increasing, rank J_A is constant
after the first increment 0.

`algebra.programs.formal` states what ranks at random points over GF(p) prove.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from algebra.linalg.modular import (
    Residues,
    deficit_probability,
    matmul,
    random_residues,
)
from algebra.programs.degrees import entry_bound
from algebra.programs.generic import (
    COLUMNS,
    Columns,
    Model,
    argued,
    independent_rows,
    random_program_point,
)
from algebra.questions.capacity.reasons import bottleneck, cells_of, reasons_of
from algebra.questions.capacity.result import (
    LARGEST_ERROR,
    Capacity,
    Subset,
    SubsetCapacity,
    matrix_shape,
)
from algebra.time_limits import check_time

# Largest number of rows eliminated.
MOST_ROWS = 1200
# Largest number of entries of a Jacobian if the number of samples is not given.
MOST_ENTRIES = 25_000_000
# Samples for each one that would do if they were exchangeable, on activation patterns.
_MORE_SAMPLES = 4
# At least a third of all primes may be drawn: −1 is a non-square modulo half of them.
_PRIMES = 3


def capacities(
    model: Model,
    subsets: Sequence[Subset],
    *,
    name: str = "",
    learnable: Sequence[str] = (),
    m: int | None = None,
    needed: int | None = None,
    seed: int = 0,
) -> Capacity:
    """Capacities of subsets of a program's parameters.

    Parameters
    ----------
    model : Model
    subsets : sequence of Subset
    name : str, optional
        The model's name.
    learnable : sequence of str, optional
        The teacher's parameters; all weights by default.
    m : int, optional
        Number of samples; by default as many as increase the ranks, if these are at most some
        thousand labels.
    needed : int, optional
        Number of samples that are to be fitted.
    seed : int, optional
        It determines the points.
    """
    program, d = model.program, model.outputs
    teacher = list(learnable or program.weights)
    found = [_grown(model, subset, m, seed) for subset in subsets]
    most = max((min(growth.full + 1, growth.samples) for growth in found), default=1)
    whole = _growth_of_all(model, teacher, most, seed)
    open_ends = [
        growth.samples
        for subset, growth in zip(subsets, found, strict=True)
        if not _is_all(subset, teacher) and _met(growth, whole) == len(whole) < growth.samples
    ]
    if open_ends:
        whole = _growth_of_all(model, teacher, max(open_ends), seed)
    out = []
    for subset, growth in zip(subsets, found, strict=True):
        size = subset.learnable(program)
        out.append(
            SubsetCapacity(
                subset.name,
                size,
                growth.ranks[-1],
                growth.full,
                None if _is_all(subset, teacher) else _met(growth, whole),
                size // d,
                growth.samples,
                growth.is_whole,
                tuple(growth.ranks),
                reasons_of(model, subset, growth.samples, growth.ranks[-1], growth.is_whole, seed),
                growth.error,
                bottleneck=bottleneck(model.program, subset.names) if not growth.full else 0,
            )
        )
    shapes = program.weights
    parameters = sum(int(np.prod(shapes[n])) for n in teacher)
    return Capacity(name, d, parameters, tuple(out), argued(model, f"argued/{seed}"), seed, needed)


def whole_rank(
    model: Model, names: Sequence[str], seed: int = 0, m: int | None = None
) -> tuple[int, int, bool]:
    """Rank with respect to parameters, with as many samples as increase it.

    Parameters
    ----------
    model : Model
    names : sequence of str
    seed : int, optional
    m : int, optional
        The number of samples; by default as many as increase the rank.

    Returns
    -------
    tuple of (int, int, bool)
        The rank; the number of samples; whether more samples would not increase it, as far as
        known.
    """
    found = _grown(model, Subset("all", tuple(names)), m, seed)
    return found.ranks[-1], found.samples, found.is_whole


def _is_all(subset: Subset, teacher: Sequence[str]) -> bool:
    return set(teacher) <= set(subset.weights)


@dataclass(frozen=True)
class _Growth:
    ranks: list[int]
    samples: int
    full: int
    is_whole: bool
    error: Fraction | None


def _growth(rows: Sequence[int], m: int, d: int) -> list[int]:
    counts = np.bincount(np.array(rows, np.int64) // d, minlength=m)
    return [int(v) for v in np.cumsum(counts)]


def _grown(model: Model, subset: Subset, m: int | None, seed: int) -> _Growth:
    """Ranks of 1, 2, … samples: of m, or of as many as increase the rank."""
    d, size = model.outputs, subset.learnable(model.program)
    most = max(2, min(MOST_ROWS, MOST_ENTRIES // max(1, size)) // d)
    # On a pattern samples are not exchangeable: some hundred may pass before one that adds.
    chooses = "choose" in model.functions
    samples = m or min((size // d + 2) * (_MORE_SAMPLES if chooses else 1), most)
    while True:
        check_time()
        point = random_program_point(model, samples, f"capacity/{seed}")
        columns = Columns(model, point, samples, subset.names)
        rng = random.Random(f"capacity/{seed}")
        J = _subset_columns(columns, subset, rng)
        ranks = _growth(independent_rows(J, point.p), samples, d)
        # If the last sample adds nothing, or all parameters count, no later sample adds anything.
        # On activation patterns half of them must add nothing.
        last = 1 + (samples // 2 if chooses else 0)
        is_whole = ranks[-1] == size or (samples > last and ranks[-1] == ranks[-1 - last])
        if m or is_whole or samples >= most:
            # On a pattern samples are not exchangeable: these are independent of each other.
            full = sum(
                1 for k, value in enumerate(ranks) if value - (ranks[k - 1] if k else 0) == d
            )
            error = _deficit_error(model, subset, ranks)
            if error and not point.is_free:
                free = random_program_point(model, samples, f"capacity/{seed}/free", strict=False)
                J = _subset_columns(Columns(model, free, samples, subset.names), subset, rng)
                if _growth(independent_rows(J, free.p), samples, d) != ranks:
                    error = None
            return _Growth(ranks, samples, full, is_whole, error)
        samples = min(2 * samples, most)


def _deficit_error(model: Model, subset: Subset, ranks: list[int]) -> Fraction | None:
    """Bound on the probability that one of these ranks is too small because of an unlucky point.

    If square roots exist at the point it lies on a variety, for which the bound is not proved.
    Ranks with free roots are upper bounds for which it is; so the bound holds if these are equal.
    """
    d, size = model.outputs, subset.learnable(model.program)
    most = [min(size, d * (k + 1)) for k in range(len(ranks))]
    short = [bound for found, bound in zip(ranks, most, strict=True) if found < bound]
    if not short:
        return Fraction(0)
    entries = entry_bound(model.program, len(ranks), model.values)
    shapes = model.program.weights
    more = max((prod(shapes[name]) for name in subset.low_rank or {}), default=0)
    error = deficit_probability(
        max(short), entries.degree + bool(more), entries.bits + more.bit_length(),
        entries.meetings, share=_PRIMES,
    )  # fmt: skip
    error *= len(short)
    return error if error <= LARGEST_ERROR else None


def _subset_columns(columns: Columns, subset: Subset, rng: random.Random) -> Residues:
    cells = [cell for name in subset.weights for cell in cells_of(columns.model, name)]
    parts = [columns.compressed(cells, rng)] if cells else []
    for name, k in (subset.low_rank or {}).items():
        parts.append(_low_rank_columns(columns, name, k, rng))
    return np.concatenate(parts, axis=1)


def _low_rank_columns(columns: Columns, name: str, k: int, rng: random.Random) -> Residues:
    """Derivatives by U and V of W + U Vᵀ, at a random point (W + U Vᵀ is then random, too)."""
    p, shape = columns.p, columns.model.program.weights[name]
    rows, inner = matrix_shape(shape)
    U, V = (random_residues((size, k), p, rng) for size in (rows, inner))
    cells = [(name, *place) for place in np.ndindex(*shape)]
    by_u, by_v = [], None
    step = max(1, COLUMNS // inner)
    for start in range(0, rows, step):
        check_time()
        count = min(step, rows - start)
        J = columns.of(cells[start * inner : (start + count) * inner])
        high = J.shape[0]
        by_u.append(matmul(J.reshape(high * count, inner), V, p).reshape(high, count * k))
        turned = J.reshape(high, count, inner).transpose(0, 2, 1).reshape(high * inner, count)
        part = matmul(np.ascontiguousarray(turned), U[start : start + count], p)
        part = part.reshape(high, inner * k)
        by_v = part if by_v is None else (by_v + part) % p
    assert by_v is not None
    return np.concatenate([*by_u, by_v], axis=1)


def _growth_of_all(model: Model, names: Sequence[str], m: int, seed: int) -> list[int]:
    """Ranks of 1, …, m samples with respect to all parameters."""
    d, point = model.outputs, random_program_point(model, m, f"capacity/{seed}/all")
    columns = Columns(model, point, m, names)
    rng = random.Random(f"capacity/{seed}/all")
    cells = [cell for name in names for cell in cells_of(model, name)]
    # A random part of the columns suffices if it has full rank already.
    if len(cells) > 4 * d * m:
        few = rng.sample(cells, 2 * d * m)
        ranks = _growth(independent_rows(columns.of(few), point.p), m, d)
        if ranks[-1] == d * m:
            return ranks
    return _growth(independent_rows(columns.compressed(cells, rng), point.p), m, d)


def _met(growth: _Growth, whole: Sequence[int]) -> int | None:
    """The samples up to which a subset's rank is that of all parameters; None if unlimited."""
    common = min(len(whole), growth.samples)
    same = sum(1 for k in range(common) if growth.ranks[k] == whole[k])
    if same < common:
        return same
    stands = growth.is_whole and len(whole) > 1 and whole[-1] == whole[-2]
    return None if stands else same
