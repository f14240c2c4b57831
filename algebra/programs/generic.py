r"""Generic ranks of programs at random points over GF(p).

`random_program_point` draws a point: weights (random, or those of a file), samples, and formal
values (`algebra.programs.formal`, with the proof of which ranks are exact).  `argued` says whether
ranks at such points are exact or upper bounds.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from algebra.errors import Unfinished
from algebra.linalg.echelon import independent_columns
from algebra.linalg.modular import matmul
from algebra.linalg.primes import PRIME_SIZES, random_prime
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import Residues, random_residues, times
from algebra.linalg.short_primes import BITS, STORED, signed
from algebra.memory_limits import in_units, limit_for, limit_in_words, memory_limit, need_left
from algebra.programs.arrays import placed
from algebra.programs.duals import DualArithmetic, DualValue
from algebra.programs.evaluate import evaluate, evaluate_in, evaluation_order
from algebra.programs.formal import ANGLE, EXPONENTIAL, Formal, FormalArithmetic
from algebra.programs.jacobian import ProgramCell, Sweep, kept_values, moving_nodes
from algebra.programs.patches import Patches
from algebra.programs.program import Node, Program, matrix_shape
from algebra.programs.roots import WIDEST, RootSearch
from algebra.programs.sketches import sketch
from algebra.programs.tokens import (
    choosing_inputs,
    number_of_choices,
    number_of_samples,
    token_samples,
)
from algebra.time_limits import check_time

# The activation pattern of a number of samples, by the numbers of the nodes that choose.
Patterns = Callable[[int], Mapping[int, np.ndarray]]

# Entries of a point with roots that is kept for other subsets of the parameters; how many are.
_LARGEST_POINT = 1 << 20
_POINTS = 4
# Choices of tokens for each of which independence is checked.
MOST_CHOICES = 64
# Largest number of arguments whose independence is checked; primes modulo which roots are searched.
MOST_ARGUMENTS = 400
_PRIMES = 8
# Roots of weights alone for which more primes are tried, twice as many for each.
_ALONE = 5
# Intermediate arrays of products modulo a long prime, and of operations on entries, in values.
_PRODUCTS = 11
_COPIES = 4
_COPIED = ("apply", "invert", "root", "power", "scale", "add")
# Random sums of the labels of a single sample.
_SUMS = 2
# Combinations of columns more than there are rows.
SPARE = 32
# Columns of the Jacobian that are formed at a time.
COLUMNS = 4096
# A sweep takes the memory limit divided by this at most,
_SHARE = 8
# and this number of bytes (measured).
_PART = 1 << 28
# Entries that are reduced at a time.
_ENTRIES = 1 << 15
# Entries of the Jacobian that are formed at a time.
_AT_ONCE = 1 << 23


class NoPattern(Unfinished):
    """Values at a real point are no numbers, so that it has no activation pattern."""


def _adds_logarithms(nodes: Mapping[int, Node]) -> bool:
    """Whether values that depend on logarithms are only added, moved and multiplied by numbers."""
    fixed, free = set[int](), set[int]()
    for k, node in sorted(nodes.items()):
        after = [j for j in node.inputs if j in free]
        if node.op == "constant" or (node.inputs and fixed.issuperset(node.inputs)):
            fixed.add(k)
        if after or node.name == "log":
            if after and node.op not in ("add", "scale", "index"):
                linear = node.op in ("multiply", "contract") and len(after) == 1
                if not linear or not fixed.issuperset(j for j in node.inputs if j not in after):
                    return False
            free.add(k)
    return True


@dataclass(frozen=True)
class Model:
    """A program, and the description of how its points are drawn.

    Attributes
    ----------
    program : Program
    tokens : mapping of str to int
        Samples that are one-hot rows.
    values : mapping of str to (ndarray of int, int)
        Weights that are given instead of drawn: integers over a denominator.
    free : mapping of str to ndarray of bool
        Entries of given weights that are drawn nevertheless.
    updates : mapping of str to int
        Weights to which a drawn product U Vᵀ of so many columns is added, as matrices of their
        first axis' rows.
    support : mapping of str to ndarray of bool
        Masks of the weights that exist, if some do not.
    patterns : callable, optional
        Required if the program chooses by signs.
    inputs : mapping of str to (ndarray of int, int)
        Samples that are given instead of drawn, in their order, with the batch axis last: integers
        over a denominator.
    order : int
        It determines the order of the token samples (`algebra.programs.tokens`); that of
        `patterns`, too.
    """

    program: Program
    tokens: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, tuple[np.ndarray, int]] = field(default_factory=dict)
    free: Mapping[str, np.ndarray] = field(default_factory=dict)
    updates: Mapping[str, int] = field(default_factory=dict)
    support: Mapping[str, np.ndarray] = field(default_factory=dict)
    patterns: Patterns | None = None
    inputs: Mapping[str, tuple[np.ndarray, int]] = field(default_factory=dict)
    order: int = 0

    @property
    def is_given(self) -> bool:
        """Whether all weights are given."""
        return self.program.weights.keys() <= self.values.keys() and not self.updates

    @property
    def draws_tokens(self) -> bool:
        """Whether samples are drawn of which there are finitely many in some inputs."""
        return not self.inputs and bool(choosing_inputs(self.program, self.tokens))

    @cached_property
    def functions(self) -> frozenset[str]:
        """Names of the functions that are applied, and "root" and "choose".

        Logarithms are omitted if the labels are affine functions of them with constant factors:
        then their derivatives 1/u, and no values, occur in the Jacobian.
        """
        needed = self.program.needed([self.program.output])
        nodes = {k: self.program.nodes[k] for k in needed}
        found = {
            node.name if node.op == "apply" else node.op
            for node in nodes.values()
            if node.op in ("apply", "root", "choose")
        }
        return frozenset(found - {"log"} if _adds_logarithms(nodes) else found)

    @cached_property
    def points(self) -> dict[tuple[str, int], ProgramPoint]:
        """Points at which all square roots exist, by their seeds and bits."""
        return {}

    @cached_property
    def without_roots(self) -> list[int]:
        """Numbers of samples for which the search of roots found none, or was too long."""
        return []

    @cached_property
    def roots(self) -> list[int]:
        """The nodes that are square roots on which the labels depend."""
        needed = self.program.needed([self.program.output])
        return sorted(k for k in needed if self.program.nodes[k].op == "root")

    @property
    def outputs(self) -> int:
        """Number of labels of one sample."""
        return self.program.nodes[self.program.output].size

    def signs(self, m: int, part: slice | None = None) -> Mapping[int, np.ndarray]:
        """The activation pattern of m samples, or of some of them; empty if nothing is chosen."""
        if self.patterns is None or "choose" not in self.functions:
            return {}
        if part is None or (part.start, part.stop) == (0, m):
            return self.patterns(m)
        if hasattr(self.patterns, "part"):
            return self.patterns.part(m, part)  # type: ignore[no-any-return]
        found = self.patterns(m)
        return {k: own[..., part] if own.shape[-1] > 1 else own for k, own in found.items()}


@dataclass(frozen=True)
class ProgramPoint:
    """A point over GF(p).

    Attributes
    ----------
    p : int
    blocks : mapping of str to ndarray of int64
        With the batch axis last.
    arithmetic : FormalArithmetic
    has_roots : bool
        Whether every square root exists.
    is_free : bool
        Whether no quantity is constrained, so that the point is on no variety.
    factors : mapping of str to (ndarray, ndarray)
        U and V of the updates.
    """

    p: int
    blocks: Mapping[str, Residues]
    arithmetic: FormalArithmetic
    has_roots: bool
    is_free: bool = True
    factors: Mapping[str, tuple[Residues, Residues]] = field(default_factory=dict)

    @property
    def samples(self) -> int:
        """The number of samples."""
        return max(value.shape[-1] for value in self.blocks.values())

    def first(self, program: Program, m: int) -> ProgramPoint:
        """The point with the first m samples only."""
        if m == self.samples:
            return self

        def few(value: np.ndarray) -> np.ndarray:
            return value[..., :m] if value.shape[-1] > 1 else value

        formal = self.arithmetic.formal
        signs = {k: few(own) for k, own in formal.signs.items()}
        turned = {k: few(own) for k, own in formal.turned.items()}
        formal = replace(formal, signs=signs, turned=turned, invalid=[], arguments=[])
        blocks = {name: few(own) for name, own in self.blocks.items()}
        return replace(self, blocks=blocks, arithmetic=FormalArithmetic(formal, program))


def point_prime(rng: random.Random, bits: int = PRIME_SIZES.long) -> int:
    """A random prime of so many bits modulo which −1 is no square."""
    while True:
        p = random_prime(rng, bits)
        if p % 4 == 3:
            return p


def random_program_point(
    model: Model, m: int, seed: str, strict: bool = True, bits: int = PRIME_SIZES.long
) -> ProgramPoint:
    """A random point with m samples.

    Parameters
    ----------
    model : Model
    m : int
    seed : str
        It determines the point.
    strict : bool, optional
        RootSearch for samples at which all square roots exist.
    bits : int, optional
        Of the prime.

    Notes
    -----
    Signs that the search for roots does not need are determined where samples are taken in parts
    (`Columns`).

    On an activation pattern a root may be that of a constant, which half of all primes lack: the
    search is repeated modulo other primes.
    """
    rng = random.Random(f"program/{seed}")
    program = model.program
    finite = model.inputs or number_of_samples(program, model.tokens) is not None
    rows = token_samples(program, model.tokens, m, model.order) if not finite else {}
    searches = strict and not finite and "root" in model.functions
    searches = searches and all(m < most for most in model.without_roots)
    key = seed, bits
    if searches and key in model.points and model.points[key].samples >= m:
        return model.points[key].first(program, m)
    signs = model.signs(m) if searches else {}
    for _ in range(_tries(model) if searches else 0):
        p, number = point_prime(rng, bits), rng.randrange(1 << 20)
        factors = _factors(model, p, rng)
        weights = _weights(model, p, rng, factors)
        search = _root_search(model, p, number, weights, rng, rows)
        found = search.samples(m, signs)
        if search.is_crowded or search.is_long:
            # Modulo other primes there are as many.
            break
        if found is not None:
            formal = Formal(p, number, signs, True, turned=found[1])
            blocks = placed(program, weights, found[0])
            point = ProgramPoint(p, blocks, FormalArithmetic(formal, program), True, False, factors)
            if sum(value.size for value in blocks.values()) <= _LARGEST_POINT:
                model.points.pop(key, None)
                model.points[key] = point
                for oldest in list(model.points)[:-_POINTS]:
                    del model.points[oldest]
            return point
    if searches:
        model.without_roots.append(0 if search.is_crowded else m)
    p, number = point_prime(rng, bits), rng.randrange(1 << 20)
    factors = _factors(model, p, rng)
    weights = _weights(model, p, rng, factors)
    formal = Formal(p, number)
    blocks = placed(program, weights, _samples(model, m, p, rng))
    exact = "root" not in model.functions
    return ProgramPoint(p, blocks, FormalArithmetic(formal, program), exact, factors=factors)


def _tries(model: Model) -> int:
    """Primes at which roots are searched: each root of weights alone exists modulo half of them."""
    nodes = model.program.nodes
    alone = sum(nodes[k].size for k in model.roots if not nodes[k].batched)
    return _PRIMES << min(alone, _ALONE)


def _factors(model: Model, p: int, rng: random.Random) -> dict[str, tuple[Residues, Residues]]:
    """U and V of the updates, drawn."""
    out = {}
    for name, k in model.updates.items():
        rows, inner = matrix_shape(model.program.weights[name])
        out[name] = random_residues((rows, k), p, rng), random_residues((inner, k), p, rng)
    return out


def _weights(
    model: Model,
    p: int,
    rng: random.Random,
    factors: Mapping[str, tuple[Residues, Residues]] | None = None,
) -> dict[str, Residues]:
    """Weights: given or drawn, with their updates by `factors`, which are drawn by default."""
    own = _factors(model, p, rng) if factors is None else factors
    # Those of a file or a module, of which integers over one denominator may be long.
    residues = getattr(model.values, "residues", None)
    out = {}
    for name, shape in model.program.weights.items():
        if name in model.values:
            held = residues(name, p) if residues else _residues(*model.values[name], p)
            out[name] = held.reshape(shape)
            if name in model.free:
                drawn = random_residues(shape, p, rng)
                out[name] = np.where(model.free[name], drawn, out[name])
        else:
            out[name] = random_residues(shape, p, rng)
        if name in own:
            U, V = own[name]
            product = matmul(U, np.ascontiguousarray(V.T), p).reshape(shape)
            out[name] = (out[name] + product) % p
        if name in model.support:
            out[name] = np.where(model.support[name], out[name], 0)
    return out


def _residues(table: np.ndarray, denominator: int, p: int) -> Residues:
    """Integers over a denominator modulo a prime, few at a time, so that they stay in the cache."""
    flat, out = table.reshape(-1), np.empty(table.size, np.int64)
    inverse = np.full(1, pow(denominator, -1, p), np.int64)
    for start in range(0, flat.size, _ENTRIES):
        part = slice(start, start + _ENTRIES)
        out[part] = flat[part] % p
        if denominator != 1:
            out[part] = times(out[part], inverse, p)
    return out.reshape(table.shape)


def _samples(
    model: Model,
    m: int,
    p: int,
    rng: random.Random,
    rows: Mapping[str, np.ndarray] | None = None,
) -> dict[str, Residues]:
    """Samples: given, drawn, or, of tokens, the first ones of the model's order or other `rows`."""
    out: dict[str, Residues] = {}
    if rows is None and model.tokens and not model.inputs:
        rows = token_samples(model.program, model.tokens, m, model.order)
    for name, shape in model.program.samples.items():
        if name in model.inputs:
            table, below = model.inputs[name]
            out[name] = _residues(table[..., :m], below, p)
        elif rows is not None and name in rows:
            out[name] = rows[name]
        else:
            out[name] = random_residues((*shape, m), p, rng)
    return out


