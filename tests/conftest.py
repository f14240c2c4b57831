"""Shared by all tests: the hypothesis profile, the msolve program, random small nets."""

import gc
import os
import random
import re
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

from algebra.networks.base import Network
from algebra.polynomials.msolve import process as msolve_process
from algebra.polynomials.msolve.process import MsolveMissing, find_msolve
from algebra.ranks.jacobian import all_cells
from matchprob import Allocation, LinearEstimator, LinearFeedForward, LinearRNN
from tests.plain_data import make_seeds_quickly
from tests.samples import many

# A shell that runs in the background makes its children ignore interrupts, which some tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Collecting tests makes some million objects that stay: nothing is there to be freed.
gc.disable()

# The seed of a check is made slowly, which took a tenth of the run.
make_seeds_quickly()

# The width of printed tables is COLUMNS; xdist sets it, a plain run does not.
os.environ["COLUMNS"] = "110"

settings.register_profile("local", deadline=None, max_examples=many(50))
settings.register_profile("ci", deadline=None, max_examples=many(50), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_collection_finish() -> None:
    """Modules and tests live as long as the run: the garbage collector need not visit them.

    What tests import and compile later stays too, so that the collector looks less often than it
    would by itself: that was a twentieth of the run.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_sessionfinish() -> None:
    """At its end pytest collects garbage five times, of the whole heap, to name what is open."""
    gc.freeze()


def _lacking() -> str:
    """What is said of a missing msolve; under CI it must be there."""
    try:
        find_msolve()
    except MsolveMissing as error:
        return "" if os.environ.get("CI") else str(error)
    return ""


LACKING = _lacking()
# Set once the running test has asked for an msolve that is not there.
_ASKED: list[bool] = []
if LACKING:

    def _missing(self: MsolveMissing, *words: object) -> None:
        Exception.__init__(self, *words)
        _ASKED.append(True)

    MsolveMissing.__init__ = _missing  # type: ignore[method-assign,assignment]


def pytest_report_header() -> list[str]:
    """A line if tests will be skipped."""
    return [f"tests that need msolve are skipped: {LACKING}"] if LACKING else []


def pytest_runtest_setup() -> None:
    """Each test asks anew."""
    _ASKED.clear()


# Optional parts by extra, and those that only tests need.
_PARTS = {
    "cluster": ("distributed",), "onnx": ("onnx",), "digits": ("sklearn",),
    "frames": ("jinja2", "pandas", "pyarrow"), "workbooks": ("openpyxl",),
    "page": ("anyio", "anywidget", "starlette", "uvicorn"),
    "": ("h5py", "jsonschema", "pyscipopt", "playwright", "sphinx", "IPython", "nbclient"),
}  # fmt: skip


def _absent() -> frozenset[str]:
    """Packages that are not installed, and the extras that have them."""
    names = {
        extra: [name for name in packages if find_spec(name) is None]
        for extra, packages in _PARTS.items()
    }
    return frozenset(name for extra, own in names.items() if own for name in (extra, *own))


_ABSENT = frozenset[str]() if os.environ.get("CI") else _absent()
_ROOT = Path(__file__).parents[1]
_NAMED = re.compile(r"matchprob\[(\w+)\]|No module named '(\w+)")


def _missing_part(text: str) -> str:
    """The part that is not there and that a failure names; "" if there is none."""
    named = {name for found in _NAMED.findall(text) for name in found if name}
    if LACKING and "msolve is not installed" in text:
        return "msolve"
    return ", ".join(sorted(named & _ABSENT))


class Bare:
    """Without optional parts tests that need them are skipped; under CI all of them must be there.

    A plugin, since the hooks of this file are not called for the examples of docstrings.
    """

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """A test that asked for a missing part and fails is skipped."""
        report = yield
        # A fixture of a module fails for its later tests without asking again.
        asked = _ASKED or (call.excinfo is not None and call.excinfo.errisinstance(MsolveMissing))
        if report.failed and (part := "msolve" if asked else _missing_part(report.longreprtext)):
            report.outcome = "skipped"
            words = f"Skipped: {part} is not installed"
            report.longrepr = (str(item.path), item.location[1] or 0, words)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """A file that imports a missing part is skipped, and so is one that imports that file.

        Of a file that could not be imported pytest leaves the first half among the modules.
        """
        report = yield
        if not report.passed and _ROOT in collector.path.parents:
            name = ".".join(collector.path.relative_to(_ROOT).with_suffix("").parts)
            sys.modules.pop(name, None)
        if report.failed and (part := _missing_part(report.longreprtext)):
            report.outcome = "skipped"
            report.longrepr = (str(collector.path), 0, f"Skipped: {part} is not installed")
        return report


class Examples:
    """Files without an example of a docstring are not searched for one: most have none.

    A plugin, for the reason above.
    """

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Without the collector of examples."""
        found = yield
        if file_path.suffix == ".py" and b">>>" not in file_path.read_bytes():
            return [one for one in found if not isinstance(one, DoctestModule)]
        return found


def pytest_configure(config: pytest.Config) -> None:
    """Where all parts are there, nothing is skipped."""
    config.pluginmanager.register(Examples())
    if _ABSENT or LACKING:
        config.pluginmanager.register(Bare())


@pytest.fixture(scope="session")
def msolve() -> str:
    """The msolve program; without it the test is skipped, and fails under CI."""
    if LACKING:
        pytest.skip(LACKING)
    return find_msolve()


@pytest.fixture
def no_msolve(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine without msolve."""
    monkeypatch.setattr(msolve_process.sysconfig, "get_path", lambda name: "/nonexistent")
    monkeypatch.setattr(msolve_process.site, "getsitepackages", list)
    monkeypatch.setattr(msolve_process.site, "ENABLE_USER_SITE", False)
    monkeypatch.setattr(msolve_process.shutil, "which", lambda name: None)
    find_msolve.cache_clear()
    yield
    find_msolve.cache_clear()


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a text (or bytes) into a file of the test's folder: its path."""

    def write(content: str | bytes, name: str = "p.toml") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def small_network(rng: random.Random) -> Network:
    """A linear network with sizes 1 to 3; degenerate ones (T = 1, n = 1, m > Tb) included."""
    kind = rng.choice(["lrnn", "lrnn", "lrnn", "lffn", "lffn", "linear"])
    size = [rng.randint(1, 3) for _ in range(6)]
    if kind == "lrnn":
        n, T, b, d, m = size[0], size[1], min(size[2], 2), size[3], size[4]
        return LinearRNN(n=n, T=T, b=b, d=d, m=m)
    if kind == "lffn":
        return LinearFeedForward(
            q=size[0], widths=tuple(size[4 : 4 + rng.randint(1, 2)]), d=size[1], m=size[2]
        )
    return LinearEstimator(q=size[0], d=size[1], m=size[2])


def small_case(rng: random.Random, cells: int) -> Allocation | None:
    """A small network with this number of learnable cells, of one matrix or of any; None if it has
    too few.
    """
    network = small_network(rng)
    names = rng.choice([list(network.shapes), [rng.choice(list(network.shapes))]])
    there = [cell for cell in all_cells(network) if cell[0] in names]
    if len(there) < cells:
        return None
    return Allocation.from_cells(network, rng.sample(there, cells))


@pytest.fixture(scope="session")
def small_networks() -> Callable[[int, int], Iterator[Network]]:
    """A function from a seed and a number to random small networks."""

    def make(seed: int, count: int) -> Iterator[Network]:
        rng = random.Random(seed)
        return (small_network(rng) for _ in range(count))

    return make


@pytest.fixture(scope="session")
def small_allocations() -> Callable[..., Iterator[Allocation]]:
    """A function from a seed and a number to random allocations of random small networks."""

    def make(seed: int, count: int, largest: int = 6) -> Iterator[Allocation]:
        rng = random.Random(seed)
        while count:
            found = small_case(rng, rng.randint(1, largest))
            if found is not None:
                count -= 1
                yield found

    return make


@pytest.fixture(scope="session")
def square_allocations() -> Callable[[int, int], Iterator[Allocation]]:
    """As `small_allocations`, with as many cells as the labels have dimensions, not minimal."""
    from algebra.ranks.generic_rank import allocation_rank, network_rank

    def make(seed: int, count: int) -> Iterator[Allocation]:
        rng = random.Random(seed)
        while count:
            network = small_network(rng)
            rank = network_rank(network).rank
            names = rng.choice([list(network.shapes), [rng.choice(list(network.shapes))]])
            there = [cell for cell in all_cells(network) if cell[0] in names]
            if len(there) < rank:
                continue
            found = Allocation.from_cells(network, rng.sample(there, rank))
            if allocation_rank(found, upper=rank).rank == rank:
                count -= 1
                yield found

    return make
