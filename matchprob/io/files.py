"""Writing results atomically, never over an input, with one-line errors.

A regular file is replaced as a whole: the new one is written to a temporary file in the same folder
and renamed, so that a reader sees the old or the new one and a full disk leaves the old.  Its mode
(and owner, if permitted) is kept; a symbolic link stays one, and its target is replaced.  A device,
a pipe and special files such as ``/dev/stdout`` cannot be replaced: they are written to.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from algebra.errors import InputError
from algebra.files.opening import FILE_LIMITS, read_text, within_time

# Paths below these are open files and devices, which must never be replaced.
_HANDLES = ("/dev/", "/proc/")
_NAME_ENDS = (".csv", ".npy")
# Errors of a full disk, an exceeded quota or size limit, which are neither bugs nor bad input.
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
PICTURES = (".png", ".svg", ".pdf")


def inputs_of(problem: Path) -> list[Path]:
    """A file that is read and, if it is a problem file, the matrix files that it names.

    Names of missing files are ignored here; reading the problem reports them.
    """
    found = [problem]
    try:
        # A pipe can be read only once, so only regular files are opened here.
        text = read_text(problem, FILE_LIMITS.problem, is_named_inside=True)
        data = within_time(tomllib.loads, text)
    except (OSError, ValueError, RecursionError):
        return found

    def walk(value: Any) -> None:
        if isinstance(value, str):
            if value.endswith(_NAME_ENDS):
                found.append(problem.parent / value)
        elif isinstance(value, dict):
            for part in value.values():
                walk(part)
        elif isinstance(value, list):
            for part in value:
                walk(part)

    walk(data)
    return found


def check_outputs(
    inputs: Iterable[Path | None],
    *targets: Path | None,
    plot: Path | None = None,
    store: Path | None = None,
) -> None:
    """Reject, before any work is done, places that cannot or must not be written.

    Parameters
    ----------
    inputs : iterable of Path or None
        Files that are read: never replaced, nor the matrix files that a problem file names.
    *targets : Path or None
        Files of results; all must be different.
    plot, store : Path, optional
        A picture's file, whose suffix sets its format; a store's, which must be a regular file.

    Raises
    ------
    InputError
    """
    read = [one for path in inputs if path is not None for one in inputs_of(path)]
    seen: dict[Path, Path] = {}
    for target in (*targets, plot, store):
        if target is None:
            continue
        check_target(target, read)
        if not _is_regular(target):
            if target is store:
                raise InputError(f"{target} is no regular file: a store must be one")
            continue
        if seen.setdefault(_real(target), target) is not target:
            raise InputError(f"{target} is named for two results: give each a file of its own")
    if plot is not None:
        check_picture(plot)


def check_picture(path: Path) -> None:
    """Reject a picture whose suffix does not give a format."""
    if path.suffix not in PICTURES:
        raise InputError(f"{path}: a picture ends in " + ", ".join(PICTURES))


def check_target(path: Path, inputs: Sequence[Path] = ()) -> None:
    """The same check for one place: `inputs` are files that are read."""
    try:
        status = path.stat()
    except FileNotFoundError:
        status = None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{str(path)!r} cannot be a file name: {error}") from None
    if status is not None and stat.S_ISDIR(status.st_mode):
        raise InputError(f"{path} is a folder: name a file")
    if status is not None:
        for one in inputs:
            if _is_same(status, one):
                raise InputError(
                    f"{path} is an input ({one}) and would be replaced: name another file"
                )
        if stat.S_ISSOCK(status.st_mode):
            raise InputError(f"{path} is a socket: name a file")
        if not os.access(path, os.W_OK):
            raise InputError(f"{path} cannot be written to: its mode forbids it")
    if not _is_regular(path):
        return
    real = _real(path)
    if not real.parent.is_dir():
        raise InputError(f"{path}: there is no folder {real.parent}")
    if not os.access(real.parent, os.W_OK | os.X_OK):
        raise InputError(f"{path}: the folder {real.parent} cannot be written to")
    limit = _longest_name(real.parent)
    if len(os.fsencode(real.name)) > limit:
        raise InputError(f"{path}: the name is longer than {limit} bytes")


def write_text(path: Path, text: str) -> None:
    """Write a file atomically."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file atomically; write directly to a device or a pipe.

    Raises
    ------
    InputError
        If the place cannot be written to.
    OSError
        If writing fails: no space is left, the device is gone.
    """
    check_target(path)
    try:
        if _is_regular(path):
            _replace(_real(path), data)
        else:
            with path.open("wb", buffering=0) as stream:
                view = memoryview(data)
                while view:
                    view = view[stream.write(view) :]
    except OSError as error:
        # Errors name the file as the user did, not the temporary one.
        raise OSError(error.errno, error.strerror, str(path)) from None


def _replace(real: Path, data: bytes) -> None:
    """Write a new file with the mode of the old one, and rename it."""
    try:
        old: os.stat_result | None = real.stat()
    except FileNotFoundError:
        old = None
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=".matchprob.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            # Some file systems allocate space only now: a full disk must show before the rename.
            os.fsync(file.fileno())
        if old is None:
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(name, 0o666 & ~umask)
        else:
            with suppress(OSError):
                os.chown(name, old.st_uid, old.st_gid)
            os.chmod(name, stat.S_IMODE(old.st_mode))
        os.replace(name, real)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _is_same(status: os.stat_result, other: Path) -> bool:
    try:
        return os.path.samestat(status, other.stat())
    except (OSError, ValueError):
        return False


def _is_regular(path: Path) -> bool:
    """Whether the place is, or will be, a regular file that may be replaced."""
    if str(path.absolute()).startswith(_HANDLES) and path.exists():
        return False
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True


def _real(path: Path) -> Path:
    """The file itself, with symbolic links followed, even to a missing file."""
    try:
        return Path(os.path.realpath(path))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def _longest_name(folder: Path) -> int:
    try:
        return os.pathconf(folder, "PC_NAME_MAX")
    except (OSError, ValueError):
        return 255
