"""What MP tends to: digraphs, fitted powers, tables of a short run."""

import random
from itertools import combinations, permutations, product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import matchprob as mp
from algebra.plugins.papers.limits import limit_verdict
from matchprob.plugins.papers.figures import Run, find_figure
from matchprob.plugins.papers.figures.papers import large_networks as large
from matchprob.plugins.papers.figures.tables import groups, read_table
from numeric.plugins.papers.large_networks import count_trials
from numeric.studies.store import Store
from tests.refusals import refuses
from tests.samples import many

ROOT = Path(__file__).parents[5]
TABLE = read_table(ROOT / "docs" / "figures" / "large-networks.csv")
KEPT = groups(read_table(ROOT / "docs" / "figures" / "large-networks-curves.csv"), "curve")


def test_digraphs_by_brute_force():
    """All pairs of cells on four units, up to renaming, are the nine digraphs; 183 have four."""
    seen = set()
    for cells in combinations(product(range(4), repeat=2), 2):
        names = permutations(range(4))
        seen.add(min(tuple(sorted((n[i], n[j]) for i, j in cells)) for n in names))
    assert len(seen) == len(large.digraphs(2)) == 9
    assert [len(large.digraphs(r)) for r in (3, 4)] == [37, 183]
    every = large.digraphs(3)
    assert {large.reversed_cells(cells) for cells in every} == set(every)


@pytest.mark.parametrize("law", ["n^-1", "n^-1/2", "n^-1/2 log n"])
def test_fitted_laws(law):
    """Of MP = 0.6 + 0.3 x(n) the law, c and MP at n = 64 are found, the other laws are not."""
    rows = [
        {"curve": "made up", "n": n, "trials": 10**7,
         "mp": 0.6 + (0.3 * large._LAWS[law](np.array(float(n))) if n else 0)}
        for n in (0, 8, 16, 32, 64)
    ]  # fmt: skip
    power, *fits = large.approach(rows)
    found = {row["law"]: row for row in fits}
    assert abs(found[law]["c"] - 0.3) < 0.01
    assert abs(found[law]["away"]) < 0.1
    assert [name for name, row in found.items() if row["chi2"] < 20] == [law]
    if "log" not in law:
        a = {"n^-1": 1.0, "n^-1/2": 0.5}[law]
        assert power["power_low"] <= a <= power["power_high"] < power["power_low"] + 0.1
        assert power["law"] == f"n^-{a:.2f}"


def test_a_short_run(tmp_path, monkeypatch):
    """Limits that are known: 1/2 of two loops, 1 of a path, an open one is said to be open."""
    cells = {2: [((0, 0), (1, 1)), ((0, 1), (1, 2))], 3: [((0, 0), (1, 2), (2, 1))]}
    monkeypatch.setattr(large, "digraphs", cells.get)
    monkeypatch.setattr(large, "_TABLES", ((2, 2, 1, 1), (3, 3, 1, 1)))
    monkeypatch.setattr(large, "_CURVES", large._CURVES[4:5])
    monkeypatch.setattr(large, "_random", lambda run: [{"n": 0}])
    run = Run(100, 0, tmp_path / "s.sqlite", 1, 0, lambda text: None, points=2)
    found = large.large_networks(run)
    loops, path, other = found.rows
    assert (loops["growths"], loops["verdict"], loops["exact"]) == ("2", "undecided", 0)
    assert loops["low"] < 0.5 < loops["high"]
    assert (path["growths"], path["N"], path["mp"]) == ("1 + 1", 2, 1.0)
    assert (path["verdict"], path["exact"]) == ("maximal", 1)
    assert (other["growths"], other["N"], other["exact"]) == ("open", 6, 0)
    assert "of 1 the equations are not known" in found.text
    figure = find_figure("large-networks").pictures[0]
    (axes,) = figure.draw(found.tables).axes
    assert np.allclose(axes.get_lines()[0].get_xdata(), [8, 16384])


def test_limits_of_two_steps_are_those_of_the_tables():
    """Theorem 18 agrees with every count of two to four cells; networks of 64 units are near."""
    rows = [r for r in TABLE if (r["T"], r["b"]) == (2, 1) and r["r"] > 1]
    assert len(rows) == 7 + 26 + 114
    for row in rows:
        cells = tuple(tuple(map(int, cell.split("-"))) for cell in row["cells"].split())
        known = large.limit_of_two_steps(cells)
        assert row["low"] <= known <= row["high"]
        assert row["verdict"] != "maximal" or known == 1
        assert abs(row["mp64"] - known) < 4 * (known * (1 - known) / 12) ** 0.5 + 0.25


def test_an_interrupted_estimate_is_no_result(tmp_path, monkeypatch):
    """If an estimate was ended before its last trial, so is the work, and nothing is kept of it."""
    monkeypatch.setattr(
        large, "estimate", lambda problem, trials, **more: SimpleNamespace(trials=3)
    )
    task = large._Random("r fixed", 2, 16, 2, 1, 4, 0)
    run = Run(1, 0, tmp_path / "s.sqlite", 1, 0, print)
    refuses("", large._computed, run, [task], large._tried, error=KeyboardInterrupt)
    with Store(run.store) as store:
        assert not store.results(repr(task))


@pytest.mark.parametrize("curve", large._CURVES, ids=lambda curve: curve.name)
def test_networks_of_64_units(curve):
    """MP of other trials at n = 64 is the kept limit plus the fitted bias, within 3 errors."""
    rows = KEPT[curve.name]
    best, *_ = large.approach(rows)
    assert abs(best["away"]) < 3
    power, trials = float(best["law"].removeprefix("n^-")), many(100)
    problem = large.problem_of(curve.cells, 64, len(curve.cells))
    (found,) = count_trials([problem], trials, [63])
    assert found.undetermined == 0
    expected = rows[0]["mp"] + best["c"] * 64**-power
    error = (expected * (1 - expected) / trials + (best["error"] * 64**-power) ** 2) ** 0.5
    assert abs(found.matched / trials - expected) < 3 * error


def verified(problem):
    """The verdict on a limit, of which each part's own verdict must verify."""

    def decide(part):
        found = mp.certify(part)
        assert found.verdict == "undecided" or mp.verify(found).holds
        return found

    return limit_verdict(problem, decide).verdict


@pytest.mark.parametrize("T", [2, 3, 4])
@pytest.mark.parametrize("b", [1, 2])
def test_verdicts_on_limits_verify(T, b):
    """Of pairs of cells every verdict verifies; a trial decides none otherwise."""
    pairs = large.digraphs(2)
    for cells in random.Random(T).sample(pairs, min(len(pairs), many(2))):
        problem = large.problem_of(cells, 4, T, b, b)
        found = verified(problem)
        if found in ("maximal", "minimal"):
            assert _outcome(problem) in (None, found == "maximal")


def _outcome(problem):
    """Whether a trial of the limit matches; None where its equations are not known."""
    try:
        return bool(mp.estimate(problem, 1, limit=True).matched)
    except mp.InputError:
        return None


@pytest.mark.long
@pytest.mark.parametrize("T", [3, 4])
def test_verdicts_on_limits_of_three_cells_verify(T):
    """Of all digraphs of three cells every verdict verifies."""
    found = [verified(large.problem_of(cells, 6, T)) for cells in large.digraphs(3)]
    assert {"maximal", "intermediate"} <= set(found)
