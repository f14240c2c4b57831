"""Forged proof files: no file is accepted whose claim is false.

Certificates of every kind of network and verdict, undecided ones too, designs and recordings:
`tests.forgeries` makes and recombines them, `tests.tampering` decides their claims independently.
"""

import copy
import random
from contextlib import suppress

import pytest

import matchprob as mp
from algebra.checker.reading import as_text
from algebra.errors import InputError, Unfinished
from algebra.families.verify import verify
from algebra.polynomials.msolve.process import MsolveTimeout
from algebra.problems.problem import Problem
from matchprob.api.proofs.check import check_proof
from tests.forgeries import forged, forgeries, genuine, in_sparse_form
from tests.plain_data import changed, data_of, failures
from tests.samples import LONG
from tests.tampering import Attack, attack, genuine_design, genuine_recording, judge

CERTIFICATES, DESIGNS, RECORDINGS = 32, 6, 6


def _files(first, certificates, designs, recordings, folder):
    files = [genuine(first + k) for k in range(certificates)]
    made = (genuine_design(random.Random(f"design/{first + k}"), folder) for k in range(designs))
    files += [data for data in made if data is not None]
    return files + [genuine_recording(20_000 + first + k) for k in range(recordings)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A sample of genuine files."""
    return _files(0, CERTIFICATES, DESIGNS, RECORDINGS, tmp_path_factory.mktemp("designs"))


def test_there_are_files_of_every_kind(files):
    """Linear, activated and normalization networks, updates; all four verdicts; all formats."""
    kinds = {data["problem"]["network"]["kind"] for data in files}
    assert kinds >= {"linear", "lrnn", "lffn", "relu", "normnet", "rnn", "ffn"}
    assert {data["verdict"] for data in files if "verdict" in data} == {
        "minimal", "maximal", "intermediate", "undecided",
    }  # fmt: skip
    assert len({data["format"] for data in files}) == 3
    updates = [data["problem"]["learnable"].values() for data in files]
    assert any(isinstance(mask, dict) for masks in updates for mask in masks)


def test_genuine_files_hold(files):
    """Every one is verified to the end; none is unfinished."""
    for number, data in enumerate(files):
        found = check_proof(as_text(data))
        assert found.holds, (number, str(found))


def test_no_forgery_is_accepted(files):
    """A sample of the 100,000 below."""
    found = attack(check_proof, forgeries(files, 10 if LONG else 4, "sample"))
    assert not found.forged + found.crashed
    assert found.refused > (3 if LONG else 2) * len(files)
    assert found.unfinished < len(files)


def test_masks_in_sparse_form(files):
    """The same masks in sparse form hold; of changed or broken ones, only those that are true."""
    found, held = Attack(), 0
    for number, data in enumerate(files):
        for k in range(4 if LONG else 2):
            claim = in_sparse_form(random.Random(f"sparse/{number}/{k}"), data)
            with suppress(InputError, Unfinished):
                if check_proof(as_text(claim), timeout=8).holds:
                    held += claim["problem"] != data["problem"]
                    judge(found, number, k, claim)
    assert not found.forged
    assert held > len(files) // (2 if LONG else 4)


def test_forgers_change_what_is_claimed(files):
    """Most forgeries claim other results than the file that they were made from."""
    certificates = [data for data in files if data["format"] == "matchprob-certificate"]
    rng = random.Random(3)
    claims = ("verdict", "rank", "equations", "generic_root_count", "problem", "prime")
    other = sum(
        any(forged(rng, data, rng.choice(certificates)).get(c) != data[c] for c in claims)
        for data in certificates
        for _ in range(5)
    )
    assert other > 3 * len(certificates)


# -- statements that were accepted once --------------------------------------------------


def _counted(data, value):
    """The same with evidence of so many solutions."""
    data = copy.deepcopy(data)
    data["generic_root_count"] = value
    data["evidence"]["root_count"] = {
        "value": value, "rule": "quotient degree", "form": "direct", "blocks": [value],
        "primes": [2147483647], "seed": 0,
    }  # fmt: skip
    return data


def _place(data, **options):
    """Checks that fail; an unfinished check alone is no failure."""
    (failed,) = failures(verify(data, **options))
    return failed


def _open(found):
    assert found.is_unfinished, str(found)
    assert not found.holds
    assert found.outcome == "not finished: nothing is known"


TANH = Problem(
    mp.RNN(n=2, T=3, b=1, d=1, m=2, activation="tanh"),
    {"W": {"tied": [[1, 1], [2, 2]]}, "D": [[1, 0]]},
)
SQUARE = mp.FeedForward(q=2, widths=[2], d=1, m=3, activation={"polynomial": [0, 1, 1]})


def test_an_analytic_network_has_no_number_of_solutions():
    """tanh with ties, claimed to be maximal with N = 1: no such number exists."""
    data = _counted(data_of(TANH), 1)
    data["verdict"] = "maximal"
    assert _place(data) == "evidence.root_count"
    plain = data_of(Problem(TANH.network, {"W": [[1, 1], [0, 0]], "D": [[1, 0]]}))
    assert plain["verdict"] in ("undecided", "minimal")
    assert _place(_counted(plain, 1)) == "evidence.root_count"


def test_ties_through_many_steps(msolve):
    """One tied parameter through 448 steps has N = 448, not 1."""
    net = mp.LinearRNN(n=2, T=448, b=1, d=1, m=1)
    data = _counted(data_of(Problem(net, {"W": {"tied": [[1, 1], [1, 1]]}})), 1)
    data["verdict"] = "maximal"
    assert _place(data) == "evidence.root_count"


def test_an_output_that_cannot_follow_refutes_maximal():
    """tanh is bounded: if the read-out does not learn, no count makes it maximal."""
    data = data_of(Problem(TANH.network, {"W": [[1, 1], [0, 0]]}))
    assert data["verdict"] == "intermediate"
    data["verdict"] = "maximal"
    del data["evidence"]["stuck_output"]
    assert _place(data) == "verdict"
    assert _place(_counted(data, 1)) == "evidence.root_count"


@pytest.mark.parametrize("verdict", ["maximal", "undecided"])
def test_a_number_that_nobody_counts_again_is_open(verdict, monkeypatch):
    """For every verdict that depends on it; more time may decide, less may not."""
    problem = Problem(SQUARE, {"W1": [[1, 1], [0, 0]], "W2": [[1, 0]]})
    data = _counted(data_of(problem, search=0.0), 1)
    data["verdict"] = verdict
    data["evidence"].pop("no_real_root", None)

    def late(*given, **options):
        raise MsolveTimeout("no time")

    for name in ("quotient_degree", "count_by_minors"):
        monkeypatch.setattr(f"algebra.arguments.large_recount.{name}", late)
    monkeypatch.setattr("algebra.arguments.recount.quotient_dimension", lambda given: None)
    _open(verify(data))


@pytest.mark.parametrize(
    ("activation", "read_out"),
    [("tanh", [[1, 0]]), ({"polynomial": [0, 1, 1]}, [[0, 1]])],
    ids=["tanh", "polynomial"],
)
def test_every_field_of_an_undecided_file_is_checked(activation, read_out, msolve):
    """False claims about N, evidence of other verdicts, the prime and the ranks are found."""
    net = mp.FeedForward(q=2, widths=[2], d=1, m=3, activation=activation)
    data = data_of(Problem(net, {"W1": [[1, 1], [0, 0]], "W2": read_out}), search=0.0)
    assert data["verdict"] == "undecided"
    assert verify(data).holds
    wrong = 1 + (data["generic_root_count"] or 2)
    assert _place(_counted(data, wrong)) == "evidence.root_count"
    for name, value in (
        ("stuck_output", 0),
        ("teacher_reached", {"blocks": [[[0], [1]]]}),
        ("sub_allocation", [["W1", 0, 0]]),
    ):
        lie = changed(data, ("evidence", name), value)
        assert _place(lie).startswith(f"evidence.{name}")
    for name, value in (("prime", 4), ("rank", 999), ("generic_root_count", 7)):
        assert _place(data | {name: value}) in (name, "evidence.allocation_rank")


def test_a_false_number_beside_a_teacher_that_is_reached(msolve):
    """The verdict would be correct without it; the number is still counted."""
    net = mp.LinearRNN(n=2, T=3, b=1, d=2, m=3)
    problem = Problem(net, {"D": [[1, 1], [1, 1]], "W": [[1, 0], [0, 1]]},
                      support={"W": [[1, 0], [0, 1]]})  # fmt: skip
    data = data_of(problem)
    assert "teacher_reached" in data["evidence"]
    assert verify(data).holds
    assert not verify(_counted(data, 5)).holds


def test_the_rank_of_nothing_is_nothing():
    """A narrow frozen normalization net without learnable weights has rank 0, for every net."""
    net = mp.NormNet((2, 1), (1,), 3, "linear")
    problem = Problem(net, {}, support={"W2": [[0]]})
    data = data_of(problem)
    assert (data["verdict"], data["rank"], data["learnable"]) == ("minimal", 0, 0)
    assert verify(data).holds
    for name, value in (("rank", 1), ("prime", 4)):
        assert _place(data | {name: value}) == name
    lie = changed(data, ("evidence", "target_rank", "witness"), [4, 0])
    assert _place(lie) == "evidence.target_rank.witness"


@pytest.mark.long
def test_a_hundred_thousand_forgeries(tmp_path):
    """A fixed list, so that a failure can be repeated."""
    files = _files(1_000, 2_000, 200, 300, tmp_path)
    found = attack(check_proof, forgeries(files, 42, "many"))
    assert not found.forged + found.crashed
    assert found.refused > 60_000
