"""The design verb: from a problem file to an allocation that is not minimal."""

import json
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from algebra.problems.files import load_problem
from matchprob import RNN, Problem, design, verify
from matchprob.api.designs.goals import GOALS
from tests.matchprob.calls import call
from tests.refusals import refuses

NETWORK = '[network]\nkind = "lrnn"\nn = 4\nT = 2\nb = 1\nd = 2\nm = 2\n'
ALLOWED = NETWORK + "[learnable]\nW = [[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1]]\n"


@pytest.fixture
def net(tmp_path, file):
    path = file(ALLOWED, "N.toml")
    (tmp_path / "costs.csv").write_text("9,1,1,1\n1,1,1,1\n1/2,1,1,1\n1,1,7,1\n")
    return path


def test_design_writes_problem_certificate_and_plot(net, answer, capsys):
    """The written problem has the cells that were printed; its certificate is not minimal."""
    folder = net.parent
    words = ("design", net, "--costs", f"W={folder}/costs.csv", "--write", folder / "D.toml")
    words += ("--out", folder / "c.json", "--plot", folder / "d.png")
    found = answer(*words)
    assert (found["learnable"], found["equations"]) == (4, 4)
    assert [cell for cell in found["cells"] if cell == ["W", 0, 0]] == []
    made = load_problem(folder / "D.toml")
    assert [list(c) for c in made.allocation.cells] == found["cells"]
    assert json.loads((folder / "c.json").read_text())["verdict"] != "minimal"
    assert (folder / "d.png").read_bytes().startswith(b"\x89PNG")
    assert call(*words[:2]) == 0
    assert "weights at cost" in capsys.readouterr().out


def test_caps_and_goals(net, answer, complaint, capsys):
    """Designs keep to the caps; the goal "spread" needs none; impossible caps are refused."""
    found = answer("design", net, "--row-cap", 1)
    assert found["largest"]["row"] == 1
    assert answer("design", net, "--goal", "spread")["largest"]["row"] == 1
    assert "4 are needed" in complaint("design", net, "--matrix-cap", 3)
    found = answer("design", net, "--row-cap", 2, "--column-cap", 1)
    assert found["largest"]["column"] == 1
    assert found["optimal"]
    assert call("design", net, "--row-cap", 2, "--column-cap", 2, "--matrix-cap", 3) == 2
    assert "4 are needed" in capsys.readouterr().err
    assert call("design", net, "--goal", "best") == 2


def test_goal_neurons(net, answer, printed):
    """The goal "neurons" uses the fewest rows, or columns, and has the bound that proves it."""
    for by in ("row", "column"):
        found = answer("design", net, "--goal", "neurons", "--by", by)
        touched = {cell[1 if by == "row" else 2] for cell in found["cells"]}
        assert found["optimal"]
        assert found["value"] == found["bound"] == str(len(touched))
    assert call("design", net, "--goal", "neurons", "--by", "matrix") == 2
    assert "neurons that receive what learns" in printed("design", net, "--goal", "neurons")


def test_goal_maximal(tmp_path, answer, complaint):
    """The design is certified maximal; if provably none exists the command ends with status 2."""
    path = tmp_path / "N.toml"
    net = '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n[learnable]\n'
    path.write_text(net + "W = [[1, 0], [1, 1]]\n")
    words = ("design", path, "--goal", "maximal", "--out", tmp_path / "c.json")
    found = answer(*words)
    assert found["cells"] in ([["W", 1, 0], ["W", 1, 1]], [["W", 0, 0], ["W", 1, 0]])
    assert found["optimal"]
    assert json.loads((tmp_path / "c.json").read_text())["verdict"] == "maximal"
    path.write_text(net + "W = [[1, 0], [0, 1]]\n")
    assert "are even" in complaint(*words)


def test_forbidden_weights_and_matrices(net, complaint, capsys):
    """Forbidden weights do not learn; a matrix with too few weights, or unknown, is refused."""
    table = net.parent / "not.csv"
    table.write_text("1,0,0,0\n0,0,0,0\n0,0,0,0\n0,0,0,0\n")
    words = ("design", net, "--forbid", f"W={table}", "--matrix", "W", "--json")
    assert call(*words) == 0
    assert ["W", 0, 0] not in json.loads(capsys.readouterr().out)["cells"]
    assert "only 0 weights may learn" in complaint("design", net, "--matrix", "B")
    assert "no matrix `V`" in complaint("design", net, "--matrix", "V")


