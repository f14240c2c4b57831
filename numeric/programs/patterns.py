r"""Activation patterns of a program: the signs of its choices at real points.

**The model's own pattern** is that at its own weights, for given or standard Gaussian samples.
Where the value of a choice is 0 there, such as at weights that begin at 0, the labels are no
function of one piece: signs are those at weights beside them, in a random direction, so that the
pattern is one of pieces that meet there.  (|u| − relu(u) − relu(−u) is 0, and not −u as with all
signs negative.)  A backward pass takes the derivative of a ReLU at 0 for that of negative values;
so does the pattern of `backward`, where other choices (|u|, the larger of two) are as before.

**Drawn patterns** are those at random weights at which every unit switches: with plain random
weights the samples become more and more alike from layer to layer, and most deep units have one
sign for all samples.  So weights are adjusted along one evaluation in doubles (layer by layer, as
in [1]_): where a sum whose sign chooses is reached, the matrices in it are divided by its standard
deviation over samples, and its mean is subtracted from a bias in it or, if there is none, by a
change of rank one of a matrix in it.  Each weight is adjusted once, and the pattern is that of a
final evaluation at the adjusted weights, so it is a pattern of a real point.

A point with values that are no numbers has no pattern; other weights are drawn.

References
----------
.. [1] D. Mishkin, J. Matas, "All you need is a good init", ICLR 2016 (arXiv 1511.06422).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from operator import truediv
from typing import Any
from weakref import proxy

import numpy as np

from algebra.programs.arrays import EntryArithmetic, placed
from algebra.programs.evaluate import evaluate, value_of
from algebra.programs.generic import (
    NoPattern,
    Patterns,
    bytes_of_sample,
    samples_of_part,
    work_of_sample,
)
from algebra.programs.jacobian import moving_nodes
from algebra.programs.patches import Patched, Patches
from algebra.programs.program import Node, Program, matrix_shape
from algebra.programs.tokens import token_samples
from algebra.time_limits import check_time
from numeric.programs.enclosed import (
    BoundedArithmetic,
    NotBounded,
    enclosed,
    surely_regular,
)
from numeric.programs.exponentials import WideArithmetic, along, evaluate_wide, plain

# Samples by which weights are adjusted, few ones, multiplications for more than two; drawn weights
# before a program is given up; standard deviation of a sum's mean after the adjustment, in units of
# that of the sum.
_SAMPLES = 256
_FEW = 8
_WORK = 1 << 32
_TRIES = 8
_SPREAD = 0.3
# Values of this size, in units of the largest, count as 0; distance of weights beside others.
_ROUNDING = 1e-13
_BESIDE = 1e-7
# Denominators that are doubles.
_LARGE = 1 << 1000
# One of so many entries of a kernel is kept where few suffice.
_TAPS = 4
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "cos": np.cos,
    "erf": lambda a: _special().erf(a),
    "exp": np.exp,
    "log": np.log,
    "sigmoid": lambda a: _special().expit(a),
    "sin": np.sin,
    "softplus": lambda a: np.logaddexp(a, 0),
    "tanh": np.tanh,
}


def _special() -> Any:
    """Special functions of SciPy, which load slowly, when they are needed."""
    from scipy import special

    return special


def _is_near(a: np.ndarray, b: np.ndarray | int, most: float) -> np.ndarray:
    """Whether entries differ by so little at most, with one array of doubles, or none, beside."""
    found: np.ndarray = a <= b + most
    found &= a >= b - most
    return found


# From names of weights to such weights.
Near = Callable[[Collection[str]], Mapping[str, np.ndarray]]


class _Recorder(EntryArithmetic):
    """Doubles that record the signs, by the number of the node."""

    forms_patches = True

    def __init__(
        self,
        program: Program,
        maxima: Mapping[int, bool] | None = None,
        notes_kinks: bool = False,
        strict: Collection[int] = (),
    ) -> None:
        self._strict = strict
        self._numbers = {id(node): k for k, node in enumerate(program.nodes)}
        self._maxima = maxima or {}
        self.pattern: dict[int, np.ndarray] = {}
        # Where values that choose are 0 or as small as rounding, by the number of the node.
        self.kinks: dict[int, np.ndarray] = {}
        self.notes_kinks = notes_kinks
        # A recorder that held itself would keep its pattern until the collector finds the cycle.
        own: Any = proxy(self)
        super().__init__(number=truediv, signs=lambda node, a: own._recorded(node, a))

    def _recorded(self, node: Node, a: np.ndarray) -> np.ndarray:
        number, size = self._numbers[id(node)], self._check(node, a)
        found = self.pattern[number] = a > 0
        if self.notes_kinks:
            self._note(number, _is_near(a, 0, _ROUNDING * size))
        return found

    def _note(self, number: int, kinks: np.ndarray) -> None:
        if number not in self._strict and kinks.any():
            self.kinks[number] = kinks

    @staticmethod
    def _check(node: Node, a: np.ndarray) -> float:
        # Least and largest entries are found without another array; either is NaN if an entry is.
        least, most = (float(a.min()), float(a.max())) if a.size else (0.0, 0.0)
        if not (np.isfinite(least) and np.isfinite(most)):
            raise NoPattern(f"{node.label or 'a value'} whose sign chooses is no number")
        return max(most, -least)

    def choose(
        self, node: Node, sign: np.ndarray, positive: np.ndarray, other: np.ndarray
    ) -> np.ndarray:
        number = self._numbers[id(node)]
        if number not in self._maxima:
            return super().choose(node, sign, positive, other)
        second = 0 if self._maxima[number] else other
        size = max(self._check(node, positive), self._check(node, other))
        self.pattern[number] = positive > second
        if self.notes_kinks:
            kinks = _is_near(positive, second, _ROUNDING * size)
            # Units that are off have the maximum 0, at all weights near these.
            if not self._maxima[number]:
                kinks &= positive != 0
            self._note(number, kinks)
        return np.asarray(np.maximum(positive, second))

    def constant(self, table: np.ndarray, denominator: int) -> np.ndarray:
        return doubles(table, denominator)[..., None]

    def sum_of_products(self, factors: list[tuple[str, Any]], result: str) -> np.ndarray:
        """Without the entries of kernels that are 0 for all channels."""
        kernels = [(g, v) for g, v in factors if not isinstance(v, Patched)]
        patched = [(g, v) for g, v in factors if isinstance(v, Patched)]
        if len(kernels) == len(patched) == 1 and kernels[0][1].shape[-1] == 1:
            [(group, kernel)], [(letters, images)] = kernels, patched
            count, places = len(images.places.windows), images.places
            if group[-1] == letters[-2] and group[-1] not in result:
                parts = kernel.reshape(*kernel.shape[:-2], -1, count)
                used = parts.any(axis=tuple(range(parts.ndim - 1)))
                if not used.all() and used.any():
                    shape = (*places.shape[:-2], places.shape[-2] // count * used.sum())
                    few = replace(
                        places, windows=places.windows[used], shape=(*shape, places.shape[-1])
                    )
                    own = parts[..., used].reshape(*kernel.shape[:-2], shape[-1], 1)
                    factors = [(group, own), (letters, replace(images, places=few))]
        return super().sum_of_products(factors, result)

    def root(self, node: Node, a: np.ndarray) -> np.ndarray:
        return np.sqrt(a)

    def apply(self, node: Node, name: str, a: np.ndarray) -> np.ndarray:
        return FUNCTIONS[name](a)


def doubles(table: np.ndarray, denominator: int) -> np.ndarray:
    """Rational numbers in doubles: integers, perhaps of Python, over one denominator."""
    if table.dtype != object and denominator < _LARGE:
        return np.asarray(table / denominator, np.float64)
    # The quotient of two long integers is rounded correctly.
    flat = [value / denominator for value in table.ravel().tolist()]
    return np.array(flat, np.float64).reshape(table.shape)


def pattern_at(
    program: Program,
    weights: Mapping[str, np.ndarray],
    samples: Mapping[str, np.ndarray],
    beside: Near | None = None,
    strict: Collection[int] = (),
) -> dict[int, np.ndarray]:
    """The signs at a point, by the numbers of the nodes that choose.

    Parameters
    ----------
    program : Program
    weights : mapping of str to ndarray
    samples : mapping of str to ndarray
        With the batch axis last.
    beside : callable, optional
        From names to weights very near to these, which give the signs of values that are 0.
    strict : collection of int, optional
        The nodes that choose for which 0 is not positive, whatever the weights near these give.

    Raises
    ------
    NoPattern
        If the argument of a choice is no number.
    """
    fixed = {name: value[..., None] for name, value in weights.items()}
    m = max((value.shape[-1] for value in samples.values()), default=1)
    parts, step = [], samples_at_once(program)
    short, maxima = _with_maxima(program)
    for start in range(0, m, step):
        check_time()
        recorder = _Recorder(short, maxima, beside is not None, strict)
        few = {name: value[..., start : start + step] for name, value in samples.items()}
        with np.errstate(all="ignore"):
            evaluate_wide(short, recorder, fixed | few)
            if beside is not None and recorder.kinks:
                other, ends = _Recorder(short, maxima), list(recorder.kinks)
                blocks = (
                    short.nodes[k] for k in short.needed(ends) if short.nodes[k].op == "block"
                )
                names = [node.name for node in blocks if node.name in weights]
                near = {name: value[..., None] for name, value in beside(names).items()}
                evaluate_wide(short, other, near | few, ends)
                for k, own in recorder.kinks.items():
                    recorder.pattern[k] = np.where(own, other.pattern[k], recorder.pattern[k])
        parts.append(recorder.pattern)
    if len(parts) == 1:
        return parts[0]
    # Signs of values without a batch axis of their own are the same in all parts.
    return {
        k: np.concatenate([part[k] for part in parts], axis=-1)
        if program.nodes[program.nodes[k].inputs[0]].batched
        else own
        for k, own in parts[0].items()
    }


@lru_cache(maxsize=4)
def _with_maxima(program: Program) -> tuple[Program, Mapping[int, bool]]:
    """A program without what only the choices of a larger value need; whether each is one with 0.

    They are a or b by the sign of a − b, positive in doubles if and only if a > b, and a or 0 by
    the sign of a.  These have a alone as inputs.
    """
    nodes, maxima = list(program.nodes), dict[int, bool]()
    for number, node in enumerate(nodes):
        if node.op != "choose":
            continue
        sign, first, second = node.inputs
        terms = nodes[sign].inputs if nodes[sign].op == "add" else ()
        with_zero = sign == first and _is_multiple(nodes[second], 0, first)
        if with_zero:
            nodes[number] = replace(node, inputs=(first,) * 3)
        elif len(terms) == 2 and terms[0] == first and _is_multiple(nodes[terms[1]], -1, second):
            nodes[number] = replace(node, inputs=(first, first, second))
        else:
            continue
        maxima[number] = with_zero
    return replace(program, nodes=tuple(nodes)), maxima


def _is_multiple(node: Node, factor: int, of: int) -> bool:
    return node.op == "scale" and node.number == factor and node.inputs == (of,)


def samples_at_once(program: Program) -> int:
    """The number of samples that are evaluated at a time."""
    return samples_of_part(bytes_of_sample(program, frozenset()))


def own_patterns(
    program: Program,
    values: Mapping[str, tuple[np.ndarray, int]],
    *,
    tokens: Mapping[str, int] | None = None,
    inputs: Mapping[str, np.ndarray] | None = None,
    backward: bool = False,
    seed: int = 0,
) -> Patterns:
    """Patterns at given weights, for given samples or standard Gaussian ones.

    Parameters
    ----------
    program : Program
    values : mapping of str to (ndarray of int, int)
        The weights: integers over a denominator.
    tokens : mapping of str to int, optional
        For samples that are one-hot rows, the length of a row.
    inputs : mapping of str to ndarray, optional
        Samples, with the batch axis last; a pattern of m samples is that of the first m, and of the
        same again if there are fewer.
    backward : bool, optional
        Where a value is 0, the piece whose derivatives a backward pass takes.
    seed : int, optional

    Returns
    -------
    callable
        From the number of samples to the signs, by the numbers of the choosing nodes.
    """

    @cache
    def weights() -> dict[str, np.ndarray]:
        return {name: doubles(*values[name]).reshape(s) for name, s in program.weights.items()}

    def samples(m: int) -> dict[str, np.ndarray]:
        if inputs is not None:
            return {n: v[..., np.arange(m) % v.shape[-1]] for n, v in inputs.items()}
        return _samples(program, m, tokens, seed)

    order = list(program.weights)

    def beside(names: Collection[str]) -> dict[str, np.ndarray]:
        near = {}
        for name in names:
            own, rng = weights()[name], _generator(seed, order.index(name), "beside")
            size = _BESIDE * (np.abs(own).max(initial=0) or 1)
            near[name] = own + size * rng.standard_normal(own.shape)
        return near

    strict = _rectifiers(program) | _compares(program) if backward else frozenset()
    return _PatternsAt(program, samples, lambda again: weights(), beside=beside, strict=strict)


def _compares(program: Program) -> frozenset[int]:
    """The nodes that choose other values than those that they compare: Where, by a > b.

    Of equal ones neither is larger.  A maximum's derivative, by either of them, is no such choice.
    """
    nodes, found = program.nodes, set[int]()
    for number, node in enumerate(nodes):
        if node.op != "choose" or nodes[node.inputs[0]].op != "add":
            continue
        terms = nodes[node.inputs[0]].inputs
        if len(terms) != 2 or nodes[terms[1]].op != "scale" or nodes[terms[1]].number != -1:
            continue
        if {terms[0], *nodes[terms[1]].inputs} != set(node.inputs[1:]):
            found.add(number)
    return frozenset(found)


def _rectifiers(program: Program) -> frozenset[int]:
    """The nodes that are values above 0, and multiples of them below: ReLU, leaky ReLU."""
    nodes, found = program.nodes, set[int]()
    for number, node in enumerate(nodes):
        if node.op == "choose" and node.inputs[0] == node.inputs[1]:
            below = nodes[node.inputs[2]]
            is_multiple = below.op == "multiply" or (below.number is not None and below.number >= 0)
            if is_multiple and node.inputs[0] in below.inputs:
                found.add(number)
    return frozenset(found)


def drawn_patterns(
    program: Program,
    *,
    tokens: Mapping[str, int] | None = None,
    support: Mapping[str, np.ndarray] | None = None,
    positive: Collection[str] = (),
    fixed: Mapping[str, tuple[np.ndarray, int]] | None = None,
    updates: Mapping[str, int] | None = None,
    seed: int = 0,
) -> Patterns:
    """Patterns at Gaussian samples and random weights at which units switch: see the module.

    Given weights are not adjusted, so that a unit may switch for no sample.

    Parameters
    ----------
    program : Program
    tokens : mapping of str to int, optional
        For samples that are one-hot rows, the length of a row.
    support : mapping of str to ndarray, optional
        0/1 masks of the weights that exist, for matrices in which some do not.
    positive : collection of str, optional
        Weights that are positive, such as statistics of normalizations.
    fixed : mapping of str to (ndarray of int, int), optional
        Weights that are given instead of drawn: integers over a denominator.
    updates : mapping of str to int, optional
        Given weights to which a drawn product of so many columns is added, as matrices.
    seed : int, optional

    Returns
    -------
    callable
        From the number of samples to the signs, by the numbers of the choosing nodes.
    """

    @cache
    def given() -> dict[str, np.ndarray]:
        own = fixed or {}
        return {name: doubles(*own[name]).reshape(program.weights[name]) for name in own}

    made: list[dict[str, np.ndarray]] = []
    tries = iter(range(_TRIES))

    def weights(again: bool) -> dict[str, np.ndarray]:
        if again:
            made.clear()
        while not made:
            number = next(tries, None)
            if number is None:
                raise NoPattern(f"values at {_TRIES} drawn weights are no numbers (they overflow)")
            rng = _generator(seed, number, "pattern")
            with suppress(NoPattern), np.errstate(all="ignore"):
                own = given() | _updated(given(), updates or {}, rng)
                made.append(_standardized(program, tokens, support or {}, positive, rng, own))
        return made[0]

    def few() -> dict[str, np.ndarray]:
        rng = _generator(seed, 0, "few")
        masks = _some_taps(program, support or {}, rng)
        return _standardized(program, tokens, masks, positive, rng)

    return _PatternsAt(
        program, lambda m: _samples(program, m, tokens, seed), weights, redraws=True,
        few=None if fixed else few,
    )  # fmt: skip


def _updated(
    weights: Mapping[str, np.ndarray], updates: Mapping[str, int], rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Weights with drawn updates W + U Vᵀ, of the size of W."""
    out = {}
    for name, k in updates.items():
        rows, inner = matrix_shape(weights[name].shape)
        product = rng.standard_normal((rows, k)) @ rng.standard_normal((k, inner)) / np.sqrt(k)
        size = weights[name].std() or 1 / np.sqrt(inner)
        out[name] = weights[name] + size * product.reshape(weights[name].shape)
    return out


