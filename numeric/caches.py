"""Folders that persist between calls: start systems, compiled kernels."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """The user's cache folder: ``$MATCHPROB_CACHE``, else ``~/.cache/matchprob``.

    Raises
    ------
    RuntimeError
        If the variable is not set and the user has no home folder.
    """
    folder = os.environ.get("MATCHPROB_CACHE")
    return Path(folder) if folder else Path.home() / ".cache" / "matchprob"
