"""Targets of recordings and of identify equal brute force over all subsets, in 600 bits."""

import pytest

from algebra.questions.record.recording import record, states_of_target
from algebra.questions.record.verify import verify_recording
from tests.algebra.questions.record.subsets import answer, cases
from tests.samples import more


def forgeries(data):
    """Proof files that claim more than the given one."""
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