def _root_search(
    model: Model,
    p: int,
    number: int,
    weights: Mapping[str, Residues],
    rng: random.Random,
    rows: Mapping[str, np.ndarray],
) -> RootSearch:
    """The search of samples at which roots exist, of which those that are tokens are given.

    A point with roots is a random point of an irreducible variety whose coordinates are the
    variables, so it is as good as any.  Tokens are no variables: a choice of those at which roots
    exist would be one of few samples among finitely many, with smaller ranks than others.
    """
    most = memory_limit() // (8 * bytes_of_sample(model.program, frozenset()))

    def drawn(tried: np.ndarray) -> dict[str, Residues]:
        chosen = {name: own[..., tried] for name, own in rows.items()}
        return _samples(model, len(tried), p, rng, chosen)

    return RootSearch(model.program, model.roots, p, number, weights, drawn, most, rng)


def _choices(model: Model) -> list[dict[str, np.ndarray]] | None:
    """All choices of the tokens of a sample, as batches of one; None if they are too many.

    Also if there are activation patterns, which are known for the model's own samples only.
    """
    if not choosing_inputs(model.program, model.tokens):
        return [{}]
    count = number_of_choices(model.program, model.tokens)
    if count > MOST_CHOICES or "choose" in model.functions:
        return None
    rows = token_samples(model.program, model.tokens, count)
    return [{name: own[..., k : k + 1] for name, own in rows.items()} for k in range(count)]


