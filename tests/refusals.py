"""Calls that have to be refused."""

import pytest

from algebra.errors import InputError


def refuses(words, call, /, *arguments, error=InputError, **options):
    """The error that the call raises; its message is one line, in which the pattern occurs."""
    with pytest.raises(error, match=words or None) as caught:
        call(*arguments, **options)
    assert "\n" not in str(caught.value)
    return caught.value
