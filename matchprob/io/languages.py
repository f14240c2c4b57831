"""Polynomial systems in the languages of other programs.

msolve        exact: integer coefficients, unknowns x0, x1, …
phcpack       doubles, each equation divided by a power of two near its largest coefficient
julia         HomotopyContinuation.jl: doubles, each equation divided by its largest coefficient
macaulay2     exact: an ideal over QQ
singular      exact: an ideal over QQ
magma         exact: an ideal over the rationals
sage          exact: an ideal over QQ
sympy         exact: a Python module, which solves the equations when it is run
latex         exact: the equations of a paper

A system is given by exact polynomials (python-flint's ``fmpq_mpoly``) in named unknowns, and
returned as a text with the names of the unknowns in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpz

from algebra.errors import InputError
from algebra.polynomials.msolve.text import system_text
from numeric.engines.phcpy.floating_core import scaled_terms
from numeric.engines.phcpy.systems import PhcSystem

Exact = Mapping[tuple[int, ...], Any]
"""Exponents to integers that are not zero."""

_Writer = Callable[[Sequence[str], Sequence[str], Sequence[Any], str], str]


@dataclass(frozen=True)
class Language:
    """The input language of another program.

    Attributes
    ----------
    title : str
        Name of the program.
    suffix : str
        Suffix of its files.
    keeps_names : bool
        Whether unknowns keep their names; else they are x0, x1, ….
    write : callable
        From names in the text, names of the unknowns, polynomials and a heading to the text.
    """

    title: str
    suffix: str
    keeps_names: bool
    write: _Writer


def integral(polynomial: Any) -> dict[tuple[int, ...], fmpz]:
    """The primitive integer multiple of a rational polynomial, by exponents.

    Examples
    --------
    >>> from flint import fmpq, fmpq_mpoly_ctx
    >>> x, y = fmpq_mpoly_ctx.get(("x", "y"), "degrevlex").gens()
    >>> integral(fmpq(1, 2) * x**2 - fmpq(3, 4) * y)
    {(2, 0): 2, (0, 1): -3}
    """
    terms = {tuple(map(int, m)): c for m, c in polynomial.terms()}
    scale = fmpz(1)
    for c in terms.values():
        scale = scale.lcm(c.q)
    whole = {m: (c * scale).p for m, c in terms.items()}
    common = fmpz(0)
    for value in whole.values():
        common = common.gcd(value)
    return {m: value // common for m, value in whole.items()}


def _infix(terms: Mapping[tuple[int, ...], Any], names: Sequence[str], power: str) -> str:
    """A polynomial as a sum of products."""
    text = ""
    for monomial, coefficient in terms.items():
        size = abs(coefficient)
        pairs = zip(names, monomial, strict=True)
        factors = [name + (f"{power}{a}" if a > 1 else "") for name, a in pairs if a]
        if size != 1 or not factors:
            factors.insert(0, str(size))
        sign = "-" if coefficient < 0 else "+"
        text += f" {sign} " + "*".join(factors)
    return text.removeprefix(" + ").replace(" - ", "-", int(text.startswith(" - ")))


def spoken(unknown: str) -> str:
    """``W_0_1`` as ``W[0,1]``."""
    name, i, j = unknown.rsplit("_", 2)
    return f"{name}[{i},{j}]"


def _definitions(names: Sequence[str], own: Sequence[str]) -> list[str]:
    return [f"{name} = {spoken(o)}" for name, o in zip(names, own, strict=True)]


def _msolve(names: Sequence[str], own: Sequence[str], equations: Sequence[Any], head: str) -> str:
    # No comment: msolve 0.7 answers "no solution" if the file begins with one.
    return system_text([integral(e) for e in equations], len(names), 0)


def _phcpack(names: Sequence[str], own: Sequence[str], equations: Sequence[Any], head: str) -> str:
    system = PhcSystem.read([scaled_terms(e) for e in equations], names)
    if system.status != "square":
        raise InputError(f"PHCpack solves square systems, and this one is {system.status}")
    lines = "\n".join(system.lines())
    definitions = ", ".join(_definitions(names, own))
    return f"{len(equations)} {len(names)}\n{lines}\n\nTITLE : {head}; {definitions}\n"


def _julia(names: Sequence[str], own: Sequence[str], equations: Sequence[Any], head: str) -> str:
    body = ",\n".join("    " + _infix(scaled_terms(e), names, "^") for e in equations)
    return (
        f"# {head}\n# Coefficients are rounded to doubles.\n"
        f"using HomotopyContinuation\n\n@var {' '.join(names)}\n"
        f"system = System([\n{body},\n]; variables = [{', '.join(names)}])\n"
        "result = solve(system)\n"
    )


def _ideal(text: str, power: str = "^", remark: str = "") -> _Writer:
    """A writer of exact equations into a text, with the names' definitions if they are remarks."""

    def write(names: Sequence[str], own: Sequence[str], equations: Sequence[Any], head: str) -> str:
        told = [f"{remark} {line}\n" for line in _definitions(names, own)] if remark else []
        lines = ["    " + _infix(integral(e), names, power) for e in equations]
        return text.format(
            head=head, definitions="".join(told), body=",\n".join(lines), count=len(names),
            names=", ".join(names), quoted=list(names),
        )  # fmt: skip

    return write


