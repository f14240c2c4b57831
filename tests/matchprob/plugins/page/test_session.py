"""A session: immediate answers, later events, rejected messages."""

import errno
import json
import threading
import time
from typing import ClassVar

import numpy as np
import pytest

from matchprob import LinearRNN, Problem, ShallowReLU, design
from matchprob.io import files
from matchprob.io.costs import read_cells
from matchprob.plugins.page.immediate import immediate_results
from matchprob.plugins.page.session import Session
from matchprob.plugins.page.state import state_of
from matchprob.plugins.page.studies import Studies

NET = LinearRNN(n=2, T=2, b=1, d=1, m=2)
DIAGONAL = Problem(NET, {"W": [[1, 0], [0, 1]]})


class Front:
    """A front end that records its events."""

    def __init__(self, runner, folder, problem=DIAGONAL):
        self.events = []
        self.studies = Studies(runner, folder / "s.sqlite")
        self.session = Session(
            problem, runner, self.studies, self.events.append, folder=folder, name="x.toml"
        )

    def say(self, verb, problem=None, **more):
        if problem is not None:
            more["state"] = state_of(problem, "x.toml").to_dict()
        self.session.receive({"verb": verb, **more})

    def told(self, event, seconds=300.0, **like):
        """Wait for such an event and return the last one."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for one in reversed(list(self.events)):
                if one["event"] == event and all(one.get(k) == v for k, v in like.items()):
                    return one
            time.sleep(0.02)
        raise AssertionError((event, like, [e["event"] for e in self.events]))


@pytest.fixture
def front(runner, tmp_path):
    made = Front(runner, tmp_path)
    yield made
    made.studies.close()
    made.session.close()


def test_every_event_is_plain_data(front):
    """The first event, the immediate results and later ones can be sent as JSON."""
    front.say("hello", state=None)
    front.say("look", DIAGONAL, seq=1)
    front.told("verdict", verdict="intermediate")
    front.told("structure")
    json.dumps(front.events)
    assert front.session.certificate.verdict == "intermediate"
    assert front.told("looked")["rank"] == {
        "rank": 2, "equations": 2, "minimal": False, "vanish": False, "error": 0.0,
    }  # fmt: skip


def test_a_change_ends_running_jobs(front):
    """The next look kills the jobs of the last one; the results of an earlier state are kept."""
    hard = Problem(
        LinearRNN(n=12, T=4, b=2, d=4, m=4),
        {"W": [[int((i * 7 + j * 5) % 9 == 0) for j in range(12)] for i in range(12)]},
    )
    front.say("look", hard, seq=1)
    jobs = list(front.session._live)
    front.say("look", DIAGONAL, seq=2)
    for job in jobs:
        assert job.wait(300)
    front.told("verdict", verdict="intermediate")
    front.say("look", Problem(NET, {"W": [[1, 1], [0, 0]]}), seq=3)
    front.told("verdict", verdict="maximal")
    count = len(front.events)
    front.say("look", DIAGONAL, seq=4)
    # It is sent at once because it was kept.
    told = [e for e in front.events[count:] if e["event"] == "verdict"]
    assert [e["verdict"] for e in told] == ["intermediate"]


def test_actions_give_their_results(front):
    """Design obeys locks, repair moves, identify marks, certify leaves a certificate to save."""
    state = {**state_of(Problem(NET, {}), "x.toml").to_dict(), "never": {"D": "wA", "B": "wA"}}
    front.say("act", what="design", state=state, options={"goal": "maximal"})
    done = front.told("action", what="design", status="done")
    assert set(done["learnable"]) == {"W"}
    assert "<table>" in done["html"]
    assert "Not minimal: the" in done["html"]
    front.say("act", DIAGONAL, what="repair", options={})
    assert "intermediate → maximal" in front.told("action", what="repair", status="done")["text"]
    front.say("act", DIAGONAL, what="identify")
    found = front.told("action", what="identify", status="done")
    [determined, free, *_] = found["marks"]
    assert determined["cells"] == [["W", 0, 0], ["W", 1, 1]]
    assert free["cells"] == []
    front.say("save", DIAGONAL, what="result", result="identify", name="i.json")
    assert front.told("saved")["name"] == "i.json"
    front.say("act", what="fly", state=state)
    assert "must be one of" in front.told("refused")["text"]


def test_a_design_says_what_is_forced(front):
    """Weights in every cheapest design, those that could be others, and those in none."""
    problem = Problem(LinearRNN(n=3, T=1, b=1, d=2, m=1), {})
    support = {"D": [[1, 1, 1], [0, 0, 1]], "W": np.eye(3, dtype=int)}
    problem = Problem(problem.network, {}, support)
    state = state_of(problem, "x.toml").to_dict()
    front.say("act", what="design", state=state, options={"goal": "cheapest", "among": "all"})
    done = front.told("action", what="design", status="done")
    marks = {mark["look"]: mark["cells"] for mark in done["marks"]}
    assert set(marks) == {"forced", "exchangeable", "excluded"}
    found = design(problem, among="all")
    assert marks["forced"] == [list(cell) for cell in found.ties.in_every]
    assert marks["excluded"] == [list(cell) for cell in found.ties.in_none]
    chosen = {tuple(cell) for cell in marks["forced"] + marks["exchangeable"]}
    assert chosen == set(found.allocation.cells)


def test_a_result_painted_at_once_stays_done(front, monkeypatch):
    """The front end may look at a result before its job has ended."""
    jobs = []

    def run(ask, listener):
        jobs.append((ask["job"], listener))
        return Job()

    class Job:
        is_over = False
        killed: ClassVar[list] = []

        def kill(self):
            self.killed.append(self)

    real = front.session.runner.run
    monkeypatch.setattr(
        front.session.runner,
        "run",
        lambda ask, listener: (real if ask["job"] != "design" else run)(ask, listener),
    )
    front.say("act", DIAGONAL, what="design", options={"goal": "maximal"})
    front.say("look", Problem(NET, {"W": [[0, 0], [1, 1]]}))
    assert front.told("action", status="stopped")["text"] == "stopped: the problem changed"
    assert len(Job.killed) == 1
    front.say("act", DIAGONAL, what="design", options={"goal": "maximal"})
    [_, (_, listener)] = jobs
    listener({"event": "result", "text": "found", "found": None})
    front.say("look", Problem(NET, {"W": [[1, 1], [0, 0]]}))
    assert front.events[-1]["event"] != "refused"
    assert [e["status"] for e in front.events if e["event"] == "action"][-1] == "done"
    assert len(Job.killed) == 1


def test_studies_are_shared(front, runner, tmp_path):
    """A second session finds the first one's study at its start and receives its events."""
    other = []
    second = Session(DIAGONAL, runner, front.studies, other.append, folder=tmp_path)
    front.say("study", DIAGONAL, options={"trials": 40, "complete": True})
    found = front.told("study", status="done")
    estimate = front.studies.result(found["study"])
    assert (found["trials"], estimate.undetermined) == (40, 0)
    assert found["bounds"][-1]["matched"] == estimate.matched
    assert (found["title"], found["document"]) == (
        str(estimate.document().title),
        estimate._repr_html_(),
    )
    assert sum(estimate.histogram.values()) == 40
    second.receive({"verb": "hello"})
    welcome = next(e for e in other if e["event"] == "welcome")
    assert welcome["studies"][0]["study"] == found["study"]
    row = Problem(NET, {"W": [[1, 1], [0, 0]]})
    front.say("study", DIAGONAL, other=state_of(row).to_dict(), options={"trials": 30})
    found = front.told("study", what="compare", status="done")
    assert [one["trials"] for one in found["estimates"]] == [30, 30]
    assert found["html"] == front.studies.result(found["study"])._repr_html_()
    front.say("save", DIAGONAL, what="result", result=found["study"], name="c")
    assert json.loads((tmp_path / "c.json").read_text())["trials"] == 30
    second.close()


