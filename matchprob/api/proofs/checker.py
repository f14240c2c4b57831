"""The process in which proofs are checked: its memory and its time are limited.

A proof file may be made to waste the time of its reader, and much of a check runs in compiled code
(FLINT, msolve, SymPy) that does not check time limits. So the check runs in a child process: its
memory is limited to a given amount above that at its start (``RLIMIT_DATA``, if the system has it),
and it is killed, together with msolve, when its time is over. A child is kept for the next proof,
since it takes a second to start; one that reached a limit is not used again.

Kinds of networks that were registered from outside are known to the child by the modules that
registered them, which it imports.

The limits do not depend on the file. Reading has lower limits of its own
(`algebra.certificates.reading`), which are reported at once.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from pathlib import Path

from algebra.certificates.checks import Check, Checked, unfinished
from algebra.certificates.reading import PROOF_LIMITS
from algebra.errors import InputError, Unfinished
from algebra.memory_limits import given_memory
from numeric.children import Child, ChildCrashed, ChildTimeout

# MiB that a check may take, and seconds after its limit at which a child is killed.
MEMORY = 1024
_GRACE = 2.0
# Seconds that a child may take to start.
_START = 120.0
_ROOT = str(Path(__file__).resolve().parents[3])
_CODE = (
    f"import sys; sys.path.insert(0, {_ROOT!r}); "
    "from matchprob.api.proofs.check import check_proofs; check_proofs({memory})"
)


class Checker:
    """A child process that checks proofs, one at a time.

    Parameters
    ----------
    memory : int, optional
        MiB that a check may take; a larger limit that is given (``--memory``) replaces it.
    """

    def __init__(self, memory: int = MEMORY) -> None:
        self.memory = self._held = memory
        self._child: Child | None = None
        self._lock = threading.Lock()

    def check(self, text: str, *, seed: int = 1, timeout: float = 60.0) -> Checked:
        """Check a proof; see `matchprob.api.proofs.check_proof`.

        Raises
        ------
        InputError
            If the text is not a proof of a known format.
        Unfinished
            If no process can be started.
        """
        if len(text) > PROOF_LIMITS.characters:
            # It is not read at all: sending it took seconds.
            from matchprob.api.proofs.check import check_proof

            return check_proof(text, seed=seed, timeout=timeout)
        with self._lock:
            child = self._running()
            try:
                # Where no network was imported none was registered from outside either.
                known = sys.modules.get("algebra.networks.kinds")
                kinds = {
                    kind: cls.__module__
                    for kind, cls in (known.KINDS.registered.items() if known else ())
                    if f'"{kind}"' in text
                }
                child.post(
                    {"text": text, "seed": seed, "timeout": timeout, "kinds": kinds}
                    | {"path": sys.path}
                )
                answer = child.receive(timeout + _GRACE)
            except ChildTimeout:
                self._end()
                text = f"the check was stopped after its limit of {timeout:g} s"
                return self._unfinished(text, timeout)
            except ChildCrashed as error:
                self._end()
                return self._unfinished(f"{error}, as it does when memory runs out", timeout)
            except BaseException:
                self._end()
                raise
        if "error" in answer:
            if answer["error"] == "input":
                raise InputError(answer["text"])
            if answer["error"] == "memory":
                self.close()
                return self._unfinished("the check ran out of memory", timeout)
            raise RuntimeError(answer["text"])
        return Checked(answer["verdict"], tuple(Check(*check) for check in answer["checks"]))

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._end()

    def _unfinished(self, text: str, timeout: float) -> Checked:
        return unfinished("", f"{text} (limits: {timeout:g} s, {self._held} MiB)")

    def _running(self) -> Child:
        memory = max(self.memory, (given_memory() or 0) >> 20)
        if (
            self._child is not None
            and self._child.owner == os.getpid()
            and self._child.alive
            and self._held == memory
        ):
            return self._child
        self._end()
        self._held = memory
        command = [sys.executable, "-c", _CODE.format(memory=memory)]
        try:
            child = self._child = Child("the process of the check", command, os.environ)
            child.receive(_START)
        except (ChildCrashed, ChildTimeout) as error:
            self._end()
            raise Unfinished(f"no process can be started for the check: {error}") from None
        except BaseException:
            self._end()
            raise
        return child

    def _end(self) -> None:
        """Kill the child and its children."""
        child, self._child = self._child, None
        if child is not None:
            child.close()


CHECKER = Checker()
atexit.register(CHECKER.close)
