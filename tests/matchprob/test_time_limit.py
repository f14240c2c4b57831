"""`--timeout S` bounds the time of the whole call, which returns what is known by then.

The bounds distinguish seconds from minutes, also on a busy machine.
"""

import json
import time

import numpy as np
import pytest

import matchprob as mp
from algebra.errors import Unfinished
from algebra.time_limits import OutOfTime
from matchprob.cli import app, run_command
from tests.matchprob.hard import spread

LIMIT, SLACK = 0.3, 20.0


@pytest.mark.parametrize("n", [12, 20, 32])
def test_certify_ends_and_says_what_was_tried(n):
    """The verdict is "undecided", with the known ranks and the attempts."""
    began = time.monotonic()
    found = mp.certify(spread(n), timeout=LIMIT)
    assert time.monotonic() - began < LIMIT + SLACK
    assert found.verdict == "undecided"
    assert found.rank == found.equations == n * n // 8
    assert "time" in found.tried[0]
    assert "not finished" in found.tried[0] or "time limit" in found.tried[0]


def test_a_minimal_allocation_is_decided_within_the_limit():
    """The ranks decide; the explanation may be missing."""
    problem = spread(20)
    few = problem.allocation.cells[:-1]
    found = mp.certify(mp.Problem.of(mp.Allocation.from_cells(problem.network, few)), timeout=LIMIT)
    assert found.verdict == "minimal"


def test_a_search_of_sub_allocations_ends_at_the_limit():
    """With more weights than equations sub-allocations are tried until the time limit."""
    net = mp.LinearRNN(n=16, T=8, b=1, d=4, m=8)
    began = time.monotonic()
    found = mp.certify(mp.Problem(net, {"W": np.ones((16, 16), int).tolist()}), timeout=LIMIT)
    assert time.monotonic() - began < LIMIT + SLACK
    assert found.verdict in ("maximal", "undecided")


@pytest.mark.parametrize("engine", ["homotopy", "exact", "multistart"])
def test_estimates_end_and_keep_finished_trials(engine):
    """The trial that the time limit ends counts as undetermined."""
    began = time.monotonic()
    found = mp.estimate(spread(12), 100_000, engine=engine, timeout=LIMIT)
    assert time.monotonic() - began < LIMIT + SLACK
    assert 0 < found.trials < found.requested
    assert found.counts[-1].reason == "lost"
    assert found.counts[-1].outcome == "undetermined"


def test_counts_end_while_the_root_count_is_computed():
    """No root count and no number of solutions is reported."""
    began = time.monotonic()
    found = mp.count(spread(20), 5, timeout=LIMIT)
    assert time.monotonic() - began < LIMIT + SLACK
    assert (found.generic_root_count, found.histogram) == (None, {})
    assert len(found) < found.requested


def test_workers_end_with_the_call():
    """The processes of the workers are ended with the call."""
    began = time.monotonic()
    found = mp.estimate(spread(12), 1000, workers=2, timeout=LIMIT)
    assert time.monotonic() - began < LIMIT + SLACK
    assert found.trials < found.requested


def test_the_limit_is_no_part_of_a_study():
    """Trials computed with a time limit equal those computed without one."""
    diagonal = mp.Problem(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]})
    free = mp.estimate(diagonal, 20, engine="exact")
    bound = mp.estimate(diagonal, 20, engine="exact", timeout=600.0)
    assert [c.real for c in free.counts] == [c.real for c in bound.counts]


def test_unfinished_work_has_status_3_and_one_json_object(capsys, file):
    """An unfinished estimate has status 3, and stdout contains one JSON object."""
    path = file(spread(12).to_toml())
    arguments = ["estimate", str(path), "--trials", "100000", "--timeout", "0.3", "--json"]
    status = run_command(lambda: app(arguments, standalone_mode=False))
    out = capsys.readouterr()
    data = json.loads(out.out)
    assert status == 3
    assert data["undetermined"] >= 1
    assert data["estimate"] is None
    assert "100000" in out.err
    status = run_command(
        lambda: app(["certify", str(path), "--timeout", "0.3", "--json"], standalone_mode=False)
    )
    assert json.loads(capsys.readouterr().out)["verdict"] == "undecided"


def test_surveys_return_their_finished_part():
    """Allocations audited and orbits certified before the limit are reported."""
    began = time.monotonic()
    audit = mp.audit(spread(32), matrices=["W"], count=10**6, timeout=LIMIT)
    assert 0 <= audit.checked < audit.requested == 10**6
    assert audit.is_partial
    atlas = mp.atlas(mp.LinearRNN(n=3, T=3, b=1, d=1, m=3), 4, search=0.0, timeout=LIMIT)
    assert atlas.is_partial
    assert all(entry.verdict for entry in atlas.entries)
    assert time.monotonic() - began < 2 * SLACK


def test_bounds_and_local_answers_are_returned_at_the_limit():
    """`robust` gives a bound, and `identify` the local dimension, if time ends before the rest."""
    few = spread(32)
    found = mp.robust(few, timeout=4.0)
    assert found.survives == 0
    assert set(found.coloops) == set(few.allocation.cells)
    local = mp.identify(spread(20), timeout=LIMIT)
    assert local.to_dict()["fibre_dimension"] == 0
    assert local.unknown


