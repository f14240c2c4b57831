r"""Exact elimination over GF(p), on arrays: the core of a large quadratic system.

The steps, their order and their pivots are those of `algebra.systems.elimination`, which works over
any field and in any degree; only the data structures differ:

* Equations are never rewritten.  They remain the original sparse quadrics, and the images of their
  unknowns, a matrix of affine forms, are composed; products are expanded a million terms at a time
  if their degrees, patterns or terms are needed (`Composed`).
* Whether the span of E equations contains a linear one is a question of rank: it contains none if
  the coefficients of their quadratic monomials have rank E.  Usually a few monomials of each
  equation prove this.  If they do not, vectors of their left kernel are applied to all monomials,
  and monomials that they do not cancel are added, until the kernel is that of all monomials.
* Polynomials of python-flint are created only on request.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from algebra.linalg.affine import Inconsistent, solve_affine
from algebra.linalg.echelon import modular_echelon, modular_kernel
from algebra.linalg.modular import matmul
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import Residues
from algebra.polynomials.quadratic import Quadrics
from algebra.polynomials.substitution import Composed, Survey, compose
from algebra.systems.core import Core, DeferredBlock
from algebra.systems.elimination import eliminate
from algebra.systems.incidence import block_triangular_form
from algebra.systems.system import QuadraticSystem, WrittenSystem
from algebra.time_limits import check_time

# Numbers of quadratic monomials of each equation that are drawn, and that are tried first.
_DRAWN = 4
_SAMPLE = 2
# Number of equations whose rank is computed at once.
_FEW = 64


@dataclass(frozen=True, eq=False)
class ModularCore(Core):
    """The core of a quadratic system over GF(p); see `Core`.

    Attributes
    ----------
    system : QuadraticSystem
    unknowns : tuple of str
    consistent : bool
    stage_unknowns : tuple of str
    stage : ndarray or None
        Affine forms of the system's unknowns in the stage unknowns.
    blocks : tuple of (tuple of int, tuple of int)
        The deferred blocks: stage unknowns, and positions in `rest`.
    rest : Quadrics or None
        The equations left by step 1, in the system's unknowns.
    composed : Composed or None
        The core's equations.
    embedding : ndarray or None
        Affine forms of the stage unknowns in the core's.
    survey : Survey or None
    """

    system: QuadraticSystem
    unknowns: tuple[str, ...]
    consistent: bool
    stage_unknowns: tuple[str, ...]
    stage: Residues | None = None
    blocks: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()
    rest: Quadrics | None = None
    composed: Composed | None = None
    embedding: Residues | None = None
    survey: Survey | None = None

    @property
    def equation_count(self) -> int:
        return 0 if self.composed is None else self.composed.count

    @property
    def deferred_unknowns(self) -> tuple[tuple[int, ...], ...]:
        return tuple(own for own, _ in self.blocks)

    @property
    def degrees(self) -> tuple[int, ...]:
        return () if self.survey is None else tuple(map(int, self.survey.degrees))

    @property
    def terms(self) -> int:
        return 0 if self.survey is None else int(self.survey.terms.sum())

    @cached_property
    def patterns(self) -> tuple[tuple[int, ...], ...]:
        return () if self.survey is None else self.survey.patterns()

    @property
    def occurs(self) -> np.ndarray:
        if self.survey is None:
            return np.zeros((0, len(self.unknowns)), bool)
        return self.survey.occurs

    @cached_property
    def equations(self) -> tuple[Any, ...]:
        if self.composed is None:
            return ()
        ring = self.system.ring.context(self.unknowns)
        return tuple(self.composed.expanded().polynomials(ring))

    @cached_property
    def deferred(self) -> tuple[DeferredBlock, ...]:
        if self.rest is None or self.stage is None:
            return ()
        ring = self.system.ring.context(self.stage_unknowns)
        return tuple(
            DeferredBlock(
                own,
                tuple(Composed(self.rest[members], self.stage).expanded().polynomials(ring)),
            )
            for own, members in self.blocks
        )

    @cached_property
    def stage_images(self) -> tuple[Any, ...]:
        return self._affine(self.stage, self.stage_unknowns)

    @cached_property
    def core_images(self) -> tuple[Any, ...]:
        if self.embedding is None:
            return ()
        return self._affine(self.embedding[[*self.kept, -1]], self.unknowns)

    def _affine(self, images: Residues | None, names: tuple[str, ...]) -> tuple[Any, ...]:
        """Affine forms as polynomials; the last row of `images` is the constant."""
        if images is None:
            return ()
        ring = self.system.ring.context(names)
        rows, columns = np.nonzero(images[:-1])
        constant = np.full(len(rows), len(names))
        quadrics = Quadrics(
            len(images) - 1, len(names), self.system.equations.p,
            rows, columns, constant, images[:-1][rows, columns],
        )  # fmt: skip
        return tuple(quadrics.polynomials(ring))


def core_of(system: WrittenSystem, *, defer: bool = True) -> Core:
    """The core of a system, by the elimination of its kind; `defer` as for `eliminate_modular`."""
    if isinstance(system, QuadraticSystem):
        return eliminate_modular(system, defer=defer)
    return eliminate(system, defer=defer)


def eliminate_modular(system: QuadraticSystem, *, defer: bool = True) -> ModularCore:
    """The core of a quadratic system over GF(p), by exact elimination.

    Parameters
    ----------
    system : QuadraticSystem
    defer : bool, optional
        Whether blocks that can be solved last are set aside (step 2).

    Returns
    -------
    ModularCore
    """
    try:
        return _eliminate(system, defer)
    except Inconsistent:
        return ModularCore(system, (), False, ())


def _eliminate(system: QuadraticSystem, defer: bool) -> ModularCore:
    equations, p, n = system.equations, system.equations.p, len(system.unknowns)
    # Step 1: linear equations without weights.
    weights = np.zeros(n, bool)
    weights[: system.weights] = True
    pure = (equations.degrees <= 1) & (equations.degree_in(weights) == 0)
    stage, free = solve_affine(equations[np.flatnonzero(pure)].linear_rows(), p)
    stage_names = tuple(system.unknowns[k] for k in free)
    rest = equations[np.flatnonzero(~pure)]
    composed = Composed(rest, stage)
    composed, survey, numbers = _nonzero(composed, composed.survey())

    # Step 2: blocks on which nothing else depends.
    blocks: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()
    if defer:
        blocks, left = _defer(composed, survey)
        blocks = tuple((own, tuple(int(numbers[e]) for e in members)) for own, members in blocks)
        composed, survey = composed[left], survey.kept(left)
    gone = {k for own, _ in blocks for k in own}
    kept = [k for k in range(len(stage_names)) if k not in gone]
    names = tuple(stage_names[k] for k in kept)
    embedding = np.zeros((len(stage_names) + 1, len(kept) + 1), np.int64)
    embedding[[*kept, len(stage_names)], np.arange(len(kept) + 1)] = 1
    if blocks:
        composed = composed.then(embedding)
    survey = Survey(survey.degrees, survey.terms, survey.occurs[:, kept])

    # Step 3: the linear closure of the rest.
    while True:
        check_time()
        composed, rows, changed = _expose_linear(composed, survey)
        if not len(rows):
            if changed:
                survey = composed.survey()
            break
        images, free = solve_affine(rows, p)
        names = tuple(names[k] for k in free)
        composed = composed.then(images)
        composed, survey, _ = _nonzero(composed, composed.survey())
        embedding = compose(embedding, images, p)
    return ModularCore(
        system=system,
        unknowns=names,
        consistent=True,
        stage_unknowns=stage_names,
        stage=stage,
        blocks=blocks,
        rest=rest,
        composed=composed,
        embedding=embedding,
        survey=survey,
    )


def _nonzero(composed: Composed, survey: Survey) -> tuple[Composed, Survey, np.ndarray]:
    """Remove the equations that became 0 = 0; also return the positions of the others."""
    if (survey.degrees == 0).any():
        raise Inconsistent
    kept = np.flatnonzero(survey.degrees >= 0)
    return composed[kept], survey.kept(kept), kept


def _defer(
    composed: Composed, survey: Survey
) -> tuple[tuple[tuple[tuple[int, ...], tuple[int, ...]], ...], np.ndarray]:
    """Split off the trailing blocks that are linear in their own unknowns."""
    p, unknowns = composed.quadrics.p, composed.unknowns
    rng = random.Random(unknowns)
    values = np.array([rng.randrange(1 << 16) for _ in range(unknowns)], np.int64)
    triangular = block_triangular_form(survey.occurs, unknowns)
    needed = np.zeros(unknowns, bool)
    for part in (triangular.overdetermined, triangular.underdetermined):
        needed |= survey.occurs[list(part.equations)].any(axis=0)
    blocks = []
    left = np.ones(composed.count, bool)
    for block in reversed(triangular.blocks):
        own, members = list(block.unknowns), list(block.equations)
        if needed[own].any() or not _is_solvable(composed[members], own, values, p):
            needed |= survey.occurs[members].any(axis=0)
            continue
        blocks.append((block.unknowns, block.equations))
        left[members] = False
    return tuple(blocks[::-1]), np.flatnonzero(left)


def _is_solvable(composed: Composed, own: list[int], values: Residues, p: int) -> bool:
    """Whether equations are linear in their own unknowns, and regular at a random point.

    With each image replaced by a form in the own unknowns plus its value at the point, a product of
    two images is computed without expanding the other unknowns.
    """
    q, images = composed.quadrics, composed.images
    inner = images[:, own]
    others = np.append(values, 1) % p
    others[own] = 0
    outer = matmul(images, others[:, None], p)
    touched = np.asarray(inner.any(axis=1))
    squared = np.flatnonzero(touched[q.first] & touched[q.second])
    if len(squared):
        part = np.zeros(composed.unknowns, bool)
        part[own] = True
        for _, expanded in composed[np.unique(q.polynomial[squared])].pieces():
            if (expanded.degree_in(part) > 1).any():
                return False
    rows = np.zeros((composed.count, len(own)), np.int64)
    for a, b in ((q.first, q.second), (q.second, q.first)):
        term = np.flatnonzero(touched[a])
        factor = q.coefficient[term] * outer[b[term], 0] % p
        # Sums of up to 2^32 residues fit.
        np.add.at(rows, q.polynomial[term], inner[a[term]] * factor[:, None] % p)
    return modular_rank(rows % p, p) == len(own)


def _expose_linear(composed: Composed, survey: Survey) -> tuple[Composed, Residues, bool]:
    """Split the span of the equations into non-linear ones and rows of linear ones.

    Equations are replaced only if the span contains a linear equation, or the equations are
    dependent; then the third value is True.
    """
    linear = survey.degrees <= 1
    if linear.any():
        rows = composed[np.flatnonzero(linear)].expanded().linear_rows()
        return composed[np.flatnonzero(~linear)], rows, False
    width = composed.unknowns + 1
    if not composed.count:
        return composed, np.zeros((0, width), np.int64), False
    kernel = _hidden(composed)
    if not len(kernel):
        return composed, np.zeros((0, width), np.int64), False
    return _replaced(composed)


def _replaced(composed: Composed) -> tuple[Composed, Residues, bool]:
    """The span in reduced echelon form, quadratic monomials first."""
    p, k = composed.quadrics.p, composed.unknowns
    every = composed.expanded()
    columns = _ordered_monomials(every)
    rank_of = np.argsort(columns)
    key = every.first * (k + 1) + every.second
    place = rank_of[np.searchsorted(columns[rank_of], key)]
    matrix = np.zeros((every.count, len(columns)), np.int64)
    matrix[every.polynomial, place] = every.coefficient
    identity = np.eye(every.count, dtype=np.int64)
    table, pivots = modular_echelon(np.concatenate([matrix, identity], axis=1), p)
    found = sum(pivot < len(columns) for pivot in pivots)
    products = int((columns % (k + 1) < k).sum())
    quadratic = sum(pivot < products for pivot in pivots)
    rows = np.zeros((found - quadratic, k + 1), np.int64)
    rows[:, columns[products:] // (k + 1)] = table[quadratic:found, products : len(columns)]
    if len(rows) and not rows[-1, :k].any():
        raise Inconsistent
    mix = table[:quadratic, len(columns) :]
    return Composed(composed.quadrics.combine(mix), composed.images), rows, True


def _ordered_monomials(q: Quadrics) -> np.ndarray:
    """Keys of the monomials, quadratic ones first: the columns of the echelon form.

    Their order decides which basis of the span is found, and so how sparse the core is and into
    which blocks it splits.  It is degrevlex, as in `algebra.systems.elimination`.
    """
    key = np.unique(q.first * (q.unknowns + 1) + q.second)
    first, second = key // (q.unknowns + 1), key % (q.unknowns + 1)
    degree = (first < q.unknowns).astype(int) + (second < q.unknowns)
    last = np.where(degree == 2, second, first)
    return key[np.lexsort((first, last, -degree))]


def _hidden(composed: Composed) -> Residues:
    """Combinations of the equations without quadratic terms: a basis of the left kernel."""
    p, count = composed.quadrics.p, composed.count
    sides = composed.sides()
    columns = _sampled(composed, sides)
    if _independent(composed, columns, sides):
        return np.zeros((0, count), np.int64)
    matrix = _coefficients(composed, columns, np.arange(count))
    while True:
        check_time()
        hidden = modular_kernel(matrix, p)
        if not len(hidden):
            return hidden
        # One random combination is fast to test; if it is 0, all are tested.
        missed = _missed(composed, _random_row(len(hidden), p), hidden)
        if not len(missed):
            missed = _missed(composed, np.eye(len(hidden), dtype=np.int64), hidden)
        if not len(missed):
            return hidden
        columns = np.union1d(columns, missed[: max(64, 2 * count)])
        matrix = _coefficients(composed, columns, np.arange(count))


def _independent(
    composed: Composed, keys: np.ndarray, sides: tuple[np.ndarray, np.ndarray]
) -> bool:
    """Whether coefficients of some monomials show that the equations are independent.

    If monomials that can occur only in equations of a set S have coefficients of rank |S| in these,
    S is independent of all other equations, and the others can be tested without S.  In the core of
    a large net a weight occurs in the equations of its own row, and S is one row at a time. FLINT
    computes the rank of the remaining equations.
    """
    p, holders = composed.quadrics.p, _holders(keys, composed.unknowns + 1, sides)
    left = np.arange(composed.count)
    while len(left) > _FEW:
        check_time()
        held = holders[:, left]
        counts = held.sum(axis=1)
        gone = np.zeros(len(left), bool)
        alone = np.flatnonzero(counts == 1)
        owner = held[alone].argmax(axis=1)
        for e in np.unique(owner).tolist():
            own = alone[owner == e]
            gone[e] = _coefficients(composed, keys[own], left[[e]]).any()
        if gone.any():
            left = left[~gone]
            continue
        # The largest sets first: they also use the monomials of their subsets.
        few = np.flatnonzero((counts > 0) & (counts <= _FEW))
        few = few[np.argsort(-counts[few], kind="stable")]
        held, tried = held[few], set()
        for own in held:
            if gone[own].all() or (name := own.tobytes()) in tried:
                continue
            tried.add(name)
            inside, size = few[~(held & ~own).any(axis=1)], np.count_nonzero(own)
            if len(inside) >= size:
                part = _coefficients(composed, keys[inside], left[own])
                if modular_rank(part, p) == size:
                    gone |= own
        if not gone.any():
            break
        left = left[~gone]
    return modular_rank(_coefficients(composed, keys, left), p) == len(left)


def _sampled(composed: Composed, sides: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Some quadratic monomials of each equation, as first · (unknowns + 1) + second.

    Among those that are drawn, the ones that can occur in the fewest other equations.
    """
    q, k = composed.quadrics, composed.unknowns
    rng = random.Random(composed.count)
    lists = [np.flatnonzero(row[:k]).tolist() for row in composed.images]
    quadratic = np.flatnonzero(q.second < q.unknowns)
    ends = np.searchsorted(q.polynomial[quadratic], np.arange(q.count + 1)).tolist()
    drawn: set[tuple[int, int]] = set()
    for e in range(q.count):
        for _ in range(_DRAWN if ends[e] < ends[e + 1] else 0):
            term = quadratic[rng.randrange(ends[e], ends[e + 1])]
            choice = lists[q.first[term]], lists[q.second[term]]
            if choice[0] and choice[1]:
                i, j = rng.choice(choice[0]), rng.choice(choice[1])
                drawn.add((e, min(i, j) * (k + 1) + max(i, j)))
    owner, keys = np.array(sorted(drawn), np.int64).reshape(-1, 2).T
    holders = _holders(keys, k + 1, sides).sum(axis=1)
    order = np.lexsort((holders, owner))
    nth = np.arange(len(owner)) - np.searchsorted(owner, owner)
    return np.unique(keys[order][nth < _SAMPLE])


