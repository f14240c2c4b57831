"""Compiled functions, cached in a folder named by everything that determines their machine code.

numba's own cache checks the file of the cached function only.  Machine code also contains the
functions that this one calls and the constants that both use, from other files: after an edit
there, numba would run the old machine code.  Therefore every kernel is made by `njit` of this
module, whose cache is a folder named by a hash of

- the text of all kernel sources: each file of ``numeric`` with a function decorated by `njit`, and
  what these import from the project (`sources`);
- the versions of Python, numba, llvmlite and NumPy;
- the name and the features of the processor.

A changed source leads to a new folder.  The folder is in the package (``__pycache__/kernels``),
in ``NUMBA_CACHE_DIR`` where that is set, or, if the package is not writable, in the user's cache
(`cache_folder`).  The most recent folders of earlier keys are kept, for users who
alternate between two versions.

Kernels are numba's own dispatchers, made with its public settings only.  Python calls them by
`call`, whose compilation Ctrl-C and time limits can end.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
import threading
import time
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

from algebra.children import POLL_SECONDS
from algebra.time_limits import add_spent, can_end, check_time, phase

# Level of LLVM's optimization: 3, numba's default, compiles a quarter longer for code that is no
# faster (measured on the tracker of chains).
_LEVEL = 2
# Number of folders of earlier keys that are kept.
_KEPT = 3
_ROOT = Path(__file__).resolve().parents[1]
# An import at module level; imports for type checkers only are indented.
_IMPORT = re.compile(rb"^(?:from|import) ((?:algebra|numeric|matchprob)[.\w]*)", re.MULTILINE)
_MARK = b"\n@njit("
# Options of a kernel that only kernels call: the code that converts objects of Python, which for
# tuples of arrays takes as long to compile as the kernel, is omitted.  A call from Python crashes.
INNER: dict[str, Any] = {"no_cpython_wrapper": True}


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function so that numba compiles it at its first call and keeps its machine code.

    Unless `options` say otherwise, a division by 0 gives infinity or NaN as in NumPy, without the
    code that raises, and no wrapper for calls from C is made: both cost only time.

    Parameters
    ----------
    **options
        Options of ``numba.njit``, without ``cache``.
    """
    options = {"error_model": "numpy", "no_cfunc_wrapper": True} | options

    def decorate(function: Callable[..., Any]) -> Any:
        folder = kernel_folder()
        if folder is None:
            return numba.njit(**options)(function)
        # numba reads this setting here, once for each function.
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
        try:
            return numba.njit(cache=True, **options)(function)
        finally:
            numba.config.CACHE_DIR = before

    return decorate


def call(kernel: Any, *arguments: Any) -> Any:
    """Call a kernel from Python; its compilation can be ended, in contrast to its run.

    The first call compiles the kernel for the types of its arguments, or reads its machine code
    from the cache.  Compilation takes up to half a minute and cannot call `check_time`, so it runs
    in a thread where a time limit or Ctrl-C may end the caller, who waits and calls it.  If that
    raises, the compilation continues in its thread, and the next call finds it done.

    Parameters
    ----------
    kernel : numba dispatcher
        The result of `njit`.
    *arguments
        Those of the kernel; in all calls of the same types.
    """
    if not kernel.overloads:
        function = kernel.py_func
        began = time.monotonic()
        name = f"{function.__module__}.{function.__name__}"
        with phase(f"compiling {name} (once; it is kept for the next call)"):
            _compile(kernel, tuple(numba.typeof(value) for value in arguments))
        if kernel.stats.cache_misses:
            add_spent("compiling", time.monotonic() - began)
    return kernel(*arguments)


def _compile(kernel: Any, kinds: tuple[Any, ...]) -> None:
    """Compile a kernel for arguments of some types, in a thread where this call may be ended."""
    made: Future[None] = Future()

    def work() -> None:
        # numba reads the level when it compiles; kernels that this one calls are compiled here too.
        before, numba.config.OPT = numba.config.OPT, type(numba.config.OPT)(_LEVEL)
        try:
            kernel.compile(kinds)
            made.set_result(None)
        except BaseException as error:
            made.set_exception(error)
        finally:
            numba.config.OPT = before

    if not can_end():
        work()
        return made.result()
    # Not a daemon: Python must not exit during compilation.
    threading.Thread(target=work, name="compiling").start()
    while True:
        check_time()
        with suppress(TimeoutError):
            return made.result(POLL_SECONDS)


def is_compiling() -> bool:
    """Whether a compilation continues for a call that has ended."""
    return any(thread.name == "compiling" for thread in threading.enumerate())


def is_kept(kernel: Any) -> bool:
    """Whether machine code of a kernel is in the cache, so that its first call compiles nothing."""
    folder = kernel.stats.cache_path
    return bool(folder) and any(Path(folder).glob(f"*.{kernel.py_func.__name__}-*.nbi"))


@cache
def kernel_folder() -> Path | None:
    """The folder of the current key, created if missing; None if no folder is writable."""
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
        The folder that contains the packages.
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
    """Path below `root` and content of each file that may contribute to machine code.

    Parameters
    ----------
    root : path

    Returns
    -------
    dict of str to bytes
        This module, each file of ``numeric`` with a kernel, and the project files that
        these import at module level, directly or indirectly.  Of a package all files are
        included, because the imported names may be modules.
    """
    texts = dict[Path, bytes]()
    for folder, folders, names in os.walk(root / "numeric"):
        # Another process may remove folders of old machine code at any time.
        folders[:] = [name for name in folders if name != "__pycache__"]
        paths = (Path(folder, name) for name in names if name.endswith(".py"))
        texts |= {path: path.read_bytes() for path in paths}
    left = [path for path, text in texts.items() if _MARK in text and path.name != "kernels.py"]
    found: dict[str, bytes] = {}
    while left:
        path = left.pop()
        name = path.relative_to(root).as_posix()
        if name in found:
            continue
        text = found[name] = texts[path] if path in texts else path.read_bytes()
        # This module makes kernels but contains none.
        for module in _IMPORT.findall(text) if path.name != "kernels.py" else ():
            place = root.joinpath(*module.decode().split("."))
            left += [place.with_suffix(".py")] if not place.is_dir() else place.glob("*.py")
    return dict(sorted(found.items()))


def _remove_old(place: Path, kept: Path) -> None:
    """Remove all but the latest folders of earlier keys; other processes may do so too."""

    def age(path: Path) -> float:
        with suppress(OSError):
            return -path.stat().st_mtime
        return 0.0

    with suppress(OSError):
        others = sorted((path for path in place.iterdir() if path != kept), key=age)
        for path in others[_KEPT:]:
            shutil.rmtree(path, ignore_errors=True)


def cache_folder() -> Path:
    """The user's cache folder: ``$MATCHPROB_CACHE``, else ``~/.cache/matchprob``.

    Raises
    ------
    RuntimeError
        If the variable is not set and the user has no home folder.
    """
    folder = os.environ.get("MATCHPROB_CACHE")
    return Path(folder) if folder else Path.home() / ".cache" / "matchprob"
