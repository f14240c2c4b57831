"""Running the msolve program: its path, its limits, its exit status."""

from __future__ import annotations

import math
import os
import re
import shutil
import site
import sysconfig
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from algebra.children import run_program
from algebra.errors import InputError
from algebra.installing import MSOLVE
from algebra.work import end_of_part, is_by_work, now, spend

# msolve is started by a shell: limits are set without forking Python, and a CPU limit ends msolve
# even if this process is killed first.
_LIMITED = 'ulimit -v "$1" && ulimit -t "$2" && shift 2 && exec "$@"'
_SIGXCPU = 24
# Its report: sizes of matrices, number of primes so far, degree of the ideal.
_SIZES = re.compile(r"(\d+) x (\d+) +[\d.]+%")
_PRIMES = re.compile(r"\{(\d+)\}")
_DEGREE = re.compile(r"degree of ideal +(\d+)")
# Work of a process besides its matrices, and entries of these that take a second, as measured.
_START = 1 / 100
_PER_SECOND = 40_000_000
# Number of processes that are tried if each is ended by a signal.
_MOST_DEATHS = 3


class MsolveError(RuntimeError):
    """msolve gave no answer; nothing follows about the system."""


class MsolveTimeout(MsolveError):
    """msolve was stopped at its time limit."""


class MsolveFailed(MsolveError):
    """msolve crashed, ran out of memory, or gave an answer that does not hold."""


class MsolveDied(MsolveFailed):
    """msolve was ended by a signal each time it was tried; a further attempt may succeed."""


class MsolveMissing(InputError):
    """msolve is not installed; the message names the command that installs it."""


class Deadline:
    """A time limit shared by several runs.

    Parameters
    ----------
    seconds : float
    """

    def __init__(self, seconds: float) -> None:
        if not seconds > 0:
            raise InputError(f"`timeout` ({seconds}) must be a positive number of seconds")
        self.seconds = seconds
        self.is_by_work = is_by_work()
        self._end = end_of_part(seconds) if self.is_by_work else now() + seconds

    def remaining(self) -> float:
        """Seconds left.

        Raises
        ------
        MsolveTimeout
            If none are left.
        """
        left = self._end - now()
        if left <= 0:
            raise self.timeout()
        return left

    def timeout(self) -> MsolveTimeout:
        """The exception to raise."""
        return MsolveTimeout(f"msolve did not finish within its limit of {self.seconds:g} s")


@cache
def find_msolve() -> str:
    """Path of the program: in this interpreter's packages, otherwise on PATH.

    Raises
    ------
    MsolveMissing
        If it is not found; the message names the command that installs it.
    """
    folders = [sysconfig.get_path("platlib"), sysconfig.get_path("purelib")]
    folders += site.getsitepackages()
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    for folder in folders:
        candidate = Path(folder, "sage_wheels", "bin", "msolve")
        if os.access(candidate, os.X_OK):
            return str(candidate)
    found = shutil.which("msolve")
    if found is None:
        raise MsolveMissing(f"msolve is not installed; install it with `{MSOLVE}`")
    return found


def version() -> str:
    """Version of msolve, such as "0.10.1"."""
    done = run_program([find_msolve(), "-V"], 30)
    match = re.search(r"\d+(\.\d+)+", done.output.decode(errors="replace") + done.errors)
    if done.status != 0 or match is None:
        raise MsolveFailed(f"`msolve -V` failed: {_last_line(done.errors) or done.output!r}")
    return match.group()


def run_msolve(text: str, options: Sequence[str], deadline: Deadline, memory: int) -> str:
    """Run msolve on an input file and return what it writes.

    Parameters
    ----------
    text : str
        The input file.
    options : sequence of str
    deadline : Deadline
    memory : int
        MiB of address space.

    Raises
    ------
    MsolveTimeout, MsolveFailed
    MsolveDied
        If it was ended by a signal, also when repeated.
    OutOfTime
        If the time limit of the whole call is over.
    """
    if memory < 64:
        raise InputError(f"`memory` ({memory}) must be at least 64 MiB")
    for _ in range(_MOST_DEATHS - 1):
        try:
            return _run(text, options, deadline, memory)
        except MsolveDied:
            # The cause may be temporary, such as a lack of memory: try again.
            continue
    return _run(text, options, deadline, memory)


def _run(text: str, options: Sequence[str], deadline: Deadline, memory: int) -> str:
    """One process; see `run_msolve`."""
    program = find_msolve()
    with tempfile.TemporaryDirectory(prefix="matchprob-msolve-") as folder:
        source, target = Path(folder, "in.ms"), Path(folder, "out.ms")
        source.write_text(text, encoding="ascii")
        seconds = deadline.remaining()
        command = [program, "-t", "1", "-f", str(source), "-o", str(target), *options]
        limits = [str(memory * 1024), str(math.ceil(seconds) + 1)]
        watch = None
        if deadline.is_by_work:
            # It reports the sizes of its matrices; only the time of the whole call ends it.
            command, limits[1], left = [*command, "-v", "2"], "unlimited", seconds
            seconds, watch = math.inf, lambda log: work_of(log) > left
        try:
            done = run_program(
                ["/bin/sh", "-c", _LIMITED, "msolve", *limits, *command], seconds, watch=watch
            )
        except TimeoutError:
            if watch is not None:
                spend(left)
            raise deadline.timeout() from None
        if watch is not None:
            work = work_of(done.errors)
            spend(min(work, left))
            if work > left:
                # It ended before that was seen: the answer must not depend on who was faster.
                raise deadline.timeout()
        if done.status == -_SIGXCPU:
            raise deadline.timeout()
        try:
            answer = target.read_text(encoding="ascii") if target.exists() else ""
        except UnicodeDecodeError as error:
            raise MsolveFailed(
                f"msolve's answer is damaged: byte {error.object[error.start]:#04x} at position "
                f"{error.start} is not ASCII"
            ) from None
    if done.status != 0 or not answer.strip():
        code = done.status
        end = f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"
        kind = MsolveDied if code < 0 else MsolveFailed
        raise kind(
            f"msolve {end} without an answer: {_last_line(done.errors) or 'no message'} "
            f"(its memory limit was {memory} MiB)"
        )
    return answer


def work_of(log: str) -> float:
    """The work that msolve's report shows, in seconds of a quiet machine.

    Its matrices' sizes depend on the input only.  Over Q the basis is repeated modulo further
    primes, which takes an eighth of the first time each, as measured.

    Examples
    --------
    >>> work_of("  5    1724    2000    5246 x 4048        6.14%      158 new    1566 zero")
    0.54...
    """
    sizes = sum(int(rows) * int(columns) for rows, columns in _SIZES.findall(log))
    primes, degree = _PRIMES.findall(log), _DEGREE.findall(log)
    repeated = int(primes[-1]) if primes else 0
    solved = int(degree[-1]) ** 3 / _PER_SECOND if degree else 0
    return _START + (sizes / _PER_SECOND) * (1 + repeated / 8) + solved * (1 + repeated)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
