"""The msolve adapter: degrees compared with SymPy's Gröbner bases, and false output."""

import itertools
import random

import pytest
from flint import Ordering, nmod_mpoly_ctx

from algebra.polynomials.msolve import solver as msolve
from algebra.polynomials.msolve.process import MsolveFailed
from algebra.polynomials.msolve.solver import quotient_degree, real_roots
from tests.algebra.polynomials.by_sympy import add, rational, standard_monomials_of, to_sympy
from tests.refusals import refuses

PRIMES = (7, 101, 251, 32003, 65521, 1073741827, 2147483647)


def modular(names, prime):
    """A context over GF(prime) and its variables."""
    context = nmod_mpoly_ctx.get(names, modulus=prime, ordering=Ordering.degrevlex)
    return context, context.gens()


def katsura(n, prime):
    """Katsura's magnetism equations in n + 1 unknowns: 2^n solutions."""
    context, u = modular([f"u{i}" for i in range(n + 1)], prime)
    pairs = [[(abs(k), abs(m - k)) for k in range(-n, n + 1) if abs(m - k) <= n] for m in range(n)]
    equations = [add(context, (u[a] * u[b] for a, b in p)) - u[m] for m, p in enumerate(pairs)]
    return [*equations, u[0] + add(context, (2 * x for x in u[1:])) - 1]


def cyclic(n, prime):
    """Cyclic n-roots."""
    context, x = modular([f"x{i}" for i in range(n)], prime)

    def product(factors):
        value = context.constant(1)
        for factor in factors:
            value = value * factor
        return value

    sums = [
        add(context, (product(x[(i + j) % n] for j in range(k)) for i in range(n)))
        for k in range(1, n)
    ]
    return [*sums, product(x) - 1]


def noon(n, prime):
    """Noonburg's neural network: 3^n - 2 n solutions (n = 3, 4, 5 checked by others)."""
    context, x = modular([f"x{i}" for i in range(n)], prime)
    return [
        10 * x[i] * add(context, (x[j] ** 2 for j in range(n) if j != i)) - 11 * x[i] + 10
        for i in range(n)
    ]


@pytest.mark.parametrize("prime", [65521, 2147483647])
@pytest.mark.parametrize(
    ("family", "n", "degree"),
    [
        (katsura, 3, 8),
        (katsura, 8, 256),
        (cyclic, 3, 6),
        (cyclic, 5, 70),
        (cyclic, 6, 156),
        (noon, 3, 21),
        (noon, 4, 73),
        (noon, 5, 233),
    ],
)
def test_known_degrees(family, n, degree, prime):
    """Published numbers of solutions are found."""
    result = quotient_degree(family(n, prime))
    assert (result.status, result.degree) == ("zero-dimensional", degree)


@pytest.mark.parametrize("prime", PRIMES)
def test_degrees_agree_with_sympy(prime):
    """Random systems have the degree of SymPy's Gröbner basis over the same field."""
    rng = random.Random(prime)
    for _ in range(6):
        n = rng.choice((2, 3))
        names = [f"v{i}" for i in range(n)]
        context, _ = modular(names, prime)
        monomials = [m for m in itertools.product(range(3), repeat=n) if sum(m) <= 2]
        polynomials = [
            context.from_dict({m: rng.randrange(prime) for m in rng.sample(monomials, 4)})
            for _ in range(n)
        ]
        symbols, equations = to_sympy(polynomials, names)
        if not all(p.total_degree() > 0 for p in polynomials):
            continue
        status, standard = standard_monomials_of(equations, symbols, modulus=prime)
        expected = {
            "none": ("empty", 0),
            "complete": ("zero-dimensional", len(standard)),
            "positive-dimensional": ("positive-dimensional", None),
        }[status]
        result = quotient_degree(polynomials)
        assert (result.status, result.degree) == expected


def test_distinct_solutions_over_a_finite_field():
    """Multiple points are counted once and make the ideal not radical."""
    _, (x, y) = modular(["x", "y"], 65521)
    double = quotient_degree([(x - 1) ** 2 * (x + 2), (y - x) ** 2], distinct=True)
    assert (double.degree, double.distinct) == (6, 2)
    simple = quotient_degree([x**2 - 2, y**2 - x], distinct=True)
    assert (simple.degree, simple.distinct) == (4, 4)
    assert quotient_degree([x - y**2, y**2 - 3]).distinct is None


