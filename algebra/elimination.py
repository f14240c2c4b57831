r"""Exact elimination of linear sub-blocks: the core system.

A lifted system is mostly linear: rows of W without learnable weights, and D F X = Y, are
linear in F.  Elimination proceeds in three exact steps.

1. *Auxiliary equations.*  Equations that are linear and hold no weight are brought to
   reduced echelon form and solved: kTb − dm free F-unknowns are left in the B form
   (k rows with learnable weights), k_c·Td − dm in the D form.
2. *Deferred blocks.*  The block triangular form of what is left tells which blocks of
   unknowns no other block needs.  One that is linear in its own unknowns (a row with as
   many weights as equations, say) does not touch the number of solutions: it is put
   aside and solved last.  Its matrix is tried at a random point first: one that is
   singular there (two equations that say the same, in a minimal allocation) stays.
3. *Linear closure.*  All other linear equations are solved; then the span of the
   equations is searched, by echelon form with quadratic monomials first, for linear
   equations hidden in it; until none is left.

What remains is the *core*.  Roots of the core and solutions of the system correspond
one to one where the allocation is not minimal (for generic data each deferred block has
one solution, because its matrix is singular only on a proper closed subset of the
irreducible solution variety), and `CoreSystem.back_substitute` turns a root into the
weights.  Of a minimal allocation a core may have roots that lead to no weights.

Only linear algebra is done, so degrees never rise and a core has rational coefficients
where the instance has.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, prod
from typing import Any

from algebra.structure import block_triangular_form
from algebra.systems import PolynomialSystem


@dataclass(frozen=True)
class DeferredBlock:
    """A linear block put aside: solved for `unknowns` once a core root is known.

    Attributes
    ----------
    unknowns : tuple of int
        Positions in `CoreSystem.stage_unknowns`.
    equations : tuple
        Polynomials in the stage ring, of degree at most 1 in these unknowns.
    """

    unknowns: tuple[int, ...]
    equations: tuple[Any, ...]


@dataclass(frozen=True)
class CoreSystem:
    """What is left of a system after exact elimination.

    Attributes
    ----------
    system : PolynomialSystem
        The system it comes from.
    unknowns : tuple of str
        The unknowns of the core, a subset of the system's.
    equations : tuple
        Polynomials in these unknowns; empty where elimination solved everything.
    consistent : bool
        False where elimination met the equation 1 = 0: no solution, not even complex.
    stage_unknowns : tuple of str
        Unknowns after step 1, in which deferred blocks are written.
    deferred : tuple of DeferredBlock
        In the order in which they are to be solved.
    linear_solved : int
        Unknowns removed by linear equations.
    stage_images : tuple
        Each unknown of the system as a polynomial in the stage ring.
    core_images : tuple
        Each stage unknown that is not deferred as a polynomial in the core ring.
    """

    system: PolynomialSystem
    unknowns: tuple[str, ...]
    equations: tuple[Any, ...]
    consistent: bool
    stage_unknowns: tuple[str, ...]
    deferred: tuple[DeferredBlock, ...]
    linear_solved: int
    stage_images: tuple[Any, ...]
    core_images: tuple[Any, ...]

    @property
    def is_linear(self) -> bool:
        """Whether elimination left nothing to solve: one solution (or none)."""
        return not self.equations and not self.unknowns

    @property
    def is_square(self) -> bool:
        """Whether the core has as many equations as unknowns."""
        return len(self.equations) == len(self.unknowns)

    @cached_property
    def degrees(self) -> tuple[int, ...]:
        """Total degree of each equation of the core."""
        return tuple(int(e.total_degree()) for e in self.equations)

    @property
    def bezout(self) -> int:
        """The Bézout bound on the number of isolated roots: product of the degrees."""
        return prod(self.degrees)

    @cached_property
    def patterns(self) -> tuple[tuple[int, ...], ...]:
        """For each equation of the core, the unknowns that occur in it."""
        return tuple(_pattern(e) for e in self.equations)

    @property
    def terms(self) -> int:
        """Number of non-zero terms."""
        return sum(len(e.monoms()) for e in self.equations)

    @property
    def density(self) -> tuple[int, int]:
        """Non-zero and possible terms of these degrees."""
        return self.terms, sum(comb(len(self.unknowns) + d, d) for d in self.degrees)

    def back_substitute(self, root: Sequence[Any]) -> tuple[Any, ...] | None:
        """The weights of a root of the core, exactly.

        Parameters
        ----------
        root : sequence
            Field elements, one for each core unknown.

        Returns
        -------
        tuple or None
            The learnable weights in the allocation's order; None where a deferred block
            is singular at this root.
        """
        point = list(root)
        values = {k: e(*point) for k, e in zip(self.kept, self.core_images, strict=True)}
        field = self.system.ring
        for block in self.deferred:
            rows = []
            for equation in block.equations:
                constant, coefficients = _affine_in(equation, block.unknowns, values, field)
                rows.append([*coefficients, constant])
            reduced = field.rref(rows, len(block.unknowns) + 1)
            pivots = [_pivot(row) for row in reduced]
            if pivots != list(range(len(block.unknowns))):
                return None
            for position, row in zip(block.unknowns, reduced, strict=True):
                values[position] = -row[-1]
        full = [values[k] for k in range(len(self.stage_unknowns))]
        return tuple(e(*full) for e in self.stage_images[: self.system.weights])

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The stage unknowns that a core root fixes: all that are not deferred."""
        deferred = {k for block in self.deferred for k in block.unknowns}
        return tuple(k for k in range(len(self.stage_unknowns)) if k not in deferred)

    def __str__(self) -> str:
        if not self.consistent:
            what = "contradiction, no solution"
        elif self.is_linear:
            what = "empty (the system is linear)"
        else:
            what = (
                f"{len(self.equations)} equations in {len(self.unknowns)} unknowns, degrees at "
                f"most {max(self.degrees, default=0)}, Bézout bound {self.bezout}"
            )
        return f"core of the {self.system.form} form: {what}"


