"""Certificates written by an older program, before evidence was read into objects, still verify."""

import json
from pathlib import Path

import pytest

from algebra.checker import compact
from algebra.families.verify import verify

FILES = sorted((Path(__file__).parents[2] / "data" / "certificates").glob("*.json"))


def test_there_are_files_of_every_kind():
    """The files include every verdict and every family."""
    assert {f.stem for f in FILES} >= {"diagonal", "mixed", "missed", "lowered", "silent"}


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_genuine_old_files_hold(file, msolve):
    """The format is the same, so they verify, with a verdict that is proved or probable."""
    data = json.loads(file.read_text(encoding="utf-8"))
    result = verify(data)
    assert result.holds, str(result)
    assert [c.status for c in result.checks if c.place == "verdict"][-1] in ("proved", "probable")


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_the_sparse_form_is_checked_alike(file, msolve, monkeypatch):
    """The checks are the same with sparse masks; one changed entry is found in both forms."""
    monkeypatch.setattr(compact, "MOST_ENTRIES", 0)
    data = json.loads(file.read_text(encoding="utf-8"))
    assert outcome(data) == outcome({**data, "problem": compact.compact(data["problem"])})
    name, rows = next(iter(data["problem"]["learnable"].items()))
    rows = [[1 - rows[0][0], *rows[0][1:]], *rows[1:]]
    data["problem"]["learnable"] = {**data["problem"]["learnable"], name: rows}
    assert outcome(data) == outcome({**data, "problem": compact.compact(data["problem"])})


def outcome(data):
    """Places and statuses of the checks."""
    found = verify(data)
    return found.holds, [(check.place, check.status) for check in found.checks]
