"""Compiled functions, cached under a key made from everything that determines their machine code.

numba's own cache checks the file of the cached function only.  Machine code also contains the
functions that this one calls and the constants that both use, from other files: after an edit
there, numba would run the old machine code.  Therefore every kernel is made by `njit` of this
module, whose cache is a folder named by a hash of

- the text of all kernel sources: each file of ``numeric`` that imports from this module, and what
  these import from the project (`sources`);
- the versions of Python, numba, llvmlite and NumPy;
- the name and the features of the processor.

A changed source leads to a new folder.  The folder is in the package (``__pycache__/kernels``),
in ``NUMBA_CACHE_DIR`` where that is set, or, if the package is not writable, in the user's cache
(`numeric.caches.cache_folder`).  The most recent folders of earlier keys are kept, for users who
alternate between two versions.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba
import numpy as np
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime import rtsys
from numba.types import unliteral

from algebra.children import POLL_SECONDS
from algebra.time_limits import can_end, check_time
from numeric.caches import cache_folder

# Level of LLVM's optimization: 3, numba's default, compiles a quarter longer for code that is no
# faster (measured on the tracker of chains).
_LEVEL = 2
# Number of folders of earlier keys that are kept.
_KEPT = 3
_ROOT = Path(__file__).resolve().parents[1]
# An import at module level; imports for type checkers only are indented.
_IMPORT = re.compile(rb"^(?:from|import) ((?:algebra|numeric|matchprob)[.\w]*)", re.MULTILINE)
_MARK = b"\nfrom numeric.kernels import"


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function so that it is compiled at its first call and cached.

    Unless `options` say otherwise, a division by 0 gives infinity or NaN as in NumPy, without the
    code that raises, and no wrapper for calls from C is made: both cost only time.
    A function that other kernels call is compiled for them without the wrapper that converts
    Python's arguments, which for a kernel of many arrays takes longer than the function itself, and
    only as far as callers need it (`_LinkedLibrary`); the rest is compiled if Python calls it.
    ``is_kept()`` of the result says whether its machine code is in the cache, so that its first
    call does not compile it.

    Parameters
    ----------
    **options
        Options of ``numba.njit``, without ``cache``.
    """
    options = {"error_model": "numpy", "no_cfunc_wrapper": True} | options

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = _endable(_cached(function, options, ""))
        kernel.is_kept = partial(_is_kept, kernel)
        if options.get("inline") != "always":
            inner = _cached(function, options | {"no_cpython_wrapper": True}, "inner")
            kernel.get_call_template = partial(_call_template, inner)
            kernel.get_overload = inner.get_overload
        return kernel

    return decorate


class _LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """A function in LLVM's language only, to be linked into the functions that call it.

    numba optimizes each function and makes machine code of it, and does both once more with its
    copy in each caller.  Of a function that only kernels call the first machine code is never run.
    """

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def _optimize_final_module(self) -> None:
        """Not here: the callers' modules are optimized with what is linked into them."""

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> Any:
        return self.serialize_using_bitcode()


@contextmanager
def _linked(codegen: Any) -> Iterator[None]:
    """What numba compiles or loads meanwhile is a `_LinkedLibrary`, without an environment."""
    if codegen._library_class is _LinkedLibrary:
        yield
        return
    with global_compiler_lock:
        codegen._library_class, codegen.set_env = _LinkedLibrary, lambda name, environment: None
        try:
            yield
        finally:
            del codegen._library_class, codegen.set_env


def _set_environments(kernel: Any) -> None:
    """Give machine code the environments of the functions that were linked into it."""
    codegen = kernel.targetctx.codegen()
    for result in kernel.overloads.values():
        for environment in result._find_referenced_environments():
            codegen.set_env(environment.env_name, environment)


def _call_template(inner: Any, arguments: Any, keywords: Any) -> Any:
    """numba's template of a call, for the types of the arguments without their values.

    numba makes a type of each integer constant: a function that is called with 0, with 1 and with a
    variable would be compiled three times.
    """
    plain = {name: unliteral(kind) for name, kind in keywords.items()}
    with _linked(inner.targetctx.codegen()):
        return inner.get_call_template([unliteral(kind) for kind in arguments], plain)


def _cached(function: Callable[..., Any], options: dict[str, Any], part: str) -> Any:
    """A dispatcher of numba whose machine code is kept in a part of the folder, if there is one."""
    folder = kernel_folder()
    if folder is None:
        return numba.njit(**options)(function)
    # numba reads this setting here, once for each function.
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder / part)
    try:
        kernel = numba.njit(**options)(function)
        kernel._cache = _KernelCache(kernel.py_func)
        return kernel
    finally:
        numba.config.CACHE_DIR = before


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """numba's cache, without the fifth of a second that the first look-up takes there.

    numba registers all functions that it can compile before it looks for machine code.  To run
    machine code only its runtime is needed; a compilation registers them itself.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for these types, None if there is none."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def _endable(kernel: Any) -> Any:
    """The kernel, compiled in a thread where a time limit or Ctrl-C may end the caller.

    Compilation takes up to half a minute and cannot call `check_time`; the waiting caller does.
    If that raises, the compilation continues in its thread, and the next call finds it cached.
    """
    compile_for_args: Callable[..., Any] = kernel._compile_for_args

    def compiled(*arguments: Any, **more: Any) -> Any:
        # numba reads the level when it compiles; kernels that this one calls are compiled here too.
        before, numba.config.OPT = numba.config.OPT, type(numba.config.OPT)(_LEVEL)
        try:
            made = compile_for_args(*arguments, **more)
        finally:
            numba.config.OPT = before
        _set_environments(kernel)
        return made

    def compile_endably(*arguments: Any, **more: Any) -> Any:
        if not can_end():
            return compiled(*arguments, **more)
        made: Future[Any] = Future()

        def work() -> None:
            try:
                made.set_result(compiled(*arguments, **more))
            except BaseException as error:
                made.set_exception(error)

        # Not a daemon: Python must not exit during compilation.
        threading.Thread(target=work, name="compiling").start()
        while True:
            check_time()
            with suppress(TimeoutError):
                return made.result(POLL_SECONDS)

    kernel._compile_for_args = compile_endably
    return kernel


def is_compiling() -> bool:
    """Whether a compilation continues for a call that has ended."""
    return any(thread.name == "compiling" for thread in threading.enumerate())


def _is_kept(kernel: Any) -> bool:
    """Whether machine code of a kernel is in the cache."""
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
        This module, each file of ``numeric`` that imports from it, and the project files that
        these import at module level, directly or indirectly.  Of a package all files are
        included, because the imported names may be modules.
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
