"""The user's cache folder."""

from pathlib import Path

from numeric.caches import cache_folder


def test_the_folder_is_the_users_unless_the_environment_says_otherwise(tmp_path, monkeypatch):
    """``$MATCHPROB_CACHE``, else a folder in the user's home folder."""
    monkeypatch.setenv("MATCHPROB_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("MATCHPROB_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == Path(tmp_path) / ".cache" / "matchprob"
