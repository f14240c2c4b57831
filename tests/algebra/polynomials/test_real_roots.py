"""Real solutions, compared with Hermite's trace form, known points and interval Newton."""

import itertools
import random
from fractions import Fraction

import pytest
import sympy
from flint import Ordering, fmpq, fmpq_mat, fmpq_mpoly_ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.polynomials.msolve.solver import real_roots
from algebra.polynomials.real_roots import elementary_roots, integer_terms
from tests.algebra.polynomials.by_sympy import add, rational, staircase_of, to_sympy
from tests.samples import many


def random_polynomial(rng, context, degree, style):
    """A dense, sparse or completely reducible polynomial with small coefficients."""
    x = context.gens()
    if style == "product":
        value = context.constant(1)
        for _ in range(degree):
            value = value * add(
                context, [rng.randint(-2, 2) * v for v in (*x, context.constant(1))]
            )
        return value
    monomials = [m for m in itertools.product(range(degree + 1), repeat=len(x)) if sum(m) <= degree]
    if style == "sparse":
        monomials = rng.sample(monomials, min(3, len(monomials)))
    return context.from_dict({m: fmpq(rng.randint(-5, 5), rng.randint(1, 4)) for m in monomials})


def by_trace_form(polynomials, names):
    """(status, degree, distinct complex, distinct real): rank and signature over Q."""
    symbols, equations = to_sympy(polynomials, names)
    basis = sympy.groebner(equations, *symbols, order="grevlex", domain=sympy.QQ)
    status, monomials = staircase_of(basis, symbols)
    if status != "complete":
        return (status, 0, 0, 0) if status == "none" else (status, None, None, 0)
    index = {m: k for k, m in enumerate(monomials)}
    known = {}

    def normal_form(m):
        if m not in known:
            rest = basis.reduce(sympy.prod([s**e for s, e in zip(symbols, m, strict=True)]))[1]
            row = [fmpq(0)] * len(index)
            for monomial, c in sympy.Poly(rest, *symbols).terms():
                if c != 0:
                    row[index[monomial]] = fmpq(int(c.p), int(c.q))
            known[m] = row
        return known[m]

    def times(a, b):
        return normal_form(tuple(x + y for x, y in zip(a, b, strict=True)))

    traces = [sum((times(b, c)[index[c]] for c in index), fmpq(0)) for b in index]
    form = [
        sum((x * t for x, t in zip(times(a, b), traces, strict=True)), fmpq(0))
        for a in index
        for b in index
    ]
    # All eigenvalues are real, so Descartes' rule counts their signs exactly.
    characteristic = fmpq_mat(len(index), len(index), form).charpoly().coeffs()

    def variations(coefficients):
        nonzero = [c for c in coefficients if c != 0]
        return sum((a < 0) != (b < 0) for a, b in itertools.pairwise(nonzero))

    plus = variations(characteristic)
    minus = variations([c * (-1) ** k for k, c in enumerate(characteristic)])
    return "complete", len(index), plus + minus, plus - minus


@pytest.mark.parametrize("style", ["dense", "sparse", "product"])
@pytest.mark.parametrize("n", [2, 3])
def test_real_roots_agree_with_trace_form(style, n):
    """Status, degree, complex and real counts are those of the trace form over Q."""
    rng = random.Random(f"{style} {n}")
    for _ in range(many(15 if n == 2 else 5)):
        agrees_with_trace_form(rng, n, style)


def agrees_with_trace_form(rng, n, style, share=0.0):
    """One random system in n unknowns; this share of them has one equation too many."""
    names = ["x", "y", "z"][:n]
    context, _ = rational(names)
    polynomials = [
        random_polynomial(rng, context, 2 if n == 3 else rng.choice((2, 3)), style)
        for _ in range(n + (rng.random() < share))
    ]
    if not all(p.is_zero() for p in polynomials):
        result = real_roots(polynomials, precision=30)
        found = (result.status, result.degree, result.complex, len(result.roots))
        assert found == by_trace_form(polynomials, names)


@pytest.mark.long
def test_many_real_roots_agree_with_trace_form():
    """The same over 600 systems, a tenth of them overdetermined."""
    rng = random.Random(11)
    for _ in range(600):
        n = rng.choice((2, 2, 2, 3))
        agrees_with_trace_form(rng, n, rng.choice(("dense", "sparse", "product")), 0.1)


