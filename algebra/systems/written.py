r"""The equations as a person reads them: SymPy expressions, of every kind and in every form.

Data are symbols (``W_0_1``, ``X_0_0``, ``Y_0_0``), or the numbers of an instance.  Functions stay
as they are: ``tanh(F1_0_0)``.  A network that chooses by signs (ReLU) has other equations on each
activation pattern; here they are those of one pattern, with the conditions that the signs are
these (paper 1, Eq. 5.1 and Lemma D.2).  In the form "sums" they are equations and inequalities of
degree two at most,

.. math:: W_1 X = F, \quad W_2 (P ∘ F) = Y, \quad (2P − 1) ∘ F ≥ 0.

The pattern is that of a random rational point, so it does occur; of an instance, that of its fixed
weights and samples with random learnable weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import sympy
from flint import fmpq

from algebra.networks.activation import Activation
from algebra.networks.base import Network, Support
from algebra.polynomials.rings import SymbolicRing, symbol
from algebra.problems.allocation import Allocation
from algebra.problems.instance_files import GivenNumbers
from algebra.problems.problem import Problem
from algebra.problems.reduction import lowered, solved
from algebra.programs.arrays import EntryArithmetic
from algebra.programs.program import Node, matrix_shape
from algebra.systems.forms import (
    LiftedForm,
    TooLong,
    checked_form,
    preferred_form,
    written_forms,
)
from algebra.systems.inspection import MOST_EQUATIONS
from algebra.systems.instances import rational_instance
from algebra.systems.system import PolynomialSystem, written_system

# Terms of one equation, and of all, multiplied out, beyond which they are of no use to a reader.
MOST_IN_ONE = 5_000
MOST_TERMS = 2_000_000
# Those of SymPy's own.
_FUNCTIONS = ("exp", "tanh", "erf")


@dataclass(frozen=True)
class SymbolicSystem(PolynomialSystem):
    """Equations in SymPy, perhaps with conditions.

    Attributes
    ----------
    conditions : tuple of (expression, bool)
        Of one activation pattern: what is positive (True), and what is not.
    title : str
    """

    conditions: tuple[tuple[Any, bool], ...] = ()
    title: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``: expressions as texts."""
        pairs = zip(self.labels, self.equations, strict=True)
        data = {
            "title": self.title,
            "form": self.form,
            "weights": list(self.unknowns[: self.weights]),
            "unknowns": list(self.unknowns),
            "equations": [{"label": label, "text": str(e.expand())} for label, e in pairs],
        }
        return data | ({"conditions": self.inequalities()} if self.conditions else {})

    def text(self) -> str:
        """All equations and conditions, one a line."""
        pairs = zip(self.labels, self.equations, strict=True)
        lines = [self.title, *(f"  {label}:  {e.expand()} = 0" for label, e in pairs)]
        return "\n".join([*lines, *(f"  where {text}" for text in self.inequalities())])

    def inequalities(self) -> list[str]:
        """The conditions as texts."""
        return [f"{e.expand()} {'>' if above else '<='} 0" for e, above in self.conditions]


class _Symbolic(EntryArithmetic):
    """SymPy expressions, on one activation pattern."""

    def __init__(self, network: Network, pattern: Iterable[np.ndarray]) -> None:
        super().__init__(number=_rational)
        self._polynomial, self._pattern = _polynomial(network), iter(pattern)
        self.conditions: dict[tuple[Any, bool], None] = {}

    def root(self, node: Node, a: np.ndarray) -> np.ndarray:
        return np.asarray(a ** sympy.Rational(1, 2))

    def apply(self, node: Node, name: str, a: np.ndarray) -> np.ndarray:
        if self._polynomial:
            return np.asarray(self._polynomial.values(a))
        return _mapped(getattr(sympy, name) if name in _FUNCTIONS else sympy.Function(name), a)

    def choose(
        self, node: Node, sign: np.ndarray, positive: np.ndarray, other: np.ndarray
    ) -> np.ndarray:
        above = np.broadcast_to(next(self._pattern), sign.shape)
        pairs = zip(sign.ravel(), above.ravel().tolist(), strict=True)
        self.conditions |= dict.fromkeys(pair for pair in pairs if not pair[0].is_number)
        return np.where(above, positive, other)


