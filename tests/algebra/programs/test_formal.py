"""Formal values over GF(p): the identities that hold among exponentials, and their slopes."""

import random

import numpy as np
import pytest

from algebra.linalg.residues import inverses, random_residues, times
from algebra.programs.evaluate import evaluate
from algebra.programs.formal import Formal, FormalArithmetic
from algebra.programs.generic import point_prime
from algebra.programs.program import Builder
from algebra.programs.residues import NoResidues

P = point_prime(random.Random(0))
A = random_residues((5, 3), P, random.Random(1))


def test_identities_of_exponentials():
    """E(−a) E(a) = 1, E(0) = 1; tanh is odd; σ(a) + σ(−a) = 1; softplus(a) − softplus(−a) = a."""
    formal = Formal(P, 7)
    powers = formal.exponential(A)
    assert (times(powers, formal.exponential(P - A), P) == 1).all()
    assert formal.exponential(np.zeros(1, np.int64)) == 1
    for name, total in (("tanh", 0), ("sigmoid", 1)):
        assert ((formal.values(name, A)[0] + formal.values(name, P - A)[0]) % P == total).all()
    difference = formal.values("softplus", A)[0] - formal.values("softplus", P - A)[0]
    assert (difference % P == A).all()
    assert ((formal.values("erf", A)[0] + formal.values("erf", P - A)[0]) % P == 0).all()


def test_slopes_are_those_of_the_functions():
    """tanh' = 1 − tanh², σ' = σ − σ², softplus' = σ, exp' = exp, with the shared exponential."""
    formal = Formal(P, 7)
    t, slope = formal.values("tanh", A)
    assert (slope == (1 - times(t, t, P)) % P).all()
    s, slope = formal.values("sigmoid", A)
    assert (slope == (s - times(s, s, P)) % P).all()
    assert (formal.values("softplus", A)[1] == s).all()
    powers = formal.exponential(A)
    assert (s == times(powers, inverses((1 + powers) % P, P), P)).all()


def test_roots_exist_or_are_said_not_to():
    """A squared root is its argument if it exists; otherwise the sample is marked."""
    formal = Formal(P, 0, strict=True)
    root = formal.root(A)
    [(_, invalid)] = formal.invalid
    assert ((times(root, root, P) == A) == ~invalid).all()
    assert invalid.any()
    assert not invalid.all()


def test_signs_are_given():
    """ReLU selects by the pattern of its node; without one it has no value."""
    build = Builder()
    x = build.sample("x", (5,))
    y = build.choose(x, x, build.scale(x, 0))
    program = build.program(y)
    pattern = np.random.default_rng(0).random((5, 3)) > 0.5
    arithmetic = FormalArithmetic(Formal(P, 0, {y.number: pattern}), program)
    found = evaluate(program, arithmetic, {"x": A})[y.number]
    assert (found == np.where(pattern, A, 0)).all()
    with pytest.raises(NoResidues, match="pattern"):
        evaluate(program, FormalArithmetic(Formal(P, 0), program), {"x": A})


def test_sines_lie_on_the_circle():
    """sin² + cos² = 1, sin is odd, cos even, sin' = cos, cos' = −sin; sin 0 = 0, cos 0 = 1."""
    formal = Formal(P, 7)
    sine, slope = formal.values("sin", A)
    cosine, fall = formal.values("cos", A)
    assert ((times(sine, sine, P) + times(cosine, cosine, P)) % P == 1).all()
    assert (slope == cosine).all()
    assert ((fall + sine) % P == 0).all()
    assert ((formal.values("sin", P - A)[0] + sine) % P == 0).all()
    assert (formal.values("cos", P - A)[0] == cosine).all()
    assert (formal.values("sin", 0 * A)[0] == 0).all()
    assert (formal.values("cos", 0 * A)[0] == 1).all()
