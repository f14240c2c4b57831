"""Targets of recordings and of identify equal brute force over all subsets, in 600 bits."""

from collections import Counter

import pytest

from algebra.plugins.circuits.recording import record, states_of_target
from algebra.plugins.circuits.verify import RECORDING
from tests.algebra.plugins.circuits.comparison import compare, forgeries
from tests.algebra.plugins.circuits.subsets import answer, cases, option_cases
from tests.samples import more


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
            assert RECORDING.verify(data).holds, case
            for false in forgeries(data):
                forged += 1
                assert not RECORDING.verify(false).holds, case
    assert costly >= count / 4
    assert forged >= count / 4


@pytest.mark.parametrize("count", more(7, 600))
def test_all_options_equal_brute_force_svd_and_own_duals(count):
    """Ranks, costs, free directions and deviations, for every option of a circuit."""
    found = Counter()
    for number, case in enumerate(option_cases(count)):
        found += compare(case, with_proofs=number % 7 == 0)
    assert found["circuits"] == count
    assert found["ranks that singular values show"] >= count * 3 // 4
    assert found["forgeries refused"] >= count // 7