def _holders(keys: np.ndarray, k: int, sides: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """The equations in which monomials can occur, shape (monomials, equations)."""
    near, far = sides
    i, j = keys // k, keys % k
    return np.asarray(near[i] & far[j] | near[j] & far[i])


def _coefficients(composed: Composed, keys: np.ndarray, chosen: np.ndarray) -> Residues:
    """Coefficients of monomials in some of the equations, shape (monomials, equations)."""
    k = composed.unknowns + 1
    matrix = np.zeros((len(keys), len(chosen)), np.int64)
    for column, e in enumerate(chosen.tolist()):
        matrix[:, column] = composed.coefficients(e, keys // k, keys % k)
    return matrix


def _random_row(size: int, p: int) -> Residues:
    rng = random.Random(size)
    return np.array([[rng.randrange(1, p) for _ in range(size)]], np.int64)


def _missed(composed: Composed, mix: Residues, kernel: Residues) -> np.ndarray:
    """Quadratic monomials that combinations of kernel vectors do not cancel."""
    vectors = matmul(mix, kernel, composed.quadrics.p)
    q = Composed(composed.quadrics.combine(vectors), composed.images).expanded()
    quadratic = q.second < q.unknowns
    return np.unique(q.first[quadratic] * (q.unknowns + 1) + q.second[quadratic])