class _Inconsistent(Exception):
    pass


def eliminate(system: PolynomialSystem, *, defer: bool = True) -> CoreSystem:
    """The core of a system over a field, by exact elimination.

    Parameters
    ----------
    system : PolynomialSystem
        Over `RationalField` or `PrimeField`.
    defer : bool, optional
        Whether blocks that can be solved last are put aside (step 2).

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
            (pure if _is_linear(e) and set(_pattern(e)) <= auxiliary else rest).append(e)
        # Later steps of the recursion are eliminated first.
        stage_names, images = _solve_linear(field, names, pure)
        stage_ring = field.context(stage_names)
        stage = tuple(images)
        equations = _substitute(rest, images, stage_ring)

        # Step 2: blocks that nothing else needs.
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

        # Step 3: the linear closure of what is left.
        while True:
            equations, linear = _expose_linear(field, core_ring, equations)
            if not linear:
                break
            core_names, images = _solve_linear(field, core_names, linear)
            core_ring = field.context(core_names)
            equations = _substitute(equations, images, core_ring)
            core = _compose(core, images, core_ring)
    except _Inconsistent:
        return CoreSystem(system, (), (), False, (), (), 0, (), ())
    return CoreSystem(
        system=system,
        unknowns=core_names,
        equations=tuple(equations),
        consistent=True,
        stage_unknowns=tuple(stage_names),
        deferred=tuple(blocks),
        linear_solved=len(names) - len(core_names) - len(gone),
        stage_images=stage,
        core_images=tuple(core),
    )


def _pattern(polynomial: Any) -> tuple[int, ...]:
    return tuple(k for k, degree in enumerate(polynomial.degrees()) if degree > 0)


def _is_linear(polynomial: Any) -> bool:
    return bool(polynomial.total_degree() <= 1)


def _pivot(row: Sequence[Any]) -> int:
    return next(k for k, entry in enumerate(row) if entry != 0)


def _solve_linear(
    field: Any, names: Sequence[str], equations: Sequence[Any]
) -> tuple[tuple[str, ...], list[Any]]:
    """Solve affine equations; free unknowns are kept.

    Columns are ordered so that the unknowns of highest index become pivots: weights,
    which come first, stay in the core, and of F the entries of the last rows go.
    """
    n = len(names)
    order = list(range(n - 1, -1, -1))
    place = {k: c for c, k in enumerate(order)}
    rows = []
    for equation in equations:
        row = [field.constant(0)] * (n + 1)
        for monomial, coefficient in equation.to_dict().items():
            index = next((k for k, e in enumerate(monomial) if e), None)
            row[n if index is None else place[index]] = coefficient
        rows.append(row)
    reduced = field.rref(rows, n + 1) if rows else []
    pivots = [_pivot(row) for row in reduced]
    if pivots and pivots[-1] == n:
        raise _Inconsistent
    solved = {order[c]: row for c, row in zip(pivots, reduced, strict=True)}
    free = [k for k in range(n) if k not in solved]
    free_names = tuple(names[k] for k in free)
    ring = field.context(free_names)
    generator = dict(zip(free, ring.gens(), strict=True))
    units = {k: tuple(int(u == v) for v in range(len(free))) for u, k in enumerate(free)}
    images = []
    for k in range(n):
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
    return [p.compose(*images, ctx=ring) for p in polynomials]


def _defer(
    field: Any, equations: list[Any], unknowns: int
) -> tuple[list[DeferredBlock], list[Any]]:
    """Split off the trailing blocks that are linear in their own unknowns."""
    rng = random.Random(unknowns)
    values = {k: field.constant(rng.randrange(1 << 16)) for k in range(unknowns)}
    patterns = [_pattern(e) for e in equations]
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
            matrix = [_affine_in(e, block.unknowns, values, field)[1] for e in members]
            solvable = len(field.rref(matrix, len(own))) == len(own)
        if own & needed or not solvable:
            for e in block.equations:
                needed.update(patterns[e])
            continue
        blocks.append(DeferredBlock(tuple(block.unknowns), members))
        gone.update(block.equations)
    return blocks[::-1], [e for k, e in enumerate(equations) if k not in gone]


def _expose_linear(field: Any, ring: Any, equations: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Split the span of the equations into (non-linear, linear) ones.

    Only where the span holds a linear equation are the equations replaced: the original
    ones are sparser.
    """
    linear = [e for e in equations if _is_linear(e)]
    if linear:
        return [e for e in equations if not _is_linear(e)], linear
    if not equations:
        return [], []
    monomials = sorted({m for e in equations for m in e.monoms()}, key=sum, reverse=True)
    column = {m: c for c, m in enumerate(monomials)}
    rows = []
    for e in equations:
        row = [field.constant(0)] * len(monomials)
        for monomial, coefficient in e.to_dict().items():
            row[column[monomial]] = coefficient
        rows.append(row)
    reduced = field.rref(rows, len(monomials))
    if len(reduced) == len(equations) and all(sum(monomials[_pivot(r)]) > 1 for r in reduced):
        return list(equations), []
    rebuilt = [
        ring.from_dict({monomials[c]: v for c, v in enumerate(row) if v != 0}) for row in reduced
    ]
    if any(p.is_constant() for p in rebuilt):
        raise _Inconsistent
    return (
        [p for p in rebuilt if not _is_linear(p)],
        [p for p in rebuilt if _is_linear(p)],
    )


def _affine_in(
    polynomial: Any, own: Sequence[int], values: dict[int, Any], field: Any
) -> tuple[Any, list[Any]]:
    """Constant and coefficients, in the block's own unknowns, at a point."""
    constant = field.constant(0)
    coefficients = [field.constant(0)] * len(own)
    place = {k: c for c, k in enumerate(own)}
    for monomial, coefficient in polynomial.to_dict().items():
        value, target = coefficient, None
        for k, exponent in enumerate(monomial):
            if not exponent:
                continue
            if k in place:
                target = place[k]
            else:
                value = value * values[k] ** exponent
        if target is None:
            constant = constant + value
        else:
            coefficients[target] = coefficients[target] + value
    return constant, coefficients