def test_a_full_disk_is_reported(front, monkeypatch):
    """A failed write gives a message; the page keeps its data."""

    def full(path, text):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(files, "write_text", full)
    front.say("save", DIAGONAL, what="problem", name="x.toml")
    told = front.told("refused")
    assert told["text"].startswith("x.toml: No space left on device")
    assert "kept in its address" in told["text"]


@pytest.mark.parametrize(
    "name", ["../x.toml", "/tmp/x.toml", "a/b.toml", "", ".hidden", "..", "x\0y"]
)
def test_nothing_is_written_outside_the_folder(front, name, tmp_path):
    """A name with a folder is refused."""
    before = sorted(tmp_path.parent.rglob("*.toml"))
    front.say("save", DIAGONAL, what="problem", name=name)
    assert front.told("refused")["verb"] == "save"
    assert sorted(tmp_path.parent.rglob("*.toml")) == before


def test_locks_are_saved_beside_the_problem(front, tmp_path):
    """The files named in the shown commands are written, and the command line reads them."""
    state = {**state_of(DIAGONAL, "x.toml").to_dict(), "must": {"W": "gA"}, "never": {"W": "QA"}}
    front.say("save", state=state, what="problem", name="x.toml")
    assert front.told("saved")["name"] == "x.toml, must_W.csv, forbid_W.csv"
    assert (tmp_path / "must_W.csv").read_text() == "1,0\n0,0\n"
    assert read_cells([f"W={tmp_path / 'forbid_W.csv'}"], DIAGONAL.names) == [("W", 0, 1)]
    front.say("save", state=state, what="problem", name="y.toml")
    assert "must_W.csv" in front.told("exists")["name"]
    assert not (tmp_path / "y.toml").exists()


