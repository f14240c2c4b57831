"""Reductions: the reduced problem has the same labels, and its solutions can be restored."""

import random
from inspect import isabstract

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.errors import InputError
from algebra.families.theorems import reductions
from algebra.plugins.normalization.augmented import Augmented
from algebra.problems.as_layers import AsLayers
from algebra.problems.premises import Feature
from algebra.problems.reduction import (
    AsLinear,
    KeptFixed,
    Reduction,
    TimeUnit,
    in_time_unit,
    lowered,
)
from algebra.problems.renaming import Renamed, renamed
from algebra.systems.equivalent_cells import AsCells, WithinReach, in_parameters
from matchprob import (
    Allocation,
    Constraints,
    Distribution,
    FeedForward,
    LinearRNN,
    NormNet,
    Problem,
    RandomCells,
    draw_instance,
)
from numeric.trials.instances import reduced
from tests.options import random_options
from tests.refusals import refuses
from tests.samples import many

NET = NormNet((2, 3, 1), (3, 2), 2, "linear")
RNN = LinearRNN(n=2, T=2, b=1, d=1, m=2)


def drawn(network, rng):
    """Integer matrices, as rationals."""
    return {
        name: np.array([[fmpq(rng.randint(-9, 9)) for _ in range(c)] for _ in range(r)], object)
        for name, (r, c) in network.shapes.items()
    }


def with_values(weights, cells, values):
    """The matrices with some cells set."""
    out = {name: value.copy() for name, value in weights.items()}
    for (name, i, j), value in zip(cells, values, strict=True):
        out[name][i, j] = value
    return out


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_restored_values_give_the_same_labels(seed):
    """For all numbers in the reduced cells: the restored network gives the reduced one's labels."""
    rng = random.Random(seed)
    every = [(n, i, j) for n, (r, c) in NET.shapes.items() for i in range(r) for j in range(c)]
    whole = Allocation.from_cells(NET, rng.sample(every, 7))
    fewer = Allocation.from_cells(NET, rng.sample(whole.cells, 4))
    problem = Problem.of(whole)
    weights = drawn(NET, rng)
    X = np.array([[fmpq(rng.randint(-9, 9)) for _ in range(2)] for _ in range(2)], object)
    for reduction in (lowered(problem), KeptFixed(problem, fewer)):
        inner = reduction.problem
        learning = reduction.allocation(whole)
        assert learning == inner.allocation
        values = [fmpq(rng.randint(-9, 9)) for _ in learning.cells]
        student = with_values(reduction.weights(weights, fmpq(1)), learning.cells, values)
        Y = inner.network.forward(student, reduction.samples(X, fmpq(1)))
        restored = reduction.restore(whole, weights, values)
        assert len(restored) == whole.size
        assert (NET.forward(with_values(weights, whole.cells, restored), X) == Y).all()


def test_random_cells_and_constraints():
    """Cells drawn anew leave the lowered problem without allocation; a part keeps constraints."""
    random_cells = Problem(NET, {"g1": RandomCells(2)})
    assert lowered(random_cells).problem.learnable == {}
    assert lowered(Problem(RNN, {"W": "all"})) is None
    rules = Constraints(max_abs={"W": [[1.0, 2.0], [3.0, 4.0]]})
    whole = Problem(RNN, {"W": "all"}, constraints=rules)
    part = KeptFixed(whole, Allocation.from_cells(RNN, [("W", 0, 1), ("W", 1, 0)]))
    interval = part.problem.constraints.interval(("W", 0, 1), fmpq(0))
    assert (interval.low, interval.high) == (-2, 2)


KINDS = (AsLayers, AsLinear, Augmented, AsCells, Renamed, TimeUnit, KeptFixed, WithinReach)


def test_all_reductions_are_listed():
    """Each class that is made of problems has premises, and its row on the page of premises."""
    waiting, found = [Reduction], set()
    while waiting:
        more = waiting.pop().__subclasses__()
        waiting += more
        found |= {kind for kind in more if not isabstract(kind)}
    assert found == set(KINDS)
    assert {kind.premises.name for kind in KINDS} == {own.name for own in reductions()}
    assert len(reductions()) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_problems_that_a_proof_does_not_cover_are_refused(kind):
    """A feature that is in no list, as a new one is, is refused by name."""
    missing = set(Feature) - kind.premises.covers.keys()
    assert {Feature.PIECES, Feature.OWN_WEIGHTS} & missing
    for feature in missing:
        problem = Problem(RNN, {"W": "all"})
        problem.__dict__["features"] = frozenset({feature, Feature.DISCRETE})
        assert not kind.accepts(problem)
        made = object.__new__(kind)
        made.__dict__["original"] = problem
        refuses(f"^{feature}: not implemented for this", made.__post_init__)


def reductions_of(problem, rng):
    """The reductions of a problem of cells."""
    found = [lowered(problem), in_time_unit(problem)]
    if Renamed.accepts(problem):
        found.append(renamed(problem, problem.draw(rng)))
    elif KeptFixed.accepts(problem) and not problem.is_random:
        cells = problem.allocation.cells
        kept = rng.sample(cells, rng.randrange(len(cells) + 1))
        found.append(KeptFixed(problem, Allocation.from_cells(problem.network, kept)))
    return [reduction for reduction in found if reduction is not None]


def test_instances_of_problems_with_all_options():
    """The student's labels are the same, before and after other values for what learns."""
    rng, seen = random.Random("reductions"), set()
    noisy = Distribution(weights="uniform", scale={"W1": 3}, noise="1/10")
    scaled = Distribution(scale={"W": 1000}, signs={"D": [[1, -1]]})
    problems = [random_options(rng) for _ in range(many(60, 15))]
    problems.append(Problem(NET, {"g1": "all", "W2": [[1] * 3] * 3}, distribution=noisy))
    net = FeedForward(2, (2,), 2, 3, activation="linear")
    zeros = {"W1": [[1, 0], [1, 1]]}
    problems.append(Problem(net, {"W1": [[0, 0], [1, 1]]}, zeros, noisy))
    problems.append(Problem(RNN, {"W": "all"}, distribution=scaled))
    problems.append(Problem(RNN, {"W": RandomCells(2)}, distribution=scaled))
    for given_problem in problems:
        try:
            problem = in_parameters(given_problem)
            instance = draw_instance(problem, 0, 0)
        except InputError:
            continue
        forward = problem.network.forward
        for reduction in reductions_of(problem, rng):
            inner = reduced(instance, reduction)
            here = inner.problem.network.forward
            assert np.allclose(here(inner.weights, inner.X), forward(instance.weights, instance.X))
            values = [rng.uniform(-1, 1) for _ in inner.allocation.cells]
            own = instance.with_weights(inner.restored(values))
            assert np.allclose(here(inner.with_weights(values), inner.X), forward(own, instance.X))
            seen.add(type(reduction))
    assert seen == {AsLinear, Augmented, Renamed, TimeUnit, KeptFixed}