def test_an_unfinished_survey_has_status_3(capsys, file):
    """A survey that the limit ends has status 3 and one JSON object of its finished part."""
    path = file(spread(32).to_toml())
    line = ["audit", str(path), "--matrix", "W", "--count", "1000000", "--timeout", "0.3", "--json"]
    assert run_command(lambda: app(line, standalone_mode=False)) == 3
    out = capsys.readouterr()
    assert json.loads(out.out)["checked"] < 10**6
    assert "of 1000000 allocations" in out.err


@pytest.mark.parametrize("value", ["0", "-1", "nan", "-inf"])
@pytest.mark.parametrize("verb", ["certify", "count", "inspect", "design", "robust", "audit"])
def test_invalid_durations_are_refused(verb, value, capsys):
    """Status 2; the message names the argument and echoes its value."""
    arguments = [verb, "examples/row.toml", "--timeout", value]
    assert run_command(lambda: app(arguments, standalone_mode=False)) == 2
    assert f"--timeout ({float(value)!r})" in capsys.readouterr().err


def test_inf_is_no_limit():
    """`timeout=inf` is accepted and sets no limit."""
    row = mp.Problem(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 1], [0, 0]]})
    assert mp.certify(row, timeout=float("inf")).verdict == "maximal"


def test_very_large_limits():
    """10^30 seconds set no limit, and a later call has its own limit."""
    row = mp.Problem(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 1], [0, 0]]})
    assert mp.certify(row, timeout=1e30).verdict == "maximal"
    assert mp.certify(row, timeout=5.0).verdict == "maximal"


def test_certify_without_ranks_says_what_counting_knows(capsys, file):
    """Status 3; the text and the JSON object give weights, labels and attempts."""
    path = file(
        '[network]\nkind = "lrnn"\nn = 2\nT = 1000000\nb = 1\nd = 1\nm = 2\n'
        "[learnable]\nW = [[1, 1], [0, 0]]\n"
    )
    line = ["certify", str(path), "--timeout", "1"]
    assert run_command(lambda: app(line, standalone_mode=False)) == 3
    out = capsys.readouterr()
    assert "2 weights of 8 learn, for 2 labels" in out.out
    assert "at most 2 equations" in out.out
    assert "before the ranks were known" in out.err
    assert run_command(lambda: app([*line, "--json"], standalone_mode=False)) == 3
    data = json.loads(capsys.readouterr().out)
    assert (data["verdict"], data["equations"], data["rank"]) == ("undecided", None, None)
    assert data["tried"]
    assert any("--timeout" in text for text in data["explanation"])


def test_a_lack_of_memory_is_an_ordinary_message(capsys, monkeypatch):
    """Status 3; the message does not call it a bug."""

    def greedy():
        raise MemoryError

    assert run_command(greedy) == 3
    said = capsys.readouterr().err
    assert "memory" in said
    assert "bug" not in said


def test_a_certificate_of_a_design_has_what_is_left_of_the_time(tmp_path, capsys, monkeypatch):
    """If the certificate takes too long, the design is printed without it."""

    def slow(*_, **__):
        raise OutOfTime("the time limit is over")

    monkeypatch.setattr("matchprob.api.certify.certify", slow)
    line = ["design", "examples/diagonal.toml", "--matrix", "W", "--out", str(tmp_path / "c.json")]
    assert run_command(lambda: app([*line, "--timeout", "60"], standalone_mode=False)) == 3
    out = capsys.readouterr()
    assert "Not minimal" in out.out
    assert "c.json is not written" in out.err


def circuit(n, cells, steps, samples):
    """A recurrent net with plastic synapses at random places, ten times as large as usual ones."""
    rng = np.random.default_rng(0)
    mask = np.zeros((n, n), int)
    mask.flat[rng.choice(n * n, cells, replace=False)] = 1
    net = mp.RNN(n=n, T=steps, b=6, d=8, m=samples, activation="tanh", leak="1/5")
    return mp.Problem(net, {"W": mask}, support={"W": mask})


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("record", {"what": "units", "seconds": 0.2}),
        ("design", {"seconds": 0.2}),
        ("design", {"goal": "spread", "seconds": 0.2}),
        ("identify", {}),
        ("robust", {}),
        ("repair", {}),
        ("certify", {}),
        ("estimate", {"trials": 10}),
        ("count", {"instances": 10}),
        ("profile", {"trials": 10}),
    ],
)
def test_limits_hold_for_problems_that_are_too_large(verb, options):
    """3,600 plastic synapses of 302 neurons: the call ends, with what is known or Unfinished."""
    problem, began = circuit(302, 3600, 10, 60), time.monotonic()
    try:
        told = getattr(mp, verb)(problem, timeout=LIMIT, **options).document().title
    except Unfinished as why:
        told = str(why) if "time" in str(why) else ""
    assert told
    assert time.monotonic() - began < LIMIT + 2 * SLACK