def _repeated(rows: Mapping[str, np.ndarray], m: int) -> dict[str, np.ndarray]:
    return {name: np.repeat(own, m, axis=-1) for name, own in rows.items()}


def roots_are_independent(model: Model, seed: str) -> bool:
    """Whether the variety of a model's square roots was shown to be irreducible.

    For each choice of tokens, which are no variables.  So of tokens alone nothing is shown.
    """
    if number_of_samples(model.program, model.tokens) is not None:
        return False
    choices = _choices(model)
    return choices is not None and all(
        _roots_are_independent(model, seed, rows) for rows in choices
    )


def _roots_are_independent(model: Model, seed: str, rows: Mapping[str, np.ndarray]) -> bool:
    rng = random.Random(f"program roots/{seed}")
    p, number = point_prime(rng), rng.randrange(1 << 20)
    every = _repeated(rows, WIDEST)
    search = _root_search(model, p, number, _weights(model, p, rng), rng, every)
    return search.are_independent(model.signs)


def arguments_are_independent(model: Model, seed: str) -> bool:
    """Whether the arguments of exponentials are independent over Q modulo functions of weights.

    The assumption of the theorem of `algebra.programs.formal`, proved by a matrix of full rank.
    Tokens are no variables: if there are other inputs this is shown for each choice of tokens.
    Otherwise the variables are the weights, and the arguments at *all* samples are shown to be
    independent modulo constants: e_1 + e_2 for two tokens of one table is half of 2e_1 + 2e_2.
    """
    count = number_of_samples(model.program, model.tokens)
    if count is not None:
        return count <= MOST_ARGUMENTS and _of_weights_alone(model, seed, count)
    choices = _choices(model)
    return choices is not None and all(
        _arguments_are_independent(model, seed, rows) for rows in choices
    )


