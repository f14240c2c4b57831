"""A stdout that reports text that could not be written: a full disk, a failing device."""

from __future__ import annotations

import errno
import os
import sys
from typing import Any, TextIO


class Output:
    """A text stream that reports on stderr what it could not write.

    All other attributes are the stream's own.

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
        """Buffer a text; it may be written only by `flush`."""
        if text == "":
            # Rich writes nothing when a capture ends; some devices refuse even that.
            return 0
        try:
            written = self._stream.write(text)
        except OSError as error:
            self._give_up(error, text)
            return len(text)
        self._pending.append(text)
        return written

    def flush(self) -> None:
        """Write the buffered text; on failure report it on stderr, and raise."""
        try:
            self._stream.flush()
        except OSError as error:
            self._give_up(error)
        self._pending.clear()

    def _give_up(self, error: OSError, last: str = "") -> None:
        text = "".join(self._pending) + last
        self._pending.clear()
        # Text in the stream's own buffer would fail again when Python ends.
        silence(self._stream)
        # A reader that has closed its pipe needs no message.
        if error.errno != errno.EPIPE:
            sys.stderr.write(text)
            raise error


def silence(stream: TextIO) -> None:
    """Discard everything written to a stream from now on."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        pass
