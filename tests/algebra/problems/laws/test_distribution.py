"""Laws of weights and samples."""

from algebra.problems.laws.distribution import Distribution


def test_full_support():
    """Gaussian laws only."""
    assert Distribution(signs=[1, -1]).has_full_support
    assert not Distribution(inputs="uniform").has_full_support
