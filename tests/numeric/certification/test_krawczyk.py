"""Certification: accepted roots are roots, and roots found distinct are distinct."""

import numpy as np
import pytest
from flint import acb, arb, ctx

from matchprob import Allocation, Problem, draw_instance
from numeric.certification.krawczyk import (
    FAILED,
    NONREAL,
    REAL,
    Certified,
    RootPool,
    certify_instances,
    certify_roots,
    make_target,
    make_targets,
    prove,
)
from numeric.certification.krawczyk_balls import _Test, certify_exact
from numeric.engines.homotopy import HomotopyEngine
from numeric.equations.chain import make_chain
from numeric.tracking.tracker import track
from tests.numeric.equations.cases import cases, residual_at
from tests.samples import NET

CASES = cases()


def endpoints(case, index=0):
    """A chain, an instance and tracked endpoints."""
    allocation, roots = CASES[case]
    problem = Problem.of(allocation)
    engine = HomotopyEngine(problem, root_count=roots, cache=False)
    instance = draw_instance(problem, 4, index)
    zero = np.zeros(roots, np.int64)
    tracked = track(
        engine.chain, engine.start.parameters[None], engine.chain.parameters(instance)[None],
        zero, zero, engine.start.roots,
    )  # fmt: skip
    return engine.chain, instance, tracked.roots


def one_kind(chain, target, roots, lifted):
    """Certify by the condensed or by the lifted test alone."""
    roots = roots.copy()
    out = Certified(np.full(len(roots), FAILED), roots, np.full(roots.shape, np.inf))
    prove(chain, target, out, lifted=lifted)
    return out.kind, out.roots, out.radii


@pytest.mark.parametrize("lifted", [False, True])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_radii_hold_the_exact_root(case, lifted):
    """A high-precision root of the exact instance lies in every certified disc."""
    chain, instance, ends = endpoints(case)
    kind, roots, radii = one_kind(chain, make_target(chain, instance), ends, lifted)
    assert (kind != FAILED).mean() > 0.6
    exact = certify_exact(chain, instance, ends)
    for k in np.flatnonzero((kind != FAILED) & (exact.kind != FAILED)):
        assert kind[k] == exact.kind[k]
        gap = np.abs(roots[k] - exact.roots[k])
        assert (gap <= (radii[k] + exact.radii[k]) * (1 + 1e-12)).all()


def test_labels_are_enclosed():
    """The discs of the labels contain the exact rational labels."""
    chain, instance, _ = endpoints(3)
    target = make_target(chain, instance)
    exact = instance.exact[2][:, chain.independent_samples(instance.X)].ravel()
    saved, ctx.prec = ctx.prec, 200
    try:
        for k, y in enumerate(exact):
            gap = abs(acb(arb(y)) - acb(target.middle[chain.y_at + k].real))
            assert gap <= arb(target.radius[chain.y_at + k])
    finally:
        ctx.prec = saved


@pytest.mark.parametrize("case", [0, 7, 14])
def test_wrong_points_are_not_certified_where_they_stand(case):
    """A random point either converges to a true root by Newton's method or is refused."""
    chain, instance, _ = endpoints(case)
    target = make_target(chain, instance)
    rng = np.random.default_rng(0)
    points = rng.standard_normal((30, chain.unknowns)) * 3 + 0j
    certified = certify_roots(chain, target, points)
    for k in np.flatnonzero(certified.kind != FAILED):
        assert np.abs(residual_at(chain, target.middle, certified.roots[k])).max() < 1e-6


@pytest.mark.parametrize("case", [3, 7, 14])
def test_the_order_of_the_systems_does_not_matter(case):
    """Roots that both orders certify are the same kind of root, in discs that meet."""
    chain, instance, ends = endpoints(case)
    target = make_target(chain, instance)
    one, other = (certify_roots(chain, target, ends, lifted_first=k) for k in (False, True))
    both = (one.kind != FAILED) & (other.kind != FAILED)
    assert both.any()
    assert (one.kind[both] == other.kind[both]).all()
    gap = np.abs(one.roots[both] - other.roots[both])
    assert (gap <= (one.radii[both] + other.radii[both]) * (1 + 1e-12)).all()


def test_nan_is_refused():
    """A failed path is not a root."""
    chain, instance, ends = endpoints(0)
    ends[0] = np.nan
    assert certify_roots(chain, make_target(chain, instance), ends).kind[0] == FAILED


