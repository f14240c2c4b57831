"""The envelope of a certificate: read as written, or refused with a place."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.checker.checks import CheckFailed
from algebra.checker.claim import Claim
from algebra.checker.problem_tables import read_problem
from algebra.families.verify import CERTIFICATE
from matchprob import Distribution, NormNet, Problem
from tests.plain_data import data_of
from tests.refusals import refuses
from tests.samples import NET


@pytest.fixture(scope="module")
def data():
    return data_of(Problem(NET, {"W": [[1, 1], [0, 0]]}))


def test_what_was_written_is_read(data):
    """Problem, numbers and words."""
    claim = Claim.from_dict(data, "")
    assert claim.problem == Problem(NET, {"W": [[1, 1], [0, 0]]})
    assert (claim.verdict, claim.equations, claim.rank, claim.learnable) == ("maximal", 2, 2, 2)
    assert claim.generic_root_count == 1
    assert claim.error_bound == 0


@pytest.mark.parametrize(
    "problem",
    [
        Problem(NET, {}, support={"W": [[1, 0], [1, 1]]}),
        Problem(NET, {"D": [[1, 0]]}, distribution=Distribution(inputs="uniform")),
        Problem(NormNet(widths=(2, 2), hidden=(4,), m=3, activation="relu"), {"b1": [[1]] * 4}),
    ],
)
def test_problems_are_read_back(problem):
    """With support, laws and words among the sizes."""
    assert read_problem(json.loads(json.dumps(problem.to_dict()))) == problem


@given(
    st.sampled_from(["network", "learnable", "support", "distribution", "constraints"]),
    st.recursive(
        st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["W", "D", "n", "T", "kind", "weights"]), inner)
        ),
        max_leaves=8,
    ),
)
def test_no_problem_crashes(table, value):
    """For every table: a problem, or an error with a place in it."""
    data = Problem(NET, {"W": [[1, 1], [0, 0]]}).to_dict() | {table: value}
    place, problem = "problem", None
    try:
        problem = read_problem(data)
    except CheckFailed as refusal:
        place = refusal.place
    assert place.startswith("problem")
    assert problem is None or problem.network == NET or table == "network"


@pytest.mark.parametrize("version", [1.0, True, "1", 0, 2, None])
def test_versions(data, version):
    """Exactly the whole number 1."""
    refuses("version", CERTIFICATE.read_version, data | {"version": version})
    refuses("", Claim.from_dict, data | {"version": version}, "", error=CheckFailed)
    CERTIFICATE.read_version(data)
