"""Certificates of normalization networks against forgeries: each false statement fails by name."""

import json
from functools import cache

import pytest

from algebra.checker.rank_data import RankData
from algebra.families.certify import certify
from algebra.families.verify import verify
from algebra.problems.files import problem_from_dict
from algebra.problems.reduction import lowered
from algebra.ranks.generic_rank import allocation_rank, network_rank
from matchprob import NormNet, Problem
from tests.plain_data import changed, without

CASES = {
    "constructed": (NormNet.square(2, 2, 4, 3), [f"{k}{j}" for k in "gb" for j in range(1, 5)]),
    "narrow": (NormNet((2, 2), (1,), 4, "linear"), ["g1", "g2", "b2"]),
    "counted": (NormNet.square(3, 1, 4, 4), ["g1", "g2"]),
    "silent": (NormNet.square(3, 2, 2, 4), ["g1", "b4"]),
    "open": (NormNet.square(2, 1, 2, 3), ["g1", "g2", "b1", "b2"]),
    "lowered": (NormNet.square(2, 1, 3, 3, "linear"), ["g1", "g2"]),
}


@cache
def certificate(name):
    """The certificate of a case, as text."""
    net, learn = CASES[name]
    return certify(Problem(net, dict.fromkeys(learn, "all"))).to_json()


def forged(name, path, value):
    """The certificate of a case with one value replaced, or removed if it is `...`."""
    data = json.loads(certificate(name))
    return without(data, path) if value is ... else changed(data, path, value)


def failure(data):
    """Place and text of the one failed check."""
    found = verify(data)
    assert not found.holds
    (failed,) = [check for check in found.checks if check.status == "failed"]
    return failed.place, failed.text


@pytest.mark.parametrize(
    ("name", "verdict", "status"),
    [
        ("constructed", "maximal", "proved"),
        ("narrow", "minimal", "probable"),
        ("counted", "minimal", "proved"),
        ("silent", "intermediate", "proved"),
        ("open", "undecided", "unchecked"),
        ("lowered", "minimal", "proved"),
    ],
)
def test_own_certificates_hold(name, verdict, status):
    """Every argument is found again, at new points, and as strong as it is."""
    data = json.loads(certificate(name))
    assert data["verdict"] == verdict
    for seed in (0, 7):
        found = verify(data, seed=seed)
        assert found.holds
        assert [c.status for c in found.checks if c.place == "verdict"] == [status]


@pytest.mark.parametrize(
    ("name", "path", "value", "place", "text"),
    [
        ("constructed", ["equations"], 5, "equations", "shows rank 6"),
        ("constructed", ["rank"], 5, "rank", ""),
        ("constructed", ["prime"], 1_073_741_827, "prime", ""),
        ("constructed", ["error_bound"], 1e-20, "error_bound", "does not fit"),
        ("constructed", ["generic_root_count"], 1, "generic_root_count", "nothing here gives it"),
        ("constructed", ["learnable"], 5, "learnable", ""),
        ("constructed", ["evidence"], ..., "evidence", ""),
        ("constructed", ["evidence", "target_rank"], ..., "evidence.target_rank", ""),
        ("constructed", ["evidence", "construction"], [], "evidence.construction", "0 of 2"),
        ("constructed", ["evidence", "construction", 1, "layer"], 1,
         "evidence.construction[1].layer", ""),
        ("constructed", ["evidence", "construction", 0, "equations"], 3,
         "evidence.construction[0]", "does not show it"),
        ("constructed", ["evidence", "construction", 0, "unknowns"], 5,
         "evidence.construction[0]", "does not show it"),
        ("constructed", ["evidence", "construction", 0, "witness"], [9, 1],
         "evidence.construction[0].witness", ""),
        ("constructed", ["evidence", "construction", 0, "more"], 1,
         "evidence.construction[0].more", ""),
        ("constructed", ["evidence", "more"], 1, "evidence.more", ""),
        ("narrow", ["evidence", "student_rank", "rank"], 4, "evidence.student_rank", ""),
        ("narrow", ["evidence", "allocation_rank"], ..., "evidence.allocation_rank", ""),
        ("narrow", ["error_bound"], 0.0, "error_bound", "does not fit"),
        ("narrow", ["verdict"], "undecided", "evidence.student_rank", "does not belong"),
        ("counted", ["verdict"], "maximal", "evidence.construction", "is missing"),
        ("silent", ["problem", "network", "activation"], "linear", "verdict", "does not follow"),
        ("open", ["verdict"], "minimal", "verdict", "7 learnable weights in effect"),
        ("open", ["rank"], 5, "rank", ""),
        ("lowered", ["verdict"], "undecided", "evidence.lowered.verdict", "differs"),
        ("lowered", ["rank"], 4, "evidence.lowered.rank", "differs"),
        ("lowered", ["evidence", "lowered", "rank"], 4, "evidence.lowered.rank", "differs"),
        ("lowered", ["evidence", "lowered", "evidence", "allocation_rank", "rank"], 4,
         "evidence.lowered.evidence.allocation_rank", ""),
        ("lowered", ["evidence", "more"], 1, "evidence.more", ""),
    ],
)  # fmt: skip
def test_false_statements_fail_where_they_are(name, path, value, place, text):
    """A changed number, verdict or piece of evidence fails at its own place."""
    found = failure(forged(name, path, value))
    assert found[0].startswith(place)
    assert text in found[1]


