"""Data frames: of pandas, of polars, or a command that installs one."""

import sys
from types import SimpleNamespace

import pytest

from algebra.documents import Document
from algebra.frames import data_frame
from algebra.results import Result
from tests.refusals import refuses


class Found(Result):
    """A result with two facts."""

    def document(self):
        """Its verdict and rank."""
        return Document("found", {"verdict": "maximal", "rank": 3})


def test_frame_has_a_row_of_the_facts():
    """If a result has no table of its own, its facts are one row."""
    pytest.importorskip("pandas")
    assert Found().to_frame().to_dict("records") == [{"verdict": "maximal", "rank": 3}]


def test_without_pandas_polars_serves_and_without_both_a_command_is_named(monkeypatch):
    """The first library that can be imported makes the frame; none: how to install one."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", SimpleNamespace(DataFrame=lambda data: data))
    assert data_frame({"rank": (3,)}) == {"rank": [3]}
    monkeypatch.setitem(sys.modules, "polars", None)
    refuses("pandas or polars.*install", data_frame, {"rank": (3,)})
