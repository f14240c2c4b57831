"""Proof files changed in every way: no false claim is accepted, no crash, no long wait.

All files that `verify` accepts: certificates of every kind and verdict, ReLU decisions, proofs of
every design goal.  `tests.tampering` makes them, changes them, and decides their claims.
"""

import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.checker.reading import as_text
from algebra.errors import InputError
from matchprob.api.proofs.checker import Checker
from tests.plain_data import prepare_quick_checks
from tests.samples import LONG, many, more
from tests.tampering import (
    Attack,
    attack,
    genuine_file,
    genuine_recording,
    intermediate_file,
    judge,
    maximal_file,
    tampered,
    tamperings,
)

SAMPLE, MANY = 40, 2_000


@pytest.fixture(scope="module")
def checker():
    """A separate process for these checks."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("matchprob.api.proofs.checker.prepare_checks", prepare_quick_checks)
        checker = Checker()
    yield checker
    checker.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A sample of genuine files."""
    folder = tmp_path_factory.mktemp("genuine")
    return [genuine_file(number, folder) for number in range(SAMPLE)]


def test_genuine_files_verify(files, checker):
    """Files that the verbs write hold, for every network, verdict and goal."""
    for number, data in enumerate(files):
        found = checker.check(as_text(data), timeout=60)
        assert found.holds, (number, str(found))


def test_no_tampered_file_is_accepted(files, checker):
    """A sample of the 20,000 below: the same files, each changed a few times."""
    found = attack(checker.check, tamperings(files, 4, 0))
    _assert_none(found)
    assert found.refused + found.bad_input > 2 * SAMPLE
    assert found.accepted


@pytest.mark.parametrize(("files", "each", "seed"), more((6, 7, 0), (24, 100, 2)))
def test_no_tampered_witness_is_accepted(checker, files, each, seed):
    """Certificates of 0 < MP < 1: an instance with all its solutions, none real; a form;
    one without critical points of the distance."""
    genuine = [intermediate_file(number) for number in range(files)]
    found = attack(checker.check, tamperings(genuine, each, seed))
    _assert_none(found)
    assert found.refused > (12 if files == 6 else 1_000)


def test_no_tampered_proof_of_a_maximum_is_accepted(checker):
    """Certificates of MP = 1 by a real degree, at infinity, and
    for fixed entries of products."""
    files = [maximal_file(number) for number in range(5)]
    for data in files:
        assert checker.check(as_text(data), timeout=60).holds
    found = attack(checker.check, tamperings(files, 8 if LONG else 2, 5))
    _assert_none(found)
    assert found.refused > (12 if LONG else 3)


def test_no_tampered_recording_is_accepted(checker):
    """Recordings: genuine files verify, changed ones are refused or claim something true."""
    files = [genuine_recording(number) for number in range(16)]
    for data in files:
        assert checker.check(as_text(data), timeout=60).holds
    each = 20 if LONG else 8
    found = attack(checker.check, tamperings(files, each, 3))
    _assert_none(found)
    assert found.refused + found.bad_input > 8 * each
    forged = Attack()
    for data in files:
        claim = dict(data)
        claim["bound"] = str(Fraction(data["cost"]) + 1)
        judge(forged, 0, 0, claim)
    assert len(forged.forged) == len(files)


@settings(max_examples=many(60))
@given(number=st.integers(0, SAMPLE - 1), rng=st.randoms(use_true_random=False))
def test_tampering_by_hypothesis(files, checker, number, rng):
    """A file changed by hypothesis is refused, or its claim is true."""
    claim = tampered(rng, files[number], files[rng.randrange(SAMPLE)])
    found = Attack()
    try:
        checked = checker.check(as_text(claim), timeout=8)
    except InputError:
        return
    if checked.holds:
        judge(found, number, 0, claim)
    assert not found.forged


@pytest.mark.long
def test_twenty_thousand_tampered_files(tmp_path, checker):
    """250 genuine files, each changed 80 times: a fixed list, so that a failure can be repeated."""
    many = [genuine_file(number, tmp_path) for number in range(3_000, 3_250)]
    found = attack(checker.check, tamperings(many, 80, 1))
    _assert_none(found)
    assert found.refused > 10_000


@pytest.mark.long
def test_thousands_of_tampered_recordings(checker):
    """100 recordings, each changed 40 times."""
    files = [genuine_recording(number) for number in range(100, 200)]
    found = attack(checker.check, tamperings(files, 40, 4))
    _assert_none(found)
    assert found.refused > 1_000


@pytest.mark.long
def test_two_thousand_genuine_files(tmp_path, checker):
    """Random problems of all kinds and goals: every file that the verbs write verifies."""
    refused = []
    for number in range(1_000, 1_000 + MANY):
        found = checker.check(as_text(genuine_file(number, tmp_path)), timeout=60)
        if not found.holds:
            refused.append((number, str(found)))
    assert not refused


def _assert_none(found: Attack) -> None:
    assert not found.forged
    assert not found.crashed
    # The limit of 8 s, and what it takes to end a process and start another.
    assert found.slowest < 20


def test_the_oracle_tells_false_claims(files):
    """False claims made by hand are called false: the tests above can fail."""
    told = set()
    for data in files:
        found = Attack()
        claim = dict(data)
        if data["format"] == "matchprob relu decision":
            claim["verdict"] = {"match": "no match", "no match": "match"}[data["verdict"]]
        elif data["format"] == "matchprob-design":
            claim["cost"] = str(int(data["cost"]) + 1)
        elif data["verdict"] != "undecided":
            claim["verdict"] = "minimal" if data["verdict"] == "maximal" else "maximal"
        else:
            claim["equations"] += 1
        judge(found, 0, 0, claim)
        assert found.forged, data["format"]
        told.add(data["format"])
    assert len(told) == 3


def test_changes_change(files):
    """Nearly every tampered file differs from the genuine one."""
    rng = random.Random(5)
    same = sum(tampered(rng, data, files[0]) == data for data in files for _ in range(5))
    assert same < SAMPLE
