"""Systems, cores and discriminants with symbols, compared with closed forms and counts."""

import random
from fractions import Fraction

import pytest
import sympy

import matchprob as mp
from algebra.systems.instances import rational_instance
from matchprob import GivenNumbers, InputError
from tests.refusals import refuses
from tests.samples import DIAGONAL, NET, many


def closed_form(v):
    """Δ of Section B.1.1, derived on paper, for the two diagonal weights of W.

    With α = D₀B₀, β = D₁B₁, γ = D₀W₀₁B₁ + D₁W₁₀B₀ and (G₁, G₂) = Y X⁻¹ the equations are
    αw + βv + γ = G₂ and αw² + βv² + (α+β)W₀₁W₁₀ + γ(w+v) = G₁; v is put into the second.
    """
    det = v["X_0_0"] * v["X_1_1"] - v["X_0_1"] * v["X_1_0"]
    G1 = (v["Y_0_0"] * v["X_1_1"] - v["Y_0_1"] * v["X_1_0"]) / det
    G2 = (v["Y_0_1"] * v["X_0_0"] - v["Y_0_0"] * v["X_0_1"]) / det
    a, b = v["D_0_0"] * v["B_0_0"], v["D_0_1"] * v["B_1_0"]
    p, q = v["W_0_1"], v["W_1_0"]
    c = v["D_0_0"] * p * v["B_1_0"] + v["D_0_1"] * q * v["B_0_0"]
    g = G2 - c
    constant = g * g + b * (a + b) * p * q + c * g - b * G1
    return (c * (b - a) - 2 * a * g) ** 2 - 4 * a * (a + b) * constant


def test_the_discriminant_of_b11_is_the_closed_form():
    """Its sign at random rational data is that of the closed form; 12 symbols, degree 2."""
    found = mp.discriminant(DIAGONAL)
    assert found.degree == 2
    assert len(found.symbols) == 12
    rng = random.Random("discriminant")
    signs = set()
    for _ in range(many(40, 10)):
        data = {name: Fraction(rng.randint(-24, 24) or 1, 8) for name in found.symbols}
        if data["X_0_0"] * data["X_1_1"] == data["X_0_1"] * data["X_1_0"]:
            continue
        right = closed_form(data)
        sign = found.sign(
            **{k: sympy.Rational(x.numerator, x.denominator) for k, x in data.items()}
        )
        assert sign == (right > 0) - (right < 0)
        signs.add(sign)
    assert signs >= {-1, 1}


def test_discriminants_are_given_in_factors():
    """The product is SymPy's discriminant, each factor is irreducible, and (det X)² is one."""
    whole = mp.discriminant(DIAGONAL)
    X = {name: sympy.Symbol(name) for name in ("X_0_0", "X_0_1", "X_1_0", "X_1_1")}
    det = X["X_0_0"] * X["X_1_1"] - X["X_0_1"] * X["X_1_0"]
    assert [power for factor, power in whole.factors if factor == det] == [2]
    student, teacher, X = rational_instance(DIAGONAL, 0, 0)
    own = GivenNumbers(DIAGONAL, student, X, teacher)
    numbers = mp.discriminant(DIAGONAL, instance=own, symbols=[])
    assert (numbers.factors, numbers.symbols) == ((), ())
    assert numbers.sign() == (numbers.constant > 0) - (numbers.constant < 0)
    for found in (whole, mp.discriminant(DIAGONAL, instance=own), numbers):
        expected = sympy.discriminant(found.polynomial)
        product = sympy.prod([factor**power for factor, power in found.factors])
        assert sympy.expand(found.constant * product - expected) == 0
        assert sympy.expand(sympy.sympify(found.factored) - expected) == 0
        for factor, _ in found.factors:
            assert [power for _, power in sympy.factor_list(factor)[1]] == [1]
        data = found.to_dict()
        assert data["factored"] == found.factored
        assert data["discriminant"] == str(found.value)
        assert [(one["factor"], one["power"]) for one in data["factors"]] == [
            (str(factor), power) for factor, power in found.factors
        ]


def test_the_sign_of_the_discriminant_gives_the_count():
    """Instances in eighths have two real solutions if Δ > 0, one if Δ = 0, none if Δ < 0."""
    seen = set()
    for index in range(12):
        student, teacher, X = rational_instance(DIAGONAL, 0, index)
        entries = [*student["D"].flat, *student["B"].flat, *X.flat]
        if not all(entries) or X[0, 0] * X[1, 1] == X[0, 1] * X[1, 0]:
            continue
        own = GivenNumbers(DIAGONAL, student, X, teacher)
        found = mp.discriminant(DIAGONAL, instance=own)
        assert set(found.symbols) <= {"Y_0_0", "Y_0_1"}
        Y = {f"Y_0_{j}": Fraction(int(own.Y[0, j].p), int(own.Y[0, j].q)) for j in range(2)}
        real = mp.count(DIAGONAL, instance=own).instances[0].real
        sign = found.sign(**Y)
        assert real == {1: 2, 0: 1, -1: 0}[sign]
        seen.add(sign)
    assert seen >= {-1, 1}


