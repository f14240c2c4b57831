"""Paths finished in the free inputs, in many bits, end at roots of the rational instance."""

from functools import cache

import numpy as np
import pytest
from flint import acb, arb, ctx

from matchprob import Problem, draw_instance
from numeric.certification.krawczyk import FAILED
from numeric.certification.krawczyk_balls import certify_exact
from numeric.equations.balls import BallSystem
from numeric.equations.chain import make_chain
from numeric.equations.inputs import inputs_form
from numeric.tracking import precise
from numeric.tracking.inputs.precise import finish_inputs_path
from numeric.tracking.tracker import DONE, track
from tests.numeric.equations.test_inputs import CASES


@cache
def line_of(case):
    """A complex instance with a root, a real instance, and both in their free inputs."""
    chain = make_chain(case)
    form = inputs_form(chain)
    instance = draw_instance(Problem.of(case), 3, 0)
    first, root = chain.random(np.random.default_rng(1))
    second = chain.parameters(instance)
    a, b = form.reduce(first), form.reduce(second)
    return chain, form, instance, root, (first, second), (a, b)


@cache
def end_of(case):
    """The endpoint of the path from the complex instance's root, in many bits."""
    _, form, instance, root, _, (a, b) = line_of(case)
    return finish_inputs_path(form, instance, a.vector, b, 0.0, form.unknowns_of(a, root[None])[0])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_path_of_inputs_in_high_precision(case):
    """It has the endpoint of the tracker in doubles, and the equations hold to 30 digits."""
    chain, _, instance, root, (first, second), _ = line_of(case)
    zero = np.zeros(1, np.int64)
    whole = track(chain, first[None], second[None], zero, zero, root[None])
    assert whole.status[0] == DONE
    before = ctx.prec
    end = end_of(case)
    assert ctx.prec == before
    assert end is not None
    doubles = np.array([complex(float(z.real.mid()), float(z.imag.mid())) for z in end])
    assert np.allclose(doubles, whole.roots[0], rtol=1e-7, atol=1e-9)
    # The rational equations of the chain itself: the rounding of the doubles has no effect.
    chosen = chain.independent_samples(instance.X)
    weights, X, Y = instance.exact
    vector = chain.raw(weights, X[:, chosen], chain.label_columns(Y, chosen))
    ctx.prec = 256
    try:
        F, _ = BallSystem(chain, [acb(arb(z)) for z in vector]).evaluate(end)
        sizes = [float(abs(z).mid()) for z in F.entries()]
    finally:
        ctx.prec = before
    assert max(sizes) < 1e-30


def test_endpoints_in_balls_are_certified():
    """An endpoint in balls is certified as the same root as its rounding to doubles."""
    chain, _, instance, _, _, _ = line_of(CASES[0])
    end = end_of(CASES[0])
    doubles = np.array([[complex(float(z.real.mid()), float(z.imag.mid())) for z in end]])
    fine, coarse = certify_exact(chain, instance, [end]), certify_exact(chain, instance, doubles)
    assert fine.kind[0] == coarse.kind[0] != FAILED
    assert np.allclose(fine.roots, coarse.roots, rtol=1e-12)


def test_the_precision_is_raised_where_bits_do_not_suffice(monkeypatch):
    """24 bits do not suffice for a path; with 256 bits after them it reaches its endpoint."""
    _, form, instance, root, _, (a, b) = line_of(CASES[0])
    x = form.unknowns_of(a, root[None])[0]
    end = end_of(CASES[0])
    monkeypatch.setattr(precise, "_BITS", (24,))
    assert finish_inputs_path(form, instance, a.vector, b, 0.0, x) is None
    monkeypatch.setattr(precise, "_BITS", (24, 256))
    again = finish_inputs_path(form, instance, a.vector, b, 0.0, x)
    assert max(float(abs(y - z)) for y, z in zip(end, again, strict=True)) < 1e-30


def test_a_point_off_the_path_of_inputs_is_refused():
    """From inputs that do not solve the equations no path is tracked."""
    _, form, instance, root, _, (a, b) = line_of(CASES[0])
    x = form.unknowns_of(a, root[None])[0]
    bad = x * np.exp(np.random.default_rng(0).standard_normal(len(x)) * 9)
    assert finish_inputs_path(form, instance, a.vector, b, 0.0, bad) is None
