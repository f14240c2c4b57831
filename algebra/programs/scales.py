r"""Scales: diagonal changes of the weights under which the labels of a program stay the same.

Multiply each weight w_e by c_e > 0.  A *scale* is a direction λ (c_e = t^λ_e for all t > 0) under
which all labels of all samples are unchanged: the input weights of a ReLU unit times t, its output
weights divided by t; a diagonal change of basis of a linear recurrent network; the rows of queries
times t, those of keys divided by t.  By differentiation at t = 1, Σ λ_e w_e ∂f/∂w_e = 0.  If no
weight is 0 the directions (λ_e w_e) of independent λ are independent.  So at *all* points where the
labels are differentiable, on every activation pattern (at weights that are 0 by continuity),

    rank of the Jacobian by the weights ≤ number of weights − number of independent scales.

Scales are found from the operations.  Each entry v of each value gets an exponent δ_v: under the
scale it is multiplied by t^δ_v.  Exponents are 0 for samples and labels, λ_e for weights that
learn, 0 for others.  Terms of a sum have the same exponent; that of a product is the sum of its
factors', of a power the multiple, of 1/x the opposite, of √x the half.  Argument and value of an
exponential have the exponent 0.  A choice by a sign permits any exponent of the sign (t^δ is
positive), and the chosen values have the same.  Entries that are 0 for all weights, or have no
effect on the labels other than by signs, have none; a weight without effect is a scale by itself.
Each solution of these linear equations is a scale; there may be more (if terms cancel), so that the
bound may not be sharp.

Equations of two unknowns are equalities of exponents, and an unknown that occurs in one equation
only removes it.  The rank of the equations that remain is computed modulo two primes; the larger
is used.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod

import numpy as np

from algebra.linalg.ranks import modular_rank
from algebra.memory_limits import memory_limit
from algebra.programs.arrays import EntryArithmetic
from algebra.programs.evaluate import evaluate
from algebra.programs.program import Node, Program
from algebra.time_limits import check_time

# The exponents of the terms of a function that is a polynomial, by its name; none for others.
Exponents = Callable[[str], Sequence[int]]

# Largest numbers of terms of products, and of equations that remain, for which scales are found.
MOST_TERMS = 6_000_000
MOST_EQUATIONS = 3000
_PRIMES = (2147483629, 2147483587)


# Other functions whose value at 0 is 0.
# Bytes for each weight, and for each entry of all values, at most (measured).
_BYTES = 700
_BYTES_OF_ENTRY = 24
_VANISHING = ("tanh", "erf", "sin")


def no_exponents(name: str) -> Sequence[int]:
    """For programs without polynomials."""
    return ()


class _NonzeroEntries(EntryArithmetic):
    """Entries that are not identically 0, as far as the operations determine: 0 or 1."""

    def __init__(self, exponents: Exponents) -> None:
        super().__init__()
        self.exponents = exponents

    def constant(self, table: np.ndarray, denominator: int) -> np.ndarray:
        return np.asarray(table[..., None] != 0, np.int64)

    def add(self, node: Node, *terms: np.ndarray) -> np.ndarray:
        return np.asarray(sum(terms) > 0, np.int64)

    def scale(self, node: Node, a: np.ndarray, factor: Fraction) -> np.ndarray:
        return a if factor else a * 0

    def contract(self, node: Node, letters: str, *factors: np.ndarray) -> np.ndarray:
        return np.asarray(super().contract(node, letters, *factors) > 0, np.int64)

    def power(self, node: Node, a: np.ndarray, exponent: int) -> np.ndarray:
        return a if exponent else a * 0 + 1

    def invert(self, node: Node, a: np.ndarray) -> np.ndarray:
        return a * 0 + 1

    def root(self, node: Node, a: np.ndarray) -> np.ndarray:
        return a

    def apply(self, node: Node, name: str, a: np.ndarray) -> np.ndarray:
        terms = self.exponents(name)
        vanishes = 0 not in terms if terms else name in _VANISHING
        return a if vanishes else a * 0 + 1

    def choose(
        self, node: Node, sign: np.ndarray, positive: np.ndarray, other: np.ndarray
    ) -> np.ndarray:
        return np.asarray(positive + other > 0, np.int64)


@dataclass(eq=False)
class _Equalities:
    """Linear equations of exponents: unknown 0 is the number 0.

    Attributes
    ----------
    parents : list of ndarray
        Equal exponents are merged: the smallest number of each class.
    unknowns, factors : list of ndarray
        One row for each equation Σ factor · unknown = 0.
    """

    count: int = 1
    equal: list[np.ndarray] = field(default_factory=list)
    unknowns: list[np.ndarray] = field(default_factory=list)
    factors: list[np.ndarray] = field(default_factory=list)
    terms: int = 0

    def new(self, exists: np.ndarray) -> np.ndarray:
        """New unknowns at the places of a mask, −1 elsewhere."""
        found = np.full(exists.shape, -1, np.int64)
        size = int(exists.sum())
        found[exists] = np.arange(self.count, self.count + size)
        self.count += size
        return found

    def same(self, a: np.ndarray, b: np.ndarray) -> None:
        """Two arrays have the same exponents."""
        self.equal.append(np.stack([a.ravel(), np.broadcast_to(b, a.shape).ravel()]))

    def equation(self, *terms: tuple[int, np.ndarray]) -> None:
        """Σ factor · unknowns = 0, entry by entry."""
        rows = np.stack([unknowns.ravel() for _, unknowns in terms], axis=1)
        rows, found = np.unique(rows, axis=0), [factor for factor, _ in terms]
        self.unknowns.append(rows)
        self.factors.append(np.broadcast_to(np.array(found), rows.shape))

    def nullity(self, p: int) -> int | None:
        """The dimension of the solutions; None if too many equations remain."""
        label = np.arange(self.count)
        pairs = [part for part in self.equal if part.size]
        label = _merged(label, np.concatenate(pairs, axis=1)) if pairs else label
        width = max((part.shape[1] for part in self.unknowns), default=1)
        rows = np.concatenate(
            [np.zeros((0, width), np.int64)]
            + [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in self.unknowns]
        )
        factors = np.concatenate(
            [np.zeros((0, width), np.int64)]
            + [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in self.factors]
        )
        while True:
            check_time()
            rows, factors = _collected(label[rows], factors)
            many = np.count_nonzero(factors, axis=1)
            # An equation of one unknown: it is 0.  Of two with opposite factors: they are equal.
            short = (many <= 1) | ((many == 2) & (factors.sum(axis=1) == 0))
            if not short.any():
                break
            ends = [(row[f != 0], f) for row, f in zip(rows[short], factors[short], strict=True)]
            found = [(own[0], own[1] if len(own) > 1 else 0) for own, _ in ends if len(own)]
            if found:
                label = _merged(label, np.array(found).T)
            rows, factors = rows[~short], factors[~short]
        roots = np.unique(label)
        roots = roots[roots != 0]
        free = len(roots)
        while len(rows):
            occurrences = np.bincount(rows[factors != 0], minlength=self.count)
            alone = ((occurrences[rows] == 1) & (factors != 0)).any(axis=1)
            if not alone.any():
                break
            # Each of these equations determines an unknown of its own.
            free -= int(alone.sum())
            rows, factors = rows[~alone], factors[~alone]
        if not len(rows):
            return free
        if len(rows) > MOST_EQUATIONS:
            return None
        used, places = np.unique(rows, return_inverse=True)
        table = np.zeros((len(rows), len(used)), np.int64)
        np.add.at(table, (np.arange(len(rows))[:, None], places.reshape(rows.shape)), factors)
        return free - modular_rank(table % p, p)


def _merged(label: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The smallest number of each class after pairs have been made equal."""
    while True:
        a, b = label[pairs[0]], label[pairs[1]]
        different = a != b
        if not different.any():
            return label
        high, low = np.maximum(a, b)[different], np.minimum(a, b)[different]
        np.minimum.at(label, high, low)
        while True:
            jumped = label[label]
            if np.array_equal(jumped, label):
                break
            label = jumped