def test_elimination_keeps_the_solutions():
    """A solution of the system solves the symbolic core and gives the weights."""
    left = mp.eliminate(DIAGONAL)
    assert left.unknowns == ("W_0_0",)
    rng = random.Random("core")
    values = {}
    for name, (rows, columns) in NET.shapes.items():
        for i in range(rows):
            for j in range(columns):
                values[f"{name}_{i}_{j}"] = sympy.Rational(rng.randint(1, 9), rng.randint(1, 9))
    student = {
        name: sympy.Matrix(*shape, lambda i, j, n=name: values[f"{n}_{i}_{j}"])
        for name, shape in NET.shapes.items()
    }
    X = sympy.Matrix([[1, 2], [3, sympy.Rational(1, 2)]])
    Y = _labels(student, X)
    values |= {f"X_{i}_{j}": X[i, j] for i in range(2) for j in range(2)}
    values |= {f"Y_0_{j}": Y[j] for j in range(2)}
    at = {sympy.Symbol(name): value for name, value in values.items()}
    assert sympy.simplify(left.equations[0].subs(at)) == 0
    assert sympy.simplify(left.weights["W_1_1"].subs(at) - values["W_1_1"]) == 0


def _labels(student, X):
    W, B, D = student["W"], student["B"], student["D"]
    return D * (W * W * B * X[0, :] + W * B * X[1, :])


def test_linear_cores_give_the_weights():
    """Of a linear system the weights are rational functions of the data; no discriminant."""
    left = mp.eliminate(mp.Problem(NET, {"W": [[1, 1], [0, 0]]}))
    assert left.unknowns == ()
    assert set(left.weights) == {"W_0_0", "W_0_1"}
    assert left.weights["W_0_0"].free_symbols
    refuses("leaves nothing", mp.discriminant, mp.Problem(NET, {"W": [[1, 1], [0, 0]]}))


def test_symbols_may_be_some_of_the_data():
    """With an instance the entries of the named matrices remain symbols, and no others."""
    student, teacher, X = rational_instance(DIAGONAL, 0, 0)
    own = GivenNumbers(DIAGONAL, student, X, teacher)
    left = mp.eliminate(DIAGONAL, instance=own, symbols=["D"])
    assert left.parameters == ("D_0_0", "D_0_1")
    whole = mp.eliminate(DIAGONAL, instance=own)
    there = {sympy.Symbol(f"D_0_{j}"): sympy.Rational(str(student["D"][0, j])) for j in range(2)}
    ratio = sympy.simplify(left.equations[0].subs(there) / whole.equations[0])
    assert ratio.is_number


def test_a_core_in_two_unknowns_goes_through_a_resultant():
    """The degree of the eliminated polynomial is the generic root count."""
    net = mp.LinearRNN(n=3, T=2, b=1, d=1, m=2)
    problem = mp.Problem(net, {"W": [[1, 0, 0], [0, 1, 0], [0, 0, 0]]})
    student, teacher, X = rational_instance(problem, 0, 0)
    own = GivenNumbers(problem, student, X, teacher)
    left = mp.eliminate(problem, instance=own, symbols=["Y"])
    assert len(left.unknowns) <= 2
    found = mp.discriminant(problem, instance=own)
    assert found.degree == mp.count(problem, 1).generic_root_count


def test_symbolic_verbs_refuse():
    """Too many symbols, names without values or unknown, unknown forms, ReLU nets, missing data."""
    big = mp.LinearRNN(n=6, T=2, b=2, d=2, m=4)
    eight = mp.Problem(big, {"W": [[1, 1, 0, 0, 0, 0]] * 4 + [[0] * 6] * 2})
    refuses("more than 64", mp.eliminate, eight)
    refuses("without values: give an instance", mp.eliminate, DIAGONAL, symbols=["Y"])
    refuses("`symbols` names", mp.eliminate, DIAGONAL, symbols=["Q"])
    for verb in (mp.symbolic_system, mp.inspect):
        refuses("choose from core, B, D, direct", verb, DIAGONAL, form="Z")
    refuses("choose from core, B, D, direct", mp.eliminate, DIAGONAL, form="Z")
    with pytest.raises(InputError):
        mp.eliminate(mp.Problem(mp.ShallowReLU(q=2, n=2, d=1, m=2), {"W1": [[1, 1], [1, 0]]}))
    refuses("no values of", mp.discriminant(DIAGONAL).sign, X_0_0=1)
