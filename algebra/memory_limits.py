"""One memory limit for a whole call, compared with estimates before the work.

A verb sets a limit once (`limited_memory`); functions that make large tables ask for
`memory_limit` and make them in parts, or refuse them in words.  The default is half of what is free
when the call begins.  The limit belongs to the thread and the call, as a time limit does
(`algebra.time_limits`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from algebra.errors import InputError, shown

_LIMIT: ContextVar[int | None] = ContextVar("memory", default=None)
# Limits of the container with the amount in use.
_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
    ),
)
_UNKNOWN = 1 << 62
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kKMGT]?)(i?)B?")


def memory_size(value: str | int, name: str = "memory") -> int:
    """Bytes, from a number or from text such as 4GiB, 500MB or 2G.

    Parameters
    ----------
    value : str or int
    name : str, optional
        Its name in messages.

    Raises
    ------
    InputError

    Examples
    --------
    >>> memory_size("4GiB"), memory_size("1.5 kB")
    (4294967296, 1500)
    """
    found = None if isinstance(value, bool) else _SIZE.fullmatch(str(value).strip())
    if found is None:
        raise InputError(f"`{name}` ({shown(value)}) must be a size such as 4GiB or 500MB")
    number, prefix, binary = found.groups()
    whole, _, part = number.partition(".")
    unit = (1024 if binary else 1000) ** " KMGT".index(prefix.upper() or " ")
    size = int(whole + part) * unit // 10 ** len(part)
    if size <= 0:
        raise InputError(f"`{name}` ({shown(value)}) must be greater than 0")
    return size


@contextmanager
def limited_memory(limit: int | None) -> Iterator[None]:
    """Limit the memory of the work inside; an outer limit stays in force.

    Parameters
    ----------
    limit : int or None
        Bytes; None for half of what is free now, if there is no outer limit.
    """
    outer = _LIMIT.get()
    if limit is None:
        limit = free_memory() // 2 if outer is None else outer
    token = _LIMIT.set(limit if outer is None else min(limit, outer))
    try:
        yield
    finally:
        _LIMIT.reset(token)


def memory_limit() -> int:
    """Bytes that the work may take: those of `limited_memory`, or half of what is free."""
    given = _LIMIT.get()
    return free_memory() // 2 if given is None else given


def free_memory() -> int:
    """Bytes that this process can still take; an unknown number counts as large."""
    return max(0, min([_UNKNOWN, *_free_parts()]))


def _number_in(name: str) -> int | None:
    try:
        return int(Path(name).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _free_parts() -> Iterator[int]:
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        found = re.search(r"^MemAvailable:\s*([0-9]+) kB", text, re.MULTILINE)
        if found:
            yield int(found[1]) * 1024
    except OSError:
        with suppress(OSError, ValueError, AttributeError):
            yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for most, used in _GROUPS:
        limit, taken = _number_in(most), _number_in(used)
        if limit is not None and taken is not None:
            yield limit - taken
    try:
        import resource
    except ImportError:  # not on Windows
        return
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        try:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        except (OSError, ValueError):
            pages = 0
        yield soft - pages * os.sysconf("SC_PAGE_SIZE")


def in_units(size: float) -> str:
    """
    >>> in_units(3.2e11), in_units(5e6)
    ('320 GB', '5 MB')
    """
    for unit, one in (("TB", 1e12), ("GB", 1e9)):
        if size >= one:
            return f"{size / one:.3g} {unit}"
    return f"{size / 1e6:.3g} MB"
