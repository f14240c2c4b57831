"""Ctrl-C and SIGTERM at any time end every verb with a message, status 3 and no traceback."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import matchprob as mp
from matchprob.cli import app
from numeric.studies.store import Store
from tests.matchprob.hard import shallow, spread
from tests.matchprob.processes import ROOT, start, wait_for_trials, wait_until_it_listens
from tests.onnx_models import save

# A command line of each verb that takes seconds.
LINES = {
    "inspect": "inspect large.toml",
    "certify": "certify half.toml --timeout 60",
    "verify": "verify proof.json",
    "audit": "audit half.toml --matrix W --count 1000000",
    "atlas": "atlas small.toml --budget 4",
    "identify": "identify half.toml",
    "design": "design half.toml --goal maximal --row-cap 9 --seconds 60",
    "repair": "repair half.toml --goal maximal --seconds 60",
    "robust": "robust large.toml",
    "count": "count diagonal.toml --instances 100000",
    "estimate": "estimate diagonal.toml --trials 1000000 --store s.sqlite",
    "compare": "compare diagonal.toml row.toml --trials 100000 --no-certify",
    "profile": "profile diagonal.toml --trials 100000",
    "train": "train diagonal.toml --trials 10000",
    "decide": "decide relu.toml",
    "construct": "construct target.npz --exact",
    "reproduce": "reproduce fig2a --trials 1000 --out figures",
    "serve": "serve --port 0 --no-open",
    "record": "record half.toml --what entries --seconds 60",
    "study": "study list s.sqlite",
    "dimension": "dimension small.toml",
    "capacity": "capacity convnet.onnx",
}
# Exit status of verbs that an interrupt ends normally, or that end at once.
_ENDS_WELL = {"serve": 0, "study": 2}
NUMBERS = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Problems for which every verb takes long."""
    at = tmp_path_factory.mktemp("interrupts")
    small = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    rng = np.random.default_rng(0)
    problems = {
        "diagonal": mp.Problem(small, {"W": [[1, 0], [0, 1]]}),
        "row": mp.Problem(small, {"W": [[1, 1], [0, 0]]}),
        "half": spread(20),
        "large": mp.Problem(spread(32).network, {"W": "all"}),
        "small": mp.Problem(mp.LinearRNN(n=3, T=3, b=1, d=1, m=3), {"W": "all"}),
        "relu": shallow(),
    }
    for name, problem in problems.items():
        (at / f"{name}.toml").write_text(problem.to_toml())
    save("convnet", at)
    (at / "proof.json").write_text(mp.certify(problems["diagonal"]).to_json())
    target = {"W1": rng.standard_normal((6, 6)), "b1": np.zeros(6)}
    np.savez(at / "target.npz", **target, W2=rng.standard_normal((6, 6)), b2=np.zeros(6))
    return at


def test_every_verb_has_a_command_line():
    """A new verb without a line in `LINES` is noticed."""
    verbs = {command.name or command.callback.__name__ for command in app.registered_commands}
    assert verbs | {group.name for group in app.registered_groups} == set(LINES)


def faults(verb, number, wait, folder):
    """The fault in the reaction to an interrupt after `wait` seconds; "" if there is none."""
    process = start(
        *LINES[verb].split(), cwd=folder, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    try:
        wait_until_it_listens(process.pid)
        time.sleep(wait)
        process.send_signal(number)
        _, said = process.communicate(timeout=300)
    finally:
        process.kill()
    told = [line for line in said.splitlines() if line.startswith("matchprob: ")]
    at = f"{verb}, {signal.Signals(number).name} after {wait} s"
    if "Traceback" in said or "Exception" in said or "bug" in said:
        return f"{at}: {said[-600:]}"
    if process.returncode not in (0, 3, _ENDS_WELL.get(verb)):
        return f"{at}: status {process.returncode}: {said[-300:]}"
    if process.returncode == 3 and not any(
        "interrupt" in line or "stopped after" in line for line in told
    ):
        return f"{at}: no message about the interrupt: {said[-300:]}"
    return ""


@pytest.mark.parametrize("verb", LINES)
def test_every_verb_ends_after_an_interrupt(verb, folder):
    """Each verb is interrupted once, by one of the signals, while it loads or computes."""
    place = sorted(LINES).index(verb)
    wait = (0.05, 0.2, 0.3, 0.5)[place // 2 % 4]
    assert faults(verb, NUMBERS[place % 2], wait, folder) == ""


_LISTENING = """
import os, signal, sys
from algebra.time_limits import Interrupted, StopRequest, check_time, stoppable
from matchprob.interrupts import request_stops

request = StopRequest()
request_stops(request)
with stoppable(request):
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(os.getpid(), number)
        done = sum(range(1000))
        try:
            check_time()
        except Interrupted:
            print("stopped at a safe place", done)
    os.kill(os.getpid(), signal.SIGINT)
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        print("never here")
    except Interrupted:
        print("the second one does not wait")
"""


def test_a_signal_stops_the_work_at_check_time():
    """A first signal takes effect at `check_time`; a second signal takes effect at once."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", _LISTENING], env=environment, timeout=120, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    safe = "stopped at a safe place 499500\n"
    assert (done.stdout, done.stderr) == (2 * safe + "the second one does not wait\n", "")


@pytest.mark.long
@pytest.mark.parametrize("wait", [0.0, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0])
def test_interrupts_at_any_time(wait, folder):
    """All verbs end properly after both signals."""
    wrong = [faults(verb, number, wait, folder) for verb in LINES for number in NUMBERS]
    assert [text for text in wrong if text] == []


@pytest.mark.parametrize(
    ("number", "engine"),
    [(NUMBERS[0], "exact"), pytest.param(NUMBERS[1], "homotopy", marks=pytest.mark.long)],
)
def test_the_message_says_what_the_store_holds(number, engine, tmp_path, folder):
    """Finished trials are printed and stored; the message says their number and how to continue."""
    store = tmp_path / "kept.sqlite"
    words = ["estimate", str(folder / "diagonal.toml"), "--trials", "1000000", "--json"]
    words += ["--engine", engine]
    process = start(*words, "--store", str(store), stdout=subprocess.PIPE)
    wait_for_trials(store, process)
    process.send_signal(number)
    out, said = process.communicate(timeout=300)
    assert process.returncode == 3, said
    data = json.loads(out)
    done = data["trials"]
    assert 0 < done < 1_000_000
    assert "estimate" in data
    assert "Traceback" not in said
    assert f"interrupted after {done} of 1000000 trials" in said
    with Store(store, create=False, write=False) as opened:
        (study,) = opened.studies()
    assert study.trials >= done
    assert f"{store} holds {study.trials} trials; the same command goes on" in said
