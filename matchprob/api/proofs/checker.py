"""The process in which proofs are checked: its memory and its time are limited.

A proof file may come from somebody who wants to keep its reader busy, and much of a check runs in
compiled code (FLINT, msolve, SymPy) that looks at no clock.  So the check runs in a child process:
it may take only so much more memory than it has when it starts (``RLIMIT_DATA``, where the system
has it), and it is killed, with msolve if that runs, when its time is over.  A child is kept for
the next proof, since it takes a second to start; one that met a limit is never used again.

The limits hold whatever the file says.  Reading has its own, lower ones
(`algebra.certificates.reading`), which are told at once.
"""

from __future__ import annotations

import atexit
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from algebra.certificates.checks import Check, Verification, unfinished
from algebra.errors import InputError, Unfinished

# MiB that a check may take, and seconds after its limit at which a child is killed.
MEMORY, _GRACE = 1024, 2.0
# Seconds that a child may take to start.
_START = 120.0
_ROOT = str(Path(__file__).resolve().parents[3])
_CODE = (
    f"import sys; sys.path.insert(0, {_ROOT!r}); "
    "from matchprob.api.proofs.checker import serve; serve({memory})"
)


class Checker:
    """A child process that checks proofs, one at a time.

    Parameters
    ----------
    memory : int, optional
        MiB that a check may take.
    """

    def __init__(self, memory: int = MEMORY) -> None:
        self.memory = memory
        self._child: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._lock = threading.Lock()

    def check(self, text: str, *, seed: int = 1, timeout: float = 60.0) -> Verification:
        """Check a proof; see `matchprob.api.proofs.check_proof`.

        Raises
        ------
        InputError
            Where the text is no proof of a format that is known.
        Unfinished
            Where no process can be started.
        """
        with self._lock:
            child = self._start()
            request = json.dumps({"text": text, "seed": seed, "timeout": timeout}) + "\n"
            try:
                answer = self._exchange(child, request.encode(), timeout + _GRACE)
            except BaseException:
                self._end()
                raise
            if answer is None:
                code = self._end()
                return self._ended(code, timeout)
        if "error" in answer:
            if answer["error"] == "input":
                raise InputError(answer["text"])
            if answer["error"] == "memory":
                self._end()
                return self._ended(None, timeout, "the check ran out of memory")
            raise RuntimeError(answer["text"])
        return Verification(answer["verdict"], tuple(Check(*check) for check in answer["checks"]))

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._end()

    def _ended(self, code: int | None, timeout: float, text: str = "") -> Verification:
        if not text and code is None:
            text = f"the check was stopped after its limit of {timeout:g} s"
        elif not text:
            how = f"by signal {-code}" if code and code < 0 else f"with status {code}"
            text = f"the process of the check ended {how}, as it does when memory runs out"
        return unfinished("", f"{text} (limits: {timeout:g} s, {self.memory} MiB)")

    def _start(self) -> subprocess.Popen[bytes]:
        child = self._child
        if child is not None and self._owner == os.getpid() and child.poll() is None:
            return child
        try:
            child = subprocess.Popen(
                [sys.executable, "-c", _CODE.format(memory=self.memory)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
                start_new_session=True,
            )
        except OSError as error:
            raise Unfinished(f"no process can be started for the check: {error}") from None
        self._child, self._owner = child, os.getpid()
        try:
            ready = self._exchange(child, b"", _START)
        except BaseException:
            self._end()
            raise
        if ready is None:
            code = self._end()
            raise Unfinished(f"the process of the check did not start (status {code})")
        return child

    @staticmethod
    def _exchange(
        child: subprocess.Popen[bytes], request: bytes, seconds: float
    ) -> dict[str, Any] | None:
        """Send a line and wait for one; None where the child ends or its time does."""
        assert child.stdin is not None
        assert child.stdout is not None
        end = time.monotonic() + seconds
        writer = threading.Thread(target=_write, args=(child.stdin, request), daemon=True)
        if request:
            writer.start()
        received = b""
        with selectors.DefaultSelector() as waiting:
            waiting.register(child.stdout, selectors.EVENT_READ)
            while not received.endswith(b"\n"):
                left = end - time.monotonic()
                # Waits of a bounded length: the limit may be infinite.
                if left <= 0:
                    return None
                if not waiting.select(min(left, 3600.0)):
                    continue
                part = os.read(child.stdout.fileno(), 1 << 16)
                if not part:
                    return None
                received += part
        answer: dict[str, Any] = json.loads(received)
        return answer

    def _end(self) -> int | None:
        """Kill the child with all that it started; its status where it had ended by itself."""
        child, self._child = self._child, None
        if child is None or self._owner != os.getpid():
            return None
        with suppress(subprocess.TimeoutExpired):
            # A child that has just closed its pipe is about to end.
            child.wait(0.2)
        code = child.poll()
        with suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        return code


def _write(pipe: Any, request: bytes) -> None:
    with suppress(OSError, ValueError):
        pipe.write(request)
        pipe.flush()


CHECKER = Checker()
atexit.register(CHECKER.close)


# -- in the child -----------------------------------------------------------------------


def serve(memory: int) -> None:
    """Check proofs, a line of JSON each, until the parent goes away."""
    from matchprob.api.proofs.check import check_proof

    # What a library prints must not be taken for an answer.
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory(memory)

    def reply(answer: dict[str, Any]) -> None:
        replies.write(json.dumps(answer) + "\n")
        replies.flush()

    reply({"ready": True})
    for line in sys.stdin:
        try:
            asked = json.loads(line)
            found = check_proof(asked["text"], seed=asked["seed"], timeout=asked["timeout"])
            answer = {
                "verdict": found.verdict,
                "checks": [[c.place, c.status, c.text] for c in found.checks],
            }
        except InputError as error:
            answer = {"error": "input", "text": str(error)}
        except MemoryError:
            answer = {"error": "memory", "text": ""}
        except Exception as error:
            answer = {"error": "bug", "text": f"{type(error).__name__}: {error}"}
        reply(answer)


def _limit_memory(memory: int) -> None:
    """So many MiB more than the process has now."""
    try:
        import resource
    except ImportError:
        # No such limits on this system: the time limit still holds.
        return
    now = 0
    with suppress(OSError, ValueError, IndexError):
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        now = int(status.partition("VmData:")[2].split()[0]) * 1024
    limit = now + memory * 2**20
    with suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
