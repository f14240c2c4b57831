r"""Activation functions: exact polynomials, and four analytic functions with their slopes.

A polynomial with rational coefficients is computed exactly over any ring.  The analytic functions
are described by the differential equation that they satisfy, which suffices for exact algebra:

========== ============================ ======== =================
name       z = φ(a)                     φ(0)     slope φ'(a)
========== ============================ ======== =================
tanh       tanh a                       0        1 − z²
sigmoid    1/(1 + e^{−a})               1/2      z − z²
softplus   log(1 + e^a)                 log 2    s, a second value
erf        erf a                        0        s, a second value
========== ============================ ======== =================

Each is described by a record (`Analytic`) without default values.

**Formal values.** `Activation.modular` replaces z (and s) by residues modulo p that are a
pseudorandom function of a and the unit: equal pre-activations of a unit have equal values, and
different ones have independent values.  The theorem named in the record (`Analytic.independence`;
the proof is in `algebra.arguments.formal_ranks`) proves that ranks computed with them are the
generic ranks; without such a theorem they are upper bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from flint import acb, arb, ctx

from algebra.declarations import Keyword
from algebra.errors import InputError, one_line, shown
from algebra.linalg.numbers import exact_number
from algebra.linalg.residues import SPLITMIX, times

if TYPE_CHECKING:
    from algebra.programs.degrees import DegreeArithmetic, Differential
    from algebra.programs.program import Node

LINEAR = "linear"
POLYNOMIAL = "polynomial"
# Functions that are linear on each side of 0.
RELU, LEAKY = PIECEWISE = ("relu", "leaky")
# The theorem by which formal values are exact for tanh, the sigmoid and softplus.
AX = "Ax–Schanuel: values at different sums are algebraically independent"
# A larger degree is taken for a typing error.
_LARGEST_DEGREE = 32
_LARGEST_COEFFICIENT = 10**12


@dataclass(frozen=True)
class Analytic:
    """The known properties of an analytic function φ; no field has a default.

    Attributes
    ----------
    name : str
    independence : str
        The theorem by which values (and slopes) at different arguments are algebraically
        independent, so that ranks with formal values are the generic ranks; "" if none is known.
    at_zero : Fraction or None
        φ(0), if it is rational.
    slope : tuple of int or None
        Coefficients of the slope as a polynomial in the value, if it is one.
    slope_at_zero : Fraction or None
        φ'(0), if the slope is a second value and φ'(0) is known.
    bounds : (int or None, int or None)
        Infimum and supremum of φ, None if unbounded.
    values : callable
        φ(a) of an array, in the arithmetic of its entries.
    slopes : callable
        φ'(a) from a and the values z.
    """

    name: str
    independence: str
    at_zero: Fraction | None
    slope: tuple[int, ...] | None
    slope_at_zero: Fraction | None
    bounds: tuple[int | None, int | None]
    values: Callable[[Any], Any]
    slopes: Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Activation:
    """The activation function of the hidden units.

    Parameters
    ----------
    name : str
        "linear", "polynomial", "relu", "leaky" or one of `ANALYTIC`.
    coefficients : tuple of Fraction
        c_0, c_1, … of a polynomial; (0, 1) for "linear"; empty for the others.
    below : Fraction or None
        The slope below 0 of "relu" and "leaky".

    Examples
    --------
    >>> Activation.read({"polynomial": [0, 0, 1]}).degree
    2
    >>> Activation.read("tanh").plain
    'tanh'
    """

    name: str
    coefficients: tuple[Fraction, ...] = ()
    below: Fraction | None = None

    @classmethod
    def read(cls, value: Any) -> Activation:
        """The activation function that a problem file names.

        Parameters
        ----------
        value : str, mapping or Activation
            A name, or ``{"polynomial": [c0, c1, …]}`` with whole numbers, fractions as text
            (``"1/3"``) or decimals.

        Raises
        ------
        InputError
        """
        if isinstance(value, Activation):
            return value
        if isinstance(value, str):
            if value == LINEAR:
                return cls(LINEAR, (Fraction(0), Fraction(1)))
            if value in ANALYTIC:
                return cls(value)
            if value == RELU:
                return cls(RELU, (), Fraction(0))
        elif isinstance(value, Mapping) and set(value) == {POLYNOMIAL}:
            return cls(POLYNOMIAL, _coefficients(value[POLYNOMIAL]))
        elif isinstance(value, Mapping) and set(value) == {LEAKY}:
            text = value[LEAKY]
            slope = exact_number(
                text if isinstance(text, bool | int | str | Fraction) else str(text),
                "activation.leaky",
            )
            if not 0 < slope < 1:
                raise InputError(f"`activation.leaky` ({shown(text)}) must be between 0 and 1")
            return cls(LEAKY, (), slope)
        names = ", ".join(f'"{name}"' for name in (*ANALYTIC, LINEAR, RELU))
        raise InputError(
            f"`activation` ({shown(value)}) must be one of {names}, "
            '{ polynomial = [c0, c1, …] } or { leaky = "1/10" }'
        )

    @property
    def plain(self) -> Any:
        """The activation as it is written in a problem file."""
        if self.name == LEAKY:
            return {LEAKY: str(self.below)}
        if self.name != POLYNOMIAL:
            return self.name
        return {
            POLYNOMIAL: [
                int(c) if c.denominator == 1 else f"{c.numerator}/{c.denominator}"
                for c in self.coefficients
            ]
        }

    @property
    def is_polynomial(self) -> bool:
        """Whether labels are polynomials in the weights."""
        return bool(self.coefficients)

    @property
    def is_piecewise(self) -> bool:
        """Whether it is linear on each side of 0, with a kink."""
        return self.below is not None

    @property
    def is_linear(self) -> bool:
        """Whether it is the identity."""
        return self.coefficients == (Fraction(0), Fraction(1))

    @property
    def degree(self) -> int:
        """Degree of the polynomial."""
        return len(self.coefficients) - 1

    @property
    def vanishes_at_zero(self) -> bool:
        """Whether φ(0) = 0."""
        if self.is_polynomial:
            return self.coefficients[0] == 0
        if self.is_piecewise:
            return True
        return FUNCTIONS[self.name].at_zero == 0

    @property
    def independence(self) -> str:
        """The theorem by which ranks with formal values are the generic ranks; "" for none."""
        known = self.is_polynomial or self.is_piecewise
        return "" if known else FUNCTIONS[self.name].independence

    @property
    def bounds(self) -> tuple[int | Fraction | None, int | Fraction | None]:
        """Numbers below and above all values, None if unbounded.

        Infimum and supremum, except of a polynomial of even degree (`polynomial_range`).
        """
        if self.is_piecewise:
            return (0 if self.name == RELU else None, None)
        if not self.is_polynomial:
            return FUNCTIONS[self.name].bounds
        # Loaded here: few questions are about ranges.
        from algebra.programs.ranges import polynomial_range

        found = polynomial_range(self.coefficients)
        return found.low, found.high

    # -- values ----------------------------------------------------------------------

    def values(self, a: Any) -> Any:
        """Values of an array, in the arithmetic of its entries.

        Parameters
        ----------
        a : array
            Entries of any ring for a polynomial; for an analytic function entries with methods exp,
            log, tanh or erf (balls), or floating-point numbers.
        """
        if self.is_polynomial:
            return _polynomial(self.coefficients, a)
        return FUNCTIONS[self.name].values(a)

    def slopes(self, a: Any, z: Any) -> Any:
        """Derivatives at `a`, where the values are `z`; arguments as for `values`."""
        if self.is_polynomial:
            return _polynomial(self._derived, a)
        return FUNCTIONS[self.name].slopes(a, z)

    @property
    def _derived(self) -> tuple[Fraction, ...]:
        return tuple(k * c for k, c in enumerate(self.coefficients))[1:]

    def modular(
        self, a: np.ndarray, layer: int, p: int, seed: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Values and slopes modulo p: those of a polynomial, or formal ones.

        Parameters
        ----------
        a : ndarray of int64, shape (units, samples)
            Pre-activations.
        layer : int
            The number of the weights that produce them: units of two layers are different units.
        p, seed : int
            They determine the formal values.
        """
        if self.is_polynomial:
            both = ([_residue(c, p) for c in part] for part in (self.coefficients, self._derived))
            value, slope = (_horner(coefficients, a, p) for coefficients in both)
            return value, slope
        units = np.arange(a.shape[0], dtype=np.uint64)[:, None] + np.uint64(layer << 32)
        # An argument that is 0 for every choice of weights and samples has the same value
        # everywhere.
        units = np.where(a == 0, np.uint64(0), units + np.uint64(1))
        z = _scrambled(a, units, 2 * seed, p)
        known = FUNCTIONS[self.name]
        if known.at_zero is not None:
            z = np.where(a == 0, _residue(known.at_zero, p), z)
        if known.slope is not None:
            return z, _horner([c % p for c in known.slope], z, p)
        slope = _scrambled(a, units, 2 * seed + 1, p)
        if known.slope_at_zero is not None:
            slope = np.where(a == 0, _residue(known.slope_at_zero, p), slope)
        return z, slope

    def sized(self, arithmetic: DegreeArithmetic, node: Node, a: Differential) -> Differential:
        """Degree and bits of the values and slopes of `modular`."""
        if self.is_polynomial:
            return arithmetic.polynomial(node, self.coefficients, a)
        known = FUNCTIONS[self.name]
        z = arithmetic.drawn(known.at_zero)
        if known.slope is None:
            slope = arithmetic.drawn(known.slope_at_zero)
        else:
            slope = arithmetic.polynomial(node, list(map(Fraction, known.slope)), z)
        return arithmetic.mapped(a, z.value, slope.value)

    def __str__(self) -> str:
        if self.name == LEAKY:
            return f"leaky ReLU, slope {self.below}"
        if self.name != POLYNOMIAL:
            return self.name
        terms = [
            f"{c}" if k == 0 else ("" if c == 1 else f"{c} ") + ("z" if k == 1 else f"z^{k}")
            for k, c in enumerate(self.coefficients)
            if c
        ]
        return " + ".join(terms)


