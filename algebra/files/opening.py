"""Files that are read: the one place in which they are opened.

A file that is named *inside* another one (a matrix of a problem file, the model of a certificate,
the tensors of a model) must be a regular file: no device, pipe or socket is opened for it, and so
none can keep the reader waiting or change when it is opened.  A file that the user names may also
be a pipe or a terminal; it is waited for within the time limit of the call, and a request to stop
ends the wait.  Devices without end are refused in both cases.

Limits bind on the bytes that are read, not on the length that the system reports: that of a pipe or
of a file in ``/proc`` is 0.
"""

from __future__ import annotations

import errno
import os
import select
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from algebra.errors import InputError
from algebra.time_limits import check_time

Result = TypeVar("Result")


class TooManyBytes(InputError):
    """A file that is longer than the limit."""


@dataclass(frozen=True)
class FileLimits:
    """The longest files that are read, in bytes.

    Proof files have limits of their own (`algebra.checker.reading.PROOF_LIMITS`), and so has
    what models are expanded to (`algebra.plugins.models.onnx.bounds`).

    Attributes
    ----------
    array : int
        An array or an archive of arrays, unpacked.
    model : int
        A model, and each file of its tensors: what is larger exceeds the memory of one machine.
    samples : int
        Inputs that the user names for a model (``--data``).
    other : int
        Files without a limit of their own: a store of an atlas, a table of the documentation.
    streamed : int
        What has no length, such as a pipe.
    table : int
        A table or a workbook, unpacked.
    problem : int
        A problem file, in characters.
    instance : int
        A file of weights, samples and labels, in characters.
    """

    array: int = 1 << 27
    model: int = 1 << 30
    samples: int = 1 << 30
    other: int = 1 << 28
    streamed: int = 1 << 28
    table: int = 1 << 26
    problem: int = 1 << 24
    instance: int = 10_000_000


FILE_LIMITS = FileLimits()
_PART = 1 << 22
# Seconds between two looks at the time limit while nothing arrives.
_LOOK = 0.05
_KINDS = {
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def read_bytes(
    path: str | Path,
    most: int = FILE_LIMITS.other,
    *,
    is_named_inside: bool = False,
    start: int = 0,
    length: int | None = None,
) -> bytes:
    """The content of a file.

    Parameters
    ----------
    path : str or Path
    most : int, optional
        A longer file is refused.
    is_named_inside : bool, optional
        Whether the name comes from another file: then only a regular file is opened.
    start, length : int, optional
        The part that is read; the whole file by default.  A file that ends before is refused.

    Raises
    ------
    InputError
        If it ends too early, or is no file; `TooManyBytes` if it is too long.
    OSError, ValueError
        If it is missing or cannot be read; if its name is none.
    """
    # Opening a device may do something; so its kind is known before.
    _check_kind(os.stat(path).st_mode, is_named_inside)
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        status = os.fstat(handle)
        is_regular = _check_kind(status.st_mode, is_named_inside, handle)
        if is_regular and start:
            os.lseek(handle, start, os.SEEK_SET)
        if length is None:
            most = most if is_regular else min(most, FILE_LIMITS.streamed)
            if is_regular and status.st_size - start > most:
                raise TooManyBytes(_too_long(most))
        parts, left = list[bytes](), most + 1 if length is None else length
        while left > 0 and (part := _part(handle, min(left, _PART), is_regular)):
            parts.append(part)
            left -= len(part)
    finally:
        os.close(handle)
    if length is None and left <= 0:
        raise TooManyBytes(_too_long(most))
    if length is not None and left > 0:
        raise InputError(f"it ends {left:,} bytes before what is said to stand in it")
    return b"".join(parts)


def read_parts(path: str | Path) -> Iterator[bytes]:
    """The content of a regular file that another file names, in parts: its length has no limit.

    Raises
    ------
    InputError, OSError, ValueError
        As of `read_bytes`.
    """
    _check_kind(os.stat(path).st_mode, True)
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        _check_kind(os.fstat(handle).st_mode, True, handle)
        while part := _part(handle, _PART, True):
            check_time()
            yield part
    finally:
        os.close(handle)


_MODULE = (
    "a file of PyTorch or its tensors, which holds no operations: export the module to ONNX, or "
    "read it in Python by from_torch(module, x)"
)
# What files are by their endings, and who reads them.
_BY_ENDING = {
    ".onnx": "an ONNX model, which inspect, certify, capacity and dimension read; for others a "
    'problem file of kind "program" names it',
    ".toml": "a problem file, which certify reads",
    ".json": "a proof file or a result, which verify reads",
    ".sqlite": "a store, which study reads",
    ".pt": _MODULE,
    ".pth": _MODULE,
    ".ckpt": _MODULE,
    ".safetensors": _MODULE,
}


def read_text(
    path: str | Path, most: int = FILE_LIMITS.other, *, is_named_inside: bool = False
) -> str:
    """The content of a text file in UTF-8; a byte order mark is left out, lines end in a newline.

    Parameters
    ----------
    path, most, is_named_inside
        As for `read_bytes`.

    Raises
    ------
    InputError, OSError, ValueError
    """
    text = read_bytes(path, most, is_named_inside=is_named_inside).decode("utf-8-sig")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def check_ending(path: str | Path, wanted: str, ending: str) -> None:
    """Refuse a file of another kind by its ending, before its content is read as what it is not.

    Parameters
    ----------
    path : str or Path
    wanted : str
        What is expected, in words.
    ending : str
        The ending of such files; other endings than those of known kinds are accepted, too.

    Raises
    ------
    InputError
        If the file is there; the message does not name it.
    """
    path = Path(path)
    kind = _BY_ENDING.get(path.suffix.lower(), "")
    if kind and path.suffix.lower() != ending and path.is_file():
        raise InputError(f"{wanted} is expected, and this is {kind}")


def check_regular(path: str | Path) -> None:
    """Refuse what is there and no regular file, before a library opens it.

    Raises
    ------
    InputError
    OSError
        If it cannot be looked at; a missing file is no error.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    _check_kind(mode, True)


def within_time(call: Callable[..., Result], *arguments: Any) -> Result:
    """The result of a library's call that cannot look at the time limit.

    It runs in a thread, which is left to itself when time is up: only for work that ends soon, such
    as parsing a text of limited length.

    Raises
    ------
    OutOfTime, Interrupted
        And whatever the call raises.
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call(*arguments))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        check_time()
        thread.join(_LOOK)
    if errors:
        raise errors[0]
    return results[0]


def _check_kind(mode: int, is_named_inside: bool, handle: int | None = None) -> bool:
    """Whether it is a regular file; what may not be read is refused."""
    if stat.S_ISREG(mode):
        return True
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    kind = _KINDS.get(stat.S_IFMT(mode), "no regular file")
    # Whether a device is a terminal is known once it is open.
    waits = stat.S_ISFIFO(mode) or (stat.S_ISCHR(mode) and (handle is None or os.isatty(handle)))
    if is_named_inside or not waits:
        raise InputError(f"it is {kind}, no regular file: name a file")
    return False


def _part(handle: int, size: int, is_regular: bool) -> bytes:
    """Some bytes; none at the end of the file."""
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    while True:
        check_time()
        if not is_regular and not waiting.poll(1000 * _LOOK):
            continue
        try:
            return os.read(handle, size)
        except BlockingIOError:
            continue


def _too_long(most: int) -> str:
    return f"it is longer than {_size(most)}, the limit"


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count:,} bytes"


def path_text(path: Path) -> str:
    """A path in a message: complete, on one line."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(path))
