"""Paths finished in the free inputs, in many bits, end at roots of the rational instance."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from flint import acb, arb, ctx

from algebra.problems.problem import Problem
from numeric.certification.krawczyk import FAILED
from numeric.certification.krawczyk_balls import certify_exact
from numeric.chains.balls import BallSystem
from numeric.chains.chain import make_chain
from numeric.chains.inputs import inputs_form
from numeric.instances import draw_instance
from numeric.tracking import precise
from numeric.tracking.inputs.precise import finish_inputs_path
from numeric.tracking.tracker import DONE, track
from tests.numeric.chains.test_inputs import CASES


@cache
def way(case):
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
    """Where the whole path ends, in many bits; the start is a root of its own instance."""
    _, form, instance, root, _, (a, b) = way(case)
    return finish_inputs_path(form, instance, a.vector, b, 0.0, form.unknowns_of(a, root[None])[0])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_rest_of_a_path(case):
    """From the middle it reaches the whole path's endpoint, to thirty digits of the instance."""
    chain, _, instance, root, (first, second), _ = way(case)
    zero = np.zeros(1, np.int64)
    whole = track(chain, first[None], second[None], zero, zero, root[None])
    assert whole.status[0] == DONE
    before = ctx.prec
    end = end_of(case)
    assert ctx.prec == before
    assert end is not None
    doubles = np.array([complex(float(z.real.mid()), float(z.imag.mid())) for z in end])
    assert np.allclose(doubles, whole.roots[0], rtol=1e-7, atol=1e-9)
    # The equations of the chain itself, rational: nothing of the doubles is left.
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


def test_more_digits_than_a_double_has_are_used():
    """A start in balls is certified like one in doubles, and as the same root."""
    chain, _, instance, _, _, _ = way(CASES[0])
    end = end_of(CASES[0])
    doubles = np.array([[complex(float(z.real.mid()), float(z.imag.mid())) for z in end]])
    fine, coarse = certify_exact(chain, instance, [end]), certify_exact(chain, instance, doubles)
    assert fine.kind[0] == coarse.kind[0] != FAILED
    assert np.allclose(fine.roots, coarse.roots, rtol=1e-12)


def test_where_the_bits_run_out_it_goes_on_with_more(monkeypatch):
    """24 bits do not suffice for a path; a second precision continues from their last point."""
    _, form, instance, root, _, (a, b) = way(CASES[0])
    x = form.unknowns_of(a, root[None])[0]
    end = end_of(CASES[0])
    monkeypatch.setattr(precise, "_BITS", (24,))
    assert finish_inputs_path(form, instance, a.vector, b, 0.0, x) is None
    monkeypatch.setattr(precise, "_BITS", (24, 256))
    again = finish_inputs_path(form, instance, a.vector, b, 0.0, x)
    assert max(float(abs(y - z)) for y, z in zip(end, again, strict=True)) < 1e-30


def test_a_point_off_the_path_is_refused():
    """From inputs that do not solve the equations no path is followed."""
    _, form, instance, root, _, (a, b) = way(CASES[0])
    x = form.unknowns_of(a, root[None])[0]
    bad = x * np.exp(np.random.default_rng(0).standard_normal(len(x)) * 9)
    assert finish_inputs_path(form, instance, a.vector, b, 0.0, bad) is None
