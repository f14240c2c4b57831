r"""Values of a program that are positive for all real weights and samples.

If every square root and every divisor is such a value, the labels are analytic functions of all
real weights and samples: norms with ε, softmax.  A value that is not recognized may have any sign;
only signs are computed.
"""

from __future__ import annotations

from enum import IntEnum
from fractions import Fraction

import numpy as np

from algebra.programs.evaluate import evaluate
from algebra.programs.program import Node, Program


class Sign(IntEnum):
    """The known sign of all entries of a value."""

    ANY = 0
    NONNEGATIVE = 1
    POSITIVE = 2


class SignArithmetic:
    """Signs of real values, as far as the operations determine them."""

    def constant(self, table: np.ndarray, denominator: int) -> Sign:
        least = min(table.ravel().tolist(), default=1)
        return Sign.POSITIVE if least > 0 else Sign.ANY if least < 0 else Sign.NONNEGATIVE

    def add(self, node: Node, *terms: Sign) -> Sign:
        return Sign.ANY if Sign.ANY in terms else max(terms)

    def multiply(self, node: Node, a: Sign, b: Sign) -> Sign:
        if node.inputs[0] == node.inputs[1]:
            return max(a, Sign.NONNEGATIVE)
        return min(a, b)

    def scale(self, node: Node, a: Sign, factor: Fraction) -> Sign:
        if factor == 0:
            return Sign.NONNEGATIVE
        return a if factor > 0 else Sign.ANY

    def contract(self, node: Node, letters: str, *factors: Sign) -> Sign:
        groups = letters.partition("->")[0].split(",")
        if len(groups) == 2 and groups[0] == groups[1] and node.inputs[0] == node.inputs[1]:
            return max(factors[0], Sign.NONNEGATIVE)
        return min(factors)

    def index(self, node: Node, where: np.ndarray, *parts: Sign) -> Sign:
        found = min(parts)
        return min(found, Sign.NONNEGATIVE) if where.size and where.min() < 0 else found

    def power(self, node: Node, a: Sign, exponent: int) -> Sign:
        if not exponent:
            return Sign.POSITIVE
        return a if exponent % 2 else max(a, Sign.NONNEGATIVE)

    def invert(self, node: Node, a: Sign) -> Sign:
        return a if a == Sign.POSITIVE else Sign.ANY

    def root(self, node: Node, a: Sign) -> Sign:
        return a

    def apply(self, node: Node, name: str, a: Sign) -> Sign:
        if name == "log":
            return Sign.ANY
        return Sign.POSITIVE if name in ("exp", "sigmoid", "softplus") else a

    def choose(self, node: Node, sign: Sign, positive: Sign, other: Sign) -> Sign:
        if node.inputs[0] == node.inputs[1]:
            positive = Sign.POSITIVE
        return min(positive, other)


def is_analytic(program: Program) -> bool:
    """Whether roots and logarithms are of positive values, and with them all divisors are positive.

    Without roots and logarithms (softplus is one) the labels are single-valued on the complex
    numbers minus a hypersurface, which is connected: then divisors may be any values that are not
    identically 0.  Programs that choose by signs are not analytic.

    Examples
    --------
    >>> from algebra.programs.program import Builder
    >>> build = Builder()
    >>> x = build.contract("ij,j->i", build.weight("W", (2, 2)), build.sample("X", (2,)))
    >>> square = build.contract("i,i->", x, x)
    >>> is_analytic(build.program(build.root(square)))
    False
    >>> is_analytic(build.program(build.root(build.add(square, build.constant(1)))))
    True
    """
    needed = [program.nodes[k] for k in sorted(program.needed([program.output]))]
    if any(node.op == "choose" for node in needed):
        return False
    if not any(node.op == "root" or node.name in ("softplus", "log") for node in needed):
        return True
    below = {n.inputs[0] for n in needed if n.op in ("root", "invert") or n.name == "log"}
    blocks = dict.fromkeys([block.name for block in program.blocks], Sign.ANY)
    found = evaluate(program, SignArithmetic(), blocks, below)
    return all(sign == Sign.POSITIVE for sign in found.values())
