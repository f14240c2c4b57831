"""Points of given parameters: residues, bits, samples, sentences."""

import numpy as np
from flint import fmpq

from algebra.documents import Document, Explanation, Paragraph
from algebra.networks.own_point import OwnPoint, about_parameters, at_these_parameters
from algebra.networks.rnn import RNN
from algebra.problems.laws.pinned import residue
from algebra.ranks.jacobian import random_point
from tests.refusals import refuses


def rationals(rows):
    """An array of rationals."""
    return np.array([[fmpq(*v) if isinstance(v, tuple) else fmpq(v) for v in row] for row in rows])


OWN = OwnPoint(
    {"W": rationals([[(1, 2), -3]])}, rationals([[1, (5, 4), 0]]), (np.eye(1, 3, dtype=bool),)
)


def test_residues_are_those_of_the_rationals():
    """Times its denominator each residue is the numerator; other matrices are 0."""
    point = OWN.at(101, 7, {"W": (1, 2), "g_W": (2, 1)}, residue(101))
    assert (point.weights["W"] * [[2, 1]] % 101).tolist() == [[1, 98]]
    assert point.weights["g_W"].tolist() == [[0], [0]]
    assert (point.X * [[1, 4, 1]] % 101).tolist() == [[1, 5, 0]]
    refuses("divisible by the prime 2", OWN.at, 2, 0, {"W": (1, 2)}, residue(2))


def test_samples_and_their_pattern_go_together():
    """The first samples have their part of the pattern, at the point as well."""
    few = OWN.first(2)
    assert few.X.shape == (1, 2)
    assert few.signs[0].tolist() == [[True, False]]
    point = OWN.at(101, 7, {"W": (1, 2)}, residue(101)).of_samples(slice(1, 3))
    assert point.X.shape == (1, 2)
    assert point.signs[0].tolist() == [[False, False]]


def test_bits_hold_all_numbers_over_one_denominator():
    """Over the denominator 4 the largest numerator is 12."""
    assert OWN.bits == 4


def test_the_network_keeps_its_point():
    """Fewer samples of a network at its parameters are a network at these."""
    net = RNN(n=1, T=1, b=1, d=1, m=2, activation="relu")
    weights = {name: rationals([[2]]) for name in net.shapes}
    own = net.at_parameters(weights, rationals([[1, -1]]))
    assert [s.tolist() for s in own.own_point.signs] == [[[True, False]]]
    assert random_point(own.with_samples(1), 101, 0).X.tolist() == [[1]]
    assert own == net
    assert own.own_point.weights["W"].tolist() == [[2]]


def test_each_statement_says_what_it_is_about():
    """Titles, lines and sentences do; names of weights keep their capitals."""
    why = Explanation(
        ("A free weight moves.", "W[0,0] moves.", "16 weights learn."), decided_by="x"
    )
    found = Document("free", parts=(Paragraph("  free: W[0,0]"), Paragraph("")), why=why)
    exact = at_these_parameters(found, about_parameters(True))
    assert exact.title == "at these parameters: free"
    assert [p.text for p in exact.parts] == ["  at these parameters: free: W[0,0]", ""]
    assert exact.why.known == (
        "At these parameters a free weight moves.",
        "At these parameters W[0,0] moves.",
        "At these parameters 16 weights learn.",
    )
    assert (exact.why.open, exact.why.decided_by) == ("", "x")
    near = at_these_parameters(found, about_parameters(False))
    assert near.why.known[1] == "To first order at these parameters W[0,0] moves."
