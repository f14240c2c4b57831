"""The verbs repair and robust."""

import pytest

from algebra.networks.recurrent import LinearRNN
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.files import load_problem
from algebra.problems.problem import Problem
from matchprob import InputError, repair, robust, verify
from tests.matchprob.calls import call

NETWORK = '[network]\nkind = "lrnn"\nn = 4\nT = 2\nb = 2\nd = 2\nm = 4\n[learnable]\n'
MINIMAL = NETWORK + "W = [[1, 0, 0, 0], [1, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]]\n"


@pytest.fixture
def net(file):
    return file(MINIMAL, "P.toml")


def test_a_minimal_allocation_is_repaired_with_one_move(net, answer, printed):
    """An allocation that Theorem 3.4 does not call minimal is minimal until one weight moves."""
    folder = net.parent
    words = ("repair", net, "--write", folder / "R.toml", "--out", folder / "c.json")
    words += ("--plot", folder / "r.png")
    found = answer(*words)
    assert (found["before"]["verdict"], found["before"]["rank"]) == ("minimal", 7)
    assert (found["moves"], found["bound"], found["optimal"]) == (1, 1, True)
    assert found["after"]["verdict"] != "minimal"
    assert found["after"]["rank"] == found["equations"] == 8
    made = load_problem(folder / "R.toml")
    assert [list(c) for c in made.allocation.cells] == found["cells"]
    assert verify(folder / "c.json").holds
    assert (folder / "r.png").read_bytes().startswith(b"\x89PNG")
    text = printed("repair", net)
    assert "1 move: 8 learnable weights take part in 7 of 8" in text
    assert "No repair has fewer moves" in text


def test_nothing_to_do_and_definite_refusals(net, tmp_path, printed, capsys):
    """A maximal allocation is not changed; impossible demands are refused with the reason."""
    path = tmp_path / "Q.toml"
    small = '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n[learnable]\n'
    path.write_text(small + "W = [[1, 1], [0, 0]]\n")
    assert "nothing to repair: MP" in printed("repair", path)
    assert call("repair", net, "--column-cap", 1) == 2
    assert (
        "the caps permit 4 of the 16 allowed weights, and 8 are needed" in capsys.readouterr().err
    )
    assert call("repair", net, "--goal", "best") == 2
    with pytest.raises(InputError, match="no minimal allocations to repair"):
        repair(Problem(ShallowReLU(q=2, n=2, d=1, m=2), {"W1": [[1, 0], [0, 0]]}))


def test_an_intermediate_allocation_becomes_maximal():
    """The diagonal of B.1.1 is one move from a certified maximal allocation."""
    network = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    done = repair(Problem(network, {"W": [[1, 0], [0, 1]]}))
    assert (done.before.verdict, done.after.verdict) == ("intermediate", "maximal")
    assert done.repair.moves == done.repair.bound == 1
    assert verify(done.after).holds


def test_robust_counts_losses(net, answer, complaint, printed):
    """Of a row more than needed weights may be lost: as many in text, JSON and Python."""
    assert "matchprob repair" in complaint("robust", net)
    net.write_text(NETWORK + "W = [[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]]\n")
    found = answer("robust", net)
    assert found["exact"]
    assert found["survives"] == found["at_most"] == len(found["fatal"]) - 1
    assert found["coloops"] == []
    assert f"any {found['survives']} of 12 weights may be lost" in printed("robust", net)
    assert robust(net).survives == found["survives"]
