r"""Krawczyk's test: a polydisc that holds exactly one solution of f(x) = 0, in balls.

With C an approximate inverse of f'(x) and a polydisc X of radii ρ about an exact point x, let

.. math:: K(X) = x - C f(x) + (I - C f'(X)) (X - x).

Where |C f(x)|_i + Σ_j |I − C f'(X)|_{ij} ρ_j < ρ_i for every i, K maps X into its interior: then
X holds exactly one solution, and it is simple [1]_.

References
----------
.. [1] R. Krawczyk, "Newton-Algorithmen zur Bestimmung von Nullstellen mit Fehlerschranken",
   Computing 4 (1969) 187-201; S. M. Rump, Acta Numerica 19 (2010), section 13.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flint import acb, acb_mat, arb


def krawczyk_radii(
    at: Callable[[Sequence[acb]], tuple[acb_mat, acb_mat]],
    x: Sequence[acb],
    factors: Sequence[int],
    least: arb,
) -> list[arb] | None:
    """Radii of a polydisc about exact points that holds exactly one solution, or None.

    Parameters
    ----------
    at : callable
        Takes a point, or a polydisc, to f and f' there, enclosed.
    x : sequence of acb
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
        box = [acb(z.real + arb(0, q), z.imag + arb(0, q)) for z, q in zip(x, radii, strict=True)]
        slack = C * at(box)[1]
        reach = [
            sum((abs(slack[i, j] - int(i == j)).abs_upper() * radii[j] for j in size), steps[i])
            for i in size
        ]
        if all(total < radius for total, radius in zip(reach, radii, strict=True)):
            return radii
    return None