@pytest.mark.parametrize(("name", "there"), [("W", "g_W"), ("g_W", "g_W"), ("c", "c")])
def test_a_matrix_with_an_update_stands_for_its_parameters(name, there):
    """`matrices` accepts the name of the matrix, or that of its array of parameters."""
    net = RNN(n=4, T=3, b=2, d=2, m=2, activation="tanh", biases=True)
    problem = Problem(net, {"W": {"gain": "rows"}, "c": "all"})
    found = design(problem, matrices=[name])
    assert found.allocation.matrices == (there,)
    assert found.allocation.size == 4


def test_proof_files_of_designs(net, printed):
    """Proofs of four goals verify; a changed one ends with status 3, a goal without with 2."""
    file = net.parent / "proof.json"
    words = ("--costs", f"W={net.parent}/costs.csv", "--proof", file)
    goals = [("--goal", goal) for goal in ("spread", "neurons", "maximal")]
    goals += [(*goal, "--by", "column", "--row-cap", 3) for goal in goals[:2]]
    for more in (("--row-cap", 2, "--column-cap", 2), *goals, ()):
        assert call("design", net, *words, *more) == 0
        assert "holds" in printed("verify", file)
    data = json.loads(file.read_text())
    file.write_text(json.dumps({**data, "cost": "0"}))
    assert call("verify", file) == 3
    assert call("design", net, *words, "--goal", "probable") == 2


def test_bad_tables(net, complaint):
    """Tables of a wrong shape, with wrong entries, without a matrix, or missing are refused."""
    bad = net.parent / "bad.csv"
    bad.write_text("1,2\n")
    assert "1×2, but W is 4×4" in complaint("design", net, "--costs", f"W={bad}")
    bad.write_text("1,x,1,1\n" + "1,1,1,1\n" * 3)
    assert "'x' is no number" in complaint("design", net, "--costs", f"W={bad}")
    assert "is not 0 or 1" in complaint("design", net, "--must", f"W={bad}")
    assert "MATRIX=FILE" in complaint("design", net, "--costs", "costs.csv")
    assert call("design", net, "--must", f"W={net.parent}/none.csv") == 2


def test_a_cost_budget(net, tmp_path, answer, complaint, capsys):
    """`--cost-budget` finds the largest rank, proved; other goals or bad values are refused."""
    proof = tmp_path / "proof.json"
    found = answer("design", net, "--cost-budget", "2", "--proof", proof)
    assert (found["goal"], found["value"], found["optimal"]) == ("rank", "2", True)
    assert call("verify", proof) == 0
    capsys.readouterr()
    for more in (("--goal", "spread"), ("--budget", 4)):
        assert "cost-budget" in complaint("design", net, "--cost-budget", "2", *more)
    for wrong in ("abc", "-1", "1/0"):
        assert "cost-budget" in complaint("design", net, f"--cost-budget={wrong}")
    assert "needs a cost budget" in complaint("design", net, "--goal", "rank")


def goals_table(goals):
    """All goals as a Markdown table, for the documentation."""
    rows = [
        f"| `{name}` | {goal.help} | {'yes' if goal.lines else ''} | {goal.proof or 'no file'} |"
        for name, goal in goals.items()
    ]
    head = "| `--goal` | the design has | `--by` | its proof file shows |\n|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def test_goals_are_listed_once(printed):
    """The help of the command and the table of the page agree with the registry of goals."""
    shown = " ".join(printed("design", "--help").replace("│", " ").split())
    for name, goal in GOALS.items():
        assert f"{name}: {goal.help}" in shown
    page = (Path(__file__).parents[4] / "docs" / "designs.md").read_text(encoding="utf-8")
    assert goals_table(GOALS) in page


def test_design_from_python(net):
    """The result is frozen and has a short repr; costs may be texts and floats."""
    found = design(net, goal="neurons", costs={("W", 0, 0): "1/3", ("W", 0, 1): 0.5})
    assert repr(found) == (
        f"DesignResult(goal='neurons', value=2, cost={found.cost}, optimal=True, learnable=4, "
        "weights='W[0,0] W[0,1] W[1,0] W[1,1]')"
    )
    assert found.is_optimal
    assert found.problem.allocation == found.allocation
    assert verify(found.proof()).holds
    with pytest.raises(FrozenInstanceError):
        found.demand = None
    refuses("must be one of cheapest, rank, spread", design, net, goal="best")
    refuses("more than 1000 digits", design, net, costs={("W", 0, 0): "1e1000000000"})