_macaulay2 = _ideal(
    "-- {head}\n{definitions}R = QQ[{names}]\nI = ideal(\n{body}\n)\nprint(dim I, degree I)\n",
    remark="--",
)
_singular = _ideal(
    "// {head}\n{definitions}ring R = 0, ({names}), dp;\nideal I =\n{body};\n"
    "ideal G = std(I);\nprint(dim(G));\nprint(vdim(G));\n",
    remark="//",
)
_magma = _ideal(
    '// {head}\nR<{names}> := PolynomialRing(RationalField(), {count}, "grevlex");\n'
    "I := ideal<R |\n{body}\n>;\nprint Dimension(I);\n"
    "if IsZeroDimensional(I) then print QuotientDimension(I); end if;\n"
)
_sage = _ideal(
    "# {head}\nfrom sage.all import QQ, PolynomialRing\n\n"
    "R = PolynomialRing(QQ, {count}, {quoted}, order='degrevlex')\n[{names}] = R.gens()\n"
    "I = R.ideal([\n{body},\n])\nprint(I.dimension(), I.vector_space_dimension())\n",
    power="**",
)
_sympy = _ideal(
    '"""{head}"""\n\nfrom sympy import symbols\n\nunknowns = [{names}] = symbols({quoted})\n'
    "equations = [\n{body},\n]\n\n"
    'if __name__ == "__main__":\n    from sympy import solve\n\n'
    "    for solution in solve(equations, unknowns, dict=True):\n"
    "        print({{name: value.evalf(15) for name, value in solution.items()}})\n",
    power="**",
)


def _latex(names: Sequence[str], own: Sequence[str], equations: Sequence[Any], head: str) -> str:
    letters = []
    for unknown in own:
        name, i, j = unknown.rsplit("_", 2)
        stem = name.rstrip("0123456789")
        upper = f"^{{({number})}}" if (number := name[len(stem) :]) else ""
        letters.append(f"{{{stem}{upper}_{{{i},{j}}}}}")
    lines = []
    for equation in equations:
        text = _infix(integral(equation), letters, "^")
        text = re.sub(r"\^(\d+)", r"^{\1}", text).replace("*", r"\,")
        lines.append(f"    0 &= {text}")
    body = " \\\\\n".join(lines)
    return f"% {head}\n% needs the package amsmath\n\\begin{{align*}}\n{body}\n\\end{{align*}}\n"


LANGUAGES = {
    "msolve": Language("msolve", ".ms", False, _msolve),
    "phcpack": Language("PHCpack", ".phc", False, _phcpack),
    "julia": Language("HomotopyContinuation.jl", ".jl", True, _julia),
    "macaulay2": Language("Macaulay2", ".m2", False, _macaulay2),
    "singular": Language("Singular", ".sing", False, _singular),
    "magma": Language("Magma", ".magma", True, _magma),
    "sage": Language("SageMath", ".sage", True, _sage),
    "sympy": Language("SymPy", ".py", True, _sympy),
    "latex": Language("LaTeX", ".tex", True, _latex),
}


def language_of(suffix: str) -> str:
    """The language of files with this suffix.

    Raises
    ------
    InputError
        If there is none.
    """
    for name, language in LANGUAGES.items():
        if language.suffix == suffix:
            return name
    raise InputError(
        f"{suffix!r} is no known suffix of a system; known are "
        + ", ".join(f"{x.suffix} ({x.title})" for x in LANGUAGES.values())
    )


def write_system(
    language: str, unknowns: Sequence[str], equations: Sequence[Any], heading: str
) -> tuple[str, tuple[str, ...]]:
    """A system as text, and the names of its unknowns in it.

    Parameters
    ----------
    language : str
        A key of `LANGUAGES`.
    unknowns : sequence of str
    equations : sequence of fmpq_mpoly
        In the unknowns, in their order; each is equated to 0.
    heading : str
        One line of description; a comment if the language has comments.

    Raises
    ------
    InputError
        For PHCpack, if the system is not square.
    """
    spoken = LANGUAGES[language]
    names = tuple(unknowns) if spoken.keeps_names else tuple(f"x{k}" for k in range(len(unknowns)))
    return spoken.write(names, unknowns, equations, heading), names
