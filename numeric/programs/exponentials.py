r"""Exponentials beyond the range of doubles.

A softmax divides exponentials by their sum.  Each of them, and the sum, may be too large for a
double where the quotients are not.  Here such a value is a pair of arrays m and s that stands for
m e^s; sums are taken relative to the largest s, so a quotient is exp(a_i − max a) / Σ exp(a_j − max
a), and the logarithm of a sum is max a + log Σ exp(a_j − max a).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from algebra.programs.evaluate import evaluate
from algebra.programs.program import Node, Program

# Arguments above which an exponential is a pair; that of the largest double is 709.
LARGEST = 600.0
# The letter of the batch axis.
_BATCH = "Z"


class Wide(NamedTuple):
    """A value m e^s, for arrays m and s of one shape; s is −∞ where m is 0."""

    mantissa: np.ndarray
    shift: np.ndarray

    def plain(self) -> np.ndarray:
        """The value itself, which may overflow."""
        return np.asarray(self.mantissa * np.exp(self.shift))


def plain(value: Any) -> Any:
    """The value itself, of a pair too."""
    return value.plain() if isinstance(value, Wide) else value


def _mantissa(value: Any) -> Any:
    return value.mantissa if isinstance(value, Wide) else value


def _shift(value: Any) -> Any:
    return value.shift if isinstance(value, Wide) else np.zeros_like(value, np.float64)


def _wide(mantissa: Any, shift: Any) -> Wide:
    shift = np.where(mantissa == 0, -np.inf, shift)
    return Wide(np.broadcast_to(mantissa, shift.shape), shift)


class WideArithmetic:
    """An arithmetic of doubles, real or complex, with pairs for large exponentials.

    Parameters
    ----------
    base : Arithmetic
        Of arrays.
    """

    def __init__(self, base: Any) -> None:
        self._base = base

    def __getattr__(self, name: str) -> Any:
        def with_plain(*values: Any) -> Any:
            return found(*map(plain, values))

        found = getattr(self._base, name)
        return with_plain if callable(found) else found

    def apply(self, node: Node, name: str, a: Any) -> Any:
        """The function of this name."""
        if isinstance(a, Wide) and name == "log":
            return self._base.apply(node, name, a.mantissa) + a.shift
        a = plain(a)
        if name == "exp" and a.real.max(initial=0) > LARGEST:
            return Wide(np.exp(a - a.real), np.broadcast_to(a.real, a.shape))
        return self._base.apply(node, name, a)

    def scale(self, node: Node, a: Any, factor: Fraction) -> Any:
        """A multiple."""
        found = self._base.scale(node, _mantissa(a), factor)
        return _wide(found, a.shift) if isinstance(a, Wide) else found

    def invert(self, node: Node, a: Any) -> Any:
        """Entrywise."""
        found = self._base.invert(node, _mantissa(a))
        return Wide(found, -a.shift) if isinstance(a, Wide) else found

    def multiply(self, node: Node, a: Any, b: Any) -> Any:
        """The entrywise product, without a pair where that is not needed."""
        found = self._base.multiply(node, _mantissa(a), _mantissa(b))
        if not isinstance(a, Wide) and not isinstance(b, Wide):
            return found
        made = _wide(found, _shift(a) + _shift(b))
        return made if made.shift.max(initial=0) > LARGEST else made.plain()

    def add(self, node: Node, *terms: Any) -> Any:
        """The sum."""
        if not any(isinstance(term, Wide) for term in terms):
            return self._base.add(node, *terms)
        wide = [_wide(_mantissa(term), _shift(term)) for term in terms]
        top = wide[0].shift
        for term in wide[1:]:
            top = np.maximum(top, term.shift)
        top = np.where(np.isfinite(top), top, 0)
        own = [term.mantissa * np.exp(term.shift - top) for term in wide]
        return _wide(self._base.add(node, *own), top)

    def index(self, node: Node, where: np.ndarray, *parts: Any) -> Any:
        """Gathered entries."""
        found = self._base.index(node, where, *map(_mantissa, parts))
        if not any(isinstance(part, Wide) for part in parts):
            return found
        return _wide(found, self._base.index(node, where, *map(_shift, parts)))

    def contract(self, node: Node, letters: str, *factors: Any) -> Any:
        """The Einstein sum: of each factor its largest exponentials are taken out of the sum."""
        groups, _, result = letters.partition("->")
        split = groups.split(",")
        repeats = any(len(set(group)) < len(group) for group in split)
        if repeats or not any(isinstance(factor, Wide) for factor in factors):
            return self._base.contract(node, letters, *map(plain, factors))
        own: list[Any] = []
        shift: Any = 0
        for group, factor in zip(split, factors, strict=True):
            if not isinstance(factor, Wide):
                own.append(factor)
                continue
            summed = tuple(k for k, letter in enumerate(group) if letter not in result)
            top = factor.shift.max(axis=summed, keepdims=True, initial=-np.inf)
            top = np.where(np.isfinite(top), top, 0)
            own.append(factor.mantissa * np.exp(factor.shift - top))
            kept = "".join(letter for letter in group if letter in result)
            shift = shift + along(np.squeeze(top, summed), kept + _BATCH, result + _BATCH)
        return _wide(self._base.contract(node, letters, *own), shift)


def along(values: np.ndarray, kept: Sequence[str], letters: str) -> np.ndarray:
    """Values with the axes `kept` as an array with the axes of other letters, some of size 1."""
    order = sorted(range(len(kept)), key=lambda k: letters.index(kept[k]))
    shape = [1] * len(letters)
    for k in order:
        shape[letters.index(kept[k])] = values.shape[k]
    return values.transpose(order).reshape(shape)


def evaluate_wide(
    program: Program,
    arithmetic: Any,
    blocks: Mapping[str, np.ndarray],
    wanted: Collection[int] | None = None,
) -> dict[int, Any]:
    """`evaluate`, with exponentials of any size on the way to the values."""
    found = evaluate(program, WideArithmetic(arithmetic), blocks, wanted)
    return {number: plain(value) for number, value in found.items()}
