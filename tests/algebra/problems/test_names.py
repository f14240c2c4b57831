"""Names of units: read, refused with the reason, put in place of indices, otherwise unused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.errors import InputError
from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.plugins.normalization.network import NormNet
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.files import load_problem, problem_from_dict
from algebra.problems.names import Names
from algebra.problems.problem import Problem
from tests.refusals import refuses

NET = LinearRNN(n=3, T=2, b=2, d=1, m=2)
UNITS = {"neurons": ["PV", "SST", "E1"], "inputs": ["light", "sound"], "outputs": ["lick"]}
TEXT = (
    '[network]\nkind = "lrnn"\nn = 3\nT = 2\nb = 2\nd = 1\nm = 2\n'
    '[names]\nneurons = ["PV", "SST", "E1"]\ninputs = ["light", "sound"]\n'
)


def test_rows_and_columns_have_the_names_of_their_units():
    """Neurons name both sides of W, the rows of B, the columns of D."""
    names = Names(NET, UNITS)
    assert names.rows("W") == names.columns("W") == names.rows("B") == names.columns("D")
    assert names.cell(("B", 2, 1)) == "B[E1,sound]"
    assert names.cell(("D", 0, 0)) == "D[lick,PV]"
    layers = Names(LinearFeedForward(q=2, widths=(2, 1), d=1, m=2), {"layer1": ["a", "b"]})
    assert layers.rows("W1") == layers.columns("W2") == ("a", "b")
    relu = Names(ShallowReLU(q=2, n=2, d=1, m=2), {"neurons": ["a", "b"]})
    assert relu.rows("W1") == relu.columns("W2") == ("a", "b")


@pytest.mark.parametrize(
    ("given_names", "reason"),
    [
        ({"neurons": ["PV", "SST"]}, "has 2 names for 3 units"),
        ({"neurons": ["PV", "PV", "E"]}, "'PV' twice"),
        ({"neurons": ["\u0661", "a", "b"]}, "have the digits 0 to 9"),
        ({"neurons": ["a ", "b", " a"]}, "'a' twice"),
        ({"neurons": [" ", "b", "c"]}, "must be a word"),
        ({"neurons": ["a", "b\x07", "c"]}, "printable"),
        ({"neurons": "abc"}, "must be a list"),
        ({"cells": ["a"]}, "has no such units; it has outputs, neurons, inputs"),
        ({"neurons": ["a", 3, "c"]}, r"names.neurons\[1\]"),
        (["a"], "must map populations"),
    ],
)
def test_wrong_names_are_refused(given_names, reason):
    """Each with its place and the error."""
    refuses(reason, Names, NET, given_names)


def test_networks_without_units_to_name_refuse_them():
    """A normalization net's frozen layers have no names."""
    with pytest.raises(InputError, match="cannot be named"):
        Names(NormNet(widths=(2, 2), hidden=(4,), m=3), {"inputs": ["a", "b"]})


def test_texts_are_annotated_once():
    """Weights, rows and columns; other words do not change; a second time changes nothing."""
    names = Names(NET, UNITS)
    text = "rows 0, 2 and columns 1 of W hold W[0,2] and W[9,9]; column 1 of B; row 0 of D"
    told = names.annotate(text)
    assert told == (
        "rows 0 (PV), 2 (E1) and columns 1 (SST) of W hold W[PV,E1] and W[9,9]; column 1 (sound) "
        "of B; row 0 (lick) of D"
    )
    assert names.annotate(told) == told
    assert Names(NET).annotate(text) == text
    many = "rows 0, 1 and 2 more of W hold"
    assert names.annotate(many) == "rows 0 (PV), 1 (SST) and 2 more of W hold"


@given(st.text(max_size=60))
def test_other_texts_stay(text):
    """Only weights and lines are replaced, and no text fails."""
    told = Names(NET, UNITS).annotate(text)
    assert told == text or "[" in text or " of " in text


