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

One file, though long: the result and its document stand beside the ranks they follow from.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from algebra.documents import Document, Explanation, Paragraph, Table, step
from algebra.linalg.modular import (
    Residues,
    deficit_probability,
    matmul,
    modular_echelon,
    modular_rank,
    random_residues,
)
from algebra.linalg.rational import nearest_double
from algebra.programs.degrees import entry_bound
from algebra.programs.generic import (
    COLUMNS,
    Columns,
    Exactness,
    Model,
    argued,
    independent_rows,
    random_program_point,
)
from algebra.programs.jacobian import ProgramCell
from algebra.programs.program import Program
from algebra.results import Result, named
from algebra.time_limits import check_time

# Largest number of rows eliminated; largest number of parameters whose dependencies are searched.
MOST_ROWS, MOST_EXPLAINED = 1200, 800
# Largest number of entries of a Jacobian if the number of samples is not given.
MOST_ENTRIES = 25_000_000
# At least a third of all primes may be drawn: −1 is a non-square modulo half of them.
_PRIMES = 3
# Reasons of redundancy that are listed; all are in the plain data.
_MOST_REASONS = 8


@dataclass(frozen=True)
class Subset:
    """Parameters that learn together.

    Attributes
    ----------
    name : str
    weights : tuple of str
        Names of the weights that learn as a whole.
    low_rank : mapping of str to int
        Matrices that learn by W + U Vᵀ, with the rank.
    """

    name: str
    weights: tuple[str, ...] = ()
    low_rank: Mapping[str, int] | None = None

    def learnable(self, program: Program) -> int:
        """Number of learnable parameters."""
        shapes = program.weights
        total = sum(int(np.prod(shapes[name])) for name in self.weights)
        for name, k in (self.low_rank or {}).items():
            total += k * sum(matrix_shape(shapes[name]))
        return total

    @property
    def names(self) -> list[str]:
        """All parameters in the subset."""
        return [*self.weights, *(self.low_rank or {})]


@dataclass(frozen=True)
class Redundancy:
    """Parameters whose rank is smaller than their number.

    Attributes
    ----------
    names : tuple of str
    learnable : int
    rank : int
        Their rank.
    reason : str
        In words, if a reason was found.
    """

    names: tuple[str, ...]
    learnable: int
    rank: int
    reason: str

    def __str__(self) -> str:
        names = ", ".join(self.names)
        what = f"{names}: {self.learnable} numbers count for {self.rank}"
        return f"{what} ({self.reason})" if self.reason else what

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return named(self, "names", "learnable", "rank", "reason")


@dataclass(frozen=True)
class SubsetCapacity:
    """The capacity of a subset.

    Attributes
    ----------
    name : str
    learnable : int
    rank : int
        Largest rank, for as many samples as increase it (or as many as were requested).
    capacity : int
        Number of samples whose labels, arbitrary near the network's own, can be fitted locally.
    teacher_capacity : int or None
        The same for labels of another network of this kind; None for any number of samples.
    counting : int
        ⌊learnable/d⌋.
    samples : int
        Number of samples for which ranks were computed.
    is_whole : bool
        Whether more samples do not increase the rank; otherwise rank and capacities are lower
        bounds.
    growth : tuple of int
        Rank of 1, 2, … samples.
    reasons : tuple of Redundancy
    error_bound : Fraction or None
        Bound on the probability that one of these ranks is too small because of an unlucky point;
        None if there is no bound.
    """

    name: str
    learnable: int
    rank: int
    capacity: int
    teacher_capacity: int | None
    counting: int
    samples: int
    is_whole: bool
    growth: tuple[int, ...]
    reasons: tuple[Redundancy, ...]
    error_bound: Fraction | None

    @property
    def redundant(self) -> int:
        """Number of parameters that may be fixed without lowering the rank, once it is complete."""
        return self.learnable - self.rank

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        columns = named(
            self, "name", "learnable", "rank", "redundant", "capacity", "teacher_capacity",
            "counting", "samples", "is_whole", "growth", "reasons",
        )  # fmt: skip
        return {**columns, "error_bound": _double(self.error_bound)}


