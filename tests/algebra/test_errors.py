"""The exception for bad input."""

import pytest

import matchprob
from algebra.errors import InputError
from algebra.networks import LinearRNN


def test_it_is_a_value_error_that_names_argument_and_value():
    """Callers may catch ValueError; the message names the argument and echoes the value."""
    assert matchprob.InputError is InputError
    with pytest.raises(ValueError, match=r"`n` \(0\)") as met:
        LinearRNN(n=0, T=1, b=1, d=1, m=1)
    assert isinstance(met.value, InputError)
