"""The text that msolve reads and writes.

Its parser is fragile, so the text written here is simple: variables x0, x1, …; one polynomial in
each line; each monomial once, as ``c*x0^2*x3^1`` with a non-zero integer c; signs only as part of
c.  Text that is read is compared with the expected form; anything else raises `MsolveFailed`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from flint import fmpz, fmpz_poly

from algebra.polynomials.msolve.process import MsolveFailed
from algebra.polynomials.parametrization import Parametrization
from algebra.time_limits import checked

Monomial = tuple[int, ...]

_TOKEN = re.compile(r"\s*(\[|\]|,|'[^']*'|-?\d+)")
_POWER = re.compile(r"x(\d+)(?:\^(\d+))?")


def system_text(
    polynomials: Sequence[Mapping[Monomial, Any]], variables: int, characteristic: int
) -> str:
    """An input file.

    Parameters
    ----------
    polynomials : sequence of mappings from exponents to integers that are not zero
    variables : int
    characteristic : int
        0 or a prime.

    Examples
    --------
    >>> print(system_text([{(2, 0): 1, (0, 1): -3}, {(1, 1): 2, (0, 0): 5}], 2, 0))
    x0,x1
    0
    1*x0^2-3*x1^1,
    2*x0^1*x1^1+5
    <BLANKLINE>
    """
    names = ",".join(f"x{i}" for i in range(variables))
    # Dense systems repeat the same monomials.
    powers: dict[Monomial, str] = {}
    lines = ",\n".join(_polynomial_text(p, powers) for p in polynomials)
    return f"{names}\n{characteristic}\n{lines}\n"


def _polynomial_text(polynomial: Mapping[Monomial, Any], powers: dict[Monomial, str]) -> str:
    parts: list[str] = []
    for monomial, coefficient in checked(polynomial.items()):
        # fmpz prints integers of any length; Python stops at 4,300 digits.
        number = str(coefficient if type(coefficient) is int else fmpz(coefficient))
        if parts and not number.startswith("-"):
            parts.append("+")
        parts.append(number)
        text = powers.get(monomial)
        if text is None:
            text = "".join(f"*x{i}^{e}" for i, e in enumerate(monomial) if e)
            powers[monomial] = text
        parts.append(text)
    return "".join(parts)


def parse_basis(text: str, variables: int, prime: int) -> list[dict[Monomial, int]]:
    """A Gröbner basis, or a leading ideal, that msolve has printed (option -g).

    Parameters
    ----------
    text : str
    variables, prime : int
        As in the input file; the comment lines must agree.

    Returns
    -------
    list of dict
        For a leading ideal, each with one monomial and coefficient 1.
    """
    order = ", ".join(f"x{i}" for i in range(variables))
    comments = [line for line in text.splitlines() if line.startswith("#")]
    header = {
        key.strip(): value.strip()
        for key, _, value in (line[1:].partition(":") for line in comments)
    }
    expected = {
        "field characteristic": str(prime),
        "variable order": order,
        "monomial order": "graded reverse lexicographical",
    }
    for key, value in expected.items():
        if header.get(key) != value:
            raise MsolveFailed(f"msolve's basis has {key} {header.get(key)!r}, not {value!r}")
    body = "".join(line for line in text.splitlines() if not line.startswith("#")).strip()
    if not (body.startswith("[") and body.endswith("]:")):
        raise MsolveFailed(f"msolve's basis is not a list: {body[:60]!r}")
    return [_parse_polynomial(part, variables) for part in body[1:-2].split(",")]


def _parse_polynomial(text: str, variables: int) -> dict[Monomial, int]:
    polynomial: dict[Monomial, int] = {}
    for term in text.strip().split("+"):
        coefficient, exponents = 1, [0] * variables
        for factor in term.split("*"):
            match = _POWER.fullmatch(factor)
            if match:
                exponents[int(match[1])] += int(match[2] or 1)
            elif factor.isdigit():
                coefficient *= int(factor)
            else:
                raise MsolveFailed(f"msolve's basis has a term {term[:60]!r}")
        polynomial[tuple(exponents)] = coefficient
    return polynomial


def parse_nested(text: str) -> list[Any]:
    """Nested lists of integers (`fmpz`) and names.

    Examples
    --------
    >>> parse_nested("[1, ['x0', 'x1'], [-2, []]]:")
    [1, ['x0', 'x1'], [-2, []]]
    """
    top: list[Any] = []
    stack = [top]
    position, end = 0, text.rstrip().removesuffix(":")
    while position < len(end):
        match = _TOKEN.match(end, position)
        if match is None:
            raise MsolveFailed(f"msolve's answer has {end[position : position + 40]!r}")
        token, position = match[1], match.end()
        if token == "[":
            stack.append([])
        elif token == "]":
            closed = stack.pop()
            if not stack:
                raise MsolveFailed("msolve's answer has a bracket too many")
            stack[-1].append(closed)
        elif token != ",":
            stack[-1].append(token[1:-1] if token.startswith("'") else fmpz(token))
    if len(stack) != 1 or len(top) != 1 or not isinstance(top[0], list):
        raise MsolveFailed("msolve's answer is cut off")
    return list(top[0])


def claimed_parametrization(
    answer: Sequence[Any], variables: int
) -> str | tuple[Parametrization, dict[Monomial, fmpz]]:
    """The claim of msolve about a system over Q (option ``-P 2``).

    Parameters
    ----------
    answer : sequence
        From `parse_nested`.
    variables : int

    Returns
    -------
    str
        "no solution" or "infinitely many solutions"; otherwise
    (Parametrization, dict)
        Points in the given order of variables, with the parameter t as a further coordinate, and
        the linear polynomial in these ``variables + 1`` coordinates that defines t.  Nothing of it
        is proved yet.

    Notes
    -----
    msolve writes
    ``[0, [0, n, degree, names, form, [1, [[deg w, w], [deg q, q], [[[deg, v_i], c_i], …]]]]]``;
    then x_i = -v_i(t) / (c_i q(t)) for each name but the last, which is t itself.  It may permute
    the names; if it appends a new one, A, then A is -Σ form_i x_i.
    """
    if answer == [-1]:
        return "no solution"
    if len(answer) == 4 and answer[0] == 1 and answer[2] == -1:
        return "infinitely many solutions"
    try:
        status, (_, _, _, names, form, (one, (w, q, coordinates))) = answer
        ((_, w_coefficients), (_, q_coefficients)) = w, q
        parts = [(fmpz_poly(v), fmpz(c)) for (_, v), c in coordinates]
        known = [f"x{i}" for i in range(variables)]
        extended = len(names) == variables + 1
        if status != 0 or one != 1 or set(names) - {names[-1]} != set(known) - {names[-1]}:
            raise ValueError("unknown form")
        if len(names) != len(parts) + 1 or extended == (names[-1] in known):
            raise ValueError("unknown variables")
    except (TypeError, ValueError) as error:
        raise MsolveFailed(f"msolve's answer is not a parametrization: {error}") from None
    t, denominator = fmpz_poly([0, 1]), fmpz_poly(q_coefficients)
    scale = fmpz(1)
    for _, c in parts:
        if c == 0:
            raise MsolveFailed("msolve's parametrization divides by 0")
        scale = scale.lcm(c)
    numerators = {names[-1]: t * denominator * scale}
    for name, (v, c) in zip(names, parts, strict=False):
        numerators[name] = -v * (scale // c)
    units = [tuple(int(i == j) for j in range(variables + 1)) for i in range(variables + 1)]
    definition = {units[variables]: fmpz(1 if extended else -1)}
    if extended:
        definition |= {units[int(n[1:])]: c for n, c in zip(names, form, strict=True) if n in known}
    else:
        definition[units[int(names[-1][1:])]] = fmpz(1)
    points = Parametrization(
        fmpz_poly(w_coefficients),
        denominator,
        scale,
        (*(numerators[name] for name in known), numerators[names[-1]]),
    )
    return points, definition