@dataclass(frozen=True, repr=False)
class Capacity(Result):
    """Result of the verb capacity.

    Attributes
    ----------
    model : str
        The source of the program.
    outputs : int
        Labels d of a sample.
    parameters : int
    subsets : tuple of SubsetCapacity
    exactness : Exactness
    seed : int
    needed : int or None
        Number of samples that are to be fitted.
    """

    model: str
    outputs: int
    parameters: int
    subsets: tuple[SubsetCapacity, ...]
    exactness: Exactness
    seed: int
    needed: int | None = None

    @property
    def error_bound(self) -> Fraction | None:
        """Bound on the probability that any of the ranks is too small; None if unknown."""
        bounds = [subset.error_bound for subset in self.subsets]
        known = [bound for bound in bounds if bound is not None]
        return sum(known, Fraction(0)) if len(known) == len(bounds) else None

    @property
    def cheapest(self) -> SubsetCapacity | None:
        """The smallest subset that fits the needed number of samples."""
        enough = [s for s in self.subsets if self.needed and s.capacity >= self.needed]
        return min(enough, key=lambda s: s.learnable, default=None)

    def document(self) -> Document:
        """The subsets, reasons of redundancy, and the certainty of the ranks."""
        return _document(self)

    def columns(self) -> dict[str, list[Any]]:
        """One row for each subset."""
        names = (
            "name", "learnable", "rank", "redundant", "capacity", "teacher_capacity", "counting",
        )  # fmt: skip
        return {name: [getattr(subset, name) for subset in self.subsets] for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        found = self.cheapest
        return {
            **named(self, "model", "parameters", "outputs", "subsets"),
            "exact": self.exactness.is_exact,
            "ranks": self.exactness.words,
            "error_bound": _double(self.error_bound),
            "needed": self.needed,
            "cheapest": found.name if found else None,
        }


def _document(found: Capacity) -> Document:
    """The document of capacities."""
    best = max(found.subsets, key=lambda s: s.capacity)
    facts = {
        "model": found.model,
        "parameters": found.parameters,
        "outputs": found.outputs,
        "subsets": len(found.subsets),
        "largest_capacity": f"{best.capacity} ({best.name})",
        "ranks": found.exactness.words,
        "certainty": _odds(found.error_bound),
    }
    columns: dict[str, Sequence[Any]] = {
        "subset": [s.name for s in found.subsets],
        "learnable": [s.learnable for s in found.subsets],
        "rank": [f"{s.rank}" if s.is_whole else f"≥ {s.rank}" for s in found.subsets],
        "redundant": [
            f"{s.redundant}" if s.is_whole else f"≤ {s.redundant}" for s in found.subsets
        ],
        "capacity": [_at_least(s, s.capacity) for s in found.subsets],
        "of a teacher": [_at_least(s, s.teacher_capacity) for s in found.subsets],
        "by counting": [s.counting for s in found.subsets],
    }
    reasons = [f"{s.name}: {reason}" for s in found.subsets for reason in s.reasons]
    if len(reasons) > _MOST_REASONS:
        reasons[_MOST_REASONS:] = [f"… and {len(reasons) - _MOST_REASONS} more such reasons"]
    title = f"{found.parameters} parameters, {found.outputs} labels a sample"
    return Document(
        title, facts, (Table(columns), *map(Paragraph, reasons)), _why(found), tone="strong"
    )


def _why(found: Capacity) -> Explanation:
    """The explanation of capacities."""
    known = [
        "A capacity is the largest number of generic samples for which the labels change with the "
        "parameters in as many independent directions as there are labels: then all labels near "
        "those of the network can be fitted, and with one sample more they cannot."
    ]
    wasted = [s for s in found.subsets if s.is_whole and s.redundant and s.capacity < s.counting]
    if wasted:
        most = max(wasted, key=lambda s: s.redundant / s.learnable)
        known.append(
            f"{most.name}: {most.learnable} parameters have the effect of {most.rank}, so they fit "
            f"{most.capacity} samples and not {most.counting}."
        )
    if found.needed:
        best = found.cheapest
        known.append(
            f"The smallest of these subsets that fits {found.needed} samples is {best.name}, "
            f"with {best.learnable} parameters."
            if best
            else f"None of these subsets fits {found.needed} samples."
        )
    if not found.exactness.is_exact:
        known.append(f"Ranks are {found.exactness.words}; that they are attained is probable.")
    return Explanation(
        tuple(known),
        "labels far from the network's own, and what training finds",
        "training, or a larger model",
        (
            step("capacity", "the cheapest for 100 samples", lora="1,2", needed=100),
            step("capacity", "a picture", learn="*.bias", plot="capacity.png"),
        ),
    )


def _at_least(subset: SubsetCapacity, value: int | None) -> str:
    if value is None:
        return "any"
    return f"{value}" if subset.is_whole or value < subset.samples else f"≥ {value}"


def _odds(bound: Fraction | None) -> str:
    if bound is None:
        return "the probability of an unlucky point is not bounded"
    if not bound:
        return "proved: no rank is too small"
    return f"one is too small with probability {bound.numerator / bound.denominator:.0e} at most"


def _double(bound: Fraction | None) -> Any:
    return None if bound is None else nearest_double(bound)


def matrix_shape(shape: Sequence[int]) -> tuple[int, int]:
    """A parameter as a matrix: its first axis, and all others."""
    rest = 1
    for size in shape[1:]:
        rest *= size
    return (shape[0] if shape else 1), rest


def cells_of(model: Model, name: str) -> list[ProgramCell]:
    """The cells of a parameter that exist."""
    exists = model.support.get(name)
    places = np.ndindex(*model.program.weights[name])
    return [(name, *place) for place in places if exists is None or exists[place]]


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
                _reasons(model, subset, growth.samples, growth.ranks[-1], seed),
                growth.error,
            )
        )
    shapes = program.weights
    parameters = sum(int(np.prod(shapes[n])) for n in teacher)
    return Capacity(name, d, parameters, tuple(out), argued(model, f"argued/{seed}"), seed, needed)