class _Terms(EntryArithmetic):
    """How many terms a value has, multiplied out; what a function is applied to counts, too."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self._polynomial = _polynomial(network)

    def constant(self, table: np.ndarray, denominator: int) -> np.ndarray:
        return (table[..., None] != 0).astype(object)

    def scale(self, node: Node, a: np.ndarray, factor: Fraction) -> np.ndarray:
        return a if factor else a * 0

    def reciprocals(self, node: Node, a: np.ndarray) -> np.ndarray:
        return a + 1

    def root(self, node: Node, a: np.ndarray) -> np.ndarray:
        return a + 1

    def apply(self, node: Node, name: str, a: np.ndarray) -> np.ndarray:
        if not self._polynomial:
            return a + 1
        return np.asarray(sum(a**k for k, c in enumerate(self._polynomial.coefficients) if c))

    def choose(
        self, node: Node, sign: np.ndarray, positive: np.ndarray, other: np.ndarray
    ) -> np.ndarray:
        return positive + other


def symbolic_system(
    allocation: Allocation,
    form: str | None = None,
    support: Support | None = None,
    *,
    numbers: GivenNumbers | None = None,
    seed: int = 0,
) -> SymbolicSystem:
    """The equations in one form.

    Parameters
    ----------
    allocation : Allocation
    form : str, optional
        One of `symbolic_forms`; by default the one with the smaller core.
    support : mapping of str to mask, optional
        Structural zeros.
    numbers : GivenNumbers, optional
        An instance; without one every weight, sample and label is a symbol.
    seed : int, optional
        Of the activation pattern.

    Raises
    ------
    InputError
        If there is no such form, or it has too many terms (`TooLong`).

    Examples
    --------
    >>> from algebra.plugins.relu.network import ShallowReLU
    >>> net = ShallowReLU(q=1, n=2, d=1, m=1)
    >>> system = symbolic_system(Allocation.from_cells(net, [("W1", 0, 0)]))
    >>> [str(e) for e in system.equations]
    ['-F1_0_0 + W1_0_0*X_0_0', '-F1_1_0 + W1_1_0*X_0_0', 'F1_1_0*W2_0_1 - Y_0_0']
    >>> system.inequalities()
    ['F1_0_0 <= 0', 'F1_1_0 > 0']
    """
    problem = Problem(allocation.network, allocation.masks, support or {})
    weights, X, Y = _data(problem) if numbers is None else _numbers(numbers)
    pattern, original = _pattern(problem, numbers, seed), problem.network
    reduction = lowered(problem)
    if reduction is not None:
        problem, allocation = reduction.problem, reduction.allocation(allocation)
        one: Any = sympy.Integer(1) if numbers is None else fmpq(1)
        weights, X = reduction.weights(weights, one), reduction.samples(X, one)
        if numbers is None:
            weights = _renamed(weights)
    network = problem.network
    chosen = checked_form(network, form or default_form(allocation))
    _check_size(chosen, network, weights, X, Y)
    arithmetic = _Symbolic(network, pattern)
    made = written_system(chosen, allocation, weights, X, Y, SymbolicRing(), arithmetic)
    title = f"Equations of the {chosen} form" + (", for the instance" if numbers else "")
    if set(network.shapes) != set(original.shapes):
        title += f", of the {network.title} network with these labels"
    return SymbolicSystem(
        **{field.name: getattr(made, field.name) for field in fields(made)},
        conditions=tuple(arithmetic.conditions),
        title=title + (", on one activation pattern" if arithmetic.conditions else ""),
    )


def symbolic_forms(allocation: Allocation, support: Support | None = None) -> tuple[str, ...]:
    """Names of the forms, those of the linear network where the network is one in disguise."""
    problem = Problem(allocation.network, allocation.masks, support or {})
    return written_forms(solved(problem).network)


def default_form(allocation: Allocation) -> str:
    """The form with the smaller core, of a chain; else the one of low degree."""
    network = allocation.network
    if network.chain() is None:
        return written_forms(network)[0]
    return preferred_form(allocation)


def _mapped(function: Callable[[Any], Any], a: np.ndarray) -> np.ndarray:
    return np.asarray(np.frompyfunc(function, 1, 1)(a), dtype=object)


def _polynomial(network: Network) -> Activation | None:
    activation = getattr(network, "activation", None)
    return activation if isinstance(activation, Activation) and activation.coefficients else None


def _rational(above: int, below: int) -> Any:
    return sympy.Rational(above, below)


def _data(problem: Problem) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Symbols for all data; structural zeros are 0."""
    network = problem.network
    every = {name: matrix_shape(shape) for name, shape in network.program().weights.items()}
    weights = {
        name: indexed_symbols(name, shape) for name, shape in (every | network.shapes).items()
    }
    for name, mask in problem.support.items():
        weights[name] = np.where(np.asarray(mask) != 0, weights[name], 0)
    Y = indexed_symbols("Y", (network.d, network.columns))
    return weights, indexed_symbols("X", network.input_shape), Y


