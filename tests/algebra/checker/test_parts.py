"""Parts of proof files: read if they have the required form, otherwise refused with a place."""

from fractions import Fraction

import pytest

from algebra.checker.checks import CheckFailed
from algebra.checker.parts import caps_of, fixed_problem, read_price
from tests.refusals import refuses

NETWORK = {"kind": "linear", "q": 2, "d": 1, "m": 1}


def test_what_is_well_formed():
    """A problem, caps in the order of the file, exact prices."""
    problem = fixed_problem({"network": NETWORK, "learnable": {"W": [[1, 0]]}})
    assert problem.allocation.cells == (("W", 0, 0),)
    caps = caps_of(("row", "column"))
    assert caps.read({"column": 2, "row": 1}, "caps", {}) == (("column", 2), ("row", 1))
    assert read_price("2.5", "cost") == Fraction(5, 2)


@pytest.mark.parametrize(
    ("read", "place"),
    [
        (lambda: read_price(1, "cost"), "cost"),
        (lambda: read_price("x", "cost"), "cost"),
        (lambda: caps_of(("row",)).read({"row": 1.0}, "caps", {}), "caps.row"),
        (lambda: caps_of(("row",)).read({"unit": 1}, "caps", {}), "caps"),
        (lambda: fixed_problem({"network": NETWORK}), "problem.learnable"),
        (
            lambda: fixed_problem({"network": NETWORK, "learnable": {"W": [[True, 0]]}}),
            "problem.learnable.W[0][0]",
        ),
        (
            lambda: fixed_problem({"network": {"kind": "linear"}, "learnable": {}}),
            "problem.network",
        ),
        (
            lambda: fixed_problem({"network": NETWORK, "learnable": {"W": {"lora": 0}}}),
            "problem.learnable.W.lora",
        ),
    ],
)
def test_what_is_not(read, place):
    """The message names the place of the error."""
    assert refuses("", read, error=CheckFailed).place == place
