"""Atlases of small nets: complete, resumable, and equal to work allocation by allocation."""

import csv
import io
import json
from itertools import combinations
from math import comb

import pytest

from algebra.families.certify import certify
from algebra.plugins.papers.atlas import atlas
from matchprob import Allocation, InputError, LinearRNN, Problem
from tests.refusals import refuses
from tests.samples import NET

THREE = LinearRNN(n=3, T=2, b=1, d=1, m=2)


def test_the_example_net():
    """B.1.1: four maximal allocations and two intermediate ones, in four orbits."""
    found = atlas(NET, 2)
    assert found.totals == {"intermediate": 2, "maximal": 4}
    assert len(found.entries) == found.orbits == 4


def test_transposition(tmp_path):
    """B.1.1: rows and columns are one orbit under transposition; the totals are the same."""
    store = tmp_path / "atlas.jsonl"
    found = atlas(NET, 2, transposition=True, store=store)
    assert found.totals == atlas(NET, 2).totals
    assert sorted(e.orbit for e in found.entries) == [1, 1, 4]
    refuses("another atlas \\(transposition", atlas, NET, 2, store=store)


def test_equals_brute_force():
    """n = 3, r = 2: verdicts weighted by orbit equal those of all 36 allocations."""
    found = atlas(THREE, 2)
    cells = [("W", i, j) for i in range(3) for j in range(3)]
    tally = {}
    for chosen in combinations(cells, 2):
        verdict = certify(Problem.of(Allocation.from_cells(THREE, chosen))).verdict
        tally[verdict] = tally.get(verdict, 0) + 1
    assert found.totals == dict(sorted(tally.items()))
    assert sum(e.orbit for e in found.entries) == comb(9, 2)


def test_resumes(tmp_path):
    """An interrupted atlas, whose last line is incomplete, continues after its last orbit."""
    store = tmp_path / "atlas.jsonl"
    calls = []

    def decide(problem):
        if len(calls) == 3:
            raise KeyboardInterrupt
        calls.append(problem)
        return certify(problem)

    part = atlas(THREE, 2, store=store, decide=decide)
    assert len(part.entries) == 3 < part.orbits
    store.write_text(store.read_text() + '{"cells": [["W", 0')
    calls.clear()
    calls += [None] * 10
    whole = atlas(THREE, 2, store=store, decide=decide)
    assert len(calls) == 10 + whole.orbits - 3
    assert whole.entries == atlas(THREE, 2).entries
    assert len(store.read_text().splitlines()) == 1 + whole.orbits


def test_foreign_stores_are_refused(tmp_path):
    """Another net's atlas, or a file that is not an atlas, is not changed."""
    store = tmp_path / "atlas.jsonl"
    atlas(NET, 2, store=store)
    before = store.read_text()
    refuses("another atlas \\(network", atlas, THREE, 2, store=store)
    store.write_text("garbage\n")
    refuses("not an atlas file", atlas, THREE, 2, store=store)
    assert before


def test_tables():
    """CSV and JSON contain one orbit per line."""
    found = atlas(NET, 2)
    rows = list(csv.reader(io.StringIO(found.to_csv())))
    assert len(rows) == 5
    assert json.loads(json.dumps(found.to_dict()))["allocations"] == 6


@pytest.mark.parametrize(("budget", "matrices"), [(0, None), (5, None), (2, ["V"])])
def test_bad_arguments(budget, matrices):
    """Impossible budgets and unknown matrices are bad input."""
    refuses("", atlas, NET, budget, matrices=matrices)


def test_a_line_cut_off_is_all_that_is_cut(tmp_path):
    """Earlier content of the file is not changed."""
    store = tmp_path / "atlas.jsonl"
    atlas(NET, 2, store=store)
    whole, place = store.read_bytes(), store.stat().st_ino
    store.write_bytes(whole + '{"cells": "é'.encode())
    atlas(NET, 2, store=store)
    assert store.read_bytes() == whole
    assert store.stat().st_ino == place


def test_a_full_disk_is_told(tmp_path):
    """An entry that cannot be written ends the work with the file's name, without a traceback."""
    store = tmp_path / "atlas.jsonl"
    calls = []

    def decide(problem):
        if not calls:  # from now on the name is that of a device that is always full
            store.unlink()
            store.symlink_to("/dev/full")
        calls.append(problem)
        return certify(problem)

    with pytest.raises(InputError, match=r"atlas\.jsonl: cannot be written: .*No space"):
        atlas(NET, 2, store=store, decide=decide)
    assert len(calls) == 1
