"""Names of files in problem files, as the schema has them."""

import re

import pytest

from algebra.problems.file_entries import ENDINGS, NAME_ENDINGS, pattern
from algebra.problems.tables import FORMATS


def test_every_ending_has_its_reader():
    """Each ending of the schema is read, packed ones as what is inside; names are in such files."""
    assert tuple(FORMATS) == ENDINGS
    assert {*NAME_ENDINGS} < {*ENDINGS}
    for ending, read in FORMATS.items():
        assert FORMATS[ending.removesuffix(".gz")] is read


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_pattern_is_of_whole_endings(ending):
    """A name with the ending fits the pattern; one with more, or with another first sign, not."""
    form = re.compile(pattern(ENDINGS))
    assert form.search(f"map{ending}")
    assert not form.search(f"map{ending}x")
    assert not form.search(f"map_{ending.removeprefix('.').split('.')[0]}")