@pytest.mark.parametrize("verdict", ["minimal", "maximal", "intermediate"])
@pytest.mark.parametrize("name", CASES)
def test_another_verdict_does_not_follow(name, verdict):
    """The evidence of each argument is none for the other verdicts."""
    data = forged(name, ["verdict"], verdict)
    if verdict == json.loads(certificate(name))["verdict"]:
        assert verify(data).holds
    else:
        arguments = ("construction", "lowered", "student_rank")
        assert failure(data)[0].startswith(("verdict", *(f"evidence.{k}" for k in arguments)))


def test_a_construction_needs_all_shifts():
    """With b2 fixed no block is accepted as evidence of "maximal"."""
    data = forged("counted", ["verdict"], "maximal")
    data["evidence"]["construction"] = []
    assert failure(data) == ("evidence.construction", "not all shifts b2 learn")


def test_silence_needs_the_last_shifts():
    """Without b4 the constant labels of silent units are not matched: "intermediate" is refused."""
    data = forged("silent", ["problem", "learnable"], {"g1": [[1], [1]], "b1": [[1], [1]]})
    data |= {"learnable": 4, "rank": 4}
    assert certify(problem_from_dict(data["problem"])).verdict == "undecided"
    place, text = failure(data)
    assert place == "verdict"
    assert "last shifts" in text


def test_a_wide_student_is_not_narrow():
    """MP = 0 by a narrow student is refused where its labels have the target's dimension."""
    net = NormNet((2, 2), (2,), 4, "linear")
    wide = Problem(net, {"g1": "all", "g2": "all", "b2": "all"})
    inner = lowered(wide).problem
    student = network_rank(net.lower(), inner.support)
    own = allocation_rank(inner.allocation, inner.support, student.rank)
    data = json.loads(certificate("narrow"))
    data |= {"problem": wide.to_dict(), "learnable": 6, "rank": own.rank, "prime": own.p}
    data["evidence"] |= {
        "student_rank": RankData.of(student).to_dict(),
        "allocation_rank": RankData.of(own).to_dict(),
    }
    place, text = failure(data)
    assert place == "verdict"
    assert f"dimension {student.rank}" in text


def test_the_evidence_of_another_problem():
    """A lowered certificate that holds by itself is no evidence for another allocation."""
    data = json.loads(certificate("lowered"))
    other = certify(Problem(CASES["lowered"][0], {"g1": "all", "b2": "all"}))
    data["evidence"] = json.loads(other.to_json())["evidence"]
    assert failure(data) == ("evidence.lowered.problem", "it is another problem's")
