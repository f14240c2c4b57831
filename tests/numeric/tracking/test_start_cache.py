"""The cache of start systems: written, read, refused if damaged."""

import numpy as np
import pytest

from matchprob import Allocation, Problem
from numeric.engines.homotopy import HomotopyEngine
from numeric.equations.chain import make_chain
from numeric.tracking.monodromy import GIVEN, StartSystem, find_start
from numeric.tracking.start_cache import cache_file, load_start, save_start
from tests.numeric.equations.cases import labels_at, residual_at
from tests.samples import NET

ALLOCATION = Allocation.from_cells(NET, [("W", 0, 0), ("W", 1, 1)])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder."""
    monkeypatch.setenv("MATCHPROB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_saved_start_system_is_loaded(folder):
    """It is read as written for its seed and N only, and no temporary file remains."""
    chain = make_chain(ALLOCATION)
    start = find_start(chain, 2)
    path = save_start(chain, 0, start)
    assert [path] == list(folder.iterdir())
    again = load_start(chain, 0, 2)
    assert np.array_equal(again.parameters, start.parameters)
    assert np.array_equal(again.roots, start.roots)
    assert load_start(chain, 1, 2) is None
    assert load_start(chain, 0, 3) is None


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 500])
def test_damaged_file_is_refused_and_rebuilt(folder, capsys, damage):
    """A damaged file is reported on stderr and replaced."""
    problem = Problem.of(ALLOCATION)
    engine = HomotopyEngine(problem, root_count=2)
    path = cache_file(engine.chain, 0)
    path.write_bytes(damage)
    assert load_start(engine.chain, 0, 2) is None
    assert "damaged" in capsys.readouterr().err
    HomotopyEngine(problem, root_count=2)
    assert load_start(engine.chain, 0, 2) is not None


def test_a_changed_byte_fails_the_checksum(folder, capsys):
    """A file with one changed bit is not loaded, and the message names the checksum."""
    chain = make_chain(ALLOCATION)
    path = save_start(chain, 0, find_start(chain, 2))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    assert load_start(chain, 0, 2) is None
    assert "checksum" in capsys.readouterr().err


def test_folder_that_cannot_be_written(tmp_path, monkeypatch, capsys):
    """Without a writable folder the work continues, with one line on stderr."""
    file = tmp_path / "file"
    file.write_text("not a folder")
    monkeypatch.setenv("MATCHPROB_CACHE", str(file))
    chain = make_chain(ALLOCATION)
    assert save_start(chain, 0, find_start(chain, 2)) is None
    assert "not kept" in capsys.readouterr().err


def test_a_root_with_large_weights_is_loaded(folder, capsys):
    """Its residual is the rounding of large terms: no message is printed."""
    chain = make_chain(ALLOCATION)
    start = find_start(chain, 2)
    far = 1e8 * np.array([1.0, 1.5])
    parameters = start.parameters.copy()
    labels = labels_at(chain, parameters, far)
    parameters[chain.y_at :] = labels.ravel()
    far = far * (1 + 1e-14)
    assert np.abs(residual_at(chain, parameters, far)).max() > 1e-4
    save_start(chain, 0, StartSystem(parameters, far[None], GIVEN, 1))
    assert load_start(chain, 0, 1) is not None
    assert capsys.readouterr().err == ""
