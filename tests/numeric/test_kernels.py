"""The cache of compiled functions: its key, its folder, and the effect of an edited constant."""

import ast
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numba
import pytest

from algebra.time_limits import OutOfTime, forget_spent, phases, spent, within
from numeric import kernels
from numeric.kernels import cache_folder
from tests.samples import LONG

TOP = Path(__file__).parents[2]

# Calls a kernel that uses `UNIT` by a function of another file, and says what it computed.
ASK = """
import numpy as np
from numeric.equations.discs import make_discs, run_discs
from numeric.equations.lanes.tape import Tape
from numeric.kernels import call

x, tape = make_discs(3), Tape()
x.mid[:] = 1
tape.dots(0, 1, 1, 1, 2, 1, 1, 1, 1)
assert call(run_discs, x, tape.table()[0])
hits = sum(run_discs.stats.cache_hits.values())
print(x.rad.max() > 1e-3, "from the cache" if hits else "compiled")
"""


def copied(target: Path) -> Path:
    """A copy of the packages that kernels need, without what was compiled."""
    for name in ("algebra", "numeric"):
        shutil.copytree(TOP / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def asked(tree: Path, **environment: str) -> str:
    """The result of the kernel of a source tree, computed in another process."""
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        capture_output=True,
        text=True,
        check=False,
        cwd=tree,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(tree), "HOME": str(tree), **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_changed_constant_of_another_file_is_used(tmp_path):
    """With another unit roundoff no machine code of the old one runs; the old key is kept."""
    tree = copied(tmp_path)
    assert asked(tree) == "False compiled"
    file = tree / "numeric" / "equations" / "discs.py"
    text, times = file.read_text(), file.stat()
    assert "UNIT = 2.0**-53\n" in text
    file.write_text(text.replace("UNIT = 2.0**-53\n", "UNIT = 2.0**-6\n"))
    assert asked(tree) == "True compiled"
    file.write_text(text)
    # Within a folder numba 0.60 also compares the time of the file.
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert asked(tree) == "False from the cache"
    assert len(list((tree / "numeric" / "__pycache__" / "kernels").iterdir())) == 2


def test_every_source_of_machine_code_is_in_the_key(tmp_path):
    """An edit of any file that kernels come from changes the key; an edit elsewhere does not."""
    tree = copied(tmp_path)
    before = kernels.kernel_key(tree)
    assert before == kernels.kernel_key(TOP)
    names = kernels.sources(tree)
    for name in names if LONG else random.sample(sorted(names), 8):
        (tree / name).write_bytes(names[name] + b"\n")
        changed = kernels.kernel_key(tree)
        assert changed != before, name
        (tree / name).write_bytes(names[name])
    other = tree / "numeric" / "equations" / "chain.py"
    other.write_text(other.read_text() + "\n")
    (tree / "algebra" / "errors.py").write_text("")
    assert kernels.kernel_key(tree) == before


def imported(tree: ast.AST) -> set[str]:
    """Full names of the modules and of what is imported from them, at any depth."""
    found = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_folders_of_machine_code_are_not_read(tmp_path):
    """The key does not look where another process may just remove folders."""
    kept = tmp_path / "numeric" / "__pycache__" / "kernels" / "key" / "kept.py"
    kept.parent.mkdir(parents=True)
    kept.write_text("\n@njit()\n")
    (tmp_path / "numeric" / "own.py").write_text("\n@njit()\n")
    assert list(kernels.sources(tmp_path)) == ["numeric/own.py"]


def test_only_this_module_compiles():
    """Each file with a kernel is in the key with what it imports; no other loads the compiler."""
    names = kernels.sources(TOP)
    for package in ("algebra", "numeric", "matchprob"):
        for path in (TOP / package).rglob("*.py"):
            name, text = path.relative_to(TOP).as_posix(), path.read_text()
            if "numba" not in text and "numeric.kernels" not in text:
                continue
            tree = ast.parse(text)
            if name not in names:
                assert not any(m.split(".")[0] == "numba" for m in imported(tree)), name
                assert "numeric.kernels.njit" not in imported(tree), name
                continue
            for node in tree.body if name != "numeric/kernels.py" else ():
                modules = []
                if isinstance(node, ast.ImportFrom):
                    modules = [node.module or ""]
                elif isinstance(node, ast.Import):
                    modules = [alias.name for alias in node.names]
                for module in modules:
                    if module.split(".")[0] in ("algebra", "numeric", "matchprob"):
                        place = TOP.joinpath(*module.split("."))
                        files = place.glob("*.py") if place.is_dir() else [place.with_suffix(".py")]
                        assert {f.relative_to(TOP).as_posix() for f in files} <= set(names), name


# What a program may use of numba: its decorators, types and settings, and its extension interface.
PUBLIC = {"numba", "numba.types", "numba.typeof", "numba.extending.intrinsic"}
PUBLIC_OF_LLVMLITE = {"llvmlite", "llvmlite.binding", "llvmlite.ir"}
# Their own business, which changes from release to release.
PRIVATE = re.compile(
    r"(?:numba|llvmlite)\.(?:core|_[a-z])|get_call_template|_compile_for_args|JITCode"
)


def test_nothing_private_of_the_compiler_is_used():
    """All imports of numba and llvmlite are of public names, and no attribute begins with `_`."""
    files = [
        path
        for package in ("algebra", "numeric", "matchprob", "examples", "benchmarks", "tests")
        for path in (TOP / package).rglob("*.py")
        if path != Path(__file__)
    ]
    assert len(files) > 300
    for path in files:
        text = path.read_text()
        if not re.search(r"\b(?:numba|llvmlite)\b", text):
            continue
        used = {m for m in imported(ast.parse(text)) if m.split(".")[0] in ("numba", "llvmlite")}
        assert used <= PUBLIC | PUBLIC_OF_LLVMLITE, path
        assert not PRIVATE.search(text), path


@pytest.mark.parametrize(
    ("module", "attribute", "value"),
    [
        (numba, "__version__", "0.0"),
        (kernels.np, "__version__", "0.0"),
        (kernels.llvmlite, "__version__", "0.0"),
        (kernels.llvmlite.binding, "get_host_cpu_name", lambda: "another"),
        (sys, "version", "3.0"),
    ],
)
def test_the_key_names_the_compiler_and_the_processor(monkeypatch, module, attribute, value):
    """Another version of the compiler or another processor gives another key."""
    before = kernels.kernel_key(TOP)
    monkeypatch.setattr(module, attribute, value)
    assert kernels.kernel_key(TOP) != before


def test_the_key_takes_milliseconds():
    """The key, which is computed at each start that loads kernels, takes milliseconds."""
    start = time.process_time()
    for _ in range(5):
        kernels.kernel_key(TOP)
    assert time.process_time() - start < 5 * 0.1


def test_folders_of_old_keys_are_bounded(tmp_path, monkeypatch):
    """A new key's folder is in numba's own cache folder; the oldest folders are removed."""
    place = tmp_path / "matchprob-kernels"
    for number in range(6):
        (place / f"old{number}").mkdir(parents=True)
        os.utime(place / f"old{number}", (number, number))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    folder = kernels.kernel_folder.__wrapped__()
    assert folder == place / kernels.kernel_key(TOP)
    assert {path.name for path in place.iterdir()} == {folder.name, "old3", "old4", "old5"}


def test_without_a_writable_package_the_users_folder_is_used(tmp_path, monkeypatch):
    """A package that cannot be written, then no folder at all."""
    tree, cache = tmp_path / "tree", tmp_path / "cache"
    monkeypatch.setattr(kernels, "_ROOT", copied(tree))
    # A file instead of the folder, because the superuser can write into folders of any mode.
    (tree / "numeric" / "__pycache__").write_text("")
    monkeypatch.setenv("MATCHPROB_CACHE", str(cache))
    assert kernels.kernel_folder.__wrapped__() == cache / "kernels" / kernels.kernel_key(tree)
    cache.rename(tmp_path / "away")
    cache.write_text("")
    assert kernels.kernel_folder.__wrapped__() is None


def test_compiling_does_not_outlast_the_call(monkeypatch):
    """The call ends with its limit; the compiler goes on, and the next call has its result."""
    monkeypatch.setattr(kernels, "kernel_folder", lambda: None)
    go_on = threading.Event()

    @kernels.njit()
    def thrice(x):
        return 3 * x

    class Late:
        """The kernel, whose compilation takes long."""

        def __getattr__(self, name):
            return getattr(thrice, name)

        def __call__(self, *arguments):
            return thrice(*arguments)

        def compile(self, kinds):
            go_on.wait(60)
            return thrice.compile(kinds)

    late = Late()
    began = time.monotonic()
    with pytest.raises(OutOfTime), within(0.2):
        kernels.call(late, 5)
    assert time.monotonic() - began < 20
    assert kernels.is_compiling()
    go_on.set()
    with within(60):
        assert kernels.call(late, 5) == 15
    with pytest.raises(TypeError), within(60):
        thrice(5, 6)


def test_a_kernel_that_does_not_compile_says_so(monkeypatch):
    """The error of the compiler reaches the caller, with a time limit and without one."""
    monkeypatch.setattr(kernels, "kernel_folder", lambda: None)

    @kernels.njit()
    def wrong(x):
        return x.no_such_attribute

    with pytest.raises(numba.TypingError, match="no_such_attribute"):
        kernels.call(wrong, 1)
    with pytest.raises(numba.TypingError, match="no_such_attribute"), within(60):
        kernels.call(wrong, 1)


def test_kernels_run_without_any_cache(monkeypatch):
    """If no folder is writable, a function is compiled in each process."""
    monkeypatch.setattr(kernels, "kernel_folder", lambda: None)

    @kernels.njit()
    def twice(x):
        return 2 * x

    assert kernels.call(twice, 21) == 42
    assert not twice.stats.cache_path
    assert not kernels.is_kept(twice)


def test_a_kernel_is_called_by_python_and_by_kernels(tmp_path, monkeypatch):
    """Both are kept by one compilation; the time that it took is recorded, and its phase named."""
    monkeypatch.setattr(kernels, "kernel_folder", lambda: tmp_path)
    before = numba.config.CACHE_DIR
    seen = []

    @kernels.njit()
    def twice(x):
        return 2 * x

    @kernels.njit()
    def fourfold(x):
        return twice(twice(x))

    assert before == numba.config.CACHE_DIR
    assert not kernels.is_kept(twice)
    compiled = kernels._compile

    def watched(kernel, kinds):
        seen.extend(name for name, _ in phases())
        compiled(kernel, kinds)

    monkeypatch.setattr(kernels, "_compile", watched)
    forget_spent()
    assert kernels.call(fourfold, 3) == 12
    assert spent()["compiling"] > 0
    assert "fourfold" in seen[-1]
    assert kernels.is_kept(fourfold)
    assert kernels.is_kept(twice)
    assert twice(3) == 6


def test_a_users_own_kernels_keep_their_settings(monkeypatch):
    """The level of optimization is as before after a compilation, also after a failed one."""
    monkeypatch.setattr(kernels, "kernel_folder", lambda: None)
    before = numba.config.OPT

    @kernels.njit()
    def wrong(x):
        return x.no_such_attribute

    with pytest.raises(numba.TypingError):
        kernels.call(wrong, 1)
    assert numba.config.OPT is before


def test_the_folder_is_the_users_unless_the_environment_says_otherwise(tmp_path, monkeypatch):
    """``$MATCHPROB_CACHE``, else a folder in the user's home folder."""
    monkeypatch.setenv("MATCHPROB_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("MATCHPROB_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == Path(tmp_path) / ".cache" / "matchprob"
