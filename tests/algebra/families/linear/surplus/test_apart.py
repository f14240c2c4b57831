"""The table of arguments that stand alone and have a count of their own."""

from dataclasses import fields

import pytest

from algebra.certificates.certificate import INTERMEDIATE
from algebra.families.linear.evidence import LinearEvidence
from algebra.families.linear.surplus.apart import APART

ARGUMENTS = {f.name: f.metadata["argument"] for f in fields(LinearEvidence) if f.metadata}


@pytest.mark.parametrize("name", APART)
def test_each_is_an_argument_that_stands_alone(name):
    """It has a check, and says what follows for each verdict that it is for."""
    check, *texts = APART[name]
    assert callable(check)
    assert ARGUMENTS[name].alone
    assert not ARGUMENTS[name].counted
    assert len(texts) == 1 + (INTERMEDIATE in ARGUMENTS[name].verdicts)
    assert "MP = 1" in texts[0]
    assert all("MP < 1" in text for text in texts[1:])
