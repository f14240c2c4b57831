"""A proof file checked in this process: which format it has, and its check.

`matchprob.api.proofs.checker` does this in a process of its own, with limits of
memory and time.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from algebra.checker.checks import FAILED, Check, Checked, CheckFailed, unfinished
from algebra.checker.maker import without_maker
from algebra.checker.reading import network_size_within, read_json
from algebra.errors import InputError, Unfinished, one_line
from algebra.time_limits import OutOfTime, within
from matchprob.api.proofs.formats import format_of

if TYPE_CHECKING:
    from algebra.networks.base import Support
    from algebra.problems.allocation import Allocation
    from algebra.systems.root_count import RootCount


def check_proof(text: str, *, seed: int = 1, timeout: float = 60.0) -> Checked:
    """Check the text of a proof: a certificate, decision, design, recording or dimension.

    Parameters
    ----------
    text : str
        JSON.
    seed : int, optional
        New points and primes follow from it.
    timeout : float, optional
        Seconds; checked in loops.

    Returns
    -------
    Checked
        If a limit was reached, its last check is "unfinished" and names the limit.

    Raises
    ------
    InputError
        If the text is not a proof of a known format.
    """
    verdict = ""
    try:
        with within(timeout):
            data = read_json(text)
            if not isinstance(data, Mapping):
                raise InputError("this is not a proof: a proof is a table with a `format`")
            verdict = one_line(data.get("verdict", data.get("goal", "")))
            problem = data.get("problem")
            network = problem.get("network") if isinstance(problem, Mapping) else None
            network_size_within(network, len(text))
            network_size_within(data.get("network"), len(text), "network")
            try:
                data, maker = without_maker(data)
            except CheckFailed as failure:
                return Checked(verdict, (Check(failure.place, FAILED, str(failure)),))
            found = _check(data, seed, timeout)
            return replace(found, checks=(*found.checks, *maker))
    except (OutOfTime, Unfinished) as limit:
        return unfinished(verdict, str(limit))


def _check(data: Mapping[str, object], seed: int, timeout: float) -> Checked:
    """The check of a format; its modules are loaded when a file has it."""

    def counter(allocation: Allocation, support: Support, own_seed: int) -> RootCount:
        try:
            from numeric.tracking.root_count import monodromy_root_count
        except ModuleNotFoundError as error:
            from algebra.systems.root_count import RootCountError

            text = f"counting numerically needs {error.name}, which is not installed"
            raise RootCountError(text) from None

        return monodromy_root_count(allocation, support, own_seed, timeout=timeout)

    own = format_of(data.get("format"))
    return own.verify(data, seed=seed, timeout=timeout, fallback=counter)


def limit_memory(memory: int) -> None:
    """Limit the memory of the process to its present size and this number of MiB."""
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