def test_boxes_hold_known_rational_points():
    """Intersections of known lines lie in separate boxes, and boxes are as small as requested."""
    rng = random.Random(4)
    _, (x, y) = rational(["x", "y"])
    for _ in range(8):
        numbers = [Fraction(rng.randint(-20, 20), rng.randint(1, 9)) for _ in range(4)]
        a, b, c, d = numbers
        points = {(u, v) for u in (a, b) for v in (c * u, d * u + 1)}
        p, q, r, s = (fmpq(v.numerator, v.denominator) for v in numbers)
        result = real_roots([(x - p) * (x - q), (y - r * x) * (y - s * x - 1)], precision=40)
        assert len(result.roots) == result.complex == len(points)
        for box in result.roots:
            assert all(high - low <= Fraction(1, 2**40) for low, high in box)
            (u0, u1), (v0, v1) = box
            assert sum(u0 <= u <= u1 and v0 <= v <= v1 for u, v in points) == 1


class Interval:
    """Exact interval arithmetic, enough for polynomials."""

    def __init__(self, low, high=None):
        self.low, self.high = Fraction(low), Fraction(low if high is None else high)

    def __add__(self, other):
        return Interval(self.low + other.low, self.high + other.high)

    def __mul__(self, other):
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))


def evaluate(polynomial, box):
    """Range of a polynomial on a box."""
    total = Interval(0)
    for monomial, c in polynomial.terms():
        term = Interval(Fraction(int(c.p), int(c.q)))
        for side, exponent in zip(box, monomial, strict=True):
            for _ in range(exponent):
                term = term * side
        total = total + term
    return total


def has_unique_root(polynomials, centre, radius):
    """Krawczyk's test in two unknowns: one and only one root within `radius` of `centre`."""
    point = [Interval(c) for c in centre]
    box = [Interval(c - radius, c + radius) for c in centre]
    jacobian = [[p.derivative(j) for j in range(2)] for p in polynomials]
    (a, b), (c, d) = ([evaluate(g, point).low for g in row] for row in jacobian)
    determinant = a * d - b * c
    inverse = [[d / determinant, -b / determinant], [-c / determinant, a / determinant]]
    values = [evaluate(p, point).low for p in polynomials]
    wide = [[evaluate(g, box) for g in row] for row in jacobian]
    for i in range(2):
        offset = sum(inverse[i][k] * values[k] for k in range(2))
        spread = Fraction(0)
        for j in range(2):
            entry = Interval(-1 if i == j else 0)
            for k in range(2):
                entry = entry + Interval(inverse[i][k]) * wide[k][j]
            spread += radius * max(abs(entry.low), abs(entry.high))
        if abs(offset) + spread >= radius:
            return False
    return True


def test_boxes_pass_krawczyk():
    """A ball around each box of a simple root has exactly one root, by another proof."""
    rng = random.Random(9)
    context, _ = rational(["x", "y"])
    seen = 0
    for _ in range(10):
        polynomials = [random_polynomial(rng, context, 2, "dense") for _ in range(2)]
        result = real_roots(polynomials, precision=60)
        assert result.degree == result.complex
        for box in result.roots:
            centre = [(low + high) / 2 for low, high in box]
            assert has_unique_root(polynomials, centre, Fraction(1, 2**30))
            seen += 1
    assert seen > 10


def test_multiple_real_roots_are_found_once():
    """Multiple points are listed once, for any cause of the multiplicity."""
    _, (x, y) = rational(["x", "y"])
    tangent = real_roots([x**2 + y**2 - 1, (y - 1) ** 2])
    assert (tangent.degree, tangent.complex, len(tangent.roots)) == (4, 1, 1)
    cubes = real_roots([x**3, y**3 - 3 * x * y**2])
    assert (cubes.degree, cubes.complex, len(cubes.roots)) == (9, 1, 1)
    squares = real_roots([(x**2 - 2) ** 2, (y - 2) ** 2])
    assert (squares.degree, squares.complex, len(squares.roots)) == (8, 2, 2)


def test_variables_keep_their_order():
    """Values belong to their variables where msolve permutes them or adds a linear form."""
    _, (x, y) = rational(["b", "a"])
    ((first, second),) = real_roots([y - 2, (x - 3) ** 3]).roots
    assert first[0] <= 3 <= first[1]
    assert second[0] <= 2 <= second[1]
    _, (x, y, z) = rational(["x", "y", "A"])
    result = real_roots([x**2 - 1, y**2 - 4, z - 5 * x - y], precision=20)
    centres = {tuple(round((low + high) / 2) for low, high in box) for box in result.roots}
    assert centres == {(a, b, 5 * a + b) for a in (-1, 1) for b in (-2, 2)}


