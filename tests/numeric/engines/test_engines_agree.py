"""Homotopy, exact and phcpy: the same real counts of the same instances.

The nets are drawn: recurrent and multi-layer ones, weights of one or of several matrices,
1 to some 40 complex solutions.  Wherever two engines call an instance complete, their real
counts must be equal; no disagreement is tolerated.
"""

import random
from collections import Counter

import pytest

from algebra.errors import InputError
from algebra.networks.base import Network
from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.networks.rnn import RNN
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells
from algebra.systems.root_count import RootCountError, generic_root_count
from numeric.engines.counter import InstanceCounter
from numeric.trials.instances import draw_instance
from tests.numeric.engines.phcpy.test_engine import need_phcpy
from tests.samples import many, more


def draw_net(rng: random.Random) -> Network:
    """A recurrent or multi-layer net with 2 to 6 equations."""
    if rng.random() < 0.6:
        n, T, b = rng.randint(2, 4), rng.randint(2, 3), rng.randint(1, 2)
        return LinearRNN(n=n, T=T, b=b, d=rng.randint(1, 2), m=rng.randint(2, 3))
    widths = tuple(rng.randint(2, 3) for _ in range(rng.randint(1, 2)))
    return LinearFeedForward(q=rng.randint(2, 3), widths=widths, d=rng.randint(1, 2), m=2)


def draw_problems(wanted: int, most: int, seed: int) -> list[tuple[Problem, int]]:
    """Different allocations with their generic root counts, from 1 to `most`, many kinds."""
    rng = random.Random(seed)
    out: list[tuple[Problem, int]] = []
    seen: set[Allocation] = set()
    tally: Counter[int] = Counter()
    while len(out) < wanted:
        network = draw_net(rng)
        names = rng.choice([list(network.shapes), [rng.choice(list(network.shapes))]])
        cells = [c for c in all_cells(network) if c[0] in names]
        if not 2 <= network.outputs <= min(6, len(cells)):
            continue
        allocation = Allocation.from_cells(network, rng.sample(cells, network.outputs))
        if allocation in seen:
            continue
        seen.add(allocation)
        try:
            roots = generic_root_count(allocation, timeout=5).value
        except (RootCountError, InputError):  # minimal, not square, or too large
            continue
        # Small counts are common: at most a few nets of each.
        if 1 <= roots <= most and tally[roots] < 3:
            tally[roots] += 1
            out.append((Problem.of(allocation), roots))
    return out


def compare(problem: Problem, roots: int, instances: int, engines: list[str]) -> dict[str, int]:
    """Assert agreement; returns how many counts of each engine were not complete."""
    drawn = [draw_instance(problem, 11, k) for k in range(instances)]
    found = {}
    for name in engines:
        with InstanceCounter(problem, name, timeout=60) as counter:
            found[name] = counter.count_many(drawn)
    for k, counts in enumerate(zip(*found.values(), strict=True)):
        complete = {
            name: c for name, c in zip(found, counts, strict=True) if c.status == "complete"
        }
        assert len({c.real for c in complete.values()}) <= 1, (str(problem.allocation), k, counts)
        assert all(c.complex == roots for c in complete.values()), (str(problem.allocation), k)
    return {name: sum(c.status != "complete" for c in counts) for name, counts in found.items()}


