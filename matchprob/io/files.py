"""Writing results: never half a file, never over a folder, with errors in one line."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from algebra.errors import InputError


def check_target(path: Path) -> None:
    """Refuse, before any work is done, a place that cannot be written."""
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.absolute().parent}")
    if not os.access(path.absolute().parent, os.W_OK):
        raise InputError(f"{path}: the folder cannot be written to")


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    check_target(path)
    handle, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
