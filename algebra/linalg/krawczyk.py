r"""Krawczyk's test: a box or polydisc that holds exactly one solution of f(x) = 0, in balls.

With C an approximate inverse of f'(x) and a polydisc X of radii ρ about an exact point x, let

.. math:: K(X) = x - C f(x) + (I - C f'(X)) (X - x).

Where |C f(x)|_i + Σ_j |I − C f'(X)|_{ij} ρ_j < ρ_i for every i, K maps X into its interior: then
X holds exactly one solution, and it is simple [1]_.  Points are real (`arb`) or complex (`acb`).

References
----------
.. [1] R. Krawczyk, "Newton-Algorithmen zur Bestimmung von Nullstellen mit Fehlerschranken",
   Computing 4 (1969) 187-201; S. M. Rump, Acta Numerica 19 (2010), section 13.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flint import acb, arb, arb_mat, ctx

# Takes a point, or a box, to f and f' there, enclosed: matrices of balls.
Equations = Callable[[Sequence[Any]], tuple[Any, Any]]


def newton_limit(
    at: Equations, x: Sequence[Any], steps: int, goal: arb, floor: arb
) -> list[Any] | None:
    """The limit of Newton's method at the current precision; None if it does not converge.

    Parameters
    ----------
    at : callable
    x : sequence of arb or acb
        Without radii.
    steps : int
        Largest number of steps.
    goal : arb
        Relative size of the last step.
    floor : arb
        Numbers below this size are measured relative to it.
    """
    last = arb("inf")
    for number in range(steps):
        F, J = at(x)
        try:
            step = J.mid().solve(F.mid()).entries()
        except ZeroDivisionError:
            return None
        x = [(z - d).mid() for z, d in zip(x, step, strict=True)]
        size = max(abs(d).mid() / (abs(z).mid() + floor) for z, d in zip(x, step, strict=True))
        if size < goal:
            break
        # No solution is near, or the limit of this precision is reached.
        if number > 3 and size > last / 2:
            return None
        last = size
    return list(x)


def krawczyk_radii(
    at: Equations, x: Sequence[Any], factors: Sequence[int], least: arb
) -> list[arb] | None:
    """Radii of a box about exact points that holds exactly one solution, or None.

    Parameters
    ----------
    at : callable
    x : sequence of arb or acb
        Without radii.
    factors : sequence of int
        Radii that are tried: so many times the size of Newton's step, and `least` more.
    least : arb
    """
    F, J = at(x)
    try:
        C = J.mid().inv().mid()
    except ZeroDivisionError:
        return None
    moved, size = C * F, range(len(x))
    steps = [abs(moved[i, 0]).abs_upper() for i in size]
    for factor in factors:
        radii = [(factor * step + least).mid() for step in steps]
        slack = C * at([ball(z, q) for z, q in zip(x, radii, strict=True)])[1]
        reach = [
            sum((abs(slack[i, j] - int(i == j)).abs_upper() * radii[j] for j in size), steps[i])
            for i in size
        ]
        if all(total < radius for total, radius in zip(reach, radii, strict=True)):
            return radii
    return None


def regular_part(F: Any, J: Any) -> tuple[list[int], list[int]] | None:
    """Equations that are not 0 everywhere in a box, and as many unknowns that determine them.

    Parameters
    ----------
    F, J : arb_mat
        f and f' in a box.  An equation is left out if both are the number 0.

    Returns
    -------
    rows, columns : list of int
        By Gaussian elimination with complete pivoting at the centre; None if the rank is smaller.
    """
    unknowns = range(J.ncols())
    rows = [
        i for i in range(F.nrows())
        if not (F[i, 0].is_zero() and all(J[i, j].is_zero() for j in unknowns))
    ]  # fmt: skip
    table = [[J[i, j].mid() for j in unknowns] for i in rows]
    columns: list[int] = []
    for step in range(len(rows)):
        left = [(i, j) for i in range(step, len(rows)) for j in unknowns if j not in columns]
        i, j = max(left, key=lambda at: abs(table[at[0]][at[1]]), default=(step, -1))
        if j < 0 or table[i][j] == 0:
            return None
        columns.append(j)
        table[step], table[i] = table[i], table[step]
        for row in table[step + 1 :]:
            factor = row[j] / table[step][j]
            row[:] = [(a - factor * b).mid() for a, b in zip(row, table[step], strict=True)]
    return rows, sorted(columns)


def part_of(
    at: Equations, x: Sequence[Any], rows: Sequence[int], columns: Sequence[int]
) -> Equations:
    """The equations of some rows in some unknowns; the others are those of x."""

    def own(y: Sequence[Any]) -> tuple[Any, Any]:
        F, J = at(placed(x, columns, y))
        some = arb_mat([[J[i, j] for j in columns] for i in rows])
        return arb_mat([[F[i, 0]] for i in rows]), some

    return own


def placed(x: Sequence[Any], columns: Sequence[int], y: Sequence[Any]) -> list[Any]:
    """x with other values of some unknowns."""
    found = list(x)
    for j, value in zip(columns, y, strict=True):
        found[j] = value
    return found


def has_solution(
    at: Equations, near: Sequence[Any], size: arb, factors: Sequence[int], least: arb
) -> bool:
    """Whether Krawczyk's test proves a solution near an exact real point, perhaps of a family.

    Equations that are 0 in a whole box are left out, and some unknowns keep their values, as many
    as there are more of them than other equations.

    Parameters
    ----------
    at : callable
    near : sequence of arb
    size : arb
        Relative size of the box in which equations that are 0 are left out.
    factors, least
        As for `krawczyk_radii`.
    """
    part = regular_part(*at([ball(z, (size * (1 + abs(z))).mid()) for z in near]))
    if part is None or not part[0]:
        return part is not None
    rows, columns = part
    own, goal = part_of(at, near, rows, columns), arb(2) ** (-(ctx.prec * 3) // 5)
    x = newton_limit(own, [near[j].mid() for j in columns], 4, goal, arb(1))
    radii = None if x is None else krawczyk_radii(own, x, factors, least)
    if x is None or radii is None:
        return False
    box = [ball(z, radius) for z, radius in zip(x, radii, strict=True)]
    values, _ = at(placed(near, columns, box))
    return all(values[i, 0].is_zero() for i in range(values.nrows()) if i not in rows)


def ball(z: Any, radius: arb) -> Any:
    """The interval about a real number, or a square that holds the disc about a complex one."""
    wide = arb(0, radius)
    return z + wide if isinstance(z, arb) else acb(z.real + wide, z.imag + wide)
