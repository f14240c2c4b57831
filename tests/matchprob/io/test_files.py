"""Files are written whole or not at all."""

import pytest

from algebra.errors import InputError
from matchprob.io.files import check_target, write_bytes, write_text


def test_write_and_replace(tmp_path):
    """A file is replaced as a whole, and nothing else is left in the folder."""
    path = tmp_path / "a.json"
    write_text(path, "one")
    write_text(path, "zwei")
    assert path.read_text() == "zwei"
    assert list(tmp_path.iterdir()) == [path]


def test_bad_targets(tmp_path):
    """A folder, or a file in a folder that is not there, is refused."""
    for path in (tmp_path, tmp_path / "no" / "file"):
        with pytest.raises(InputError):
            check_target(path)
        with pytest.raises(InputError):
            write_bytes(path, b"")
