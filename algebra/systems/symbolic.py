"""Elimination with symbols for the data: the core in printable form.

The equations of `algebra.systems.system` over Q(parameters): fixed weights, samples and labels are
symbols named as there (``W_0_1``, ``X_0_0``, ``Y_0_0``), or some of them numbers.  Exact
elimination is that of `algebra.systems.elimination`; its result holds where no denominator
vanishes, so for generic data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from algebra.documents import Document, Paragraph
from algebra.errors import InputError, shown
from algebra.polynomials.rational_functions import Polynomial, RationalFunctions
from algebra.polynomials.real_roots import integer_terms
from algebra.problems.instance_files import GivenNumbers
from algebra.problems.problem import Problem
from algebra.results import Result, named
from algebra.systems.core import CoreSystem
from algebra.systems.elimination import eliminate
from algebra.systems.forms import preferred_form
from algebra.systems.instances import rational_core
from algebra.systems.system import build_system

# With more symbols fractions are too long to be useful.
MOST_SYMBOLS = 64


@dataclass(frozen=True, repr=False)
class Elimination(Result):
    """The result of eliminating an allocation's equations.

    Attributes
    ----------
    problem : Problem
    form : str
        Form of the system: "B", "D", "forward", "backward", "sums" or "direct".
    core : CoreSystem
        The core itself, over Q or Q(parameters).
    parameters : tuple of str
        The symbols of data; none if all data are numbers.
    source : str
        The instance of the numbers, in words.
    """

    problem: Problem
    form: str
    core: CoreSystem = field(compare=False)
    parameters: tuple[str, ...] = ()
    source: str = "of the instance"

    @property
    def unknowns(self) -> tuple[str, ...]:
        """The remaining unknowns: weights (``W_0_1``) or auxiliary ones (``F_1_0``)."""
        return self.core.unknowns

    @property
    def consistent(self) -> bool:
        """False if elimination found 1 = 0: there is no solution, not even a complex one."""
        return self.core.consistent

    @cached_property
    def equations(self) -> tuple[sympy.Expr, ...]:
        """The core's equations, without denominators and common factors; each must be 0."""
        return tuple(_cleared(e, self.unknowns) for e in self.core.equations)

    @cached_property
    def weights(self) -> dict[str, sympy.Expr]:
        """Each learnable weight as a function of the core's unknowns.

        Weights that a linear block determines only after the core is solved are omitted
        (`deferred`).
        """
        core = self.core
        if not core.consistent:
            return {}
        names = core.system.unknowns[: core.system.weights]
        if core.is_linear:
            solved = core.back_substitute(())
            return dict(zip(names, map(_number, solved), strict=True)) if solved else {}
        behind = {k for block in core.deferred for k in block.unknowns}
        images = dict(zip(core.kept, core.core_images, strict=True))
        symbols = dict(enumerate(map(sympy.Symbol, core.unknowns)))
        found = {}
        for name, image in zip(names, core.stage_images, strict=False):
            used = {k for m in image.monoms() for k, e in enumerate(m) if e}
            if used & behind:
                continue
            values = {k: _at(images[k], symbols) for k in used}
            found[name] = sympy.together(_at(image, values))
        return found

    @cached_property
    def conditions(self) -> tuple[sympy.Expr, ...]:
        """Polynomials in the data that must not be 0, irreducible: elimination divides by them.

        The core and the weights are those of every instance at which none of them vanishes, and
        hence of almost every one; none if all data are numbers.
        """
        field = self.core.system.ring
        if not isinstance(field, RationalFunctions):
            return ()
        # Factors are removed from equations, and linear blocks solved, on request.
        assert self.equations is not None
        assert self.weights is not None
        found = map(sympy.sympify, field.divisors)
        return tuple(sorted(found, key=lambda own: (len(own.args), str(own))))

    @property
    def deferred(self) -> tuple[str, ...]:
        """The unknowns of linear blocks that are solved last; none if all is linear."""
        if self.core.is_linear:
            return ()
        names = self.core.stage_unknowns
        return tuple(names[k] for block in self.core.deferred for k in block.unknowns)

    def document(self) -> Document:
        """The size of what is left, and the equations themselves."""
        facts = {
            "form": self.form,
            "unknowns": " ".join(self.unknowns) or "none",
            "equations": len(self.core.equations),
            "degree": max(self.core.degrees, default=0),
            "parameters": len(self.parameters),
            "consistent": self.consistent,
        }
        data = "symbols for all data" if self.parameters else self.source
        lines = str(self).split("\n")
        return Document(
            f"core of the {self.form} form, {data}", facts, tuple(map(Paragraph, lines))
        )

    def columns(self) -> dict[str, list[Any]]:
        """One row for each equation."""
        return {
            "equation": [str(e) for e in self.equations],
            "degree": list(self.core.degrees),
            "terms": [len(e.monoms()) for e in self.core.equations],
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data; polynomials as texts in SymPy's notation."""
        return {
            **named(self, "form", "unknowns"),
            "equations": [str(e) for e in self.equations],
            "consistent": self.consistent,
            "weights": {name: str(value) for name, value in self.weights.items()},
            "conditions": [str(e) for e in self.conditions],
            **named(self, "deferred", "parameters"),
        }

    def __str__(self) -> str:
        if not self.consistent:
            return "1 = 0: no solution"
        lines = [f"{in_short(e)} = 0" for e in self.equations]
        lines += [f"{name} = {in_short(value)}" for name, value in self.weights.items()]
        if self.deferred:
            lines.append(
                f"{', '.join(self.deferred)}: by linear equations, once these are known, where "
                "their matrix is regular"
            )
        lines += [f"{in_short(e)} ≠ 0" for e in self.conditions]
        if any(" … (" in line for line in lines):
            lines.append("in full: `equations`, `weights`, `conditions`; or to_dict()")
        return "\n".join(lines) or "nothing is left"


def in_short(expression: sympy.Expr, most: int = 300) -> str:
    """An expression, or the beginning of a long one with the number of its characters."""
    text = str(expression)
    if len(text) <= most:
        return text
    return f"{text[:most].rsplit(' ', 2)[0]} … ({len(text):,} characters)"


def eliminated(
    problem: Problem,
    *,
    numbers: GivenNumbers | None = None,
    symbols: Iterable[str] | None = None,
    form: str | None = None,
) -> Elimination:
    """Eliminate linear equations, with symbols for the data that are not given.

    Parameters
    ----------
    problem : Problem
        Its allocation is fixed, and its equations are polynomials.
    numbers : GivenNumbers, optional
        An instance; by default everything is a symbol.
    symbols : iterable of str, optional
        Matrices that remain symbols in any case: names of weight matrices, "X", "Y".  By default
        none if there are numbers.
    form : str, optional
        By default the one with the smaller core.

    Raises
    ------
    InputError
        If there would be more than 64 symbols.
    """
    network, allocation = problem.network, problem.allocation
    form = form or preferred_form(allocation)
    known = (*network.shapes, "X", "Y")
    stay = set(known) if numbers is None and symbols is None else set(symbols or ())
    for name in stay:
        if name not in known:
            raise InputError(f"`symbols` names {shown(name)}; known are " + ", ".join(known))
    if numbers is None and stay != set(known):
        raise InputError(
            "`symbols` leaves " + ", ".join(n for n in known if n not in stay) + " without values: "
            "give an instance"
        )
    if not stay:
        assert numbers is not None
        core = rational_core(allocation, numbers.weights, numbers.X, numbers.Y, form)
        return Elimination(problem, form, core)
    shapes = {**network.shapes, "X": network.input_shape, "Y": (network.d, network.columns)}
    masks = allocation.masks
    cells = [
        (name, i, j)
        for name, shape in shapes.items()
        if name in stay
        for i, j in np.ndindex(shape)
        if _is_data(name, i, j, masks, problem.support)
    ]
    if len(cells) > MOST_SYMBOLS:
        raise InputError(
            f"{len(cells)} entries of {', '.join(n for n in known if n in stay)} would be symbols, "
            f"more than {MOST_SYMBOLS}: give an instance, and use fewer symbols"
        )
    ring = RationalFunctions([f"{name}_{i}_{j}" for name, i, j in cells])
    values = dict(zip(cells, ring.parameters, strict=True))
    given = {} if numbers is None else {**numbers.weights, "X": numbers.X, "Y": numbers.Y}

    def matrix(name: str) -> np.ndarray:
        out = np.empty(shapes[name], dtype=object)
        for i, j in np.ndindex(shapes[name]):
            if (name, i, j) in values:
                out[i, j] = values[name, i, j]
            elif name not in given or name in stay:
                # Learnable (an unknown takes its place), or structurally zero.
                out[i, j] = ring.constant(0)
            else:
                out[i, j] = ring.constant(given[name][i, j])
        return out

    weights = {name: matrix(name) for name in network.shapes}
    system = build_system(allocation, weights, matrix("X"), matrix("Y"), ring, form)
    return Elimination(problem, form, eliminate(system), ring.names)


def _is_data(
    name: str, i: int, j: int, masks: Mapping[str, np.ndarray], support: Mapping[str, Any]
) -> bool:
    """Whether an entry is neither learnable nor structurally zero."""
    if name in masks and masks[name][i, j]:
        return False
    return name not in support or bool(support[name][i, j])


def _number(value: Any) -> sympy.Expr:
    """A coefficient, rational or a rational function, as a SymPy expression."""
    if hasattr(value, "as_expr"):
        return value.as_expr()
    return sympy.Rational(int(value.p), int(value.q))


def _at(polynomial: Any, values: Mapping[int, sympy.Expr]) -> sympy.Expr:
    """A polynomial's value at expressions for its unknowns, given by position."""
    total = sympy.Integer(0)
    for monomial, coefficient in polynomial.to_dict().items():
        term = _number(coefficient)
        for k, exponent in enumerate(monomial):
            if exponent:
                term *= values[k] ** exponent
        total += term
    return total


def _cleared(polynomial: Any, names: tuple[str, ...]) -> sympy.Expr:
    """A polynomial times its denominators, primitive."""
    if isinstance(polynomial, Polynomial):
        return polynomial.cleared()
    terms = {tuple(map(int, m)): int(c) for m, c in integer_terms(polynomial).items()}
    poly = sympy.Poly.from_dict(terms, *map(sympy.Symbol, names))
    expression: sympy.Expr = poly.primitive()[1].as_expr()
    return expression
