"""The worker process: phcpy with two pipes, one JSON object per line.

This script is run by a Python that can import phcpy (the system's; see
`numeric.engines.phcpy.process`), so it uses only that Python's standard library and
phcpy.  The package never imports it.

Protocol.  The first line it writes reports the installation::

    {"ready": true, "version": "1.1.2", "phcpack": "PHCv2.4.86 …", "api": "verbose"}

Each line read is a request, answered by one line with the same ``id``::

    {"id": 7, "operation": "solve", "polynomials": ["x0^2-2;"], "precision": "d",
     "seed": 1, "newton": 2}
    {"id": 7, "solutions": ["t : 1.0 …"], "seconds": 0.0004, "memory": 33000}

``memory`` is the resident memory in KiB: PHCpack leaks, and the parent decides when the worker
is replaced.  If phcpy rejects a call the answer is ``{"id": 7, "error": "…"}``.  The process ends
at the end of its input.

phcpy prints texts: on import, root counts at each call, and from compiled code.  All of them
go to file descriptors 0-2 of the process.  The protocol therefore uses private duplicates of 0 and
1, and 0 and 1 are then redirected to the null device.
"""

# The standard library comes before the package's directory: a file there with the name of a
# standard module must not replace it.  Nothing may be imported before this.
from __future__ import annotations

import sys

if __name__ == "__main__":
    sys.path.pop(0)

import fcntl
import inspect
import json
import os
import resource
import select
import signal
import time
from typing import Any, Dict, List  # noqa: UP035 (read by Pythons older than ours)

Request = Dict[str, Any]  # noqa: UP006 (the same)
Texts = List[str]  # noqa: UP006 (the same)

_NEWTON = {
    "d": "double_newton_step",
    "dd": "double_double_newton_step",
    "qd": "quad_double_newton_step",
}


class Refused(Exception):
    """phcpy returned nothing: it could not read the system or does not accept it."""


class Phcpy:
    """The functions used, with one signature for both generations of phcpy.

    phcpy 1.1.2 (PHCpack 2.4.86, Debian 12) has ``verbose=`` and returns solutions;
    later ones have ``vrblvl=`` and their trackers return ``(gamma, solutions)``.
    """

    def __init__(self) -> None:
        import phcpy
        from phcpy import solver, trackers

        self.version = str(getattr(phcpy, "__version__", "unknown"))
        self._solver = solver
        self._trackers = trackers
        names = inspect.signature(solver.solve).parameters
        self.api = "verbose" if "verbose" in names else "vrblvl"
        # With verbose=False phcpy 1.1.2 returns no solutions at all, and no error.
        self._options = {"verbose": True} if self.api == "verbose" else {}
        try:
            from phcpy.phcpy2c3 import py2c_PHCpack_version_string as phcpack
            from phcpy.phcpy2c3 import py2c_set_seed as set_seed
        except ImportError:
            from phcpy.dimension import set_seed
            from phcpy.version import version_string as phcpack
        self.set_seed = set_seed
        self.phcpack = str(phcpack()).strip()

    def solve(self, request: Request) -> Texts:
        """Blackbox solver, then some Newton steps, because the solver's tolerance is loose."""
        found = self._solver.solve(
            request["polynomials"], precision=request["precision"], **self._options
        )
        request["solutions"] = _solutions(found)
        return self._refine(request)

    def _refine(self, request: Request) -> Texts:
        """Newton steps on given solutions, singular or not.

        A solution that phcpy cannot read back, or damages, is kept unchanged: overflowing
        fields are printed as stars, and coinciding path ends as the text "X".
        """
        found = list(request["solutions"])
        for _ in range(request["newton"]):
            places = [k for k, text in enumerate(found) if _readable(text)]
            if not places:
                break
            before = [found[k] for k in places]
            after = _solutions(self._newton(request["polynomials"], before, request["precision"]))
            if len(after) != len(before):
                raise Refused("phcpy lost solutions in a Newton step")
            for k, text in enumerate(after):
                if _readable(text):
                    found[places[k]] = text
        return found

    def track(self, request: Request) -> Texts:
        """Paths of ``gamma (1-t)^2 start + t^2 target``, then Newton steps."""
        trackers = self._trackers
        follow = getattr(trackers, "double_track", None) or trackers.standard_double_track
        request["solutions"] = _solutions(
            follow(
                request["target"],
                request["start"],
                request["solutions"],
                gamma=complex(*request["gamma"]),
                pwt=2,
            )
        )
        request["polynomials"] = request["target"]
        return self._refine(request)

    def _newton(self, polynomials: Texts, solutions: Texts, precision: str) -> Any:
        if hasattr(self._solver, "newton_step"):
            return self._solver.newton_step(polynomials, solutions, precision=precision)
        from phcpy import deflation

        return getattr(deflation, _NEWTON[precision])(polynomials, solutions)


def _solutions(returned: Any) -> Texts:
    if isinstance(returned, tuple):  # (gamma, solutions)
        returned = returned[-1]
    if not isinstance(returned, list):
        raise Refused("phcpy did not accept the system")
    return returned


def _readable(text: str) -> bool:
    return "the solution for t" in text and "*" not in text


def end_with_parent(lifeline: int) -> None:
    """Make this process end when the other end of the pipe `lifeline` is closed.

    A solve may take hours inside compiled code, where no Python runs.  The kernel sends
    SIGIO, whose default action is to end the process, as soon as the parent has ended.
    """
    if hasattr(os, "O_ASYNC"):
        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:  # it was closed before this call
        sys.exit(1)


def resident_memory() -> int:
    """Resident memory in KiB; its peak if the present value is not available."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * resource.getpagesize() // 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main(arguments: Texts) -> None:
    """Answer requests until the end of the input."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    if arguments:
        end_with_parent(int(arguments[0]))

    def write(answer: Request) -> None:
        answers.write(json.dumps(answer).encode("ascii") + b"\n")
        answers.flush()

    try:
        phcpy = Phcpy()
    except Exception as error:
        write({"ready": False, "error": f"{type(error).__name__}: {error}"})
        return
    write(
        {
            "ready": True,
            "version": phcpy.version,
            "phcpack": phcpy.phcpack,
            "api": phcpy.api,
        }
    )
    operations = {"solve": phcpy.solve, "track": phcpy.track}
    for line in iter(requests.readline, b""):
        request = json.loads(line.decode("ascii"))
        answer = {"id": request["id"]}
        try:
            phcpy.set_seed(request["seed"])
            start = time.perf_counter()
            answer["solutions"] = operations[request["operation"]](request)
            answer["seconds"] = time.perf_counter() - start
        except Exception as error:
            answer["error"] = f"{type(error).__name__}: {error}"
        answer["memory"] = resident_memory()
        write(answer)


if __name__ == "__main__":
    main(sys.argv[1:])
