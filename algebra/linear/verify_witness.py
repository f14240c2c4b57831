"""A witness without real solutions, checked: rebuilt from its rationals, counted by Sturm.

The instance's core is made anew.  Its parametrization is proved to consist of solutions, N
distinct ones; SymPy's Sturm sequences count no real one among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from flint import fmpq, fmpz, fmpz_poly

from algebra.certificates.checks import PROVED, CheckFailed, Say
from algebra.polynomials.parametrization import Parametrization
from algebra.polynomials.rings import RationalField
from algebra.problems.problem import Problem
from algebra.systems.elimination import eliminate
from algebra.systems.system import build_system


def check_no_real_root(
    problem: Problem, witness: Mapping[str, Any], expected: int, say: Say
) -> None:
    """An instance with all its complex solutions, none of them real.

    Parameters
    ----------
    problem : Problem
    witness : mapping
        ``evidence.no_real_root`` of a certificate.
    expected : int
        The generic root count N.
    say : callable
        Takes place, status and text of what was found.

    Raises
    ------
    CheckFailed
        Where a statement of the witness does not hold.
    """
    place = "evidence.no_real_root"
    if witness["complex"] != expected or witness["real"] != 0:
        raise CheckFailed(place, f"{witness['complex']} complex, {witness['real']} real roots")
    network = problem.network
    student = {n: _rationals(witness["weights"][n], s) for n, s in network.shapes.items()}
    teacher = {n: _rationals(witness["teacher"][n], s) for n, s in network.shapes.items()}
    for name, mask in problem.support.items():
        for matrices in (student, teacher):
            if any(v != 0 for v in matrices[name][np.asarray(mask) == 0]):
                raise CheckFailed(place, f"weights outside support.{name}")
    X = _rationals(witness["X"], network.input_shape)
    Y = network.forward(teacher, X)
    system = build_system(problem.allocation, student, X, Y, RationalField(), witness["form"])
    core = eliminate(system)
    if list(core.unknowns) != witness["unknowns"]:
        raise CheckFailed(f"{place}.unknowns", "they are not the unknowns of the core")
    if len(core.unknowns) == 1:
        (equation,) = core.equations
        w = _univariate(equation)
        _count_real(w, expected, place, say)
        return
    given = witness["parametrization"]
    points = Parametrization(
        fmpz_poly([int(c) for c in given["w"]]),
        fmpz_poly([int(c) for c in given["denominator"]]),
        fmpz(int(given["scale"])),
        tuple(fmpz_poly([int(c) for c in n]) for n in given["numerators"]),
    )
    place = f"{place}.parametrization"
    if len(points.numerators) != len(core.unknowns) or not points.is_proper():
        raise CheckFailed(place, "it is not a proper parametrization of the unknowns")
    for k, equation in enumerate(core.equations):
        if not points.satisfies(_integer_terms(equation)):
            raise CheckFailed(place, f"its points do not solve equation {k} of the core")
    say(place, PROVED, f"{points.w.degree()} distinct complex solutions of the instance")
    t = sympy.Symbol("t")
    coefficients = [int(c) for c in points.w.coeffs()][::-1]
    _count_real(sympy.Poly(coefficients, t), expected, place, say)


def _count_real(w: sympy.Poly, expected: int, place: str, say: Say) -> None:
    """Sturm: the eliminating polynomial has N distinct roots, none of them real."""
    if w.degree() != expected or w.gcd(w.diff()).degree() != 0:
        raise CheckFailed(place, f"it has not {expected} distinct points")
    real = int(w.count_roots())
    if real:
        raise CheckFailed(place, f"Sturm's theorem counts {real} real roots, not 0")
    say(place, PROVED, f"no real one among all {expected} (Sturm): so MP < 1 (given N)")


def _rationals(rows: Any, shape: tuple[int, int]) -> np.ndarray:
    out = np.empty(shape, dtype=object)
    if len(rows) != shape[0] or any(len(row) != shape[1] for row in rows):
        raise ValueError(f"a matrix is not {shape[0]}×{shape[1]}")
    for (i, j), _ in np.ndenumerate(out):
        value = Fraction(rows[i][j])
        out[i, j] = fmpq(value.numerator, value.denominator)
    return out


def _integer_terms(polynomial: Any) -> dict[tuple[int, ...], fmpz]:
    terms = polynomial.to_dict()
    common = fmpz(1)
    for c in terms.values():
        common = common.lcm(c.denominator)
    return {tuple(map(int, m)): (c.numerator * (common // c.denominator)) for m, c in terms.items()}


def _univariate(polynomial: Any) -> sympy.Poly:
    terms = {m: int(c) for m, c in _integer_terms(polynomial).items()}
    return sympy.Poly(terms, sympy.Symbol("t"))
