"""Decisions of ReLU instances under constraints, compared with all patterns; their proofs."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from algebra.linalg.rational_lp import INFEASIBLE, maximize
from algebra.plugins.relu.box_program import BoxProgram
from algebra.plugins.relu.decision import DECISION
from algebra.plugins.relu.equations import relu_system
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.constraints import Constraints
from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import Problem
from matchprob.api.estimate import count, estimate
from matchprob.api.question import as_problem
from numeric.engines.counter import InstanceCounter
from numeric.plugins.relu.decide import decide
from numeric.plugins.relu.decision import MATCH, NONE
from numeric.plugins.relu.pairs import decide_boxed
from numeric.trials.instances import Instance, draw_instance
from tests.samples import LONG, many


def ends(instance: Instance) -> list[tuple[float, float]]:
    """The intervals of the weights in doubles."""
    found = []
    for cell in instance.allocation.cells:
        interval = instance.box[cell]
        low = -np.inf if interval.low is None else float(interval.low.p) / float(interval.low.q)
        high = np.inf if interval.high is None else float(interval.high.p) / float(interval.high.q)
        found.append((low, high))
    return found


def by_patterns(instance: Instance) -> bool:
    """Whether some activation pattern has weights in the box, by one linear program for each.

    No equations of the project are used: labels are linear in the weights on a pattern.
    """
    W1, W2, X, Y = instance.weights["W1"], instance.weights["W2"], instance.X, instance.labels
    cells, bounds = instance.allocation.cells, ends(instance)
    if any(low > high for low, high in bounds):
        return False
    learns = {i for name, i, _ in cells if name == "W1"}
    rows = sorted(learns)
    fixed = W1.copy()
    for name, i, j in cells:
        if name == "W1":
            fixed[i, j] = 0
    base, m = fixed @ X, X.shape[1]
    for pattern in itertools.product((0.0, 1.0), repeat=len(rows) * m):
        P = (base > 0).astype(float)
        P[rows] = np.array(pattern).reshape(len(rows), m)
        A = np.zeros((*Y.shape, len(cells)))
        constant = W2 @ (P * base)
        for k, (name, i, j) in enumerate(cells):
            if name == "W1":
                A[..., k] = np.outer(W2[:, i], P[i] * X[j])
            else:
                constant[i] -= W2[i, j] * (P[j] * base[j])
                A[i, :, k] = P[j] * base[j]
        A, b = A.reshape(-1, len(cells)), (Y - constant).ravel()
        best = np.linalg.lstsq(A, b, rcond=None)[0]
        if np.abs(A @ best - b).max() > 1e-7:
            continue
        signs, right = [], []
        for i, s in itertools.product(rows, range(m)):
            sign = 1.0 if P[i, s] else -1.0
            signs.append([-sign * X[j, s] * (i == i2 and n == "W1") for n, i2, j in cells])
            right.append(sign * base[i, s])
        found = linprog(
            np.zeros(len(cells)), A_ub=signs or None, b_ub=right or None, A_eq=A, b_eq=b,
            bounds=bounds, method="highs",
        )  # fmt: skip
        if found.status == 0:
            return True
    return False


def random_instance(rng: np.random.Generator) -> Instance:
    """An instance of a random tiny net, allocation and constraints."""
    q, n, d, m = (int(rng.integers(*pair)) for pair in ((1, 4), (1, 4), (1, 3), (1, 4)))
    if n * m > 6:
        m = 2
    name = "W1" if rng.random() < 0.75 else "W2"
    shape = (n, q) if name == "W1" else (d, n)
    mask = (rng.random(shape) < rng.uniform(0.3, 1.0)).astype(int)
    mask.flat[0] |= not mask.any()
    rules: dict = {}
    for key in ("max_abs", "max_change"):
        if rng.random() < 0.5:
            rules[key] = float(np.round(rng.uniform(0.1, 4.0), 3))
    if rng.random() < 0.5 or not rules:
        rules["sign"] = str(rng.choice(["keep", "+", "-"]))
    if rng.random() < 0.3:
        # Some cells are free, some have narrow bounds, some are fixed at 0.
        rules["max_abs"] = {name: rng.choice([0.0, 0.5, 2.0, np.inf], shape).tolist()}
    net = ShallowReLU(q=q, n=n, d=d, m=m)
    problem = Problem(net, {name: mask.tolist()}, constraints=Constraints(**rules))
    return draw_instance(problem, int(rng.integers(10_000)), int(rng.integers(10_000)))


def test_decisions_under_constraints_agree_with_all_patterns():
    """Verdicts agree with a linear program for each pattern; every proof verifies."""
    rng = np.random.default_rng(17)
    seen = {True: 0, False: 0}
    for _ in range(many(250)):
        instance = random_instance(rng)
        expected = by_patterns(instance)
        found = decide(instance)
        assert found.verdict == (MATCH if expected else NONE), instance
        proof = decide(instance, certify=True)
        assert proof.verdict == found.verdict
        checked = DECISION.verify(json.loads(json.dumps(proof.certificate())))
        assert checked.holds
        assert checked.verdict == proof.verdict
        seen[expected] += 1
    assert min(seen.values()) > many(25)


def test_the_tree_over_q_alone_agrees():
    """Branching with linear programs over Q, without floating point, gives the same verdicts."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        instance = random_instance(rng)
        system = relu_system(instance.allocation, *instance.exact, instance.box)
        exact = BoxProgram(system).decide(np.zeros(system.pairs, int))
        assert not exact.is_open
        assert (decide(instance).verdict == MATCH) == (exact.witness is not None)