def whole_rank(model: Model, names: Sequence[str], seed: int = 0) -> tuple[int, int, bool]:
    """Rank with respect to parameters, with as many samples as increase it.

    Parameters
    ----------
    model : Model
    names : sequence of str
    seed : int, optional

    Returns
    -------
    tuple of (int, int, bool)
        The rank; the number of samples; whether more samples would not increase it, as far as
        known.
    """
    found = _grown(model, Subset("all", tuple(names)), None, seed)
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
    samples = m or min(size // d + 2, most)
    while True:
        check_time()
        point = random_program_point(model, samples, f"capacity/{seed}")
        columns = Columns(model, point, samples, subset.names)
        rng = random.Random(f"capacity/{seed}")
        J = _subset_columns(columns, subset, rng)
        ranks = _growth(independent_rows(J, point.p), samples, d)
        # If the last sample adds nothing, or all parameters count, no later sample adds anything.
        # On activation patterns samples are not exchangeable: a quarter of them must add nothing.
        last = 1 + (samples // 4 if "choose" in model.functions else 0)
        is_whole = ranks[-1] == size or (samples > last and ranks[-1] == ranks[-1 - last])
        if m or is_whole or samples >= most:
            full = sum(1 for k, value in enumerate(ranks) if value == (k + 1) * d)
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
    return error if error < 1 else None


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


# -- redundant parameters ------------------------------------------------------------------------


def _reasons(model: Model, subset: Subset, m: int, found: int, seed: int) -> tuple[Redundancy, ...]:
    """Groups of parameters whose rank is below their number, from the relations of columns."""
    size = subset.learnable(model.program)
    if subset.low_rank or found == size or size > MOST_EXPLAINED:
        return ()
    point = random_program_point(model, m, f"capacity/{seed}")
    columns = Columns(model, point, m, subset.names)
    cells = [cell for name in subset.weights for cell in cells_of(model, name)]
    J = columns.of(cells)
    table, pivots = modular_echelon(J, point.p)
    owner = np.array([subset.weights.index(cell[0]) for cell in cells])
    group = list(range(len(subset.weights)))

    def root(k: int) -> int:
        while group[k] != k:
            k = group[k]
        return k

    involved: set[int] = set()
    # Each column that is not a pivot is a combination of pivots: a relation.
    for column in sorted(set(range(len(cells))) - set(pivots)):
        used = {int(owner[column])} | {int(owner[pivots[r]]) for r in np.flatnonzero(
            table[:, column])}  # fmt: skip
        involved |= used
        for k in used:
            group[root(k)] = root(int(owner[column]))
    out = []
    for head in sorted({root(k) for k in involved}):
        inside = [k for k in sorted(involved) if root(k) == head]
        names = tuple(subset.weights[k] for k in inside)
        own = np.isin(owner, inside)
        height = modular_rank(np.ascontiguousarray(J[:, own]), point.p)
        out.append(Redundancy(names, int(own.sum()), height, _reason(model, names, height)))
    return tuple(out)


def _reason(model: Model, names: Sequence[str], height: int) -> str:
    """The reason for a redundancy, from the first non-linear operations after the parameters."""
    met = [_meets(model.program, name) for name in names]
    together = set().union(*met)
    if height == 0 and together == {"exp"}:
        return "a shift of the input of a softmax, which has no effect"
    if height == 0 and together <= {"norm"}:
        return "a shift before a normalization, which has no effect"
    if together == {"label"}:
        return "they enter the labels linearly, through common sums"
    shapes = model.program.weights
    if len(names) > 1 and all(max(shapes[n], default=1) == np.prod(shapes[n]) for n in names):
        return "shifts or gains of one that others compensate"
    if len(names) > 1:
        return "changes of one that others compensate, such as scales between linear maps"
    return ""


def _meets(program: Program, name: str) -> set[str]:
    """The first non-linear operations after a parameter: "exp", "norm", a function, or "label"."""
    needed = program.needed([program.output])
    moved = {k for k in needed if program.nodes[k].op == "block" and program.nodes[k].name == name}
    found = {"label"} if program.output in moved else set()
    for k in sorted(needed):
        node = program.nodes[k]
        if not moved & set(node.inputs):
            continue
        if node.op in ("apply", "choose", "invert", "root", "power"):
            kind = {"apply": node.name, "power": "norm", "root": "norm"}.get(node.op, node.op)
            found.add(kind)
            continue
        moved.add(k)
        if k == program.output:
            found.add("label")
    return found
