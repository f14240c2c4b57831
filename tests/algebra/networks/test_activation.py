"""Activation functions: their names, their values, their slopes."""

import dataclasses
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb, fmpq, nmod
from scipy import special

from algebra.checker.checks import CheckFailed
from algebra.checker.records import read_form
from algebra.checker.tables import NetworkInFile
from algebra.networks.activation import (
    ANALYTIC,
    AX,
    FUNCTIONS,
    Activation,
    Analytic,
    need_analytic,
    register_activation,
)
from tests.refusals import refuses

_SQUARE = {"polynomial": [0, 0, 1]}
_MIXED = {"polynomial": ["1/3", 1, 0, 0.25]}


@pytest.mark.parametrize("value", [*ANALYTIC, "linear", _SQUARE, _MIXED])
def test_what_is_read_is_written_and_read_again(value):
    """`plain` is the text of a problem file, with decimals as exact numbers."""
    found = Activation.read(value)
    assert Activation.read(found.plain) == found
    assert hash(found) == hash(Activation.read(value))


def test_decimals_are_exact():
    """0.1 in a file is one tenth."""
    assert Activation.read({"polynomial": [0, 0.1]}).coefficients == (0, Fraction(1, 10))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("swish", "'swish'"),
        (3, "3"),
        (None, "None"),
        ({"polynomial": [1]}, "two or more"),
        ({"polynomial": "12"}, "'12'"),
        ({"polynomial": [1, 0, 0]}, "degree 0"),
        ({"polynomial": [0, "x"]}, "polynomial[1]"),
        ({"polynomial": [0, True]}, "True"),
        ({"polynomial": [0, math.inf]}, "inf"),
        ({"polynomial": [0, "1/0"]}, "1/0"),
        ({"polynomial": [0, 10**13]}, "too many digits"),
        ({"polynomial": [0] * 40 + [1]}, "degree 40"),
        ({"polynomial": [0, 1], "scale": 2}, "polynomial"),
    ],
)
def test_nonsense_is_refused(value, text):
    """One line that echoes the value."""
    assert text in str(refuses("", Activation.read, value))


@pytest.mark.parametrize("name", ANALYTIC)
def test_values_and_slopes_of_machine_numbers(name):
    """SciPy's functions, and central differences."""
    reference = {
        "tanh": np.tanh,
        "sigmoid": special.expit,
        "softplus": lambda x: np.logaddexp(0, x),
        "erf": special.erf,
    }[name]
    φ, a = Activation.read(name), np.linspace(-6, 6, 41)[None]
    z = φ.values(a)
    np.testing.assert_allclose(z, reference(a), atol=1e-14)
    step = 1e-6
    numeric = (reference(a + step) - reference(a - step)) / (2 * step)
    np.testing.assert_allclose(φ.slopes(a, z), numeric, atol=1e-8)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ANALYTIC)
def test_values_of_large_arguments(name):
    """None overflows, and softplus keeps the small ones; of complex numbers as of real ones."""
    φ, a = Activation.read(name), np.array([[-1e300, -1e5, -1500.0, -40.0, 1500.0, 1e5, 1e300]])
    a = a if name != "erf" else np.clip(a, -1e5, 1e5)
    reference = {"tanh": np.tanh, "sigmoid": special.expit, "erf": special.erf}
    expected = reference.get(name, lambda x: np.logaddexp(0, x))(a)
    z = φ.values(a)
    np.testing.assert_allclose(z, expected, rtol=1e-14, atol=0 if name == "softplus" else 1e-14)
    assert np.isfinite(φ.slopes(a, z)).all()
    if name == "softplus":
        # Where e^−|x| is below the last place the value is x, or nearly e^x.
        beside = np.array([-40.0 - 3j, -0.5 + 2j, 0.5 + 2j, 1500 + 1j, 1e5 - 2j])
        exact = [complex(*map(float, z)) for z in map(_softplus, beside)]
        np.testing.assert_allclose(φ.values(beside), exact, rtol=1e-14, atol=1e-15)


def _softplus(a):
    """Real and imaginary part of log(1 + e^a), in balls."""
    z = (1 + acb(a).exp()).log()
    return z.real.mid(), z.imag.mid()


@pytest.mark.parametrize("name", ANALYTIC)
def test_balls_hold_the_machine_numbers(name):
    """The same functions in ball arithmetic."""
    φ, points = Activation.read(name), [-2.5, -0.125, 0.5, 3.0]
    a = np.array([[arb(x) for x in points]], dtype=object)
    z = φ.values(a)
    slopes = φ.slopes(a, z)
    machine = np.array([points])
    expected = φ.values(machine)
    for k in range(4):
        assert abs(float(z[0, k].mid()) - expected[0, k]) < 1e-14
        assert abs(float(slopes[0, k].mid()) - φ.slopes(machine, expected)[0, k]) < 1e-14


