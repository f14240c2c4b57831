"""The design of the highest match probability, compared with estimates of many trials of all."""

import json
from itertools import combinations

from algebra.documents import Table
from algebra.questions.design.demand import checked_demand
from algebra.ranks.jacobian import all_cells
from matchprob import Allocation, Constraints, LinearRNN, Problem, design, estimate
from matchprob.api.designs.probable import gather
from matchprob.cli import app, run_command
from tests.refusals import refuses
from tests.samples import LONG

NET = LinearRNN(n=3, T=2, b=1, d=1, m=2)
CELLS = [c for c in all_cells(NET) if c[0] == "W"]


def test_a_certified_maximal_design_needs_no_race():
    """If a maximal design exists its match probability is 1, and no design is estimated."""
    found = design(Problem(NET, {}), goal="probable", matrices=["W"])
    assert found.value == 1
    assert found.is_optimal
    assert found.design.race is None
    assert found.problem.allocation == found.allocation
    assert found.to_dict()["certified"] is True
    document = found.document()
    assert "MP = 1, by a certificate (N = 1" in document.why.known[-1]
    assert not any(isinstance(part, Table) for part in document.parts)


def test_under_constraints_even_maximal_designs_are_raced():
    """A maximal design has matches that break a bound, so no certificate ends the search."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    bound = Problem(net, {}, constraints=Constraints(max_abs=1.0))
    found = design(bound, goal="probable", matrices=["W"], trials=64)
    assert found.to_dict()["certified"] is False
    assert found.problem.constraints == bound.constraints
    assert 0 < found.value < 1
    again = estimate(found.problem, 64)
    assert again.matched == found.value * 64
    # If units have different bounds, designs that differ by renaming units are all kept.
    demand = checked_demand(net, allowed=[c for c in all_cells(net) if c[0] == "W"])
    alike, _ = gather(demand, 100, 5.0)
    apart, exhaustive = gather(demand, 100, 5.0, symmetric=False)
    assert exhaustive
    assert len(apart) > len(alike)


def test_the_race_finds_the_best_by_many_trials():
    """Without maximal designs all orbits are raced; the winner is the best in many trials each."""
    # Pairs in different rows and columns.
    allowed = [("W", 0, 0), ("W", 1, 1), ("W", 0, 1), ("W", 1, 2)]
    caps = {"row": 1, "column": 1}
    problem = Problem.of(Allocation.from_cells(NET, allowed))
    found = design(problem, goal="probable", caps=caps, trials=256)
    assert found.design.exhaustive
    long = {}
    for pair in combinations(allowed, 2):
        if pair[0][1] != pair[1][1] and pair[0][2] != pair[1][2]:
            one = Allocation.from_cells(NET, pair)
            long[one.cells] = estimate(Problem.of(one), 300 if LONG else 100, seed=9).estimate
    assert long[found.allocation.cells] >= max(long.values()) - 0.05
    data = found.to_dict()
    assert data["certified"] is False
    assert data["pool"] == found.design.pool == len(data["race"]["entrants"])
    assert data["low"] <= float(found.value) <= data["high"]


def test_many_designs_are_sampled():
    """With more orbits than candidates different designs are drawn, and `exhaustive` is False."""
    demand = checked_demand(LinearRNN(n=6, T=2, b=1, d=2, m=2))
    pool, exhaustive = gather(demand, 9, 5.0)
    assert not exhaustive
    assert len({a.cells for a in pool}) == len(pool) == 9
    few, everything = gather(checked_demand(NET, allowed=CELLS[:3]), 9, 5.0)
    assert everything
    assert len(few) <= 3
    refuses("at least 1", gather, demand, 0, 1.0)


def test_command_design_probable(tmp_path, capsys):
    """The command prints how many designs were raced; with `--json` the trials of each."""
    path = tmp_path / "N.toml"
    path.write_text(
        '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n'
        "[learnable]\nW = [[1, 1], [1, 1]]\n"
    )
    words = ["design", str(path), "--goal", "probable", "--row-cap", "1", "--column-cap", "1"]
    words += ["--trials", "64"]

    def call(*more):
        return run_command(lambda: app([*words, *more], standalone_mode=False))

    assert call("--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["exhaustive"]
    assert found["pool"] == 2
    assert found["race"]["entrants"][0]["trials"] <= 64
    assert call() == 0
    assert "2 designs raced, all there are" in " ".join(capsys.readouterr().out.split())