def test_system_on_which_msolve_lost_roots():
    """All six points are found for which a linear form that does not separate gave five."""
    _, (z, y, x) = rational(["z", "y", "x"])
    polynomials = [
        (x - 2) * (y - 3) * (z - 4),
        (x - 6) * (y - 7) * (z - 5),
        (x - 4) * (y - 11) * (z - 3),
    ]
    for seed in range(3):
        result = real_roots(polynomials, seed=seed)
        assert (result.complex, len(result.roots)) == (6, 6)


def test_long_coefficients():
    """Rationals of 4,400 digits, more than Python reads as text, pass in both directions."""
    _, (x, y) = rational(["x", "y"])
    square = Fraction(10**4400 + 7, 3**9222)
    result = real_roots([x * y - fmpq(square.numerator, square.denominator), x - y], precision=10)
    for (low, high), sign in zip((box[0] for box in result.roots), (-1, 1), strict=True):
        assert min(sign * low, sign * high) ** 2 <= square <= max(sign * low, sign * high) ** 2


def test_statuses_differ():
    """No complex point, no real point and a curve are three different results."""
    context, (x, y) = rational(["x", "y"])
    assert real_roots([x**2 - 1, x * y - 1, y - 3]).status == "none"
    unreal = real_roots([x**2 + 1, y - x**3])
    assert (unreal.status, unreal.complex, unreal.roots) == ("complete", 2, ())
    assert real_roots([x**2 + y**2, context.constant(0)]).status == "positive-dimensional"


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 3)), min_size=1, max_size=4),
    st.lists(st.integers(-5, 5), min_size=3, max_size=3),
)
@settings(max_examples=many(60), deadline=None)
def test_one_unknown(rational_roots, quadratic):
    """The roots of one polynomial are those it was made of, with multiplicity in `degree`."""
    context, (t,) = rational(["t"])
    polynomial = context.constant(1)
    for root, multiplicity in rational_roots:
        polynomial = polynomial * (2 * t - root) ** multiplicity
    a, b, c = quadratic
    other = a * t**2 + b * t + c
    if other.is_zero():
        return
    result = real_roots([polynomial, polynomial * other], precision=20)
    roots = sorted({Fraction(root, 2) for root, _ in rational_roots})
    assert result.status == "complete"
    assert result.primes == ()
    assert result.degree == sum(multiplicity for _, multiplicity in rational_roots)
    assert result.complex == len(roots) == len(result.roots)
    for ((low, high),), root in zip(result.roots, roots, strict=True):
        assert low <= root <= high
    unreal = real_roots([polynomial * (t**2 + t + 1)])
    assert (unreal.complex, len(unreal.roots)) == (len(roots) + 2, len(roots))
    assert real_roots([polynomial, context.constant(0), polynomial + 1]).status == "none"


@given(st.lists(st.lists(st.integers(-4, 4), min_size=4, max_size=4), min_size=1, max_size=5))
@settings(max_examples=many(60), deadline=None)
def test_linear_equations(rows):
    """Linear systems have the solution set SymPy finds, without msolve."""
    names = ["x", "y", "z"]
    context, variables = rational(names)
    polynomials = [
        add(context, (c * v for c, v in zip(row, variables, strict=False))) + row[3] for row in rows
    ]
    symbols, equations = to_sympy(polynomials, names)
    expected = sympy.linsolve(equations, *symbols) if any(equations) else None
    result = elementary_roots([integer_terms(p) for p in polynomials], tuple(names), 10)
    assert result is not None
    if expected is None or any(e.free_symbols for e in expected):
        assert result.status == "positive-dimensional"
    elif expected == sympy.S.EmptySet:
        assert result.status == "none"
    else:
        ((point,),) = (tuple(expected),)
        values = [Fraction(int(v.p), int(v.q)) for v in point]
        assert result.roots == (tuple((v, v) for v in values),)


def test_no_unknowns():
    """Without unknowns there is one solution or none."""
    context = fmpq_mpoly_ctx.get([], Ordering.lex)
    assert real_roots([context.constant(0)]).roots == ((),)
    assert real_roots([context.constant(fmpq(1, 3))]).status == "none"
