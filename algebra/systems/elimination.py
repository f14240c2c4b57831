r"""Exact elimination of linear sub-blocks: the core system.

A lifted system is mostly linear: rows of W without learnable weights, and D F X = Y, are
linear in F.  Elimination proceeds in three exact steps.

1. *Auxiliary equations.*  Equations that are linear and contain no weight are brought to reduced
   echelon form and solved: kTb − dm free F-unknowns remain in the B form (k rows with learnable
   weights), k_c·Td − dm in the D form.
2. *Deferred blocks.*  The block triangular form of the remaining system shows the blocks of
   unknowns on which no other block depends.  One that is linear in its own unknowns (a row with as
   many weights as equations, say) does not change the number of solutions: it is set aside and
   solved last.  First its matrix is evaluated at a random point: a block that is singular there
   (with equivalent equations, in a minimal allocation) is not deferred.
3. *Linear closure.*  All other linear equations are solved; then the span of the equations is
   searched for further linear equations, by echelon form with quadratic monomials first; and so on
   until there is none.

What remains is the *core*.  Roots of the core and solutions of the system correspond one to one if
the allocation is not minimal (for generic data each deferred block has one solution, because its
matrix is singular only on a proper closed subset of the irreducible solution variety), and
`CoreSystem.back_substitute` computes the weights of a root.  For a minimal allocation a core may
have roots without weights.

Elimination is linear algebra only, so degrees never rise, and a core has rational coefficients if
the instance has.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from algebra.systems.core import CoreSystem, DeferredBlock, FieldPoints, pattern_of, pivot_of
from algebra.systems.incidence import block_triangular_form
from algebra.systems.system import PolynomialSystem
from algebra.time_limits import checked


class _Inconsistent(Exception):
    pass


def eliminate(system: PolynomialSystem, *, defer: bool = True) -> CoreSystem:
    """The core of a system over a field, by exact elimination.

    Parameters
    ----------
    system : PolynomialSystem
        Over `RationalField` or `PrimeField`.
    defer : bool, optional
        Whether blocks that can be solved last are set aside (step 2).

    Returns
    -------
    CoreSystem
    """
    field = system.ring
    names = system.unknowns
    ring = field.context(names)
    equations = [e if hasattr(e, "monoms") else ring.constant(e) for e in system.equations]
    blocks: list[DeferredBlock] = []
    try:
        # Step 1: linear equations without weights.
        auxiliary = set(range(system.weights, len(names)))
        pure: list[Any] = []
        rest: list[Any] = []
        for e in equations:
            (pure if _is_linear(e) and set(pattern_of(e)) <= auxiliary else rest).append(e)
        # Later steps of the recursion are eliminated first.
        stage_names, images = _solve_linear(field, names, pure)
        stage_ring = field.context(stage_names)
        stage = tuple(images)
        equations = _substitute(rest, images, stage_ring)

        # Step 2: blocks on which nothing else depends.
        if defer:
            blocks, equations = _defer(field, equations, len(stage_names))
        gone = {k for block in blocks for k in block.unknowns}
        kept = [k for k in range(len(stage_names)) if k not in gone]
        core_names = tuple(stage_names[k] for k in kept)
        core_ring = field.context(core_names)
        position = dict(zip(kept, core_ring.gens(), strict=True))
        zero = core_ring.constant(0)
        embedding = [position.get(k, zero) for k in range(len(stage_names))]
        equations = _substitute(equations, embedding, core_ring)
        core = list(core_ring.gens())

        # Step 3: the linear closure of the rest.
        while True:
            equations, linear = _expose_linear(field, core_ring, equations)
            if not linear:
                break
            core_names, images = _solve_linear(field, core_names, linear)
            core_ring = field.context(core_names)
            equations = _substitute(equations, images, core_ring)
            core = _compose(core, images, core_ring)
    except _Inconsistent:
        return CoreSystem(system, (), (), False, (), (), (), ())
    return CoreSystem(
        system=system,
        unknowns=core_names,
        equations=tuple(equations),
        consistent=True,
        stage_unknowns=tuple(stage_names),
        deferred=tuple(blocks),
        stage_images=stage,
        core_images=tuple(core),
    )


def _is_linear(polynomial: Any) -> bool:
    return bool(polynomial.total_degree() <= 1)


def _solve_linear(
    field: Any, names: Sequence[str], equations: Sequence[Any]
) -> tuple[tuple[str, ...], list[Any]]:
    """Solve affine equations; free unknowns are kept.

    Columns are ordered so that the unknowns of highest index become pivots: weights, which come
    first, remain in the core, and of F the entries of the last rows are eliminated.
    """
    n = len(names)
    order = list(range(n - 1, -1, -1))
    place = {k: c for c, k in enumerate(order)}
    rows = []
    for equation in checked(equations):
        row = [field.constant(0)] * (n + 1)
        for monomial, coefficient in equation.to_dict().items():
            row[place[monomial.index(1)] if any(monomial) else n] = coefficient
        rows.append(row)
    reduced = field.rref(rows, n + 1) if rows else []
    pivots = [pivot_of(row) for row in reduced]
    if pivots and pivots[-1] == n:
        raise _Inconsistent
    solved = {order[c]: row for c, row in zip(pivots, reduced, strict=True)}
    free = [k for k in range(n) if k not in solved]
    free_names = tuple(names[k] for k in free)
    ring = field.context(free_names)
    generator = dict(zip(free, ring.gens(), strict=True))
    units = {k: tuple(int(u == v) for v in range(len(free))) for u, k in enumerate(free)}
    images = []
    for k in checked(range(n)):
        if k in generator:
            images.append(generator[k])
            continue
        row = solved[k]
        terms = {units[j]: -row[place[j]] for j in free if row[place[j]] != 0}
        if row[n] != 0:
            terms[(0,) * len(free)] = -row[n]
        images.append(ring.from_dict(terms))
    return free_names, images


def _substitute(equations: Sequence[Any], images: Sequence[Any], ring: Any) -> list[Any]:
    """Equations after the substitution, without those that became 0 = 0."""
    result = []
    for polynomial in _compose(equations, images, ring):
        if polynomial == 0:
            continue
        if polynomial.is_constant():
            raise _Inconsistent
        result.append(polynomial)
    return result


def _compose(polynomials: Sequence[Any], images: Sequence[Any], ring: Any) -> list[Any]:
    if not images:
        return [ring.constant(p.leading_coefficient() if p != 0 else 0) for p in polynomials]
    return [polynomial.compose(*images, ctx=ring) for polynomial in checked(polynomials)]


def _defer(
    field: Any, equations: list[Any], unknowns: int
) -> tuple[list[DeferredBlock], list[Any]]:
    """Split off the trailing blocks that are linear in their own unknowns."""
    rng = random.Random(unknowns)
    values = {k: field.constant(rng.randrange(1 << 16)) for k in range(unknowns)}
    patterns = [pattern_of(e) for e in equations]
    triangular = block_triangular_form(patterns, unknowns)
    needed: set[int] = set()
    for part in (triangular.overdetermined, triangular.underdetermined):
        for e in part.equations:
            needed.update(patterns[e])
    blocks: list[DeferredBlock] = []
    gone: set[int] = set()
    for block in reversed(triangular.blocks):
        own = set(block.unknowns)
        members = tuple(equations[e] for e in block.equations)
        solvable = all(sum(m[k] for k in own) <= 1 for e in members for m in e.monoms())
        if solvable:
            matrix = [FieldPoints(field).affine(e, block.unknowns, values)[1] for e in members]
            before = field.divisors
            solvable = len(field.rref(matrix, len(own))) == len(own)
            # A test at one point divides nothing that stays.
            field.divisors = before
        if own & needed or not solvable:
            for e in block.equations:
                needed.update(patterns[e])
            continue
        blocks.append(DeferredBlock(tuple(block.unknowns), members))
        gone.update(block.equations)
    return blocks[::-1], [e for k, e in enumerate(equations) if k not in gone]


def _expose_linear(field: Any, ring: Any, equations: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Split the span of the equations into (non-linear, linear) ones.

    Equations are replaced only if the span contains a linear equation: the original ones are
    sparser.
    """
    linear = [e for e in equations if _is_linear(e)]
    if linear:
        return [e for e in equations if not _is_linear(e)], linear
    if not equations:
        return [], []
    tables = [e.to_dict() for e in checked(equations)]
    # Degrevlex.  Which unknowns are left depends on it, and proof files name these.
    monomials = sorted({m for table in tables for m in table}, key=lambda m: (-sum(m), m[::-1]))
    column = {m: c for c, m in enumerate(monomials)}
    rows = []
    for table in checked(tables):
        row = [field.constant(0)] * len(monomials)
        for monomial, coefficient in table.items():
            row[column[monomial]] = coefficient
        rows.append(row)
    before = field.divisors
    reduced = field.rref(rows, len(monomials))
    if len(reduced) == len(equations) and all(sum(monomials[pivot_of(r)]) > 1 for r in reduced):
        field.divisors = before
        return list(equations), []
    rebuilt = [
        ring.from_dict({monomials[c]: v for c, v in enumerate(row) if v != 0})
        for row in checked(reduced)
    ]
    if any(p.is_constant() for p in rebuilt):
        raise _Inconsistent
    return (
        [p for p in rebuilt if not _is_linear(p)],
        [p for p in rebuilt if _is_linear(p)],
    )