def _some_taps(
    program: Program, support: Mapping[str, np.ndarray], rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Masks of few entries of the kernels of convolutions, the same in all channels."""
    found = dict(support)
    for node in program.nodes:
        if node.op != "contract" or len(node.inputs) != 2:
            continue
        places = program.nodes[node.inputs[1]].places
        name = _weight_of(program, node.inputs[0])
        if not isinstance(places, Patches) or not name or name in found:
            continue
        count = len(places.windows)
        taps = rng.permutation(count) < max(1, count // _TAPS)
        mask = np.zeros(program.nodes[node.inputs[0]].size, np.int8)
        mask[_places_in_weight(program, node.inputs[0])] = np.resize(taps, mask.size)
        found[name] = mask.reshape(program.weights[name])
    return found


class _PatternsAt:
    """Patterns of the first of some samples, of all at once or part by part.

    Parameters
    ----------
    program : Program
    samples : callable
        From their number to the samples; also an attribute.
    weights : callable
        The weights; others if those of the last call had no pattern.
    redraws : bool, optional
        Whether there are others.
    few : callable, optional
        Weights many of which are 0, by default those of a pattern.
    beside : callable, optional
        From names to weights very near to those of a pattern, where values that choose may be 0.
    strict : collection of int, optional
        As for `pattern_at`.
    """

    def __init__(
        self,
        program: Program,
        samples: Callable[[int], Mapping[str, np.ndarray]],
        weights: Callable[[bool], Mapping[str, np.ndarray]],
        redraws: bool = False,
        few: Callable[[], Mapping[str, np.ndarray]] | None = None,
        beside: Near | None = None,
        strict: Collection[int] = (),
    ) -> None:
        self._beside, self._strict = beside, strict
        self._program, self.samples, self._weights = program, samples, weights
        self._few = few or (lambda: weights(False))
        self._redraws, self._last = redraws, (0, dict[str, np.ndarray]())
        # The last pattern, of some part of so many samples.
        self._found: tuple[Any, dict[int, np.ndarray]] = (None, {})

    def __call__(self, m: int) -> dict[int, np.ndarray]:
        """The signs of m samples, by the numbers of the choosing nodes."""
        return self.part(m, slice(0, m))

    def part(self, m: int, part: slice) -> dict[int, np.ndarray]:
        """The signs of some of m samples.

        Other weights are drawn only before the first of them.
        """
        if self._last[0] != m:
            self._last = m, dict(self.samples(m))
        few = {name: value[..., part] for name, value in self._last[1].items()}
        if part.stop >= m:
            self._last = 0, {}
        again, key = False, (m, part.start, part.stop)
        if self._found[0] == key:
            return self._found[1]
        while True:
            weights = self._weights(again)
            try:
                self._found = (
                    key,
                    pattern_at(self._program, weights, few, self._beside, self._strict),
                )
                return self._found[1]
            except NoPattern:
                if not self._redraws or part.start:
                    raise
                again = True

    def has_regular(self, m: int, number: int, with_one: bool) -> bool:
        """Whether the entries of a value at the first of m samples are surely a regular matrix.

        So many samples as there are entries; `with_one` with a column of ones.  False if that is
        not shown.
        """
        count = self._program.nodes[number].size + with_one
        if count > m:
            return False
        samples, weights = self.samples(m), self._few()
        rows, error, step = [], 0.0, samples_at_once(self._program)
        short, maxima = _with_maxima(self._program)
        base = _Recorder(short, maxima)
        arithmetic = BoundedArithmetic(base, {id(short.nodes[k]): own for k, own in maxima.items()})
        fixed = {name: enclosed(value[..., None]) for name, value in weights.items()}
        with suppress(NotBounded), np.errstate(all="ignore"):
            for start in range(0, count, step):
                check_time()
                part = slice(start, min(start + step, count))
                few = {name: enclosed(value[..., part]) for name, value in samples.items()}
                found = evaluate(short, arithmetic, fixed | few, [number])[number]
                wide = (*found.value.shape[:-1], part.stop - part.start)
                rows.append(np.broadcast_to(found.value, wide).reshape(-1, wide[-1]).T)
                error = max(error, found.error)
            matrix = np.concatenate(rows)
            if with_one:
                matrix = np.concatenate([matrix, np.ones((count, 1))], axis=1)
            return surely_regular(matrix, error)
        return False


def _generator(seed: int, number: int, what: str) -> np.random.Generator:
    return np.random.default_rng([seed, number, zlib.crc32(what.encode())])


def _samples(
    program: Program,
    m: int,
    tokens: Mapping[str, int] | None,
    seed: int,
    rng: np.random.Generator | None = None,
) -> dict[str, np.ndarray]:
    """Standard Gaussian samples; of tokens those of a model whose order is `seed`."""
    rng = rng or _generator(seed, m, "samples")
    samples: dict[str, np.ndarray] = {
        name: own.astype(np.float64)
        for name, own in token_samples(program, tokens or {}, m, seed).items()
    }
    for name, shape in program.samples.items():
        if name not in samples:
            samples[name] = rng.standard_normal((*shape, m))
    return {name: samples[name] for name in program.samples}


# -- random weights at which units switch ------------------------------------------------------


@dataclass(frozen=True)
class _Term:
    """A weight in a sum: entries of the sum with those of the weight, or of the product.

    Attributes
    ----------
    name : str
    entries : ndarray of int
        For each entry of the sum the place in the term, −1 if it is not in it.
    factor : float
    product : int
        The number of the product; −1 for a bias.
    position : int
        Which of the product's factors is the weight.
    """

    name: str
    entries: np.ndarray
    factor: float
    product: int = -1
    position: int = 0


def _terms(program: Program, number: int) -> Iterator[_Term]:
    """The weights that enter a sum, directly or multiplied by values."""
    stack = [(number, np.arange(program.nodes[number].size), 1.0)]
    while stack:
        k, entries, factor = stack.pop()
        node = program.nodes[k]
        if node.op == "add":
            stack += [(j, entries, factor) for j in node.inputs]
        elif node.op == "scale" and node.number:
            stack.append((node.inputs[0], entries, factor * float(node.number)))
        elif node.op == "index":
            assert node.where is not None
            places = np.where(entries >= 0, node.where.ravel()[entries], -1)
            first = 0
            for j in node.inputs:
                size = program.nodes[j].size
                inside = (places >= first) & (places < first + size)
                if inside.any():
                    stack.append((j, np.where(inside, places - first, -1), factor))
                first += size
        elif node.op == "block" and not node.batched:
            yield _Term(node.name, entries, factor)
        elif node.op == "contract" and node.batched:
            found = [
                (position, _weight_of(program, j))
                for position, j in enumerate(node.inputs)
                if not program.nodes[j].batched
            ]
            names = [(position, name) for position, name in found if name]
            if len(names) == 1 and len(node.inputs) == 2:
                yield _Term(names[0][1], entries, factor, k, names[0][0])


def _weight_of(program: Program, number: int) -> str:
    """The weight whose entries a value holds once each, "" if it is none."""
    node = program.nodes[number]
    while node.op == "index" and len(node.inputs) == 1:
        assert node.where is not None
        inner = program.nodes[node.inputs[0]]
        if not np.array_equal(np.sort(node.where.ravel()), np.arange(inner.size)):
            return ""
        node = inner
    return node.name if node.op == "block" else ""


def _places_in_weight(program: Program, number: int) -> np.ndarray:
    """For each entry of such a value the place in the weight."""
    node = program.nodes[number]
    places = np.arange(node.size)
    while node.op == "index":
        assert node.where is not None
        places, node = node.where.ravel()[places], program.nodes[node.inputs[0]]
    return places


def _standardized(
    program: Program,
    tokens: Mapping[str, int] | None,
    support: Mapping[str, np.ndarray],
    positive: Collection[str],
    rng: np.random.Generator,
    given: Mapping[str, np.ndarray] | None = None,
) -> dict[str, np.ndarray]:
    """Random weights, adjusted so that the sums whose signs choose have both signs.

    Given ones keep their values.
    """
    weights = {}
    for name, shape in program.weights.items():
        size = max(1, int(np.prod(shape)))
        wide = max(shape[0], size // shape[0]) if len(shape) > 1 and size > 1 else 1
        drawn = rng.standard_normal(shape) / np.sqrt(wide)
        weights[name] = np.abs(drawn) if name in positive else drawn
    weights |= given or {}
    work = work_of_sample(program, frozenset(), with_signs=False)
    count = min(_SAMPLES, samples_at_once(program), max(2, _WORK // work))
    found = _Adjusted(program, weights, _samples(program, count, tokens, 0, rng), support, rng)
    found.done |= set(given or {})
    needed = program.needed([program.output])
    for number in sorted(needed):
        node = program.nodes[number]
        if node.op == "choose":
            found.standardize(node.inputs[0])
    return found.weights


class _Adjusted:
    """Weights that are adjusted at one sum after the other."""

    def __init__(
        self,
        program: Program,
        weights: dict[str, np.ndarray],
        samples: Mapping[str, np.ndarray],
        support: Mapping[str, np.ndarray],
        rng: np.random.Generator,
    ) -> None:
        self.program, self.samples, self.rng, self.weights = program, samples, rng, weights
        self.masks = {n: np.asarray(mask).reshape(weights[n].shape) for n, mask in support.items()}
        self.arithmetic = WideArithmetic(_Recorder(program))
        self.last = program.last_uses(program.needed([program.output]))
        # Values that later nodes need, with the present weights.
        self.kept: dict[int, Any] = {}
        self.done: set[str] = set()
        for name in self.masks:
            self._put(name, weights[name])

    def _put(self, name: str, value: np.ndarray) -> None:
        mask = self.masks.get(name)
        self.weights[name] = value if mask is None else value * (mask != 0)
        for k in moving_nodes(self.program, range(len(self.program.nodes)), [name]):
            self.kept.pop(k, None)

    def _value(self, number: int) -> np.ndarray:
        """The value of a node: entries × samples."""
        nodes, missing = self.program.nodes, {number} - self.kept.keys()
        for k in range(number, -1, -1):
            if k in missing:
                missing.update(j for j in nodes[k].inputs if j not in self.kept)
        blocks = placed(self.program, self.weights, self.samples)
        with np.errstate(all="ignore"):
            for k in sorted(missing):
                check_time()
                inputs = [self.kept[j] for j in nodes[k].inputs]
                self.kept[k] = value_of(nodes[k], self.arithmetic, blocks, inputs)
        value = plain(self.kept[number])
        array = value.whole() if isinstance(value, Patched) else value
        return array.reshape(-1, array.shape[-1])

    def standardize(self, number: int) -> None:
        """Give the entries of a value both signs, by the weights in it that are not adjusted."""
        if not self.program.nodes[number].batched:
            return
        terms = [term for term in _terms(self.program, number) if term.name not in self.done]
        products = [term for term in terms if term.product >= 0]
        biases = [term for term in terms if term.product < 0]
        if not terms:
            return
        value = self._value(number)
        for term in {term.name: term for term in products}.values():
            self._divide(term, value)
        if products:
            value = self._value(number)
        mean, spread = value.mean(axis=1), value.std(axis=1)
        if not np.isfinite(mean).all():
            raise NoPattern("a sum whose sign chooses is no number")
        wanted = mean + _SPREAD * spread * self.rng.standard_normal(len(mean))
        if biases:
            self._shift(biases, wanted)
        elif products:
            self._project(products[0], wanted)
        self.done |= {term.name for term in terms}
        # With the new weights, while what it is computed from is still kept: later ones would have
        # to be computed from the last sums that are kept, again and again.
        self._value(number)
        self.kept = {k: v for k, v in self.kept.items() if self.last.get(k, 0) > number}

    def _shift(self, biases: Sequence[_Term], wanted: np.ndarray) -> None:
        """Subtract the mean from the first bias; that of all entries to which one number adds."""
        name = biases[0].name
        weight = self.weights[name]
        total, count = np.zeros(weight.size), np.zeros(weight.size)
        for term in biases:
            if term.name == name:
                own = term.entries >= 0
                at = term.entries[own]
                total += np.bincount(at, wanted[own] / term.factor, weight.size)
                count += np.bincount(at, minlength=weight.size)
        self._put(name, weight - (total / np.maximum(count, 1)).reshape(weight.shape))

    def _matrix(self, term: _Term) -> tuple[str, str, str, np.ndarray, np.ndarray]:
        """Letters of a weight, of the other factor, of the product; the weight; its places."""
        node = self.program.nodes[term.product]
        groups, _, result = node.letters.partition("->")
        split = groups.split(",")
        places = _places_in_weight(self.program, node.inputs[term.position])
        shape = self.program.nodes[node.inputs[term.position]].shape
        matrix = self.weights[term.name].ravel()[places].reshape(shape)
        return split[term.position], split[1 - term.position], result, matrix, places

    def _of_product(self, term: _Term, values: np.ndarray) -> np.ndarray:
        """Numbers of the entries of a sum, averaged over those that have an entry of a product."""
        shape, size = self.program.nodes[term.product].shape, self.program.nodes[term.product].size
        own = term.entries >= 0
        at = term.entries[own]
        count = np.bincount(at, minlength=size)
        return (np.bincount(at, values[own], size) / np.maximum(count, 1)).reshape(shape)

    def _replaced(self, term: _Term, matrix: np.ndarray, places: np.ndarray) -> None:
        weight = self.weights[term.name].copy()
        weight.ravel()[places] = matrix.ravel()
        self._put(term.name, weight)

    def _divide(self, term: _Term, value: np.ndarray) -> None:
        """Divide the rows of a matrix by the deviations of the entries to which they lead.

        With few samples by those over samples and entries together.
        """
        own, _, result, matrix, places = self._matrix(term)
        outer = [letter for letter in result if letter in own]

        def averaged(entries: np.ndarray) -> np.ndarray:
            return _averaged(self._of_product(term, entries), result, outer)

        if value.shape[1] < _FEW:
            square = averaged((value**2).mean(axis=1)) - averaged(value.mean(axis=1)) ** 2
        else:
            square = averaged(value.var(axis=1))
        size = np.sqrt(np.maximum(square, 0))
        size = np.where(size > 0, size, 1)
        self._replaced(term, matrix / along(size, outer, own), places)

    def _project(self, term: _Term, wanted: np.ndarray) -> None:
        """Subtract from a matrix the change of rank one that changes means as wanted."""
        own, other, result, matrix, places = self._matrix(term)
        node = self.program.nodes[term.product]
        factor = self._value(node.inputs[1 - term.position])
        shape = self.program.nodes[node.inputs[1 - term.position]].shape
        shared = [letter for letter in other if letter in own]
        middle = _averaged(factor.mean(axis=1).reshape(shape), other, shared)
        outer = [letter for letter in result if letter in own]
        change = _averaged(self._of_product(term, wanted / term.factor), result, outer)
        inner = [letter for letter in own if letter not in outer]
        mean = along(middle, shared, own) * np.ones(matrix.shape)
        size = (mean**2).sum(axis=tuple(own.index(letter) for letter in inner), keepdims=True)
        step = along(change, outer, own) * mean / np.where(size > 0, size, 1)
        self._replaced(term, matrix - step, places)


def _averaged(values: np.ndarray, letters: str, kept: Sequence[str]) -> np.ndarray:
    """The mean over axes whose letters are not kept; the kept ones in their order."""
    over = tuple(k for k, letter in enumerate(letters) if letter not in kept)
    return values.mean(axis=over)
