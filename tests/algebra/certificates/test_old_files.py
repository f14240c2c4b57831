"""Certificates written by an older program, before evidence was read into objects, still verify."""

import json
from pathlib import Path

import pytest

from algebra.families import verify

FILES = sorted((Path(__file__).parents[2] / "data" / "certificates").glob("*.json"))


def test_there_are_files_of_every_kind():
    """Every verdict and every family is among them."""
    assert {f.stem for f in FILES} >= {"diagonal", "mixed", "missed", "lowered", "silent"}


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_genuine_old_files_hold(file, msolve):
    """The format is the same, so they verify, with a verdict that is proved or probable."""
    data = json.loads(file.read_text(encoding="utf-8"))
    result = verify(data)
    assert result.holds, str(result)
    assert [c.status for c in result.checks if c.place == "verdict"][-1] in ("proved", "probable")
