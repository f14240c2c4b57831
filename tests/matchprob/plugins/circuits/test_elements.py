"""Costs and marks of elements to record: by name, by a file for a kind; refusals."""

from fractions import Fraction

import pytest

import matchprob as mp
from algebra.errors import InputError
from algebra.plugins.circuits.elements import elements_of
from matchprob.plugins.circuits.elements import elements_by_kind, read_element_costs, read_marks
from tests.refusals import refuses

NET = mp.RNN(n=3, T=2, b=1, d=2, m=2, activation="tanh")
NAMES = mp.Problem(NET, {"W": [[1, 0, 0]] * 3}, names={"neurons": ["PV", "SST", "E"]}).names
UNITS, _ = elements_of(NET, ["units"])
ENTRIES, _ = elements_of(NET, ["entries"])


@pytest.mark.parametrize(
    "text",
    [
        "1,2.5,3\n",
        "1\n2.5\n3\n",
        "unit,cost\nE,3\nPV,1\nSST,5/2\n",
        "unit,cost\n2,3\n0,1\n1,2.5\n",
        "unit,cost\n2,3\nPV,1\n1,2.5\n",
    ],
)
def test_costs_of_all_units(file, text):
    """A file has a row, a column, or lines of an index or name and a number, in any order."""
    found = read_element_costs([f"units={file(text)}"], UNITS, NAMES)
    assert found == {"unit 0": 1, "unit 1": Fraction(5, 2), "unit 2": 3}


def test_costs_of_units_by_name():
    """A unit is given by index or by name; if given twice the last cost is taken."""
    found = read_element_costs(["unit 0=2", "unit E=1/3", "unit PV=4"], UNITS, NAMES)
    assert found == {"unit 0": 4, "unit 2": Fraction(1, 3)}


def test_costs_of_some_units(file):
    """A file may give the costs of some units only."""
    path = file("unit,cost\nSST,7\n")
    found = read_element_costs([f"units={path}"], UNITS, NAMES)
    assert found == {"unit 1": 7}


def test_costs_of_entries_are_a_matrix(file):
    """The file has one number for each output and sample, in the shape of the labels."""
    path = file("1,2\n3,4\n")
    found = read_element_costs([f"entries={path}"], ENTRIES, NAMES)
    assert found == {"entry 0,0": 1, "entry 0,1": 2, "entry 1,0": 3, "entry 1,1": 4}


def test_marks_of_elements(file):
    """Elements are marked by names, or by files of 0 and 1."""
    path = file("0,1,1\n")
    assert read_marks([f"units={path}"], UNITS, NAMES, "--must") == ["unit 1", "unit 2"]
    assert read_marks(["unit SST", "unit 0"], UNITS, NAMES, "--must") == ["unit 1", "unit 0"]


def test_units_are_grouped_by_layer():
    """Units of a network with several layers form one kind per layer."""
    elements, _ = elements_of(
        mp.LinearFeedForward(q=1, widths=(2, 3), d=1, m=1), ["units", "outputs"]
    )
    found = {kind: len(some) for kind, some in elements_by_kind(elements).items()}
    assert found == {"layer1": 2, "layer2": 3, "outputs": 1}


@pytest.mark.parametrize(
    ("entry", "text", "message"),
    [
        ("units={}", "1,2\n", r"2 numbers; one for each of the units \(3\)"),
        ("units={}", "1,x,2\n", "unit 1: 'x' is no number"),
        ("units={}", "unit,cost\nVIP,1\n", "'VIP' is none of the 3 units"),
        ("units={}", "unit,cost\nPV,1\n0,2\n", "given twice"),
        ("units={}", "pre,post,cost\nPV,SST,1\n", "an edge list is about weights"),
        ("units={}", "", "it is empty"),
        ("outputs={}", "1,2\n", "--costs 'outputs': give the name of an element"),
        ("{}", "1,2,3\n", "give NAME=NUMBER or KIND=FILE"),
        ("units={}.x", "1,2,3\n", "No such file"),
    ],
)
def test_bad_costs_of_elements_are_refused(file, entry, text, message):
    """The message names the option, the file or the place in it."""
    with pytest.raises(InputError, match=message):
        read_element_costs([entry.format(file(text))], UNITS, NAMES)


def test_marks_are_0_or_1(file):
    """Other numbers, and unknown names, are refused with the option's name."""
    path = file("0,2,1\n")
    with pytest.raises(InputError, match=r"--forbid .*unit 1: '2' is not 0 or 1"):
        read_marks([f"units={path}"], UNITS, NAMES, "--forbid")
    with pytest.raises(InputError, match="--must 'unit 9': give the name of an element"):
        read_marks(["unit 9"], UNITS, NAMES, "--must")


def test_names_that_are_nearly_right():
    """An element that does not exist: the nearest names that the file gives, or their range."""
    refuses(r"\(unit SST, .*…\), or KIND=FILE", read_marks, ["unit SS"], UNITS, NAMES, "--must")
    refuses(r"\(unit .* to unit .*\), or", read_marks, ["zzz"], UNITS, NAMES, "--must")
