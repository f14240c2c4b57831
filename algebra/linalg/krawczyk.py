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

from flint import acb, arb

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


def ball(z: Any, radius: arb) -> Any:
    """The interval about a real number, or a square that holds the disc about a complex one."""
    wide = arb(0, radius)
    return z + wide if isinstance(z, arb) else acb(z.real + wide, z.imag + wide)