def draw_polynomial_problems(wanted: int, most: int, seed: int) -> list[tuple[Problem, int]]:
    """Nets with polynomial activations, biases or not, labels independent or not."""
    rng, out = random.Random(seed), []
    while len(out) < wanted:
        coefficients = rng.choice([[0, 0, 1], [1, 1, 1], [0, 1, 0, "1/3"], ["1/2", -1, 1, 1]])
        options = {"activation": {"polynomial": coefficients}, "biases": rng.random() < 0.4}
        size = lambda most: rng.randint(1, most)  # noqa: E731
        network: Network
        if rng.random() < 0.5:
            widths = tuple(size(3) for _ in range(size(2)))
            network = FeedForward(size(3), widths, size(2), size(2), **options)
        else:
            network = RNN(size(3), size(2), size(2), size(2), size(3), **options)
        cells, rank = all_cells(network), network_rank(network).rank
        if not 2 <= rank <= min(4, len(cells)):
            continue
        allocation = Allocation.from_cells(network, sorted(rng.sample(cells, rank)))
        if allocation_rank(allocation).rank < rank:
            continue
        try:
            roots = generic_root_count(allocation, timeout=5).value
        except RootCountError:
            continue
        if 1 <= roots <= most and sum(roots == other for _, other in out) < max(2, wanted // 4):
            out.append((Problem.of(allocation), roots))
    return out


@pytest.mark.parametrize(("wanted", "most", "instances"), more((3, 6, 2), (36, 12, 3)))
def test_engines_agree_on_polynomial_activations(wanted, most, instances):
    """Three engines agree on nets of up to so many solutions, a few instances each."""
    need_phcpy()
    missing = {"exact": 0, "phcpy": 0, "homotopy": 0}
    for problem, roots in draw_polynomial_problems(wanted, most, 1):
        for name, number in compare(problem, roots, instances, list(missing)).items():
            missing[name] += number
    # msolve may reach its time limit if a machine is busy.
    assert missing["exact"] <= wanted * instances // 10
    assert missing["homotopy"] <= wanted * instances // 50
    assert missing["phcpy"] <= wanted * instances // 5


def test_engines_agree_on_dependent_labels():
    """One hidden unit with two outputs: four equations of rank 3, counted alike by all engines."""
    need_phcpy()
    network = FeedForward(1, (1,), 2, 2, activation={"polynomial": [1, 1, 1]})
    allocation = Allocation.from_cells(network, [("W1", 0, 0), ("W2", 0, 0), ("W2", 1, 0)])
    assert network.outputs > network_rank(network).rank == 3
    problem = Problem.of(allocation)
    # Paths are tracked for square systems only: here the engine homotopy uses the exact engine.
    engines = ["exact", "phcpy", "homotopy"]
    assert compare(problem, 2, 4, engines) == dict.fromkeys(engines, 0)


def test_three_engines_agree_on_a_few_nets():
    """Five nets of up to 6 solutions: equal counts, all of them complete except phcpy's."""
    need_phcpy()
    for problem, roots in draw_problems(5, 6, 1):
        undetermined = compare(problem, roots, many(8), ["homotopy", "exact", "phcpy"])
        assert undetermined["homotopy"] == undetermined["exact"] == 0


@pytest.mark.long
def test_three_engines_agree_on_two_thousand_instances():
    """2,134 instances of 26 nets of up to 19 solutions, three engines: no disagreement."""
    need_phcpy()
    problems = draw_problems(26, 40, 2)
    assert max(roots for _, roots in problems) > 10
    assert len({p.network.kind for p, _ in problems}) == 2
    missing: Counter[str] = Counter()
    total = 0
    for problem, roots in sorted(problems, key=lambda pair: pair[1]):
        # The exact engine takes seconds per instance if there are many solutions.
        instances = 190 if roots <= 3 else 40 if roots <= 6 else 8
        found = compare(problem, roots, instances, ["homotopy", "exact", "phcpy"])
        print(problem.allocation, roots, instances, found, flush=True)
        missing.update(found)
        total += instances
    assert total >= 2_000
    assert missing["homotopy"] <= 10
    assert missing["exact"] == 0
    assert missing["phcpy"] <= 40


@pytest.mark.long
def test_three_engines_agree_on_a_net_of_36_solutions():
    """One weight in each row of a net of four: three engines on a few instances, two on more."""
    need_phcpy()
    network = LinearRNN(n=4, T=3, b=1, d=2, m=2)
    problem = Problem.of(Allocation.from_cells(network, [("W", i, i) for i in range(4)]))
    roots = generic_root_count(problem.allocation).value
    assert roots == 36
    assert compare(problem, roots, 2, ["homotopy", "exact"]) == {"homotopy": 0, "exact": 0}
    assert compare(problem, roots, 10, ["homotopy", "phcpy"])["homotopy"] == 0