def _coefficients(value: Any) -> tuple[Fraction, ...]:
    if isinstance(value, (str, bytes)) or not isinstance(value, (list, tuple)) or len(value) < 2:
        raise InputError(
            f"`activation.polynomial` ({shown(value)}) must be a list of two or more coefficients"
        )
    found = []
    for k, c in enumerate(value):
        # A decimal is taken exactly, and a double as the decimal that it prints.
        text = c if isinstance(c, bool | int | str | Fraction) else str(c)
        try:
            read = exact_number(text, "coefficient")
        except InputError:
            raise InputError(
                f"`activation.polynomial[{k}]` ({shown(c)}) must be a rational number"
            ) from None
        if max(abs(read.numerator), read.denominator) > _LARGEST_COEFFICIENT:
            raise InputError(f"`activation.polynomial[{k}]` ({shown(c)}) has too many digits")
        found.append(read)
    while found and found[-1] == 0:
        found.pop()
    if not 2 <= len(found) <= _LARGEST_DEGREE + 1:
        raise InputError(
            f"`activation.polynomial` has degree {len(found) - 1}; "
            f"it must be 1 to {_LARGEST_DEGREE}"
        )
    return tuple(found)


def _polynomial(coefficients: Sequence[Fraction], a: Any) -> Any:
    """A polynomial's values: modulo p over residues, else over integers with one division."""
    p = _modulus(a)
    if p:
        return _horner([_residue(c, p) for c in coefficients], a)
    scale = math.lcm(*(c.denominator for c in coefficients))
    value = _horner([c.numerator * (scale // c.denominator) for c in coefficients], a)
    return value if scale == 1 else value / scale


def _modulus(a: Any) -> int:
    """The prime of an array over a field of residues; 0 for other arrays."""
    if hasattr(a, "p"):
        return int(a.p)
    entry = a.flat[0] if a.size else 0
    owner: Any = entry if hasattr(entry, "modulus") else getattr(entry, "context", int)()
    return int(owner.modulus()) if hasattr(owner, "modulus") else 0


def _horner(coefficients: Sequence[Any], a: Any, p: int = 0) -> Any:
    value = a * 0 + coefficients[-1]
    for c in reversed(coefficients[:-1]):
        value = (times(value, a, p) + c) % p if p else value * a + c
    return value


def _residue(c: Fraction, p: int) -> int:
    return c.numerator * pow(c.denominator, -1, p) % p


def _sigmoid(a: Any) -> Any:
    return (1 + np.tanh(a / 2)) / 2


def _softplus(a: Any) -> Any:
    """log(1 + e^a): of doubles by max(a, 0) + log(1 + e^−|a|), which never overflows.

    Of complex ones the real part decides, so that both logarithms are principal.
    """
    if _knows_erf(a):
        return a / 2 + np.log(2 * np.cosh(a / 2))
    right = np.real(a) > 0
    return np.where(right, a, 0) + np.log1p(np.exp(np.where(right, -a, a)))


def _knows_erf(a: Any) -> bool:
    return a.dtype.kind == "O"


def _erf(a: Any) -> Any:
    if _knows_erf(a):
        return np.frompyfunc(lambda x: x.erf(), 1, 1)(a)
    # Floating-point numbers.
    from scipy import special

    return special.erf(a)


def _root_of_pi(a: Any) -> Any:
    if _knows_erf(a):
        return type(a.flat[0]).pi().sqrt() if a.size else 1
    return np.sqrt(np.pi)


def _scrambled(a: np.ndarray, units: np.ndarray, seed: int, p: int) -> np.ndarray:
    """Pseudorandom residues that are functions of pre-activation, unit and seed."""
    first, second, third = (np.uint64(step) for step in SPLITMIX)
    with np.errstate(over="ignore"):
        mixed = np.full(a.shape, seed & (2**64 - 1), np.uint64)
        for part in (units, a.astype(np.uint64)):
            mixed = (mixed ^ part) + first
            mixed = (mixed ^ (mixed >> np.uint64(30))) * second
            mixed = (mixed ^ (mixed >> np.uint64(27))) * third
            mixed = mixed ^ (mixed >> np.uint64(31))
    return (mixed % np.uint64(p)).astype(np.int64)


FUNCTIONS: dict[str, Analytic] = {
    record.name: record
    for record in (
        Analytic(
            name="tanh", independence=AX, at_zero=Fraction(0), slope=(1, 0, -1),
            slope_at_zero=None, bounds=(-1, 1), values=np.tanh,
            slopes=lambda a, z: _horner((1, 0, -1), z),
        ),
        Analytic(
            name="sigmoid", independence=AX, at_zero=Fraction(1, 2), slope=(0, 1, -1),
            slope_at_zero=None, bounds=(0, 1), values=_sigmoid,
            slopes=lambda a, z: _horner((0, 1, -1), z),
        ),
        Analytic(
            name="softplus", independence=AX, at_zero=None, slope=None,
            slope_at_zero=Fraction(1, 2), bounds=(0, None),
            values=_softplus, slopes=lambda a, z: _sigmoid(a),
        ),
        Analytic(
            name="erf", independence="", at_zero=Fraction(0), slope=None, slope_at_zero=None,
            bounds=(-1, 1), values=_erf,
            slopes=lambda a, z: 2 * np.exp(-a * a) / _root_of_pi(a),
        ),
    )
}  # fmt: skip
# Their names.
ANALYTIC = FUNCTIONS.keys()


@dataclass(frozen=True)
class PolynomialTable:
    """A polynomial activation in files."""

    polynomial: Annotated[
        list[Annotated[Any, Keyword("type", ("number", "string"))]],
        Keyword("minItems", 2),
        "coefficients c0, c1, …: numbers, or fractions as text",
    ]


@dataclass(frozen=True)
class LeakyTable:
    """A leaky ReLU in files."""

    leaky: Annotated[
        Annotated[Any, Keyword("type", ("number", "string"))],
        "the slope below 0, between 0 and 1: a number, or a fraction as text",
    ]


# An activation in files.
ActivationForm = (
    Annotated[str, Keyword("enum", lambda: [*ANALYTIC, LINEAR, RELU])]
    | PolynomialTable
    | LeakyTable
)


def register_activation(record: Analytic) -> None:
    """Make an analytic function known under its name, in problem files and everywhere else.

    Raises
    ------
    ValueError
        If another activation has this name.
    InputError
        If it is not shown to be analytic: see `need_analytic`.
    """
    if record.name in (*FUNCTIONS, LINEAR, POLYNOMIAL, *PIECEWISE):
        raise ValueError(f"two activations are named {record.name!r}")
    need_analytic(record)
    FUNCTIONS[record.name] = record


# Real parts of the complex arguments at which a record is tested, and their imaginary part.
_TESTED = (-9, -3, -1, "-0.3", "0.2", 1, 2, 7)
_ABOVE_AXIS = "0.01"
# Differences have steps of 2^-60 and errors of this size; bits of the numbers.
_STEP = 60
_PRECISION = 240


def need_analytic(record: Analytic) -> None:
    """Refuse a record whose formula is not that of an analytic function, or has other slopes.

    All theorems about an activation need that it is analytic: ranks are then the same almost
    everywhere.  A formula of analytic functions extends to complex numbers near the real axis, and
    its differences in the real and in the imaginary direction tend to one derivative.  A formula
    with cases (`numpy.where`, `maximum`, `sign`) compares complex numbers, which balls refuse, and
    one with an absolute value has no complex derivative.  So CELU, ELU or a ReLU are refused.
    (A formula that compares real parts, or √(a²), is not noticed.)

    Parameters
    ----------
    record : Analytic

    Raises
    ------
    InputError
        The message names what fails.
    """
    why = f"activation {shown(record.name)}: "
    with ctx.workprec(_PRECISION):
        small = acb(2) ** -_STEP
        for step in (small, small * acb(0, 1)):
            a = np.array([acb(arb(x), arb(_ABOVE_AXIS)) for x in _TESTED], object)
            try:
                values, moved = record.values(a), record.values(a + step)
                slopes = record.slopes(a, values)
            except (TypeError, AttributeError, ValueError) as error:
                raise InputError(
                    f"{why}its formula cannot be evaluated at complex numbers ({one_line(error)}): "
                    "an analytic function needs no cases, comparisons or absolute values; "
                    "functions with kinks are not registered as `Analytic`"
                ) from None
            for x, before, after, slope in zip(_TESTED, values, moved, slopes, strict=True):
                if not abs((after - before) / step - slope) < (1 + abs(slope)) / 2 ** (_STEP // 2):
                    raise InputError(
                        f"{why}near {x} its complex differences are not its slope: it is not "
                        "analytic, or `slopes` is not its derivative"
                    )