def _of_weights_alone(model: Model, seed: str, m: int) -> bool:
    """Whether the arguments at all m samples are independent functions of the weights."""
    if "root" in model.functions:
        return False
    rng = random.Random(f"program arguments/{seed}")
    p, number = point_prime(rng), rng.randrange(1 << 20)
    signs = model.patterns(m) if model.patterns and "choose" in model.functions else {}
    kinds: list[int] = []

    def values() -> np.ndarray:
        check_time()
        formal = Formal(p, number, signs)
        evaluate(model.program, FormalArithmetic(formal, model.program),
                 placed(model.program, _weights(model, p, rng),
                        _samples(model, m, p, rng)))  # fmt: skip
        kinds[:] = [kind for kind, a in formal.arguments for _ in range(a.size)]
        return np.concatenate([a.ravel() for _, a in formal.arguments])

    table = np.stack([values() for _ in range(3)], axis=1)
    different = _different(table, np.array(kinds), p)
    if len(different) > MOST_ARGUMENTS:
        return False
    columns = [values()[different] for _ in range(len(different) + 1)]
    blocks = np.stack([(own - columns[0]) % p for own in columns[1:]], axis=1)
    return _each_sort_is_independent(blocks, np.array(kinds)[different], p)


def _arguments_are_independent(model: Model, seed: str, rows: Mapping[str, np.ndarray]) -> bool:
    rng = random.Random(f"program arguments/{seed}")
    p, number = point_prime(rng), rng.randrange(1 << 20)
    table_of: list[np.ndarray] = []
    # Few samples for each choice of weights: at fixed weights arguments may be dependent.
    batch, wanted = 4, 0
    while len(table_of) * (batch - 1) <= wanted + 4 * batch:
        check_time()
        weights = _weights(model, p, rng)
        signs, turned = model.signs(batch), dict[int, np.ndarray]()
        if "root" in model.functions:
            every = _repeated(rows, batch)
            found = _root_search(model, p, number, weights, rng, every).samples(batch, signs)
            if found is None:
                return False
            samples, turned = found
        else:
            samples = _samples(model, batch, p, rng, _repeated(rows, batch))
        formal = Formal(p, number, signs, "root" in model.functions, turned=turned)
        evaluate(model.program, FormalArithmetic(formal, model.program),
                 placed(model.program, weights, samples))  # fmt: skip
        if any(a.shape[-1] == 1 for _, a in formal.arguments):
            return False
        kinds = [(k, row) for k, a in formal.arguments for row in a.reshape(-1, batch)]
        table = np.array([row for _, row in kinds])
        sorts = np.array([kind for kind, _ in kinds])
        table_of.append(np.concatenate([table, sorts[:, None]], axis=1))
        wanted = len(table)
        if wanted > 4 * MOST_ARGUMENTS:
            return False
    whole = np.concatenate([part[:, :-1] for part in table_of], axis=1)
    different = _different(whole, table_of[0][:, -1], p)
    if len(different) > MOST_ARGUMENTS:
        return False
    blocks = [(part[different, 1:-1] - part[different, :1]) % p for part in table_of]
    sorts = table_of[0][different, -1]
    return _each_sort_is_independent(np.concatenate(blocks, axis=1), sorts, p)


