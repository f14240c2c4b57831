"""What a result of capacities says of its subsets."""

from fractions import Fraction

import pytest

from algebra.plugins.models.capacity.result import Capacity, Redundancy, SubsetCapacity
from algebra.programs.generic import Exactness


def subset(name, rank, capacity, **more):
    """A subset of 12 parameters, ranks of which are known for 7 samples with 2 labels each."""
    known = {"teacher_capacity": None, "is_whole": True, "reasons": (), "error_bound": Fraction(0)}
    return SubsetCapacity(
        name, 12, rank, capacity, counting=6, samples=7, growth=(2, 4), **known | more
    )


def capacity(*subsets, needed=None):
    """A result of these subsets."""
    return Capacity("a.onnx", 2, 20, subsets, EXACT, 0, needed)


EXACT = Exactness(True, "exact")


def test_lower_bounds_are_marked():
    """Ranks and capacities that more samples may increase are lower bounds."""
    found = capacity(subset("whole", 10, 5), subset("open", 11, 7, is_whole=False))
    (table, *_) = found.document().parts
    assert table.columns["rank"] == ["10", "≥ 11"]
    assert table.columns["redundant"] == ["2", "≤ 1"]
    assert table.columns["capacity"] == ["5", "≥ 7"]
    assert table.columns["teacher"] == ["any", "any"]


def test_the_cheapest_subset_fits_the_samples():
    """None if no subset fits as many samples."""
    few, many = subset("few", 10, 3), subset("many", 12, 6)
    assert capacity(few, many, needed=4).cheapest is many
    assert capacity(few, many, needed=7).cheapest is None
    assert capacity(few, many).cheapest is None


def test_bounds_add_up_unless_one_is_missing():
    """The bound of all ranks is the sum of those of the subsets."""
    small = subset("a", 10, 5, error_bound=Fraction(1, 8))
    assert capacity(small, small).error_bound == Fraction(1, 4)
    assert capacity(small, subset("b", 10, 5, error_bound=None)).error_bound is None


def test_redundant_parameters_with_their_reason():
    """The reason is in brackets if one was found."""
    assert str(Redundancy(("b", "c"), 4, 2, "why")) == "b, c: rank 2 of 4 (why)"
    assert str(Redundancy(("b",), 4, 0, "")) == "b: rank 0 of 4"


@pytest.mark.parametrize(
    ("needed", "answer"),
    [
        (4, "The smallest of these subsets that fits 4 samples is many, with 12 parameters."),
        (7, "None of these subsets fits 7 samples."),
        (None, ""),
    ],
)
def test_the_answer_to_a_number_of_samples_is_printed(needed, answer):
    """With the table, in Python too."""
    text = str(capacity(subset("few", 10, 3), subset("many", 12, 6), needed=needed))
    assert text.rstrip().endswith(answer)
    assert ("subsets" in text) == bool(answer)
