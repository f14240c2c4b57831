"""Evaluation of programs, with an arithmetic of rational numbers for one sample."""

from fractions import Fraction

import numpy as np

from algebra.programs.evaluate import evaluate
from algebra.programs.program import Builder


class OneSample:
    """Rationals without a batch axis, in the simplest implementation."""

    def constant(self, table, denominator):
        return np.vectorize(lambda c: Fraction(int(c), denominator), otypes=[object])(table)

    def add(self, node, *terms):
        return sum(terms[1:], terms[0])

    def multiply(self, node, a, b):
        return a * b

    def scale(self, node, a, factor):
        return a * factor

    def contract(self, node, letters, *factors):
        return np.einsum(letters, *factors)

    def index(self, node, where, *parts):
        flat = np.concatenate([*(part.ravel() for part in parts), [Fraction(0)]])
        return flat[where]

    def power(self, node, a, exponent):
        return a**exponent

    def invert(self, node, a):
        return 1 / a

    def choose(self, node, sign, positive, other):
        return np.where(sign > 0, positive, other)


def rationals(*rows):
    return np.array(rows, dtype=object) * Fraction(1)


def test_every_operation_has_its_value():
    """A program with all operations but roots and functions agrees with the explicit formula."""
    build = Builder()
    W, x = build.weight("W", (2, 2)), build.sample("X", (2,))
    a = build.contract("ij,j->i", W, x)
    b = build.add(build.power(a, 2), build.scale(x, Fraction(1, 3)), build.constant([1, 2], 2))
    c = build.choose(a, b, build.multiply(a, b))
    out = build.joined([build.invert(c), build.index([-1], c)])
    program = build.program(out)
    w, v = rationals([1, 2], [3, -4]), rationals(1, 2)
    values = evaluate(program, OneSample(), {"W": w, "X": v}, [a.number, out.number])
    first = [Fraction(5), Fraction(-5)]
    second = [25 + Fraction(1, 3) + Fraction(1, 2), 25 + Fraction(2, 3) + 1]
    assert list(values[a.number]) == first
    assert list(values[out.number]) == [1 / second[0], 1 / (first[1] * second[1]), 0]


def test_only_what_is_needed_is_evaluated():
    """A block that the required value does not depend on needs no value."""
    build = Builder()
    x = build.sample("X", (1,))
    y = build.contract("ij,j->i", build.weight("W", (1, 1)), x)
    program = build.program(y)
    assert evaluate(program, OneSample(), {"X": rationals(7)}, [x.number])[x.number] == [7]
