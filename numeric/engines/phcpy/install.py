"""The Python with phcpy, the start of a worker, and errors if phcpy is missing."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from algebra.errors import InputError
from algebra.workers import Child, ChildCrashed, ChildError, JsonLines

ENVIRONMENT = "MATCHPROB_PHCPY_PYTHON"
INSTALL = "apt-get install python3-phcpy phcpack"

_IMPORT_TIMEOUT = 60.0
_WORKER = Path(__file__).with_name("worker.py")
# Variables of the running Python that must not affect the worker's.
_HIDDEN = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP")


@dataclass(frozen=True)
class PhcpyInstallation:
    """A Python that can import phcpy.

    Attributes
    ----------
    interpreter : str
    version : str
        Version of phcpy, such as "1.1.2".
    phcpack : str
        Version of PHCpack.
    """

    interpreter: str
    version: str = "unknown"
    phcpack: str = "unknown"


def start_worker(interpreter: str) -> Child:
    """A worker, run with that Python; `wait_until_ready` waits until it can be used."""
    environment = {name: text for name, text in os.environ.items() if name not in _HIDDEN}
    return Child("the phcpy process", [interpreter, str(_WORKER)], environment, JsonLines())


def wait_until_ready(child: Child, interpreter: str, timeout: float) -> PhcpyInstallation:
    """The installation that a worker reports in its first answer, when it is ready.

    Parameters
    ----------
    child : Child
    interpreter : str
        The Python that runs it.
    timeout : float
        Seconds.

    Raises
    ------
    ChildTimeout, ChildCrashed
        As for `Child.receive`; also if the interpreter cannot import phcpy.
    """
    first = child.receive(timeout)
    if first.get("ready") is not True:
        raise ChildCrashed(f"{interpreter}: {first.get('error', first)}")
    names = (str(first.get(key, "unknown")) for key in ("version", "phcpack"))
    return PhcpyInstallation(interpreter, *names)


def find_phcpy() -> PhcpyInstallation:
    """The Python that runs phcpy.

    The one named by the environment variable ``MATCHPROB_PHCPY_PYTHON`` if it is set, else the
    first of the system's interpreters, those on PATH and the running one that can import
    phcpy.  The result is cached.

    Raises
    ------
    InputError
        If there is none; the message, one line, contains the command that installs it.
    """
    return _find(os.environ.get(ENVIRONMENT, ""), os.environ.get("PATH", os.defpath))


@functools.lru_cache(maxsize=8)
def _find(chosen: str, path: str) -> PhcpyInstallation:
    if chosen:
        candidates = [shutil.which(chosen, path=path) or chosen]
    else:
        places = ["/usr/bin", "/usr/local/bin", *path.split(os.pathsep)]
        found = [shutil.which("python3", path=place) for place in places if place]
        candidates = list(dict.fromkeys([*filter(None, found), sys.executable]))
    reason = ""
    for interpreter in candidates:
        try:
            with contextlib.closing(start_worker(interpreter)) as child:
                return wait_until_ready(child, interpreter, _IMPORT_TIMEOUT)
        except ChildError as error:
            reason = str(error)
    if chosen:
        raise InputError(
            f"{ENVIRONMENT} ({chosen}) does not run phcpy ({reason}); install it with: {INSTALL}"
        )
    raise InputError(
        f"phcpy is missing: none of {', '.join(candidates)} can import it; install it with: "
        f"{INSTALL} (Debian, Ubuntu), or set {ENVIRONMENT} to a Python that has it"
    )
