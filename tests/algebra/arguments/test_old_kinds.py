"""The kinds' own verdicts through programs: random problems of all kinds with one teacher."""

import json
import random

import pytest

from algebra.arguments.certify import certify_by_arguments
from algebra.certificates.tools import Effort
from algebra.checker.verdicts import VERDICTS
from algebra.families.certify import certify
from algebra.families.verify import verify
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.reduction import lowered
from algebra.ranks.generic_rank import allocation_rank, network_rank
from tests.old_kinds import as_program, random_normnet, random_problem
from tests.samples import many


def compare(seed):
    """Ranks are equal; minimal both or neither; what the program is, the kind is."""
    ours = random_problem(random.Random(f"old kind/{seed}"))
    found = certify_by_arguments(as_program(ours), Effort(seed))
    whole = network_rank(ours.network, ours.support).rank
    own = allocation_rank(ours.allocation, ours.support, whole).rank
    assert (found.rank, found.equations) == (own, whole), ours
    assert (found.verdict == "minimal") == (own < whole), ours
    if found.verdict in ("maximal", "intermediate"):
        theirs = certify(ours, timeout=20, search=0)
        # A count that is not finished leaves the kind's own verdict undecided.
        assert theirs.verdict in (found.verdict, "undecided"), ours
    return found.verdict


@pytest.mark.parametrize("part", range(3))
def test_ten_problems(part):
    """The short run: 30 problems."""
    for seed in range(10 * part, 10 * part + 10):
        compare(seed)


@pytest.mark.long
def test_a_thousand_problems():
    """All verdicts are met, the same ones."""
    assert {compare(seed) for seed in range(1000)} == set(VERDICTS)


@pytest.mark.parametrize("part", range(4))
def test_verdicts_on_networks_with_activations_are_those_of_their_programs(part):
    """The same verdict for the same reason, and the program's certificate is verified."""
    for seed in range(part, many(20), 4):
        rng = random.Random(f"same verdict/{seed}")
        while True:
            ours = random_problem(rng)
            if ours.network.equations_are == "analytic":
                break
        kind, program = certify(ours, search=0), certify(as_program(ours))
        assert (program.verdict, program.why) == (kind.verdict, kind.why), ours
        assert verify(json.loads(program.to_json())).holds


def same_verdict(seed):
    """The verdicts of a kind and of its program are equal, and all are verified; of arbitrary
    labels, too."""
    ours = random_problem(random.Random(f"same verdict/{seed}"))
    for own in (ours, ours.with_arbitrary_labels()):
        kind, program = certify(own, search=0.5), certify(as_program(own), search=0.5)
        for found in (kind, program):
            assert verify(json.loads(found.to_json())).holds
        assert program.verdict == kind.verdict, own


@pytest.mark.parametrize("part", range(4))
def test_verdicts_of_polynomials_and_others(part):
    """Parity, instances without real solutions, affine parts, chains are found in programs too."""
    for seed in range(5 * part, 5 * part + 5):
        same_verdict(seed)


@pytest.mark.long
def test_verdicts_of_five_hundred_programs():
    """All are equal."""
    for seed in range(500):
        same_verdict(seed)


@pytest.mark.parametrize("seed", range(10))
def test_linear_normalization_networks(seed):
    """Their teacher is another network: the rank of what learns, as a program and lowered."""
    rng = random.Random(f"old normnet/{seed}")
    ours = random_problem(rng, random_normnet(rng))
    simpler = lowered(ours).problem
    mine = as_program(ours)
    assert (
        allocation_rank(mine.allocation, mine.support).rank
        == allocation_rank(simpler.allocation, simpler.support).rank
    )


@pytest.mark.parametrize("seed", range(12))
def test_shallow_relu_networks(seed):
    """No problem is minimal; if the program is maximal or not minimal, the kind agrees."""
    rng = random.Random(f"old relu/{seed}")
    net = ShallowReLU(q=rng.randint(1, 3), n=rng.randint(1, 3), d=rng.randint(1, 2), m=2)
    ours = random_problem(rng, net)
    found = certify_by_arguments(as_program(ours), Effort(seed))
    assert found.verdict in ("undecided", "maximal")
    assert found.evidence["pattern"] is not None
    if found.verdict == "maximal":
        assert certify(ours, timeout=20, search=0).verdict in ("maximal", "undecided")