def _each_sort_is_independent(blocks: np.ndarray, kinds: np.ndarray, p: int) -> bool:
    """Whether the rows of angles are independent, and all other rows."""
    parts = [blocks[kinds == ANGLE], blocks[kinds != ANGLE]]
    return all(modular_rank(part, p) == len(part) for part in parts if len(part))


def _different(table: np.ndarray, kinds: np.ndarray, p: int) -> list[int]:
    """One row of each class that is equal or opposite everywhere; zero rows are omitted."""
    seen: set[tuple[int, bytes]] = set()
    out = []
    for k, row in enumerate(table):
        if not row.any():
            continue
        first = int(row[np.flatnonzero(row)[0]])
        key = (int(kinds[k]), (row if first <= p // 2 else (p - row) % p).tobytes())
        if key not in seen:
            seen.add(key)
            out.append(k)
    return out


@dataclass(frozen=True)
class Exactness:
    """Whether ranks of a model's Jacobian at random points are exact.

    Attributes
    ----------
    is_exact : bool
        Whether they are the generic ranks unless the points are unlucky; otherwise upper bounds.
    words : str
    """

    is_exact: bool
    words: str


def argued(model: Model, seed: str) -> Exactness:
    """Whether ranks at points of a model are exact, with the reason.

    If all weights are given this is said of other weights and samples on the same pattern: formal
    values at given ones are special cases of those at others, so ranks are no larger there.
    """
    functions, missing = model.functions, model.without_roots
    piece = "on an activation pattern, " if "choose" in functions else ""
    if model.is_given:
        if "root" in functions and (
            model.inputs or not random_program_point(model, 2, seed).has_roots
        ):
            text = "upper bounds: square roots are formal values at the given numbers"
            return Exactness(False, f"{piece}{text}")
        model = replace(model, values={}, inputs={})
    bounds = f"{piece}upper bounds{' for the samples drawn' if model.draws_tokens else ''}"
    if missing:
        return Exactness(False, f"{bounds}: square roots are formal values")
    if "erf" in functions:
        return Exactness(False, f"{bounds}: erf has formal slopes")
    if "log" in functions:
        return Exactness(False, f"{bounds}: logarithms are formal values")
    parts = []
    if "root" in functions:
        if not random_program_point(model, 2, seed).has_roots or not roots_are_independent(
            model, seed
        ):
            return Exactness(False, f"{bounds}: square roots are formal values")
        parts.append("square roots exist at the points, independent of each other")
    if functions & set(EXPONENTIAL):
        if not arguments_are_independent(model, seed):
            text = "the arguments of exponentials were not shown independent"
            return Exactness(False, f"{bounds}: {text}")
        parts.append("Ax–Schanuel: exponentials of independent arguments")
    statements = "; ".join(parts) or "labels are rational functions"
    return Exactness(True, f"{piece}exact ({statements})")


# -- Jacobians ---------------------------------------------------------------------------------


class Columns:
    """Columns of the Jacobian at a point, rows in the order of the samples.

    Samples are taken in parts (`samples_of_part`); sweeps of all are kept if they take an eighth of
    the memory limit at most.

    Parameters
    ----------
    model : Model
    point : ProgramPoint
    m : int
    names : sequence of str
        The weights of the columns.
    """

    def __init__(self, model: Model, point: ProgramPoint, m: int, names: Sequence[str]) -> None:
        self.model, self.point, self.p, self.m = model, point, point.p, m
        self.names = sorted(names)
        self._kept: list[tuple[slice, Sweep]] = []
        need_sample(model, names)
        own = least_memory(model, names) // 2
        left = memory_beside_weights(model)
        self.step = min(m, samples_of_part(own))
        self._keeps = own * m <= left // _SHARE
        # With copies a block of the Jacobian takes an eighth of the limit.
        self._at_once = max(1, min(_AT_ONCE, left // 256))

    def _sweeps(self) -> Iterator[tuple[slice, Sweep]]:
        """The parts of the samples, with a sweep each."""
        if self._kept:
            yield from self._kept
            return
        kept: list[tuple[slice, Sweep]] = []
        for start in range(0, self.m, self.step):
            check_time()
            part = slice(start, min(start + self.step, self.m))
            sweep = _sweep_of(self.model, self.point, self.m, part, self.names)
            if self._keeps:
                kept.append((part, sweep))
            yield part, sweep
        self._kept = kept

    def of(self, cells: Sequence[ProgramCell]) -> Residues:
        """Row c·d + k holds the derivatives of label k of sample c.

        Modulo a short prime the residues are signed, in 32 bits.
        """
        d, short = self.model.outputs, self.p < 1 << BITS
        out = np.empty((len(cells), self.m, d), STORED if short else np.int64)
        for part, sweep in self._sweeps():
            count = part.stop - part.start
            step = max(1, self._at_once // (d * count))
            for start in range(0, len(cells), step):
                own = cells[start : start + step]
                J = sweep.jacobian(own).T.reshape(len(own), d, count)
                own_rows = out[start : start + step, part].swapaxes(1, 2)
                own_rows[...] = signed(J, self.p) if short else J
        return out.reshape(len(cells), self.m * d).T

    def low_rank(self, name: str, U: Residues, V: Residues) -> Residues:
        """Derivatives by U and V of a weight W + U Vᵀ, with W a matrix of its first axis' rows."""
        d = self.model.outputs
        out = np.empty((self.m, d, (len(U) + len(V)) * U.shape[1]), np.int64)
        for part, sweep in self._sweeps():
            found = sweep.low_rank(name, U, V)
            if found is None:
                found = _products_of_columns(sweep, name, U, V, self.p)
            out[part] = found.reshape(d, part.stop - part.start, -1).swapaxes(0, 1)
        return out.reshape(self.m * d, -1)

    def sketched(self, names: Sequence[str], rng: random.Random) -> Residues:
        """Random combinations of columns by some weights, a few more than there are rows.

        They have the rank of all columns; which are taken if they are few (`is_sketched`).
        """
        d = self.model.outputs
        rows, model = d * self.m, self.model
        counts = {name: count_of(model, name) for name in names}
        if not is_sketched(sum(counts.values()), rows):
            return self.of([cell for name in names for cell in cells_of(model, name)])
        width, stream = rows + SPARE, rng.randrange(1 << 62)
        total = np.zeros((rows, width), np.int64)
        for part, sweep in self._sweeps():
            own = np.s_[part.start * d : part.stop * d]
            for name in names:
                # The same combinations for all samples.
                mixes, found = random.Random(f"{stream}/{name}"), None
                if counts[name] > width and name not in model.support:
                    shape = model.program.weights[name]
                    vectors = [random_residues((n, width), self.p, mixes) for n in shape]
                    found = sketch(sweep, name, vectors)
                if found is None:
                    found = self._mixed(sweep, cells_of(model, name), width, mixes)
                total[own] = (total[own] + found.transpose(2, 0, 1).reshape(-1, width)) % self.p
        return total

    def _mixed(
        self, sweep: Sweep, cells: Sequence[ProgramCell], width: int, rng: random.Random
    ) -> Residues:
        """Random combinations of the columns of some cells: outputs, combinations, samples."""
        d = self.model.outputs
        total = np.zeros((d, width, sweep.batch), np.int64)
        for start in range(0, len(cells), COLUMNS):
            check_time()
            few = cells[start : start + COLUMNS]
            J = sweep.jacobian(few)
            mix = random_residues((len(few), width), self.p, rng)
            found = matmul(J, mix, self.p).reshape(d, -1, width).swapaxes(1, 2)
            total = (total + found) % self.p
        return total


def is_sketched(count: int, rows: int) -> bool:
    """Whether combinations of so many columns take the place of these.

    They take less memory; the elimination of a quarter more columns takes less time.
    """
    return count > max(rows + max(SPARE, rows // 4), min(COLUMNS, 2 * rows))


def count_of(model: Model, name: str) -> int:
    """The number of entries of a weight that exist."""
    mask = model.support.get(name)
    return math.prod(model.program.weights[name]) if mask is None else int(np.sum(mask != 0))


def cells_of(model: Model, name: str) -> list[ProgramCell]:
    """The cells of a parameter that exist."""
    exists = model.support.get(name)
    places = np.ndindex(*model.program.weights[name])
    return [(name, *place) for place in places if exists is None or exists[place]]


def _sweep_of(
    model: Model,
    point: ProgramPoint,
    m: int,
    part: slice,
    names: Collection[str],
    covector: Residues | None = None,
) -> Sweep:
    """A sweep of some of the m samples of a point."""
    arithmetic, blocks = _of_part(model, point, m, part)
    return Sweep(model.program, arithmetic, blocks, names, covector=covector)


def _of_part(
    model: Model, point: ProgramPoint, m: int, part: slice
) -> tuple[FormalArithmetic, dict[str, Residues]]:
    """The arithmetic and the blocks of some of the m samples of a point."""
    program, formal = model.program, point.arithmetic.formal
    blocks = {
        name: value[..., part] if name in program.samples else value
        for name, value in point.blocks.items()
    }
    signs = {
        k: own[..., part] if own.shape[-1] > 1 else own for k, own in formal.signs.items()
    } or model.signs(m, part)
    turned = {k: own[..., part] for k, own in formal.turned.items()}
    here = replace(formal, signs=signs, turned=turned, invalid=[], arguments=[])
    return FormalArithmetic(here, program), blocks


def arguments_differ(model: Model, point: ProgramPoint, m: int) -> bool:
    """Whether no two arguments of formal values of m samples are equal or opposite at a point.

    Also not those that are equal for all weights, and none is 0.  Arguments of different functions
    have values of their own, unless both are made of the exponential.  False, too, if they are too
    many for the memory limit.
    """
    nodes = model.program.nodes
    needed, sorts = model.program.needed([model.program.output]), dict[str, set[int]]()
    for node in (nodes[k] for k in needed if nodes[k].op == "apply"):
        name = "exp" if node.name in ("tanh", "sigmoid", "softplus") else node.name
        sorts.setdefault("sin" if name == "cos" else name, set()).update(node.inputs)
    if not point.has_roots:
        sorts["root"] = {k for number in model.roots for k in nodes[number].inputs}
    step = samples_of_part(bytes_of_sample(model.program, frozenset()))
    wanted, parts = set().union(*sorts.values()), dict[int, list[np.ndarray]]()
    # With copies, to sort them.
    if 32 * m * sum(nodes[k].size for k in wanted) > memory_beside_weights(model) // _SHARE:
        return False
    for start in range(0, m, step):
        check_time()
        own = _of_part(model, point, m, slice(start, min(start + step, m)))
        for number, value in evaluate(model.program, *own, wanted).items():
            # What all samples share is the same in each part.
            if not start or nodes[number].batched:
                parts.setdefault(number, []).append(value.ravel())
    for name, numbers in sorts.items():
        values = np.concatenate([part for k in numbers for part in parts[k]])
        if name not in ("root", "log"):
            values = np.minimum(values, point.p - values)
        if not values.all() or len(np.unique(values)) < len(values):
            return False
    return True


def gradients(
    model: Model,
    point: ProgramPoint,
    m: int,
    names: Callable[[], Collection[str]],
    rng: random.Random,
) -> Iterator[tuple[str, Residues]]:
    """Derivatives of random sums of all labels by whole weights, part after part of the samples.

    A sum has the derivative 0 by an entry where all its labels have, and otherwise with a
    probability of 1/p at most, by its random factors.  So one backward pass, whose work and memory
    do not grow with the number of labels, shows which entries have an effect.  What few of many
    millions do not show by chance, the other samples show, or another sum of a single one.

    Parameters
    ----------
    model : Model
    point : ProgramPoint
    m : int
        Number of samples.
    names : callable
        Which weights; it is asked for each sum, and the last part is that for which it has none.
    rng : random.Random
        It draws the factors.
    """
    program = model.program
    rows = _SUMS if m == 1 and "choose" not in model.functions else 1
    step = min(m, samples_of_part(bytes_of_sample(program, frozenset(names()), rows)))
    shape = program.nodes[program.output].shape
    for start in range(0, m, step):
        part, own = slice(start, min(start + step, m)), names()
        if not own:
            return
        factors = random_residues((rows, *shape, part.stop - start), point.p, rng)
        sweep = _sweep_of(model, point, m, part, own, factors)
        # One sample shows nearly all; what the others show is no sum with it.
        sums = [(slice(1), row) for row in range(rows)]
        sums += [(slice(1, None), 0)] if part.stop - start > 1 else []
        for samples, row in sums:
            yield from sweep.gradients(names(), samples, row)


def labels_move(
    model: Model, point: ProgramPoint, m: int, masks: Mapping[str, np.ndarray], rng: random.Random
) -> bool:
    """Whether the labels have a derivative along a random direction of some entries.

    If they have none the derivatives by all these entries are 0, but for a probability of 1/p.
    Tangents are followed forwards only until they vanish: a softmax after a shift, for example.

    Parameters
    ----------
    model : Model
    point : ProgramPoint
    m : int
        Number of samples.
    masks : mapping of str to ndarray of bool
        The entries of each weight.
    rng : random.Random
        It draws the direction.
    """
    program = model.program
    moved = {
        name: (random_residues(mask.shape, point.p, rng) * mask)[..., None]
        for name, mask in masks.items()
    }
    order = evaluation_order(program, [program.output], with_signs=False)
    step = min(m, samples_of_part(bytes_of_sample(program, frozenset(masks), 1)))
    for start in range(0, m, step):
        part = slice(start, min(start + step, m))
        arithmetic, blocks = _of_part(model, point, m, part)
        duals = {name: DualValue.of(value, moved.get(name)) for name, value in blocks.items()}
        if evaluate_in(order, DualArithmetic(arithmetic), duals)[program.output].moves:
            return True
    return False


def _products_of_columns(sweep: Sweep, name: str, U: Residues, V: Residues, p: int) -> Residues:
    """`Sweep.low_rank` from the columns of W, rows (output, sample)."""
    shape, inner = sweep.program.weights[name], len(V)
    cells = [(name, *place) for place in np.ndindex(*shape)]
    by_u, by_v = [], None
    step = max(1, COLUMNS // inner)
    for start in range(0, len(U), step):
        check_time()
        count = min(step, len(U) - start)
        J = sweep.jacobian(cells[start * inner : (start + count) * inner])
        high = J.shape[0]
        by_u.append(matmul(J.reshape(high * count, inner), V, p).reshape(high, -1))
        turned = J.reshape(high, count, inner).transpose(0, 2, 1).reshape(high * inner, count)
        part = matmul(np.ascontiguousarray(turned), U[start : start + count], p)
        part = part.reshape(high, -1)
        by_v = part if by_v is None else (by_v + part) % p
    assert by_v is not None
    return np.concatenate([*by_u, by_v], axis=1)


def memory_beside_weights(model: Model, later: int = 0) -> int:
    """Bytes of the memory limit that the weights leave to samples and derivatives.

    Residues of all weights, conversions of the largest; on activation patterns exact values, too,
    and doubles.  If they leave nothing the limit that is named suffices for `later` bytes as well.

    Raises
    ------
    Unfinished
        If they leave nothing.
    """
    sizes = [8 * math.prod(shape) for shape in model.program.weights.values()]
    copies = 3 if "choose" in model.functions else 1
    needed = copies * sum(sizes) + 2 * max(sizes, default=0)
    need_left(needed, "the weights take", later)
    return memory_limit() - needed


def least_memory(model: Model, names: Sequence[str]) -> int:
    """Bytes without which no derivative by weights is computed: those of two samples."""
    return 2 * bytes_of_sample(model.program, frozenset(names))


def need_sample(model: Model, names: Sequence[str], later: Sequence[str] = ()) -> None:
    """Refuse derivatives by weights if two samples do not fit into the memory limit.

    The limit that is named suffices for `later` weights, too.

    Raises
    ------
    Unfinished
    """
    least = least_memory(model, names)
    if least > memory_limit():
        enough = max(least, least_memory(model, [*names, *later]))
        raise Unfinished(
            f"one sample takes about {in_units(least // 2)} of memory, more than half of the limit "
            f"({limit_in_words()}): raise `memory` to {limit_for(enough)}, or let fewer parameters "
            "learn"
        )


def samples_of_part(size: int) -> int:
    """How many samples of so many bytes are evaluated at a time.

    They take an eighth of the memory limit at most; and few megabytes, so that the memory of a
    value is that of an earlier one, which is faster than new memory of the system.
    """
    return max(1, min(_PART, memory_limit() // _SHARE) // size)


def bytes_of_sample(program: Program, names: frozenset[str], labels: int | None = None) -> int:
    """About the memory of a sweep for each sample: values, adjoints that are kept, and copies.

    Of so many labels, by default those of the program.  Values are released when nothing needs them
    (`algebra.programs.evaluate`); to those of a node and its inputs its intermediate arrays are
    added.
    """
    if labels is None and names in program.sweep_sizes:
        return program.sweep_sizes[names]
    nodes, with_signs = program.nodes, not names
    needed = program.needed([program.output], with_signs)
    moving = moving_nodes(program, needed, names)
    kept = {program.output} | kept_values(program, moving, with_signs)
    live = most = 0

    def size_of(number: int) -> int:
        """Entries of a value; patches are formed in parts, and hold their images."""
        own = nodes[number]
        return (nodes[own.inputs[0]] if isinstance(own.places, Patches) else own).size

    for number, node, done in evaluation_order(program, kept, with_signs):
        live += size_of(number) if node.batched else 0
        inputs = [k for k in node.used(with_signs) if nodes[k].batched]
        copies = sum(map(size_of, inputs))
        own = size_of(number) * (_PRODUCTS if node.op == "contract" else 1)
        if node.op in _COPIED:
            own = node.size * _COPIES
        if any(isinstance(nodes[k].places, Patches) for k in inputs):
            own, copies = 2 * node.size, 0
        if node.batched:
            most = max(most, live + own + (copies if node.op in ("contract", "index") else 0))
        live -= sum(size_of(k) for k in done if nodes[k].batched)
    # A pattern takes a byte for each sign.
    most += sum(nodes[k].size for k in needed if nodes[k].op == "choose") // 8
    adjoints = adjoint = 0
    for number in moving:
        node = nodes[number]
        if node.batched and not isinstance(node.places, Patches):
            inside = sum(nodes[k].size for k in node.inputs if k in moving and nodes[k].batched)
            adjoint = max(adjoint, _COPIES * node.size + inside)
            if any(k in moving and not nodes[k].batched for k in node.inputs):
                adjoints += node.size
    high = nodes[program.output].size if labels is None else labels
    size = 8 * (most + high * (adjoints + adjoint)) + 1
    if labels is None:
        program.sweep_sizes[names] = size
    return size


def work_of_sample(
    program: Program, names: frozenset[str], with_signs: bool, labels: int | None = None
) -> int:
    """About the multiplications of a sweep for each sample, and of its pattern in doubles.

    Of so many labels, by default those of the program.
    """
    nodes = program.nodes
    needed = program.needed([program.output])
    moving = moving_nodes(program, needed, names)
    labels, total = nodes[program.output].size if labels is None else labels, 0
    for number in needed:
        node = nodes[number]
        if not node.batched:
            continue
        own = node.size
        if node.op == "contract":
            groups = node.letters.partition("->")[0].split(",")
            shapes = [nodes[k].shape for k in node.inputs]
            sizes = {c: n for g, s in zip(groups, shapes, strict=True)
                     for c, n in zip(g, s, strict=True)}  # fmt: skip
            own = math.prod(sizes.values())
        after = sum(1 for k in node.inputs if k in moving and nodes[k].batched)
        total += own * (1 + with_signs + labels * after)
    return total + 1


def independent_rows(J: Residues, p: int) -> list[int]:
    """The rows that are independent of the earlier ones."""
    return independent_columns(np.ascontiguousarray(J.T), p, overwrite=True) if J.size else []
