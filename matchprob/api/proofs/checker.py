"""The process in which proofs are checked: its memory and its time are limited.

A proof file may be made to waste the time of its reader, and much of a check runs in compiled code
(FLINT, msolve, SymPy) that does not check time limits. So the check runs in a child process: its
memory is limited to a given amount above that at its start (``RLIMIT_DATA``, if the system has it),
and it is killed, together with msolve, when its time is over. A child is kept for the next proof,
since it takes a second to start; one that reached a limit is not used again.

Kinds of networks that were registered from outside are known to the child by the modules that
registered them, which it imports.

The limits do not depend on the file. Reading has lower limits of its own
(`algebra.checker.reading`), which are reported at once.
"""

from __future__ import annotations

import atexit
import errno
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module

from algebra.checker.checks import Checked, unfinished
from algebra.checker.reading import PROOF_LIMITS
from algebra.errors import InputError, Unfinished
from algebra.memory_limits import given_memory
from algebra.workers import ChildCrashed, ChildError, ChildTimeout, Worker
from matchprob.api.proofs.check import check_proof, limit_memory

# MiB that a check may take, and seconds after its limit at which a child is killed.
MEMORY = 1024
_GRACE = 2.0
# Seconds that a child may take to start.
_START = 120.0
_NAME = "the process of the check"


class Checker:
    """A child process that checks proofs, one at a time.

    Parameters
    ----------
    memory : int, optional
        MiB that a check may take; a larger limit that is given (``--memory``) replaces it.
    """

    def __init__(self, memory: int = MEMORY) -> None:
        self.memory = memory
        self._lock = threading.Lock()
        self._set(memory)

    def _set(self, memory: int) -> None:
        self._held = memory
        self._worker = Worker(_NAME, prepare_checks, memory)

    def check(self, text: str, *, seed: int = 1, timeout: float = 60.0) -> Checked:
        """Check a proof; see `matchprob.api.proofs.check.check_proof`.

        Raises
        ------
        InputError
            If the text is not a proof of a known format.
        Unfinished
            If no process can be started.
        """
        if len(text) > PROOF_LIMITS.characters:
            # It is not read at all: sending it took seconds.
            return check_proof(text, seed=seed, timeout=timeout)
        # Where no network was imported none was registered from outside either.
        known = sys.modules.get("algebra.networks.kinds")
        kinds = {
            kind: cls.__module__
            for kind, cls in (known.KINDS.registered.items() if known else ())
            if f'"{kind}"' in text
        }
        with self._lock:
            self._start()
            given = text, seed, timeout, kinds, sys.path
            try:
                return self._worker.call(check_apart, *given, seconds=timeout + _GRACE)
            except ChildTimeout:
                how = f"the check was stopped after its limit of {timeout:g} s"
            except ChildCrashed as error:
                how = f"{error}, as it does when memory runs out"
            except MemoryError:
                how = "the check ran out of memory"
            except ChildError as error:
                # Libraries whose memory runs out raise what they have: a ValueError of the
                # hash functions, a SystemError of C code. What was not recomputed is unfinished.
                self._worker.close()
                how = str(error)
            return unfinished("", f"{how} (limits: {timeout:g} s, {self._held} MiB)")

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._worker.close()

    def _start(self) -> None:
        memory = max(self.memory, (given_memory() or 0) >> 20)
        if memory != self._held:
            self._worker.close()
            self._set(memory)
        try:
            self._worker.start(_START)
        except ChildError as error:
            raise Unfinished(f"no process can be started for the check: {error}") from None


# -- the process of the check ----------------------------------------------------------


def prepare_checks(memory: int) -> None:
    """Prepare this process for checks: it is not interrupted, and has a limit of memory in MiB."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_memory(memory)


def check_apart(
    text: str, seed: int, timeout: float, kinds: Mapping[str, str], path: Sequence[str]
) -> Checked:
    """`check_proof` in a process that was prepared, with kinds that another one knows.

    Raises
    ------
    InputError, MemoryError
    """
    try:
        _import_kinds(kinds, path)
        return check_proof(text, seed=seed, timeout=timeout)
    except OSError as error:
        # A module that is loaded for this format may not fit into the memory either.
        if error.errno == errno.ENOMEM:
            raise MemoryError from None
        raise


def _import_kinds(kinds: Mapping[str, str], path: Sequence[str]) -> None:
    """Import the modules that registered kinds of networks in the parent process."""
    if not kinds:
        return
    from algebra.networks.kinds import KINDS

    for kind, module in kinds.items():
        if kind in KINDS:
            continue
        sys.path.extend(place for place in path if place not in sys.path)
        with suppress(Exception):
            import_module(module)
        if kind not in KINDS:
            raise InputError(
                f"the network kind {kind!r} was registered by the module {module}, which the "
                "process of the check cannot import: define the kind in a module on Python's path, "
                "or call algebra.families.verify.verify"
            )


CHECKER = Checker()
atexit.register(CHECKER.close)
