"""Where phcpy is, and what to do where it is not."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import sys

from algebra.errors import InputError
from numeric.phcpy.channel import Channel, PhcpyError, PhcpyInstallation

ENVIRONMENT = "MATCHPROB_PHCPY_PYTHON"
INSTALL = "apt-get install python3-phcpy phcpack"

_IMPORT_TIMEOUT = 60.0


def find_phcpy() -> PhcpyInstallation:
    """The Python that phcpy is run with.

    That of the environment variable ``MATCHPROB_PHCPY_PYTHON`` where it is set, else the
    first of the system's interpreters, those on PATH and the running one that can import
    phcpy.  What is found is remembered.

    Raises
    ------
    InputError
        Where there is none; the message, one line, holds the command that installs it.
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
            channel = Channel(interpreter)
            with contextlib.closing(channel):
                return channel.greeting(_IMPORT_TIMEOUT)
        except PhcpyError as error:
            reason = str(error)
    if chosen:
        raise InputError(
            f"{ENVIRONMENT} ({chosen}) does not run phcpy ({reason}); install it with: {INSTALL}"
        )
    raise InputError(
        f"phcpy is missing: none of {', '.join(candidates)} can import it; install it with: "
        f"{INSTALL} (Debian, Ubuntu), or set {ENVIRONMENT} to a Python that has it"
    )