def test_degenerate_systems_over_a_finite_field():
    """Constants, zeros, one unknown and curves have their simple results."""
    context, (x, y) = modular(["x", "y"], 65521)
    zero, one = context.constant(0), context.constant(1)
    assert quotient_degree([x, one]).status == "empty"
    assert quotient_degree([x - y, x - y + 1], distinct=True).distinct == 0
    assert quotient_degree([zero, zero]).status == "positive-dimensional"
    assert quotient_degree([zero, x * y - 1]).degree is None
    assert quotient_degree([zero, x - 3, y * y - x]).degree == 2
    _, (t,) = modular(["t"], 65521)
    assert quotient_degree([(t - 1) ** 2 * t, (t - 1) ** 3], distinct=True) == (
        msolve.QuotientDegree("zero-dimensional", 2, 65521, 1)
    )
    assert quotient_degree([t, t - 1]).status == "empty"


def parametrization_text(w, numerator):
    """msolve's output for the points x0 = numerator / w', x1 = t with w(t) = 0."""
    degree = len(w) - 1
    derivative = [k * c for k, c in enumerate(w)][1:]
    value = [-c for c in numerator]
    inner = f"[[{degree}, {w}], [{degree - 1}, {derivative}], [[[{len(value) - 1}, {value}], 1]]]"
    return f"[0, [0, 2, {degree}, ['x0', 'x1'], [0, 1], [1, {inner}]]]:"


def test_an_incomplete_answer_is_noticed(monkeypatch):
    """A parametrization of only some solutions is retried, and then refused."""
    _, (x, y) = rational(["x", "y"])
    polynomials = [x**2 - 1, y - 2 * x]
    run = msolve.run_msolve
    partial = parametrization_text([-2, 1], [1])
    calls = []

    def once(text, options, deadline, memory):
        calls.append(options)
        first = "-P" in options and sum("-P" in o for o in calls) == 1
        return partial if first else run(text, options, deadline, memory)

    monkeypatch.setattr(msolve, "run_msolve", once)
    assert len(real_roots(polynomials).roots) == 2
    assert sum("-P" in o for o in calls) == 2

    def second_form_fails(text, options, deadline, memory):
        # The retried system has a third unknown: two names are then not its form.
        return partial if "-P" in options else run(text, options, deadline, memory)

    monkeypatch.setattr(msolve, "run_msolve", second_form_fails)
    refuses("not a parametrization", real_roots, polynomials, error=MsolveFailed)


@pytest.mark.parametrize(
    ("lie", "complaint"),
    [
        (parametrization_text([-2, 0, 1], [0, 0, 3]), "not one of solutions"),
        (parametrization_text([4, -4, 1], [0, 0, 2]), "not one of solutions"),
        ("[-1]:", "no solution"),
        ("[1, 2, -1, []]:", "infinitely many"),
    ],
)
def test_a_false_answer_is_noticed(monkeypatch, lie, complaint):
    """Points that are not solutions, or a false emptiness, are never returned."""
    _, (x, y) = rational(["x", "y"])
    run = msolve.run_msolve
    monkeypatch.setattr(
        msolve, "run_msolve", lambda t, o, d, m: lie if "-P" in o else run(t, o, d, m)
    )
    monkeypatch.setattr(msolve, "_ATTEMPTS", 1)
    refuses(complaint, real_roots, [x**2 + y**2 - 4, x - y], error=MsolveFailed)


def test_a_true_answer_passes_the_same_door(monkeypatch):
    """The texts of the tests above are refused for their content, not for their form."""
    _, (x, y) = rational(["x", "y"])
    run = msolve.run_msolve
    truth = parametrization_text([-2, 0, 1], [0, 0, 2])
    monkeypatch.setattr(
        msolve, "run_msolve", lambda t, o, d, m: truth if "-P" in o else run(t, o, d, m)
    )
    assert len(real_roots([x**2 + y**2 - 4, x - y]).roots) == 2


def test_bad_input_is_named():
    """Each bad argument is named with its value."""
    _, (x, y) = rational(["x", "y"])
    _, (u,) = rational(["u"])
    refuses("`polynomials` is empty", real_roots, [])
    refuses(r"`polynomials`\[1\] is in", real_roots, [x, u])
    refuses("not nmod_mpoly", quotient_degree, [x])
    refuses(r"`precision` \(0\)", real_roots, [x * y], precision=0)
    refuses(r"`timeout` \(0\)", real_roots, [x * y], timeout=0)
    for modulus in (91, 4294967311):
        _, (v, _) = modular(["v", "w"], modulus)
        refuses(str(modulus), quotient_degree, [v])
