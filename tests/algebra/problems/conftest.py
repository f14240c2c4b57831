"""Problem files of a test."""

import pytest


@pytest.fixture
def file(tmp_path):
    """A function from the text (or bytes) of a problem file to its path."""

    def write(content, name="p.toml"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
