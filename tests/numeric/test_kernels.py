"""The cache of compiled functions: its key, its folder, and the effect of an edited constant."""

import ast
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numba
import numpy as np
import pytest

from algebra.time_limits import OutOfTime, within
from numeric import kernels
from tests.refusals import refuses

TOP = Path(__file__).parents[2]

# Calls a kernel that uses `UNIT` by a function of another file, and says what it computed.
ASK = """
import numpy as np
from numeric.equations.discs import make_discs, run_discs
from numeric.equations.lanes.tape import Tape

x, tape = make_discs(3), Tape()
x.mid[:] = 1
tape.dots(0, 1, 1, 1, 2, 1, 1, 1, 1)
assert run_discs(x, tape.table()[0])
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
    assert asked(tree) == "False from the cache"
    file = tree / "numeric" / "equations" / "discs.py"
    text = file.read_text()
    assert "UNIT = 2.0**-53\n" in text
    file.write_text(text.replace("UNIT = 2.0**-53\n", "UNIT = 2.0**-6\n"))
    assert asked(tree) == "True compiled"
    file.write_text(text)
    assert asked(tree) == "False from the cache"
    assert len(list((tree / "numeric" / "__pycache__" / "kernels").iterdir())) == 2


def test_every_source_of_machine_code_is_in_the_key(tmp_path):
    """An edit of any file that kernels come from changes the key; an edit elsewhere does not."""
    tree = copied(tmp_path)
    before = kernels.kernel_key(tree)
    assert before == kernels.kernel_key(TOP)
    names = kernels.sources(tree)
    for name in names:
        (tree / name).write_bytes(names[name] + b"\n")
        changed = kernels.kernel_key(tree)
        assert changed != before, name
        (tree / name).write_bytes(names[name])
    other = tree / "numeric" / "equations" / "chain.py"
    other.write_text(other.read_text() + "\n")
    (tree / "algebra" / "errors.py").write_text("")
    assert kernels.kernel_key(tree) == before


def test_all_compiled_functions_are_made_by_this_module():
    """No module uses numba's own decorators with a cache, and imports of kernels are in the key."""
    names = kernels.sources(TOP)
    for package in ("algebra", "numeric", "matchprob"):
        for path in (TOP / package).rglob("*.py"):
            name, text = path.relative_to(TOP).as_posix(), path.read_text()
            if "numba" not in text and "numeric.kernels" not in text:
                continue
            tree = ast.parse(text)
            if name not in names:
                loaded = {
                    a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names
                }
                loaded |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
                assert not any(m.split(".")[0] == "numba" for m in loaded), name
                assert "numeric.kernels" not in loaded, name
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

    compiled = numba.core.dispatcher.Dispatcher._compile_for_args

    def late(self, *arguments):
        go_on.wait(60)
        return compiled(self, *arguments)

    monkeypatch.setattr(numba.core.dispatcher.Dispatcher, "_compile_for_args", late)

    @kernels.njit()
    def thrice(x):
        return 3 * x

    began = time.monotonic()
    with pytest.raises(OutOfTime), within(0.2):
        thrice(5)
    assert time.monotonic() - began < 20
    assert kernels.is_compiling()
    go_on.set()
    with within(60):
        assert thrice(5) == 15
    with pytest.raises(TypeError), within(60):
        thrice(5, 6)


def test_kernels_run_without_any_cache(monkeypatch):
    """If no folder is writable, a function is compiled in each process."""
    monkeypatch.setattr(kernels, "kernel_folder", lambda: None)

    @kernels.njit()
    def twice(x):
        return 2 * x

    assert twice(21) == 42
    assert not twice.stats.cache_path


def test_a_kernel_is_called_by_python_and_by_kernels(tmp_path, monkeypatch):
    """With one signature, in either order; it is kept once Python has called it."""
    monkeypatch.setattr(kernels, "kernel_folder", lambda: tmp_path)

    @kernels.njit()
    def twice(x):
        return 2 * x

    @kernels.njit()
    def fourfold(x):
        return twice(twice(x))

    assert not twice.is_kept()
    assert fourfold(3) == 12
    assert fourfold.is_kept()
    assert not twice.is_kept()
    assert twice(3) == 6
    assert twice.is_kept()


def test_a_function_that_kernels_call_has_no_machine_code_of_its_own(monkeypatch):
    """It is linked into its caller, also where it raises; called from Python it is compiled."""
    monkeypatch.setattr(kernels, "kernel_folder", lambda: None)

    @kernels.njit()
    def ones(n):
        if n < 1:
            raise ValueError(n)
        return np.ones(n)

    @kernels.njit()
    def one_more(n):
        return ones(n).sum() + 1

    assert one_more(3) == 4
    refuses(r"^-2$", one_more, -2, error=ValueError)
    assert not ones.overloads
    (linked,) = ones.get_overload.__self__.overloads.values()
    assert type(linked.library) is kernels._LinkedLibrary
    assert ones(2).tolist() == [1, 1]
    refuses(r"^-2$", ones, -2, error=ValueError)


CALLER = """
from numeric import kernels
from numeric.families.relu.simplex import copy_vector
import numpy as np

@kernels.njit()
def copied(x):
    y = np.empty(len(x))
    copy_vector(x, y)
    return y

print(copied(np.arange(3.0)).tolist(), copy_vector.get_overload.__self__.stats.cache_hits)
"""


def test_a_kept_function_is_linked_into_another_kernel(tmp_path):
    """A later process takes the function from the cache and links it into a kernel."""
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(tmp_path), PYTHONPATH=str(TOP))
    caller = tmp_path / "caller.py"
    for name, hits in (("a", 0), ("b", 1)):
        caller.with_stem(name).write_text(CALLER)
        done = subprocess.run(
            [sys.executable, caller.with_stem(name)],
            capture_output=True, text=True, check=True, env=environment,
        )  # fmt: skip
        values, found = done.stdout.split(" Counter(")
        assert values == "[0.0, 1.0, 2.0]"
        assert (found != ")\n") == hits