def test_vectors_refute_in_their_box_and_in_smaller_ones():
    """A refutation of a leaf in a wider box holds in a narrower one; without a box it may not."""
    problem = as_problem("examples/relu_figure.toml")
    tight = replace(problem, constraints=Constraints(max_abs=2.0))
    refuted = 0
    for k in range(6):
        found = decide_boxed(draw_instance(tight, 0, k), certify=True, most_nodes=100_000)
        assert found.verdict == NONE
        system = found.system
        for leaf in found.leaves:
            assert system.is_farkas(leaf.fixed, leaf.lam, leaf.mu)
            free = replace(system, box={})
            refuted += not free.is_farkas(leaf.fixed, leaf.lam, leaf.mu)
            narrow = replace(problem, constraints=Constraints(max_abs=0.5))
            small = replace(system, box=draw_instance(narrow, 0, k).box)
            assert small.is_farkas(leaf.fixed, leaf.lam, leaf.mu)
    assert refuted


@settings(max_examples=15, deadline=None)
@given(
    key=st.sampled_from(["max_abs", "max_change"]),
    bounds=st.tuples(st.floats(0, 5), st.floats(0, 5)),
    sign=st.sampled_from([None, "keep", "+"]),
    learns=st.sampled_from(["W1", "W2"]),
)
def test_matches_under_tight_constraints_are_matches_under_loose_ones(key, bounds, sign, learns):
    """Each trial that matches under constraints matches under looser ones."""
    net = ShallowReLU(q=3, n=3, d=1, m=3)
    mask = [[1, 1, 0], [0, 1, 0], [0, 0, 1]] if learns == "W1" else [[1, 1, 1]]
    low, high = sorted(bounds)
    before = None
    for rules in ({key: low, "sign": sign}, {key: high, "sign": sign}, {"sign": sign}, {}):
        problem = Problem(net, {learns: mask}, constraints=Constraints(**rules))
        found = [decide(draw_instance(problem, 1, k)).verdict for k in range(12 if LONG else 4)]
        assert set(found) <= {MATCH, NONE}
        if before is not None:
            assert all(b == MATCH for a, b in zip(before, found, strict=True) if a == MATCH)
        before = found


def test_a_huge_bound_changes_nothing():
    """`max_abs = 1e9` gives the outcomes and counts of the problem without constraints."""
    net = ShallowReLU(q=3, n=3, d=2, m=2)
    masks = {"W1": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}
    bound = Problem(net, masks, constraints=Constraints(max_abs=1e9))
    free = Problem(net, masks)
    one, other = estimate(free, 120), estimate(bound, 120)
    assert [c.outcome for c in one.counts] == [c.outcome for c in other.counts]
    assert 0 < one.matched < 120
    for a, b in zip(count(free, 15), count(bound, 15), strict=True):
        assert (a.real, a.status, a.solutions) == (b.real, b.status, b.solutions)


def test_counts_are_the_solutions_inside():
    """The solutions under a bound are those of the unconstrained problem inside it."""
    net = ShallowReLU(q=3, n=3, d=2, m=2)
    masks = {"W1": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}
    free, bound = Problem(net, masks), Problem(net, masks, constraints=Constraints(max_abs=1.0))
    fewer = 0
    for a, b in zip(count(free, 40), count(bound, 40), strict=True):
        if a.status != "complete":
            continue
        inside = [s for s in a.solutions if max(map(abs, s)) <= 1.0]
        assert b.status == "complete"
        assert list(b.solutions) == inside
        fewer += len(inside) < len(a.solutions)
    assert fewer


