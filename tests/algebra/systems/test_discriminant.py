"""Discriminants in print."""

import matchprob as mp


def test_a_long_discriminant_is_printed_in_short():
    """Its factors with their sizes, in lines that fit; a short one is printed whole."""
    net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    found = mp.discriminant(mp.Problem(net, {"W": [[1, 0], [0, 1]]}))
    assert len(str(found)) < 600 < len(found.factored)
    assert max(map(len, str(found).splitlines())) < 100
    assert "2 factors, the longest of 38 terms" in str(found)
    assert len(repr(found)) < 2000
