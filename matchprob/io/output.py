"""Stdout whose text is not lost where it cannot be written: a full disk, a failing device."""

from __future__ import annotations

import errno
import os
import sys
from typing import Any, TextIO


class Output:
    """A text stream that says on stderr what it could not write.

    Everything else is the stream's own.

    Parameters
    ----------
    stream : text stream
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._pending: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Take a text; it may be written only by `flush`."""
        try:
            written = self._stream.write(text)
        except OSError as error:
            self._give_up(error, text)
            return len(text)
        self._pending.append(text)
        return written

    def flush(self) -> None:
        """Write what was taken; on failure say it on stderr, and raise."""
        try:
            self._stream.flush()
        except OSError as error:
            self._give_up(error)
        self._pending.clear()

    def _give_up(self, error: OSError, last: str = "") -> None:
        text = "".join(self._pending) + last
        self._pending.clear()
        # What is still in the stream's own buffer would fail again when Python ends.
        silence(self._stream)
        # A reader that went away wants no more, and that is its business.
        if error.errno != errno.EPIPE:
            sys.stderr.write(text)
            raise error


def silence(stream: TextIO) -> None:
    """Send whatever is still written to a stream nowhere."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        pass