def test_ends_belong_to_the_box():
    """A bound of 1 permits Rademacher weights of modulus 1; a slightly smaller one does not."""
    law = Distribution("rademacher", "rademacher", "rademacher")
    net = ShallowReLU(q=1, n=1, d=1, m=1)
    rules = Constraints(max_abs=1.0)
    problem = Problem(net, {"W1": [[1]]}, distribution=law, constraints=rules)
    free = Problem(net, {"W1": [[1]]}, distribution=law)
    smaller = replace(problem, constraints=Constraints(max_abs=1.0 - 2.0**-40))
    outcomes = {"free": [], "bound": [], "smaller": []}
    for name, question in (("free", free), ("bound", problem), ("smaller", smaller)):
        for k in range(60):
            outcomes[name].append(decide(draw_instance(question, 0, k), certify=True).verdict)
    assert outcomes["free"] == outcomes["bound"]
    assert outcomes["smaller"].count(MATCH) < outcomes["bound"].count(MATCH)


def test_contradictory_constraints_match_nothing():
    """With an empty interval there is no match, with a proof that verifies."""
    net = ShallowReLU(q=2, n=2, d=1, m=2)
    rules = Constraints(max_abs=0.01, max_change=0.01)
    problem = Problem(net, {"W1": [[1, 1], [0, 0]]}, constraints=rules)
    instance = draw_instance(problem, 0, 0)
    assert any(interval.is_empty for interval in instance.box.values())
    found = decide(instance, certify=True)
    assert found.verdict == NONE
    assert DECISION.verify(found.certificate()).holds
    assert estimate(problem, 5).unmatched == 5


def test_weights_without_effect_lie_in_their_intervals():
    """The weights of a unit without outputs lie in their intervals in every witness."""
    net = ShallowReLU(q=2, n=3, d=1, m=2)
    support = {"W2": [[1, 1, 0]]}
    rules = Constraints(sign="keep", max_change=0.1)
    problem = Problem(net, {"W1": [[1, 1], [0, 0], [1, 1]]}, support=support, constraints=rules)
    matched = 0
    for k in range(200):
        instance = draw_instance(problem, 0, k)
        found = decide(instance)
        if found.verdict == MATCH:
            matched += 1
            for cell, value in zip(instance.allocation.cells, found.witness, strict=True):
                assert value in instance.box[cell]
            assert DECISION.verify(found.certificate()).holds
    assert matched


@pytest.mark.parametrize("engine", ["adam", "levenberg-marquardt"])
def test_other_engines_keep_to_constraints(engine):
    """Other engines have the outcomes of `decide` under constraints, or none."""
    net = ShallowReLU(q=3, n=3, d=1, m=2)
    problem = Problem(
        net, {"W1": [[1, 1, 0], [0, 0, 0], [0, 0, 0]]},
        constraints=Constraints(max_abs=1.0, sign="keep"),
    )  # fmt: skip
    instances = [draw_instance(problem, 2, k) for k in range(many(12))]
    verdicts = [decide(i).verdict for i in instances]
    with InstanceCounter(problem, engine) as counter:
        counts = counter.count_many(instances)
    for verdict, found in zip(verdicts, counts, strict=True):
        if found.outcome != "undetermined":
            assert found.outcome == {MATCH: "matched", NONE: "unmatched"}[verdict]


def test_linear_programs_beyond_the_limit_of_pivots_are_given_up():
    """With no pivot permitted the status is "given up"."""
    one = fmpq(1)
    rows = [[one, one, fmpq(0)], [one, fmpq(0), one]]
    assert maximize(rows, [one, one], most_pivots=0).status == "given up"
    assert maximize(rows, [-one, one], most_pivots=50).status == INFEASIBLE


def test_scip_keeps_to_constraints():
    """SCIP has the verdicts of `decide` under constraints, on every trial."""
    pytest.importorskip("pyscipopt")
    from tests.numeric.plugins.relu.scip_oracle import scip_verdict

    net = ShallowReLU(q=3, n=3, d=1, m=2)
    problem = Problem(
        net, {"W1": [[1, 1, 0], [0, 0, 0], [0, 0, 0]]},
        constraints=Constraints(max_abs=1.0, sign="keep"),
    )  # fmt: skip
    for k in range(12):
        instance = draw_instance(problem, 2, k)
        assert scip_verdict(instance)[0] == decide(instance).verdict
