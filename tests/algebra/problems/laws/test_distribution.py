"""Laws of weights and samples."""

from fractions import Fraction

from algebra.problems.laws.distribution import Distribution


def test_full_support():
    """Gaussian laws only."""
    assert Distribution(signs=[1, -1]).has_full_support
    assert not Distribution(inputs="uniform").has_full_support


def test_scales_are_the_numbers_written():
    """The least and the largest scale are accepted as doubles too, and are exact."""
    found = Distribution(scale={"W": 1e-6, "B": 1e6, "D": 0.1}).scale
    assert found == {"W": Fraction(1, 10**6), "B": 10**6, "D": Fraction(1, 10)}
