"""Programs over GF(p): values at a point.

Values are arrays of residues whose last axis is the batch, of size 1 where a value does not depend
on the sample; NumPy's broadcasting aligns the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from algebra.errors import Unfinished
from algebra.linalg.contractions import contraction
from algebra.linalg.modular import Residues, inverses, times
from algebra.programs.program import Node, Program

# Stands for the batch axis in contractions.
BATCH = "@"
# Takes a node and the values that come in to values and slopes of its function
# (`algebra.networks.activation.formal_functions`, for example).
Functions = Callable[[Node, Residues], tuple[Residues, Residues]]
# Takes a node and the values whose sign chooses to the places where it is positive.
Signs = Callable[[Node, Residues], np.ndarray]


class NoResidues(Unfinished):
    """An operation that has no value over GF(p)."""


def _no_signs(node: Node, a: Residues) -> np.ndarray:
    raise NoResidues(
        f"residues have no sign, and {node.label or 'a value'} is chosen by one: give the "
        "activation pattern"
    )


@dataclass(frozen=True)
class ModularArithmetic:
    """Residues modulo a prime.

    Attributes
    ----------
    p : int
        A prime below 2^61.
    functions : callable
        Values and slopes of functions.
    signs : callable, optional
        The activation pattern; without it programs that choose are refused.
    """

    p: int
    functions: Functions
    signs: Signs = _no_signs

    def number(self, value: Fraction | int) -> int:
        """A rational number's residue."""
        value = Fraction(value)
        return value.numerator * pow(value.denominator, -1, self.p) % self.p

    def constant(self, table: np.ndarray, denominator: int) -> Residues:
        residues = (table % self.p).astype(np.int64)
        one = np.array(self.number(Fraction(1, denominator)), np.int64)
        return times(residues[..., None], one.reshape((1,) * (table.ndim + 1)), self.p)

    def add(self, node: Node, *terms: Residues) -> Residues:
        total = terms[0]
        for term in terms[1:]:
            total = (total + term) % self.p
        return total

    def multiply(self, node: Node, a: Residues, b: Residues) -> Residues:
        return times(a, b, self.p)

    def scale(self, node: Node, a: Residues, factor: Fraction) -> Residues:
        if factor == -1:
            return -a % self.p
        return times(a, np.full((1,) * a.ndim, self.number(factor), np.int64), self.p)

    def contract(self, node: Node, letters: str, *factors: Residues) -> Residues:
        return batched_contraction(letters, factors, self.p)

    def index(self, node: Node, where: np.ndarray, *parts: Residues) -> Residues:
        return entries(where, parts)

    def power(self, node: Node, a: Residues, exponent: int) -> Residues:
        result, base = np.ones_like(a), a
        while exponent:
            if exponent & 1:
                result = times(result, base, self.p)
            exponent >>= 1
            if exponent:
                base = times(base, base, self.p)
        return result

    def invert(self, node: Node, a: Residues) -> Residues:
        if not a.all():
            raise NoResidues(f"{node.label or 'a divisor'} is 0 modulo {self.p} at this point")
        return inverses(a, self.p)

    def root(self, node: Node, a: Residues) -> Residues:
        raise NoResidues(
            f"{node.label or 'a square root'}: half of all residues modulo a prime have no square "
            "root"
        )

    def apply(self, node: Node, name: str, a: Residues) -> Residues:
        return self.functions(node, a)[0]

    def choose(self, node: Node, sign: Residues, positive: Residues, other: Residues) -> Residues:
        return np.where(self.signs(node, sign), positive, other)

    def slopes(self, node: Node, a: Residues) -> Residues:
        """The derivative of power, invert or apply, where `a` comes in."""
        if node.op == "apply":
            return self.functions(node, a)[1]
        if node.op == "invert":
            inverse = inverses(a, self.p)
            return -times(inverse, inverse, self.p) % self.p
        assert node.number is not None
        exponent = int(node.number)
        if not exponent:
            return np.zeros_like(a)
        return self.scale(node, self.power(node, a, exponent - 1), Fraction(exponent))


def batched_contraction(letters: str, factors: tuple[Residues, ...], p: int) -> Residues:
    """A contraction of values, each with its batch axis last."""
    groups, _, result = letters.partition("->")
    named, values = [], []
    for group, factor in zip(groups.split(","), factors, strict=True):
        batched = factor.shape[-1] > 1
        named.append(group + BATCH if batched else group)
        values.append(factor if batched else factor[..., 0])
    some = any(BATCH in group for group in named)
    found = contraction(f"{','.join(named)}->{result}{BATCH if some else ''}", values, p)
    return found if some else found[..., None]


def entries(where: np.ndarray, parts: tuple[Residues, ...]) -> Residues:
    """Entries of values put together: the operation `index`."""
    batch = max(part.shape[-1] for part in parts)
    flat = [np.broadcast_to(part, (*part.shape[:-1], batch)).reshape(-1, batch) for part in parts]
    if len(flat) == 1 and where.size and where.min() >= 0:
        return flat[0][where]
    return np.concatenate([*flat, np.zeros((1, batch), flat[0].dtype)])[where]


def placed(
    program: Program, weights: Mapping[str, Residues], samples: Mapping[str, Residues]
) -> dict[str, Residues]:
    """The blocks of a program as values: samples have the batch axis last already."""
    held = {name: np.asarray(weights[name])[..., None] for name in program.weights}
    return held | {name: np.asarray(samples[name]) for name in program.samples}
