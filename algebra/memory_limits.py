"""One memory limit for a whole call, compared with estimates before the work.

A verb sets a limit once (`limited_memory`); functions that make large tables ask for
`memory_limit` and make them in parts, or refuse them in words.  The default is half of what is free
when the call begins.  A limit that is given is that of the whole call: when its input is read, what
the process holds by then is subtracted (`beside_held`).  The limit belongs to the thread and the
call, as a time limit does (`algebra.time_limits`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path

from algebra.errors import InputError, Unfinished, shown


@dataclass(frozen=True)
class _Limit:
    """A limit in bytes.

    Attributes
    ----------
    size : int
    base : int or None
        What the process held that does not count; None for the default limit, of what is free.
    taken : int
        What the process holds that counts.
    """

    size: int
    base: int | None = None
    taken: int = 0

    @property
    def left(self) -> int:
        return max(self.size - self.taken, 0)


class AboveLimit(Unfinished):
    """Work that takes more memory than the limit leaves, in words; so many bytes are `enough`."""

    def __init__(self, text: str, enough: int) -> None:
        self.text, self.enough = text, enough
        super().__init__(f"{text}: raise `memory` to at least {smallest_limit(enough)}")


_LIMIT: ContextVar[_Limit | None] = ContextVar("memory", default=None)
# Limits of the container with the amount in use.
_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
    ),
)
_UNKNOWN = 1 << 62
# Bytes that are less than any memory limit: without one free memory is read, which takes 0.1 ms.
NEGLIGIBLE = 1 << 16
# What code takes that is loaded later, and small objects.
_LATER = 16_000_000
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
def limited_memory(limit: int | None, whole: bool = False) -> Iterator[None]:
    """Limit the memory of the work inside; an outer limit stays in force.

    Parameters
    ----------
    limit : int or None
        Bytes; None for half of what is free now, if there is no outer limit.
    whole : bool, optional
        Whether the limit is that of the process, which holds libraries already.
    """
    outer = _LIMIT.get()
    if limit is None:
        found = _Limit(free_memory() // 2) if outer is None else outer
    else:
        held = held_memory()
        found = _Limit(limit, 0, held) if whole else _Limit(limit, held)
        if outer is not None and outer.left < found.left:
            found = outer
    token = _LIMIT.set(found)
    try:
        yield
    finally:
        _LIMIT.reset(token)


@contextmanager
def beside_held() -> Iterator[None]:
    """Subtract from a limit that is given what the process holds now, such as a large model."""
    limit = _LIMIT.get()
    if limit is None or limit.base is None:
        yield
        return
    held = max(held_memory() - limit.base, 0)
    token = _LIMIT.set(replace(limit, taken=held + min(_LATER, limit.size // 8)))
    try:
        yield
    finally:
        _LIMIT.reset(token)


def memory_limit() -> int:
    """Bytes that the work may take: those of `limited_memory`, or half of what is free."""
    given = _LIMIT.get()
    return free_memory() // 2 if given is None else given.left


def given_memory() -> int | None:
    """Bytes of a limit that was given, not of one by what is free; None without one."""
    given = _LIMIT.get()
    return None if given is None or given.base is None else given.left


def check_memory(needed: int, what: str) -> None:
    """Refuse work before it begins, if it takes more memory than a limit that is given leaves.

    For parts of the work, such as reading a table: what comes later may take more, so the limit
    that is named is the least one, unless who calls estimates the whole.

    Parameters
    ----------
    needed : int
        Bytes, beside what the process holds now.
    what : str
        What takes it, for the message.

    Raises
    ------
    AboveLimit
    """
    limit, held = _LIMIT.get(), taken_memory()
    if limit is None or held + needed <= limit.size:
        return
    beside = f", of which {in_units(held)} are taken" if held else ""
    raise AboveLimit(
        f"{what} takes about {in_units(needed)} of memory, more than the limit leaves "
        f"({in_units(limit.size)}{beside})",
        held + needed,
    )


def taken_memory() -> int:
    """Bytes that the call has taken of a limit that is given; 0 without one."""
    limit = _LIMIT.get()
    base = None if limit is None else limit.base
    return 0 if base is None else max(held_memory() - base, 0)


def need_left(needed: int, what: str, later: int = 0) -> None:
    """Refuse work that takes more memory than `memory_limit`; `what` with its verb.

    What comes `later` takes so many bytes: the limit that is named suffices for it, too.

    Raises
    ------
    Unfinished
    """
    if needed >= memory_limit():
        raise Unfinished(
            f"{what} about {in_units(needed)} of memory, more than the limit leaves "
            f"({limit_in_words()}): raise `memory` to {limit_for(max(needed, later))}"
        )


def limit_for(needed: int) -> str:
    """The smallest limit in words that leaves so many bytes beside what is taken."""
    given = _LIMIT.get()
    return smallest_limit(needed + (0 if given is None else given.taken))


def smallest_limit(needed: int) -> str:
    """A limit that is large enough for so many bytes, and for code that is loaded later.

    >>> smallest_limit(81_500_000)
    '110MB'
    """
    return f"{-(-(21 * needed // 20 + _LATER) // 10_000_000) * 10}MB"


def limit_in_words() -> str:
    """The limit for messages, with what is taken."""
    given = _LIMIT.get()
    if given is None or not given.taken:
        return in_units(memory_limit())
    return f"{in_units(given.size)}, of which {in_units(given.taken)} are taken"


def held_memory() -> int:
    """Bytes that this process holds now; 0 if they are not known."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


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