@pytest.mark.parametrize("value", [_SQUARE, _MIXED, "linear"])
def test_polynomials_over_every_ring(value):
    """Rationals, residues and machine numbers agree."""
    φ, p = Activation.read(value), 1_000_003
    exact = φ.values(np.array([[fmpq(3, 4)]], dtype=object))[0, 0]
    x = Fraction(3, 4)
    assert Fraction(int(exact.numerator), int(exact.denominator)) == sum(
        c * x**k for k, c in enumerate(φ.coefficients)
    )
    residue = φ.values(np.array([[nmod(3, p) / nmod(4, p)]], dtype=object))[0, 0]
    assert int(residue) == int(exact.numerator) * pow(int(exact.denominator), -1, p) % p
    values, slopes = φ.modular(np.array([[3 * pow(4, -1, p) % p]]), 1, p, 0)
    assert values[0, 0] == int(residue)
    derivative = sum(k * c * x ** (k - 1) for k, c in enumerate(φ.coefficients) if k)
    assert slopes[0, 0] == derivative.numerator * pow(derivative.denominator, -1, p) % p
    assert φ.values(np.array([[0.75]]))[0, 0] == pytest.approx(float(Fraction(str(exact))))


@pytest.mark.parametrize("name", ANALYTIC)
def test_formal_values(name):
    """Equal sums of a unit have equal values, all others different ones; 0 keeps φ(0)."""
    φ, p = Activation.read(name), 2_147_483_647
    a = np.array([[5, 5, 7, 0], [5, 9, 7, 0]])
    z, slope = φ.modular(a, 1, p, 3)
    assert z[0, 0] == z[0, 1]
    assert slope[0, 0] == slope[0, 1]
    assert len({int(v) for v in (*z[0, :3], *z[1, :3])}) == 5
    assert z[0, 3] == z[1, 3]
    assert slope[0, 3] == slope[1, 3]
    zero = {"tanh": 0, "erf": 0, "sigmoid": pow(2, -1, p)}
    if name in zero:
        assert z[0, 3] == zero[name]
    if name in ("tanh", "sigmoid", "softplus"):
        assert slope[0, 3] == {"tanh": 1, "sigmoid": pow(4, -1, p), "softplus": pow(2, -1, p)}[name]
    assert not np.array_equal(z, φ.modular(a, 1, p, 4)[0])
    assert z.min() >= 0
    assert z.max() < p


@pytest.mark.parametrize("name", ["tanh", "sigmoid"])
def test_formal_slopes_solve_the_differential_equation(name):
    """1 − z² and z − z²."""
    p = 2_147_483_647
    z, slope = Activation.read(name).modular(np.arange(1, 50).reshape(7, 7), 2, p, 1)
    right = (1 - z * z) % p if name == "tanh" else (z - z * z % p) % p
    np.testing.assert_array_equal(slope, right)


@pytest.mark.parametrize(
    "number",
    ["1" + " " * 70 + "junk", "1e200000000", "1e-200000000", 10**400, "1_0", "nan", True, None,
     1e300, "0x1", "1/0", "9" * 3_000],
)  # fmt: skip
def test_coefficients_are_read_whole_or_refused(number):
    """Nothing is truncated, no long number is expanded: refused at once, in a certificate too."""
    refuses(r"activation.polynomial\[2\]", Activation.read, {"polynomial": [0, 0, number]})
    network = {"kind": "rnn", "n": 1, "T": 1, "b": 1, "d": 1, "m": 1}
    network["activation"] = {"polynomial": [0, 0, number]}
    refuses("activation", read_form, NetworkInFile, network, "problem.network", error=CheckFailed)


def test_long_coefficients_keep_their_last_digit():
    """64 zeros before a 1 are a 1, and a decimal of a file is the number of its digits."""
    assert Activation.read({"polynomial": [0, "0" * 64 + "1"]}).coefficients == (0, 1)
    decimal = Decimal("0.12500000000")
    assert Activation.read({"polynomial": [0, decimal]}).coefficients[1] == Fraction(1, 8)
    assert Activation.read({"polynomial": [0, 0.1]}).coefficients[1] == Fraction(1, 10)


def test_which_theorem_makes_formal_values_exact():
    """Every analytic function names it, or none; the field has no default."""
    named = {name: record.independence for name, record in FUNCTIONS.items()}
    assert named == {"tanh": AX, "sigmoid": AX, "softplus": AX, "erf": ""}
    field = next(f for f in dataclasses.fields(Analytic) if f.name == "independence")
    assert field.default is dataclasses.MISSING
    assert field.default_factory is dataclasses.MISSING


@pytest.mark.parametrize("name", ANALYTIC)
def test_the_functions_of_the_project_are_analytic(name):
    """Their complex differences are their slopes."""
    need_analytic(FUNCTIONS[name])


@pytest.mark.parametrize(
    ("values", "slopes", "why"),
    [
        # CELU, a ReLU, |a|, softsign; the sine with a wrong slope.
        (lambda a: np.where(a > 0, a, np.exp(a) - 1), lambda a, z: np.exp(a), "comparisons"),
        (lambda a: np.maximum(a, 0), lambda a, z: 1 + 0 * a, "comparisons"),
        (np.abs, lambda a, z: a / np.abs(a), "not analytic"),
        (lambda a: a / (1 + np.abs(a)), lambda a, z: 1 / (1 + np.abs(a)) ** 2, "not analytic"),
        (np.sin, lambda a, z: np.sin(a), "derivative"),
    ],
)
def test_what_is_not_analytic_is_not_registered(values, slopes, why):
    """Theorems on analytic functions need one; no name is taken by another function."""
    record = Analytic("made", "", None, None, None, (None, None), values, slopes)
    refuses(why, register_activation, record)
    assert "made" not in FUNCTIONS
    with pytest.raises(ValueError, match="two activations"):
        register_activation(dataclasses.replace(record, name="relu"))
