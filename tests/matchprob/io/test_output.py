"""The standard output of commands, which raises an error for text it could not write."""

import io

from matchprob.io.output import Output
from tests.refusals import refuses


class _Full(io.StringIO):
    """A stream that refuses every text, even an empty one."""

    def write(self, text):
        raise OSError(28, "No space left on device")


def test_an_empty_text_is_not_passed_on():
    """An empty text is not written, so it does not fail; a longer one does."""
    assert Output(_Full()).write("") == 0
    refuses("No space", Output(_Full()).write, "a", error=OSError)


def test_bytes_are_refused():
    """Empty bytes raise a TypeError: by this libraries recognize a text stream."""
    refuses("", Output(io.StringIO()).write, b"", error=TypeError)
