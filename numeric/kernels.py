"""Compiled functions, cached under a key made from everything that their machine code depends on.

numba's own cache watches the file of the function that is cached.  Machine code also contains the
functions that this one calls and the constants that both use, from other files: after an edit
there, numba would run the old machine code.  So every kernel is made by `njit` of this module,
whose cache is a folder named by a hash of

- the text of all kernel sources: each file of ``numeric`` that imports from this module, and what
  these import from the project (`sources`);
- the versions of Python, numba, llvmlite and NumPy;
- the name and the features of the processor.

A changed source means a new folder.  The folder lies in the package (``__pycache__/kernels``),
in numba's own cache folder where ``NUMBA_CACHE_DIR`` names one, or where the package cannot be
written in the user's (`numeric.caches.cache_folder`).  Of the folders of earlier keys the most
recently made ones are kept, for those who go back and forth between two versions.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba
import numpy as np

from algebra.children import LOOK
from algebra.time_limits import can_end, check_time
from numeric.caches import cache_folder

# Folders of earlier keys that are kept.
_KEPT = 3
_ROOT = Path(__file__).resolve().parents[1]
# An import at the level of the module; those for type checkers only are indented.
_IMPORT = re.compile(rb"^(?:from|import) ((?:algebra|numeric|matchprob)[.\w]*)", re.MULTILINE)
_MARK = b"\nfrom numeric.kernels import"


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function that is compiled at its first call and cached.

    Parameters
    ----------
    **options
        Of ``numba.njit``, without ``cache``.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        folder = kernel_folder()
        if folder is None:
            return _endable(numba.njit(**options)(function))
        # numba reads the setting here, once for each function.
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
        try:
            return _endable(numba.njit(cache=True, **options)(function))
        finally:
            numba.config.CACHE_DIR = before

    return decorate


def _endable(kernel: Any) -> Any:
    """The kernel, compiled beside the work where a time limit or Ctrl-C may end the work.

    Compiling takes up to half a minute and cannot ask `check_time`.  Whoever waits for it asks;
    when that raises, the compiler goes on by itself, and the next call finds the result cached.
    """
    compiled: Callable[..., Any] = kernel._compile_for_args

    def compile_endably(*arguments: Any, **more: Any) -> Any:
        if not can_end():
            return compiled(*arguments, **more)
        made: Future[Any] = Future()

        def work() -> None:
            try:
                made.set_result(compiled(*arguments, **more))
            except BaseException as error:
                made.set_exception(error)

        # No daemon: Python may not end while the compiler is at work.
        threading.Thread(target=work, name="compiling").start()
        while True:
            check_time()
            with suppress(TimeoutError):
                return made.result(LOOK)

    kernel._compile_for_args = compile_endably
    return kernel


def is_compiling() -> bool:
    """Whether the compiler is at work for a call that has ended."""
    return any(thread.name == "compiling" for thread in threading.enumerate())


@cache
def kernel_folder() -> Path | None:
    """The folder of this key, made if it is missing; None where no folder can be written."""
    places = [_ROOT / "numeric" / "__pycache__" / "kernels"]
    if numba.config.CACHE_DIR:
        places = [Path(numba.config.CACHE_DIR) / "matchprob-kernels"]
    with suppress(RuntimeError):
        places.append(cache_folder() / "kernels")
    key = kernel_key(_ROOT)
    for place in places:
        folder = place / key
        with suppress(OSError):
            is_new = not folder.is_dir()
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            if is_new:
                _remove_old(place, folder)
            return folder
    return None


def kernel_key(root: Path) -> str:
    """The hash that names the folder.

    Parameters
    ----------
    root : path
        The folder in which the packages lie.
    """
    features = llvmlite.binding.get_host_cpu_features().flatten()
    found = hashlib.sha256()
    for name in (
        sys.version, numba.__version__, llvmlite.__version__, np.__version__,
        llvmlite.binding.get_host_cpu_name(), features,
        str(numba.config.CPU_NAME), str(numba.config.CPU_FEATURES),
    ):  # fmt: skip
        found.update(name.encode() + b"\0")
    for path, text in sources(root).items():
        found.update(path.encode() + b"\0" + hashlib.sha256(text).digest())
    return found.hexdigest()[:32]


def sources(root: Path) -> dict[str, bytes]:
    """Path below `root` and content of each file that machine code may come from.

    Parameters
    ----------
    root : path

    Returns
    -------
    dict of str to bytes
        This module, each file of ``numeric`` that imports from it, and what those import at the
        level of the module from the project, directly or not: of a package all its files, for the
        names imported from it may be modules.
    """
    texts = {path: path.read_bytes() for path in (root / "numeric").rglob("*.py")}
    left = [path for path, text in texts.items() if _MARK in text and path.name != "kernels.py"]
    found: dict[str, bytes] = {}
    while left:
        path = left.pop()
        name = path.relative_to(root).as_posix()
        if name in found:
            continue
        text = found[name] = texts[path] if path in texts else path.read_bytes()
        # This module makes kernels, and is no part of any.
        for module in _IMPORT.findall(text) if path.name != "kernels.py" else ():
            place = root.joinpath(*module.decode().split("."))
            left += [place.with_suffix(".py")] if not place.is_dir() else place.glob("*.py")
    return dict(sorted(found.items()))


def _remove_old(place: Path, kept: Path) -> None:
    """Remove folders of earlier keys but the last few; others may do the same meanwhile."""

    def age(path: Path) -> float:
        with suppress(OSError):
            return -path.stat().st_mtime
        return 0.0

    with suppress(OSError):
        others = sorted((path for path in place.iterdir() if path != kept), key=age)
        for path in others[_KEPT:]:
            shutil.rmtree(path, ignore_errors=True)