def test_names_change_no_problem(tmp_path):
    """Equality, digest and stored form are without names; a written file has them."""
    with_names = Problem(NET, {"W": [[1, 0, 0]] * 3}, names=UNITS)
    without = Problem(NET, {"W": [[1, 0, 0]] * 3})
    assert with_names == without
    assert hash(with_names) == hash(without)
    assert with_names.to_dict() == without.to_dict()
    (tmp_path / "p.toml").write_text(with_names.to_toml())
    assert load_problem(tmp_path / "p.toml").names.to_dict() == UNITS
    assert with_names.with_allocation(without.allocation).names.to_dict() == UNITS
    assert problem_from_dict(with_names.to_dict()).names.to_dict() == {}


def test_edge_lists_speak_of_units_by_name(tmp_path, file):
    """Names or indices, for learnable and support; an unknown name is refused."""
    (tmp_path / "all.csv").write_text("pre,post\nPV,SST\nSST,PV\nE1,0\n2,E1\n")
    (tmp_path / "plastic.csv").write_text("post,pre\nSST,PV\n")
    path = file(TEXT + '[support]\nW = "all.csv"\n[learnable]\nW = "plastic.csv"\nB = "b.csv"\n')
    (tmp_path / "b.csv").write_text("pre,post\nsound,PV\n")
    problem = load_problem(path)
    assert problem.support["W"].tolist() == [[0, 1, 1], [1, 0, 0], [0, 0, 1]]
    assert problem.learnable["W"].tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert problem.learnable["B"].tolist() == [[0, 1], [0, 0], [0, 0]]
    (tmp_path / "b.csv").write_text("pre,post\nlight,VIP\n")
    refuses(r"row 2, from light onto VIP: `post` \('VIP'\) is none", load_problem, path)
    path.write_text(path.read_text().replace("inputs = ", "outputs = ").replace('", "sound', ""))
    (tmp_path / "b.csv").write_text("pre,post\nlight,PV\n")
    refuses(r"the columns of B have no \[names\]", load_problem, path)


def test_named_tables_are_put_in_order(tmp_path, file):
    """Rows and columns of a spreadsheet in another order; other names are refused."""
    path = file(TEXT + '[learnable]\nW = "w.csv"\n')
    (tmp_path / "w.csv").write_text(";E1;PV;SST\nSST;1;0;0\nPV;0;0;1\nE1;0;0;0\n")
    assert load_problem(path).learnable["W"].tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    (tmp_path / "w.csv").write_text("neuron,E1,PV,SST\nSST,1,0,0\nPV,0,0,1\nE1,0,0,0\n")
    assert load_problem(path).learnable["W"].tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    (tmp_path / "w.csv").write_text(",0,1,2\n0,1,0,0\n1,0,0,1\n2,0,0,0\n")
    assert load_problem(path).learnable["W"].tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    (tmp_path / "w.csv").write_text(";E1;PV;VIP\nVIP;1;0;0\nPV;0;0;1\nE1;0;0;0\n")
    refuses("give the same names, or none", load_problem, path)


def test_names_are_stripped_and_may_be_large_numbers():
    """Published tables pad names with blanks; neuPrint's names are numbers no index can be."""
    names = Names(NET, {"neurons": [" PV", "SST  ", "1158864995"]})
    assert names.rows("W") == ("PV", "SST", "1158864995")
    assert names.index("W", 0, "1158864995") == 2
    told = names.annotate("rows 0, 2 of W and W[2,1]")
    assert told == "rows 0 (PV), 2 (1158864995) of W and W[1158864995,SST]"
    assert names.annotate(told) == told


def test_numbers_that_are_names_are_no_positions():
    """With names 2, 0, 7 the unit 2 is the first one, and 1 is nobody; sentences quote them."""
    names = Names(NET, {"neurons": ["2", "0", "7"], "inputs": ["light", "sound"]})
    assert [names.index("W", 0, text) for text in ("2", "0", "7")] == [0, 1, 2]
    refuses("`pre` .'1'. is none of the", names.index, "W", 1, "1")
    # Inputs have words as names, so numbers are positions there.
    assert names.index("B", 1, "1") == 1
    told = names.annotate("rows 0, 2 of W and W[2,1]")
    assert told == 'rows 0 (2), 2 (7) of W and W[7,"0"]'
    assert names.annotate(told) == told
