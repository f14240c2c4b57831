"""Targets of recordings and of identify equal brute force over all subsets, in 600 bits."""

from dataclasses import replace

import numpy as np
import pytest

from algebra.questions.record.recording import record, states_of_target
from algebra.questions.record.verify import verify_recording
from matchprob import identify
from numeric.own_parameters import at_own_parameters
from tests.algebra.questions.record.subsets import (
    answer,
    cases,
    driven_answer,
    of_labels,
    option_cases,
)
from tests.samples import more


def forgeries(data):
    """Proof files that claim more than the given one."""
    if data.get("free"):
        yield {**data, "free": [number + 1 for number in data["free"]]}
    yield {**data, "rank": data["rank"] + 1}
    if data["recorded"] and data["cost"] == data["bound"]:
        # As cheap without its last element as the prices say.
        price = data["prices"][data["recorded"][-1]]
        if price != "0":
            fewer = data["recorded"][:-1]
            cost = str(int(data["cost"]) - int(price))
            yield {**data, "recorded": fewer, "cost": cost, "bound": cost}


@pytest.mark.parametrize("count", more(8, 500))
def test_targets_equal_brute_force_over_all_subsets(count):
    """Costs, bounds and free directions are those of all subsets; the proofs hold."""
    costly = forged = 0
    for number, case in enumerate(cases(count)):
        cost, free, by_labels = answer(case)
        found = record(case.problem(), case.what, target=case.words, costs=case.costs)
        assert found.cost == cost == found.bound, case
        assert {state.name: state.free for state in found.target} == free, case
        costly += cost > 1
        if by_labels is not None:
            aim = states_of_target(case.problem(), case.words)
            assert {state.name: state.free for state in aim.states} == by_labels, case
        if number % 4 == 0:
            data = found.proof_file()
            assert verify_recording(data).holds, case
            for false in forgeries(data):
                forged += 1
                assert not verify_recording(false).holds, case
    assert costly >= count / 4
    assert forged >= count / 4


@pytest.mark.parametrize("count", more(7, 600))
def test_all_options_equal_brute_force_svd_and_own_duals(count):
    """Ranks of labels and of everything, costs and free directions, for every option of a circuit.

    The singular values of the same derivatives, in doubles, show no larger rank.
    """
    shown = 0
    for number, case in enumerate(option_cases(count)):
        problem, given = case.problem(), None
        if case.activation == "relu":
            problem = at_own_parameters(problem, 0, case.words)
            own = problem.network.own_point
            given = own.weights, own.X
        found = identify(problem)
        rank, J = of_labels(case, given=given)
        assert J.shape[1] - found.fibre.dimension == rank, case
        sizes = np.linalg.svd(J, compute_uv=False)
        clear = int((sizes > 1e-9 * sizes.max(initial=0)).sum())
        assert clear <= rank, case
        shown += clear == rank
        cost, free, _ = answer(case, given=given)
        best = record(problem, case.what, target=case.words, costs=case.costs)
        assert best.cost == cost == best.bound, case
        assert {state.name: state.free for state in best.target} == free, case
        plain = replace(case, target="")
        if given is None:
            cost, whole = driven_answer(plain)
            best = record(problem, case.what, costs=case.costs)
            assert (best.cost, best.rank.rank) == (cost, whole), case
        if number % 7 == 0:
            data = best.proof_file()
            assert verify_recording(data).holds, case
            assert not any(verify_recording(false).holds for false in forgeries(data)), case
    assert shown >= count * 3 // 4
