"""Activation patterns of a program: the signs of its choices at a random real point."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from fractions import Fraction
from operator import truediv

import numpy as np
from scipy import special

from algebra.programs.arrays import EntryArithmetic
from algebra.programs.evaluate import evaluate
from algebra.programs.generic import Patterns
from algebra.programs.program import Node, Program

_FUNCTIONS = {
    "erf": special.erf,
    "exp": np.exp,
    "sigmoid": special.expit,
    "softplus": lambda a: np.logaddexp(a, 0),
    "tanh": np.tanh,
}


class _Recorder(EntryArithmetic):
    """Doubles that record the signs, by the number of the node."""

    def __init__(self, program: Program) -> None:
        self._numbers = {id(node): k for k, node in enumerate(program.nodes)}
        self.pattern: dict[int, np.ndarray] = {}
        super().__init__(number=truediv, signs=self._recorded)

    def _recorded(self, node: Node, a: np.ndarray) -> np.ndarray:
        found = self.pattern[self._numbers[id(node)]] = a > 0
        return found

    def constant(self, table: np.ndarray, denominator: int) -> np.ndarray:
        return np.asarray(table / denominator, np.float64)[..., None]

    def root(self, node: Node, a: np.ndarray) -> np.ndarray:
        return np.sqrt(a)

    def apply(self, node: Node, name: str, a: np.ndarray) -> np.ndarray:
        return _FUNCTIONS[name](a)


def pattern_at(
    program: Program, weights: Mapping[str, np.ndarray], samples: Mapping[str, np.ndarray]
) -> dict[int, np.ndarray]:
    """The signs at a point, by the numbers of the nodes that choose.

    Parameters
    ----------
    program : Program
    weights : mapping of str to ndarray
    samples : mapping of str to ndarray
        With the batch axis last.
    """
    recorder = _Recorder(program)
    fixed = {name: value[..., None] for name, value in weights.items()}
    evaluate(program, recorder, fixed | dict(samples))
    return recorder.pattern


def drawn_patterns(
    program: Program,
    *,
    tokens: Mapping[str, int] | None = None,
    values: Mapping[str, tuple[np.ndarray, int]] | None = None,
    support: Mapping[str, np.ndarray] | None = None,
    seed: int = 0,
) -> Patterns:
    """Patterns at Gaussian samples, and at Gaussian weights if no values are given.

    Parameters
    ----------
    program : Program
    tokens : mapping of str to int, optional
        For samples that are one-hot rows, the length of a row.
    values : mapping of str to (ndarray of int, int), optional
        Given weights: numerators and their common denominator.
    support : mapping of str to ndarray, optional
        0/1 masks of the weights that exist, for matrices in which some do not.
    seed : int, optional

    Returns
    -------
    callable
        From the number of samples to the signs, by the numbers of the choosing nodes.
    """
    rng = np.random.default_rng([seed, zlib.crc32(b"pattern")])
    weights = {}
    for name, shape in program.weights.items():
        drawn = rng.standard_normal(shape) / np.sqrt(max(1, int(np.prod(shape[1:]))))
        if values and name in values:
            table, denominator = values[name]
            flat = [float(Fraction(v, denominator)) for v in table.ravel().tolist()]
            drawn = np.array(flat).reshape(shape)
        weights[name] = drawn * support[name] if support and name in support else drawn

    def patterns(m: int) -> dict[int, np.ndarray]:
        own = np.random.default_rng([seed, m, zlib.crc32(b"samples")])
        samples = {}
        for name, shape in program.samples.items():
            if tokens and name in tokens:
                chosen = own.integers(0, tokens[name], (*shape[:-1], m))
                samples[name] = np.moveaxis(np.eye(tokens[name])[chosen], -1, -2)
            else:
                samples[name] = own.standard_normal((*shape, m))
        return pattern_at(program, weights, samples)

    return patterns