def _collected(rows: np.ndarray, factors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Different equations, with each unknown once in each; factors of 0 are 0."""
    order = np.argsort(rows, axis=1, kind="stable")
    rows = np.take_along_axis(rows, order, axis=1)
    factors = np.where(rows == 0, 0, np.take_along_axis(factors, order, axis=1))
    for k in range(1, rows.shape[1]):
        again = rows[:, k] == rows[:, k - 1]
        factors[:, k] += np.where(again, factors[:, k - 1], 0)
        factors[:, k - 1] = np.where(again, 0, factors[:, k - 1])
    rows = np.where(factors == 0, 0, rows)
    both = np.unique(np.concatenate([rows, factors], axis=1), axis=0)
    both = both[(both[:, rows.shape[1] :] != 0).any(axis=1)]
    return both[:, : rows.shape[1]], both[:, rows.shape[1] :].copy()


def _effective(program: Program, nonzero: Mapping[int, np.ndarray]) -> dict[int, np.ndarray]:
    """The entries that are not identically 0 and enter the labels other than by signs."""
    out = {k: np.zeros(value.shape[:-1], bool) for k, value in nonzero.items()}
    out[program.output] = nonzero[program.output][..., 0] != 0
    counts = EntryArithmetic(number=lambda above, below: above // below)
    for number in sorted(nonzero, reverse=True):
        node, own = program.nodes[number], out[number]
        first = 0
        for position, k in enumerate(node.inputs):
            size = program.nodes[k].size
            if node.op == "index":
                assert node.where is not None
                where = node.where[own] - first
                read = np.zeros(size, bool)
                read[where[(where >= 0) & (where < size)]] = True
                found, first = read.reshape(program.nodes[k].shape), first + size
            elif node.op in ("contract", "multiply"):
                groups, _, result = (node.letters or _entrywise(node)).partition("->")
                split = groups.split(",")
                factors = [(result, own.astype(np.int64)[..., None])]
                factors += [
                    (split[j], nonzero[other])
                    for j, other in enumerate(node.inputs)
                    if j != position
                ]
                found = _gathered(counts, factors, split[position], program.nodes[k].shape)
            elif node.op == "choose" and not position:
                continue
            else:
                found = own
            out[k] |= found & (nonzero[k][..., 0] != 0)
    return out


def _entrywise(node: Node) -> str:
    letters = string.ascii_lowercase[: len(node.shape)]
    return f"{letters},{letters}->{letters}"


def _gathered(
    counts: EntryArithmetic,
    factors: list[tuple[str, np.ndarray]],
    group: str,
    shape: tuple[int, ...],
) -> np.ndarray:
    """Where a factor with these letters meets an entry of all others."""
    own = "".join(dict.fromkeys(group))
    known = {letter for letters, _ in factors for letter in letters}
    kept = "".join(letter for letter in own if letter in known)
    found = counts.sum_of_products(factors, kept)[..., 0] > 0
    places = np.indices(shape)
    equal = np.ones(shape, bool)
    for k, letter in enumerate(group):
        equal &= places[k] == places[group.index(letter)]
    return equal & found[tuple(places[group.index(letter)] for letter in kept)]


class _ScaleExponents:
    """The exponents of all values, with the equations between them.

    −1 for entries that are 0 or have no effect.
    """

    def __init__(
        self, program: Program, exponents: Exponents, effective: Mapping[int, np.ndarray]
    ) -> None:
        self.program, self.exponents, self.effective = program, exponents, effective
        self.system = _Equalities()
        self._numbers = {id(node): k for k, node in enumerate(program.nodes)}

    def exists(self, node: Node) -> np.ndarray:
        """The entries of a node's value that are not 0 and have an effect."""
        return self.effective[self._numbers[id(node)]]

    def constant(self, table: np.ndarray, denominator: int) -> np.ndarray:
        return np.where(table != 0, 0, -1).astype(np.int64)

    def add(self, node: Node, *terms: np.ndarray) -> np.ndarray:
        exists = self.exists(node)
        found: np.ndarray = np.where(exists, -1, -1)
        for term in (np.where(exists, term, -1) for term in terms):
            first = (found < 0) & (term >= 0)
            both = (found >= 0) & (term >= 0)
            self.system.same(found[both], term[both])
            found = np.where(first, term, found)
        return found

    def multiply(self, node: Node, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.contract(node, _entrywise(node), a, b)

    def scale(self, node: Node, a: np.ndarray, factor: Fraction) -> np.ndarray:
        return a if factor else np.full_like(a, -1)

    def contract(self, node: Node, letters: str, *factors: np.ndarray) -> np.ndarray:
        groups, _, result = letters.partition("->")
        split = groups.split(",")
        sizes: dict[str, int] = {}
        for group, factor in zip(split, factors, strict=True):
            sizes |= dict(zip(group, factor.shape, strict=True))
        every = list(sizes)
        self.system.terms += prod(sizes.values())
        if self.system.terms > MOST_TERMS:
            raise _TooLarge
        found = self.system.new(self.exists(node))
        shape = tuple(sizes[letter] for letter in every)

        def along(group: str, value: np.ndarray) -> np.ndarray:
            for letter in {c for c in group if group.count(c) > 1}:
                first, second = group.index(letter), group.rindex(letter)
                value = np.moveaxis(np.diagonal(value, axis1=first, axis2=second), -1, first)
                group = group[:second] + group[second + 1 :]
            order = sorted(range(len(group)), key=lambda k: every.index(group[k]))
            value = value.transpose(order)
            kept = [sizes[c] if c in group else 1 for c in every]
            return np.broadcast_to(value.reshape(kept), shape)

        parts = [along(group, factor) for group, factor in zip(split, factors, strict=True)]
        total = along(result, found)
        real = np.all([part >= 0 for part in (*parts, total)], axis=0)
        self.system.equation((-1, total[real]), *((1, part[real]) for part in parts))
        return found

    def index(self, node: Node, where: np.ndarray, *parts: np.ndarray) -> np.ndarray:
        found = np.concatenate([*(part.ravel() for part in parts), [-1]])[where]
        return np.where(self.exists(node), found, -1)

    def _multiple(self, node: Node, a: np.ndarray, above: int, below: int) -> np.ndarray:
        """Exponents δ' with below · δ' = above · δ."""
        real = (a >= 0) & self.exists(node)
        found = self.system.new(real)
        self.system.equation((above, a[real]), (-below, found[real]))
        return found

    def power(self, node: Node, a: np.ndarray, exponent: int) -> np.ndarray:
        return self._multiple(node, a, exponent, 1) if exponent else np.zeros_like(a)

    def invert(self, node: Node, a: np.ndarray) -> np.ndarray:
        return self._multiple(node, a, -1, 1)

    def root(self, node: Node, a: np.ndarray) -> np.ndarray:
        return self._multiple(node, a, 1, 2)

    def apply(self, node: Node, name: str, a: np.ndarray) -> np.ndarray:
        terms = self.exponents(name)
        if len(terms) == 1:
            return self.power(node, a, terms[0])
        exists = self.exists(node)
        real = (a >= 0) & exists
        self.system.same(a[real], np.zeros_like(a[real]))
        return np.where(exists, 0, -1)

    def choose(
        self, node: Node, sign: np.ndarray, positive: np.ndarray, other: np.ndarray
    ) -> np.ndarray:
        exists = self.exists(node)
        positive, other = np.where(exists, positive, -1), np.where(exists, other, -1)
        both = (positive >= 0) & (other >= 0)
        self.system.same(positive[both], other[both])
        return np.where(positive >= 0, positive, other)


class _TooLarge(Exception):
    """More terms than are examined."""


def scales(
    program: Program,
    names: Collection[str] | None = None,
    *,
    support: Mapping[str, np.ndarray] | None = None,
    exponents: Exponents = no_exponents,
) -> int | None:
    """The number of independent scales of a program: see the module.

    Parameters
    ----------
    program : Program
    names : collection of str, optional
        The weights that are scaled; all by default.
    support : mapping of str to ndarray of bool, optional
        Masks of the weights that exist, where some do not.
    exponents : callable, optional
        The exponents of the terms of functions that are polynomials, by their names.

    Returns
    -------
    int or None
        None for a program with too many products to examine, or if memory is too short.

    Examples
    --------
    >>> from algebra.programs.program import Builder
    >>> build = Builder()
    >>> U, V, x = build.weight("U", (3, 2)), build.weight("V", (1, 3)), build.sample("X", (2,))
    >>> hidden = build.rectified(build.contract("ij,j->i", U, x))
    >>> net = build.program(build.contract("ij,j->i", V, hidden))
    >>> scales(net), scales(net, ["V"])
    (3, 0)
    """
    needed = program.needed([program.output])
    entries = sum(program.nodes[k].size for k in needed)
    weights = sum(map(prod, program.weights.values()))
    if _BYTES_OF_ENTRY * entries + _BYTES * weights > memory_limit():
        return None
    wanted = set(program.weights) if names is None else set(names)
    masks = {
        name: np.asarray((support or {}).get(name, np.ones(shape, bool)), np.int64).reshape(shape)
        for name, shape in program.weights.items()
    }
    ones = {name: np.ones(shape, np.int64) for name, shape in program.samples.items()}
    blocks = {name: value[..., None] for name, value in (masks | ones).items()}
    nonzero = evaluate(program, _NonzeroEntries(exponents), blocks, needed)
    found = _ScaleExponents(program, exponents, _effective(program, nonzero))
    system = found.system
    unknowns = {name: np.zeros(shape, np.int64) for name, shape in program.samples.items()}
    for name, mask in masks.items():
        exists = mask != 0
        unknowns[name] = system.new(exists) if name in wanted else np.where(exists, 0, -1)
    try:
        labels = evaluate(program, found, unknowns)[program.output]
    except _TooLarge:
        return None
    real = labels >= 0
    system.same(labels[real], np.zeros_like(labels[real]))
    counts = [count for count in map(system.nullity, _PRIMES) if count is not None]
    return min(counts, default=None)
