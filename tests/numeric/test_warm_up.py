"""Compilation in advance: the groups, and failures."""

import subprocess
import sys
from types import ModuleType

import numba
import pytest

from algebra.children import Ended
from numeric import kernels, warm_up


@pytest.mark.parametrize("group", ["tracker", "certification", "inputs"])
def test_a_group_compiles_here(group, capsys):
    """A group on request is compiled in this process, without output."""
    assert warm_up.main(["--here", group]) == 0
    assert capsys.readouterr() == ("", "")


_SEARCHES = """
from numeric import warm_up
from numeric.plugins.relu import cells_kernel, pairs_kernel
warm_up.main(["--here", "relu"])
assert pairs_kernel.search_pairs.signatures and cells_kernel.search_cells.signatures
"""


def test_both_relu_searches_are_compiled():
    """Otherwise the first decision would compile the missing one."""
    assert subprocess.run([sys.executable, "-c", _SEARCHES], timeout=300).returncode == 0


def test_unknown_groups_are_refused(capsys):
    """The message names the unknown group and the existing ones; the status is 2."""
    assert warm_up.main(["tracker", "nothing"]) == 2
    error = capsys.readouterr().err
    assert error == "unknown group `nothing`: use tracker, certification, inputs, relu\n"


def test_each_group_has_its_process(monkeypatch, capsys):
    """All groups are started; one that fails is named with its reason, the others continue."""
    seen = []

    def run(command, **_):
        seen.append(command[-1])
        failed = command[-1] == "relu"
        return Ended(int(failed), b"", "no room\n" * failed)

    monkeypatch.setattr(warm_up, "run_program", run)
    assert warm_up.main([]) == 1
    assert sorted(seen) == sorted(warm_up.GROUPS)
    assert capsys.readouterr().err == "relu: no room\n"


def test_only_named_groups_are_compiled(monkeypatch):
    """Only the named groups are started, as for the demo."""
    seen = []

    def run(command, **_):
        seen.append(command[-2:])
        return Ended(0, b"", "")

    monkeypatch.setattr(warm_up, "run_program", run)
    assert warm_up.main(["tracker"]) == 0
    assert seen == [["--here", "tracker"]]


def test_times_are_printed_for_what_is_compiled(monkeypatch, capsys):
    """A row for each kernel that a group compiled, the slowest first, and none for others."""
    monkeypatch.setattr(kernels, "kernel_folder", lambda: None)

    @kernels.njit()
    def twice(x):
        return 2 * x

    @kernels.njit()
    def fourfold(x):
        return twice(twice(x))

    module = ModuleType("numeric.made")
    vars(module).update(twice=twice, fourfold=fourfold, other=kernels.njit()(lambda x: x))
    monkeypatch.setitem(sys.modules, "numeric.made", module)
    monkeypatch.setattr(warm_up, "GROUPS", {"one": lambda: kernels.call(fourfold, 3)})
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    # numba reads the folder when it compiles; here it is restored for the tests that follow.
    monkeypatch.setattr(numba.config, "CACHE_DIR", numba.config.CACHE_DIR)
    assert warm_up.main(["--times", "one"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith("one: ")
    assert head.endswith(" s of processor time")
    rows = [row.split() for row in rows if __name__ in row]
    times = {name.rpartition(".")[2]: (float(own), float(every)) for own, every, name in rows}
    assert set(times) == {"twice", "fourfold"}
    assert 0 < times["twice"][0] <= times["twice"][1] <= times["fourfold"][1]
