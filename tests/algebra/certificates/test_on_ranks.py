"""Evidence of ranks and counts: it is unchanged by JSON and contains the result."""

import json
from dataclasses import replace

import numpy as np
import pytest

from algebra.certificates.on_ranks import certified, rank_evidence
from algebra.certificates.tools import Effort
from algebra.certificates.vanishing import vanishing_certificate
from algebra.checker.root_evidence import RootEvidence
from algebra.checker.verdicts import DISCRETE
from algebra.linalg.ranks import modular_rank
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import jacobian, random_point, tangent_factors
from algebra.systems.root_count import RootCount, TraceEvidence
from matchprob import Distribution, LinearRNN, Problem
from tests.samples import NET


def test_the_rank_is_attained_at_the_witness_point():
    """The point in the evidence is the random one of its seed, and has the claimed rank."""
    problem = Problem(NET, {"W": [[1, 0], [0, 1]]})
    found = allocation_rank(problem.allocation, problem.support, 2)
    data = json.loads(json.dumps(rank_evidence(problem, found)))
    assert (data["rank"], data["proved"]) == (2, True)
    p, seed = data["witness"]
    point = random_point(NET, p, seed, problem.support)
    for name, value in data["witness_point"]["weights"].items():
        assert np.array_equal(np.array(value), point.weights[name])
    matrix = jacobian(tangent_factors(NET, point, ["W"]), list(problem.allocation.cells), p)
    assert modular_rank(matrix, p) == data["rank"]


def test_long_points_are_given_by_their_seed():
    """Beyond 20,000 entries the witness point is left out."""
    problem = Problem(LinearRNN(n=150, T=1, b=1, d=1, m=1), {"W": np.eye(150, dtype=int)})
    data = rank_evidence(problem, network_rank(problem.network))
    assert "witness_point" not in data
    assert len(data["witness"]) == 2


@pytest.mark.parametrize("trace", [None, TraceEvidence(9, "2.4e-17", "1e-09", "4.4e-03")])
def test_root_counts(trace):
    """Primes or a trace test, whichever the number is based on."""
    rule = "quotient degree" if trace is None else "trace test"
    primes = (2147483629, 2147483587) if trace is None else ()
    count = RootCount(3, rule, "B", (3,) if trace is None else (), primes, 5, trace)
    data = json.loads(json.dumps(RootEvidence.of(count).to_dict()))
    assert (data["value"], data["rule"], data["primes"]) == (3, rule, list(primes))
    assert data.get("trace") == (
        None
        if trace is None
        else {"points": 9, "residual": "2.4e-17", "tolerance": "1e-09", "share": "4.4e-03"}
    )


@pytest.mark.parametrize("weights", ["normal", "rademacher"])
def test_the_frame_of_certification(weights):
    """The problem and the note on a discrete law are those of the outer problem."""
    problem = Problem(NET, {"W": [[1, 0], [0, 1]]}, distribution=Distribution(weights=weights))
    inner = vanishing_certificate(Problem(NET, {"W": [[1, 0], [0, 0]]}), 3)
    notes = () if weights == "normal" else (DISCRETE,)
    found = certified(problem, Effort(), lambda: replace(inner, notes=(*notes, "one")))
    assert found.problem is problem
    assert (found.notes, found.seed) == ((*notes, "one"), 3)
