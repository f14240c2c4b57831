"""The table of formats."""

import pytest

from algebra.errors import InputError
from matchprob.api.proofs.formats import FORMATS, format_of


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_found_by_its_name(name):
    """The table's name is that of the format; nothing is read as a certificate but one."""
    own = format_of(name)
    assert own.name == name
    if name != "matchprob-certificate":
        assert own is not format_of(None)
        with pytest.raises(InputError, match="this is not"):
            format_of(None).verify({"format": name, "version": 1})