def test_a_link_does_not_lead_out(front, tmp_path):
    """A link in the folder does not allow writing outside it."""
    outside = tmp_path.parent / "outside.toml"
    (tmp_path / "link.toml").symlink_to(outside)
    front.say("save", DIAGONAL, what="problem", name="link.toml", replace=True)
    assert "leads out" in front.told("refused")["text"]
    assert not outside.exists()


@pytest.mark.parametrize(
    "message",
    [None, 3, {}, {"verb": "look"}, {"verb": "look", "state": {"network": {"kind": "cnn"}}},
     {"verb": "act", "what": []}, {"verb": "save"}, {"verb": "study", "state": 1},
     {"verb": "cancel", "study": {}}, {"verb": "resize", "network": [], "state": 0},
     {"verb": "parse", "text": 3}, {"verb": ["look"]}],
)  # fmt: skip
def test_invalid_messages_are_answered(front, message):
    """Every invalid message gets an error message."""
    count = len(front.events)
    front.session.receive(message)
    told = front.events[count:]
    assert all(e["event"] == "refused" for e in told)
    assert told or (message or {}).get("verb") == "cancel"


HUGE = {"kind": "rnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2}
HUGE["activation"] = {"polynomial": ["0", "1e200000000"]}


@pytest.mark.parametrize(
    "message",
    [
        {"verb": "look", "state": {"network": HUGE}},
        {"verb": "resize", "network": HUGE, "state": state_of(DIAGONAL).to_dict()},
        {"verb": "parse", "text": "x = [\n" * 3000 + "]\n" * 500_000},
        {"verb": "look", "state": {"network": {
            "kind": "lffn", "q": 1, "widths": [1] * 3000, "d": 1, "m": 1}}},
        {"verb": "look", "seq": 7, "state": {"network": {
            "kind": "lrnn", "n": 2, "T": 10**7, "b": 1, "d": 1, "m": 2}}},
    ],
)  # fmt: skip
def test_no_message_takes_long(front, message, monkeypatch):
    """A message that could take minutes is answered or refused in seconds, as is the next one."""
    monkeypatch.setattr("matchprob.plugins.page.session.ANSWER_SECONDS", 1.0)
    front.session.receive(message)
    assert front.events[-1]["event"] in ("refused", "looked")
    monkeypatch.undo()
    front.say("look", DIAGONAL, seq=8)
    assert front.told("looked", seq=8)["rank"]["rank"] == 2


def test_closing_a_session_ends_its_waiting(front):
    """Closing a session ends the processing of a message that takes long."""
    asked = threading.Thread(
        target=front.session.receive, args=[{"verb": "look", "state": {"network": HUGE}}]
    )
    asked.start()
    while front.session._open_request is None and asked.is_alive():
        time.sleep(0.01)
    front.session.close()
    asked.join(300)
    assert not asked.is_alive()


def test_a_bug_is_reported(front, monkeypatch, capsys):
    """An unexpected error is reported as a bug, with a traceback for the server's user."""

    def look(*words, **ask):
        raise ZeroDivisionError("nobody thought of this")

    monkeypatch.setattr(Session, "_answers", look)
    front.say("look", DIAGONAL, seq=1)
    assert "this is a bug: ZeroDivisionError" in front.told("refused")["text"]
    assert "Traceback" in capsys.readouterr().err
    monkeypatch.undo()
    front.say("look", DIAGONAL, seq=2)
    assert front.told("looked")["seq"] == 2


def test_immediate_results_of_a_relu_net():
    """A network without a single Jacobian has budgets, but no ranks and no what-if."""
    net = ShallowReLU(q=2, n=2, d=1, m=2)
    data = immediate_results(state_of(Problem(net, {"W1": [[1, 1], [0, 0]]})))
    assert data["rank"] is data["what_if"] is data["blocks"] is None
    assert data["limits"]["W1"]["row"][0] == 2


def test_a_crossed_allocation_is_reported_at_once():
    """The cross that Theorem 3.4 misses is reported at once, with the weights without effect."""
    net = LinearRNN(n=4, T=2, b=2, d=2, m=4)
    W = [[1, 0, 0, 0], [1, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]]
    data = immediate_results(state_of(Problem(net, {"W": W})))
    assert data["rank"]["minimal"]
    assert (data["rank"]["rank"], data["rank"]["equations"]) == (7, 8)
    assert data["violations"][0]["rows"] == [["W", 3]]
    assert data["violations"][0]["columns"] == [["W", 0]]
    # Only the weight outside the cross is needed for the rank.
    assert data["what_if"]["lowers"].keys() == {"W"}
    assert data["blocks"]["equations"] == len(data["blocks"]["labels"])