def test_pool_counts_a_root_once_and_adds_its_conjugate():
    """The same root twice is one root; the mirror image of a non-real one is added."""
    for index in range(20):
        chain, instance, ends = endpoints(7, index)
        certified = certify_roots(chain, make_target(chain, instance), ends)
        nonreal = np.flatnonzero(certified.kind == NONREAL)
        if len(nonreal) and (certified.kind == REAL).any():
            break
    pool = RootPool(chain)
    parts = (certified.kind, certified.roots, certified.radii)
    one = type(certified)(*(x[nonreal[:1]] for x in parts))
    assert pool.add(one).tolist() == [True]
    assert (len(pool), pool.real) == (2, 0)
    assert pool.add(one).tolist() == [False]
    pool.add(certified)
    assert (len(pool), pool.real) == (6, int((certified.kind == REAL).sum()))
    assert (pool.owners(one) == 0).all()


def test_double_root_is_never_certified():
    """At a double root no precision certifies: the test fails."""
    chain = make_chain(Allocation.from_cells(NET, [("W", 0, 1), ("W", 1, 0)]))
    # W = [[0, p], [q, 0]], B = D^T = (1, 1), X = I: labels (D W² B, D W B) = (2pq, p + q).
    weights = {"W": np.zeros((2, 2)), "B": np.ones((2, 1)), "D": np.ones((1, 2))}
    vector = chain.raw(weights, np.eye(2), np.array([[2.0, 2.0]]))
    saved = ctx.prec
    try:
        for bits in (64, 256):
            ctx.prec = bits
            system = _Test(chain, [acb(float(x)) for x in vector])
            assert system.test(np.array([1.0 + 1e-9, 1.0 - 1e-9], complex)) is None
    finally:
        ctx.prec = saved


def test_close_real_pair_needs_precision():
    """Two real roots at distance 2^-25 are separated in higher precision."""
    chain = make_chain(Allocation.from_cells(NET, [("W", 0, 1), ("W", 1, 0)]))
    weights = {"W": np.zeros((2, 2)), "B": np.ones((2, 1)), "D": np.ones((1, 2))}
    gap = 2.0**-25
    # p + q = 2 and 2pq = 2 - gap²/2: both labels are exact doubles.
    vector = chain.raw(weights, np.eye(2), np.array([[2.0 - 0.5 * gap * gap, 2.0]]))
    saved = ctx.prec
    try:
        ctx.prec = 256
        system = _Test(chain, [acb(float(x)) for x in vector])
        ends = [system.test(np.array([1 + s * gap, 1 - s * gap], complex)) for s in (0.5, -0.5)]
        assert [e[0] for e in ends] == [REAL, REAL]
        assert np.abs(ends[0][1] - ends[1][1]).max() > (ends[0][2] + ends[1][2]).max()
    finally:
        ctx.prec = saved


@pytest.mark.parametrize("case", range(len(CASES)))
def test_many_instances_are_certified_as_each_alone(case):
    """Pools of several instances in one call are those of each; one that lacks a root has none."""
    together = [endpoints(case, index) for index in range(3)]
    chain = together[0][0]
    instances = [instance for _, instance, _ in together]
    many = make_targets(chain, instances, chain.independent_samples_of(instances))
    targets = [make_target(chain, instance) for instance in instances]
    assert (many.middle == [one.middle for one in targets]).all()
    assert (many.radius == [one.radius for one in targets]).all()
    ends = [roots for _, _, roots in together]
    alone = []
    for target, roots in zip(targets, ends, strict=True):
        pool = RootPool(chain)
        found = certify_roots(chain, target, roots)
        prove_once = one_kind(chain, target, roots, lifted=False)[0]
        pool.add(found)
        alone.append(pool if (prove_once != FAILED).all() and len(pool) == len(roots) else None)
    found = certify_instances(chain, many, ends)
    assert [pool is None for pool in found] == [pool is None for pool in alone]
    for one, other in zip(found, alone, strict=True):
        if other is not None:
            assert (one.real, len(one)) == (other.real, len(other))
            gaps = np.abs(one.roots[:, None] - other.roots).max(axis=2).min(axis=1)
            assert (gaps <= 1e-9 * (1 + np.abs(one.roots).max(axis=1))).all()
    for spoiled in (np.full_like(ends[1], np.nan), ends[1][[0] * len(ends[1])], ends[1] + 1e3):
        again = certify_instances(chain, many, [ends[0], spoiled, ends[2]])
        assert len(ends[1]) == 1 or again[1] is None
        for k in (0, 2):
            assert (again[k] is None) == (found[k] is None)
            assert again[k] is None or (again[k].roots == found[k].roots).all()
