"""The process in which proofs are checked: the same results, and its limits."""

import contextlib
import importlib
import os
import signal

import pytest

import matchprob as mp
from algebra.checker.checks import FAILED, UNFINISHED
from algebra.checker.reading import as_text
from algebra.errors import InputError
from algebra.memory_limits import limited_memory
from algebra.networks.kinds import KINDS
from algebra.workers import ChildError
from matchprob.api.proofs import checker as checker_module
from matchprob.api.proofs.check import check_proof
from matchprob.api.proofs.checker import CHECKER, Checker
from tests.refusals import refuses

NET = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
MAXIMAL = mp.certify(mp.Problem(NET, {"W": [[1, 1], [0, 0]]}))


def test_the_child_returns_the_result_of_the_check():
    """`verify` returns what `check_proof` does in this process, for a proof and a false claim."""
    data = MAXIMAL.to_dict()
    for claim in (data, {**data, "verdict": "minimal"}):
        found = mp.verify(claim)
        there = check_proof(as_text(claim))
        assert (found.verdict, found.checks) == (there.verdict, there.checks)
    assert not found.holds
    assert not found.is_unfinished


_TOY = """
from dataclasses import dataclass
from typing import ClassVar
from algebra.networks.recurrent import LinearRNN


@dataclass(frozen=True)
class Toy(LinearRNN):
    kind: ClassVar[str] = "toy-rnn"
    title: ClassVar[str] = "toy"
"""


def test_the_child_imports_the_module_that_registered_a_kind(tmp_path, monkeypatch):
    """A proof about a kind from outside is checked; if the import fails the message names it."""
    (tmp_path / "toy_kind.py").write_text(_TOY)
    monkeypatch.syspath_prepend(tmp_path)
    toy = importlib.import_module("toy_kind").Toy
    try:
        with contextlib.closing(Checker()) as checker:
            proof = mp.certify(mp.Problem(toy(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 1], [0, 0]]}))
            assert checker.check(proof.to_json()).holds
            checker.close()
            monkeypatch.setattr(toy, "__module__", "no_such_module")
            with pytest.raises(InputError, match=r"'toy-rnn' was registered by .* no_such_module"):
                checker.check(proof.to_json())
    finally:
        del KINDS["toy-rnn"]


@pytest.mark.parametrize("text", ["", "[]", "{}", "nonsense", '{"format": "other"}'])
def test_files_that_are_no_proofs_are_bad_input(text, file):
    """The message names the file; the next proof is checked as before."""
    path = file(text, "proof.json")
    refuses(r"proof\.json", mp.verify, path)
    assert mp.verify(MAXIMAL).holds


def test_files_that_are_no_text_or_have_no_end(tmp_path):
    """Bytes, a folder and a device are refused; a file that is too long is not read to its end."""
    path = tmp_path / "proof.json"
    path.write_bytes(b"\xff\xfe\x00\x80")
    refuses("UTF-8", mp.verify, path)
    refuses("cannot be read", mp.verify, tmp_path)
    refuses("a device, no regular file", mp.verify, "/dev/zero")
    os.truncate(path, 1 << 40)
    found = mp.verify(path)
    assert found.is_unfinished
    assert "characters" in found.checks[0].text


def test_a_child_that_does_not_respond_is_replaced():
    """A stopped child is killed at the time limit, the check is unfinished, the next one works."""
    assert mp.verify(MAXIMAL).holds
    child = CHECKER._worker.child
    os.kill(child.pid, signal.SIGSTOP)
    found = mp.verify(MAXIMAL, timeout=0.5)
    assert not child.alive
    assert found.is_unfinished
    assert "limit of 0.5 s" in found.checks[0].text
    assert mp.verify(MAXIMAL).holds
    assert CHECKER._worker.child is not child


@pytest.mark.parametrize("memory", [1, 3, 5])
def test_memory_of_the_child_is_limited(memory):
    """A check that needs more memory than the limit is unfinished and names the limit."""
    checker = Checker(memory=memory)
    try:
        size = 2_000
        mask = [[1] * size for _ in range(40)]
        net = {"kind": "linear", "q": size, "d": 40, "m": 40}
        data = {**MAXIMAL.to_dict(), "problem": {"network": net, "learnable": {"W": mask}}}
        found = checker.check(as_text(data))
    finally:
        checker.close()
    assert found.is_unfinished
    assert f"{memory} MiB" in found.checks[0].text


def test_an_exception_of_the_child_leaves_the_check_unfinished(monkeypatch):
    """Whatever a library raises there: its type and text are printed, and the next check works."""

    def fails(*arguments, **options):
        raise ChildError("the check failed in a child process: SystemError: no exception is set")

    checker = Checker()
    try:
        with monkeypatch.context() as patched:
            patched.setattr(checker._worker, "call", fails)
            found = checker.check(MAXIMAL.to_json())
        assert found.is_unfinished
        assert "SystemError" in found.checks[0].text
        assert checker.check(MAXIMAL.to_json()).holds
    finally:
        checker.close()


def test_a_limit_is_no_failure():
    """A limit gives the status "unfinished", a false statement the status "failed"."""
    data = MAXIMAL.to_dict()
    large = {**data["problem"], "network": {"kind": "linear", "q": 9000, "d": 9000, "m": 1}}
    found = mp.verify({**data, "problem": large})
    assert [c.status for c in found.checks] == [UNFINISHED]
    assert (found.holds, found.is_unfinished) == (False, True)
    found = mp.verify({**data, "rank": 1})
    assert FAILED in {c.status for c in found.checks}
    assert (found.holds, found.is_unfinished) == (False, False)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), "1"])
def test_time_limits_of_verify_are_positive_numbers(timeout):
    """Zero, a negative number, NaN and a text are bad input."""
    refuses("timeout", mp.verify, MAXIMAL, timeout=timeout)


def test_a_larger_limit_that_is_given_is_that_of_the_check(monkeypatch):
    """A limit by what is free, or a smaller one, leaves the usual one; the process starts again."""
    asked = []

    class Asked:
        def __init__(self, name, first, memory):
            self.memory = memory

        def start(self, seconds):
            asked.append(self.memory)

        def close(self):
            pass

    monkeypatch.setattr(checker_module, "Worker", Asked)
    own = Checker(64)
    for limit in (None, 1 << 20, 1 << 40):
        with limited_memory(limit):
            own._start()
    assert asked == [64, 64, 1 << 20]