def _numbers(
    numbers: GivenNumbers,
) -> tuple[Mapping[str, np.ndarray], np.ndarray, np.ndarray]:
    return numbers.weights, numbers.X, numbers.Y


def _renamed(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The symbols of a network in disguise by their places there."""
    found = {}
    for name, matrix in weights.items():
        own = _mapped(lambda entry: isinstance(entry, sympy.Symbol), matrix).astype(bool)
        found[name] = np.where(own, indexed_symbols(name, matrix.shape), matrix)
    return found


def indexed_symbols(prefix: str, shape: tuple[int, ...]) -> np.ndarray:
    """An array of symbols that are named by their places: ``W_0_1``."""
    out = np.empty(shape, dtype=object)
    for at in np.ndindex(shape):
        out[at] = symbol("_".join([prefix, *map(str, at)]))
    return out


def _pattern(problem: Problem, numbers: GivenNumbers | None, seed: int) -> list[np.ndarray]:
    """What is positive of what each node chooses by, at a random rational point."""
    network = problem.network
    if not any(node.op == "choose" for node in network.program().nodes):
        return []
    weights, _, X = rational_instance(problem, seed, 0)
    if numbers is not None:
        fixed = {name: np.asarray(mask) == 0 for name, mask in problem.allocation.masks.items()}
        weights = {
            name: np.where(fixed[name], numbers.weights[name], own) if name in fixed
            else numbers.weights[name]
            for name, own in weights.items()
        }  # fmt: skip
        X = numbers.X
    return list(network.signs_at(weights, X, 0).values())


def _check_size(
    form: LiftedForm, network: Network, weights: Mapping[str, np.ndarray], X: Any, Y: Any
) -> None:
    """Refuse equations that are too long to be printed, before they are made."""

    def present(array: np.ndarray) -> np.ndarray:
        return _mapped(lambda entry: int(entry != 0), array)

    shapes = form.unknowns(network)
    equations = Y.size + sum(map(prod, shapes.values()))
    size = f"{equations} equations" if equations > MOST_EQUATIONS else ""
    if not size:
        given = network.placed({name: present(w) for name, w in weights.items()}, present(X))
        unknowns = {name: np.ones(shape, object) for name, shape in shapes.items()}
        nothing = np.zeros(Y.shape, object)
        made = form.program(network).written(_Terms(network), given, unknowns, nothing)
        terms = [int(count) for _, block in made for count in block.ravel()]
        if max(terms, default=0) > MOST_IN_ONE or sum(terms) > MOST_TERMS:
            size = f"{max(terms)} terms in one equation, {sum(terms)} in all, multiplied out"
    if size:
        others = ", ".join(name for name in written_forms(network) if name != form.name)
        raise TooLong(
            f"{form} form: {size}, too many to be printed; other forms are {others}, "
            "and `export` writes the equations of an instance for another program"
        )
