r"""The Jacobian of a program at a point, in any arithmetic of arrays: reverse mode over the batch.

For each value v its *adjoint* is stored, the derivative of all outputs of each sample by its
entries: an array (outputs) × (shape of v) × (batch).  No operation mixes samples, so the derivative
of a label by values of another sample is 0.  If the derivative is the same for all samples (after v
there are only products with weights), the batch axis has size 1.

A weight that is multiplied by a batched value may have very many entries, of which few are
requested.  Its adjoint is not computed: the two factors (adjoint of the product, the other value)
are kept for each place where the weight occurs, and only the columns of the requested cells are
computed from them (`Pair`).

Values that depend on weights but not on a sample (shared, tied, scaled weights, products of
weights) are differentiated in *forward mode*, as sparse matrices with few entries (`_Sparse`): each
requested weight changes few of them.  A column is then the sum over the entries that its weight
changes.

**Factors.**  The derivative of the labels by the cell (i, j) of a matrix is
:math:`\sum_s L_s[:, i] ⊗ R_s[j, :]`, with a term for each place s at which the matrix multiplies a
value x_s: L_s is the derivative of the labels by the product, R_s = x_s (`factors`).  A column that
is added, a bias, has R_s = 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np

from algebra.errors import Unfinished
from algebra.memory_limits import NEGLIGIBLE, in_units, memory_limit
from algebra.programs.arrays import Array, ArrayArithmetic, cut
from algebra.programs.evaluate import Order, evaluate_in, evaluation_order
from algebra.programs.patches import Patched, Patches, consecutive
from algebra.programs.program import Node, Program
from algebra.programs.strides import offsets, strides_of
from algebra.time_limits import check_time

# A weight: the name of its block, then its indices.
ProgramCell = tuple[Any, ...]
# Maps places of a value (one axis in each row) to derivatives by its entries:
# entries×outputs×batch.
Columns = Callable[[np.ndarray], Array]
# Letters of the axes of outputs, of gathered entries, and of places in contractions;
# and of entries of a kernel under one channel.
OUT, ENTRY, _TAP = "&", "#", "%"
# Number of entries whose columns are computed at a time.
_BLOCK = 1 << 22
# Entries computed at most for each one that is asked for, if products of matrices give them.
_SHARE = 64


@dataclass(frozen=True)
class Pair:
    """A product that contains a value shared by all samples, with its adjoint.

    Attributes
    ----------
    letters : str
        Letters of the value in the product.
    result : str
        Letters of the product.
    adjoint : ndarray
        Adjoint of the product: outputs, the axes of the product, batch.
    others : tuple of (str, ndarray)
        The other factors with their letters, each with its batch axis.
    """

    letters: str
    result: str
    adjoint: Array
    others: tuple[tuple[str, Array], ...]

    def columns(self, at: np.ndarray, arithmetic: ArrayArithmetic) -> Array:
        """The derivatives by some entries: from places (an axis per row) to outputs×batch each."""
        if self._is_summed(at):
            return self._from_products(at, arithmetic)
        on = _on_diagonals(self.letters, at)
        if not on.all():
            found = self.columns(at[:, on], arithmetic)
            out = np.zeros((at.shape[1], *found.shape[1:]), found.dtype)
            out[on] = found
            return out
        factors = [
            _at_places(group, value, self.letters, at)
            for group, value in ((OUT + self.result, self.adjoint), *self.others)
        ]
        if not any(ENTRY in group for group, _ in factors):
            factors.append((ENTRY, np.ones((at.shape[1], 1), np.int64)))
        return arithmetic.sum_of_products(factors, ENTRY + OUT)

    def _is_summed(self, at: np.ndarray) -> bool:
        """Whether columns are entries of a sum of products of matrices, and many of the entries.

        Letters that are neither those of the value nor of axes 1 are summed, such as positions of
        a convolution: one product of matrices gives all entries in the rows and columns that are
        asked for, and columns one by one would need all summands of each.
        """
        if len(set(self.letters)) < len(self.letters):
            return False
        groups = [(self.result, self.adjoint.shape[1:]), *((g, v.shape) for g, v in self.others)]
        sizes = {c: n for group, shape in groups for c, n in zip(group, shape, strict=False)}
        summed = math.prod(n for c, n in sizes.items() if c not in self.letters)
        if summed == 1 or at.shape[1] < 2 or not self.letters:
            return False
        formed = math.prod(len(own) for own, _ in self._chosen(at))
        return formed <= min(summed, _SHARE) * at.shape[1]

    def _chosen(self, at: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The indices along each axis at some places, and which of them each place has."""
        for letter, row in zip(self.letters, at, strict=True):
            patched = [g for g, v in self.others if isinstance(v, Patched) and letter in g]
            if patched:
                # Of patches all entries of the kernel are formed.
                [value] = [v for g, v in self.others if g == patched[0]]
                yield np.arange(value.shape[patched[0].index(letter)]), row
            else:
                yield np.unique(row, return_inverse=True)

    def _from_products(self, at: np.ndarray, arithmetic: ArrayArithmetic) -> Array:
        """Columns from all entries in the rows and columns of some places."""
        chosen, places = zip(*self._chosen(at), strict=True)
        factors: list[tuple[str, Any]] = []
        for group, value in ((OUT + self.result, self.adjoint), *self.others):
            part: Any = value
            for letter, own in zip(self.letters, chosen, strict=True):
                for axis in [k for k, c in enumerate(group) if c == letter]:
                    if len(own) < value.shape[axis]:
                        part = part.take(own, axis=axis)
            factors.append((group, part))
        factors += _ones(self.letters, [len(own) for own in chosen], factors)
        found = arithmetic.sum_of_products(factors, self.letters + OUT)
        return found[tuple(places)]

    def times(
        self, axes: Sequence[int], table: Array, arithmetic: ArrayArithmetic
    ) -> tuple[str, Array] | None:
        """The derivatives by all entries, some axes of which are multiplied by a matrix.

        Returns the letters of the other axes, and the product: outputs, other axes, columns of the
        matrix, batch.  The matrix is multiplied by the factor with these axes first.  None if they
        are not those of one factor.
        """
        summed = "".join(self.letters[k] for k in axes)
        rest = "".join(c for k, c in enumerate(self.letters) if k not in axes)
        parts = [(OUT + self.result, self.adjoint), *self.others]
        with_it = [k for k, (group, _) in enumerate(parts) if set(summed) & set(group)]
        if len(with_it) != 1 or len(set(self.letters)) < len(self.letters):
            return None
        group, value = parts.pop(with_it[0])
        if not set(summed) <= set(group) or not set(rest) <= {c for g, _ in parts for c in g} | (
            set(group)
        ):
            return None
        kept = "".join(c for c in group if c not in summed) + ENTRY
        small = arithmetic.sum_of_products(
            [(group, value), (summed + ENTRY, table[..., None])], kept
        )
        return rest, arithmetic.sum_of_products([(kept, small), *parts], OUT + rest + ENTRY)


def _at_places(group: str, value: Array, letters: str, at: np.ndarray) -> tuple[str, Array]:
    """A factor at given places along the axes with these letters, and a new axis of entries."""
    # Axes that the value also has are fixed at the entries' places.
    fixed = [k for k, letter in enumerate(group) if letter in letters]
    free = [k for k, letter in enumerate(group) if letter not in letters]
    if isinstance(value, Patched):
        if not fixed:
            return group, value
        found = value.at(fixed, [at[letters.index(group[k])] for k in fixed])
        return ENTRY + "".join(group[k] for k in free), found
    moved = value.transpose(*fixed, *free, -1)
    if fixed:
        moved = moved[tuple(at[letters.index(group[k])] for k in fixed)]
    return (ENTRY if fixed else "") + "".join(group[k] for k in free), moved


@dataclass(frozen=True)
class _Sparse:
    """Derivatives of a value's entries by the requested cells: coefficients (entry, column)."""

    entries: np.ndarray
    columns: np.ndarray
    coefficients: Array

    def scaled(self, factors: Array, arithmetic: ArrayArithmetic) -> _Sparse:
        """Each entry times its own factor."""
        found = arithmetic.times(self.coefficients, factors.ravel()[self.entries])
        return _Sparse(self.entries, self.columns, found)


def _below(above: Array | None, rows: Array, first: int) -> Array:
    """The rows of a target behind those of later ones, of which it may have none."""
    if not first:
        return rows
    if above is None:
        above = np.zeros((first, *rows.shape[1:]), rows.dtype)
    rest = np.zeros((first - len(above), *above.shape[1:]), rows.dtype)
    own = np.broadcast_to(rows, (len(rows), *above.shape[1:]))
    return np.concatenate([above, rest, own])


def _some(value: Any, samples: slice) -> Any:
    """A value at some samples."""
    if value.shape[-1] == 1:
        return value
    if isinstance(value, Patched):
        return replace(value, images=value.images[..., samples])
    return value[..., samples]


def _places(entries: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Places of entries in row-major order, one axis in each row."""
    if not shape:
        return np.zeros((0, len(entries)), np.int64)
    return np.array(np.unravel_index(entries, shape), np.int64)


def _entries(places: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The inverse of `_places`."""
    if not shape:
        return np.zeros(places.shape[1], np.int64)
    return np.ravel_multi_index(tuple(places), shape)


def _ones(
    group: str, shape: Sequence[int], factors: Sequence[tuple[str, Array]]
) -> list[tuple[str, Array]]:
    """Factors for letters of a group that no other factor has: what is constant along them."""
    known = {letter for own, _ in factors for letter in own}
    sizes = dict(zip(group, shape, strict=True))
    return [(c, np.ones((sizes[c], 1), np.int64)) for c in group if c not in known]


def _on_diagonals(letters: str, at: np.ndarray) -> np.ndarray:
    """Whether axes with the same letter have the same index, for each place."""
    first = [at[letters.index(letter)] for letter in letters]
    return np.all(at == np.array(first, np.int64).reshape(at.shape), axis=0)


def _joined(parts: Sequence[_Sparse]) -> _Sparse:
    return _Sparse(
        np.concatenate([part.entries for part in parts]),
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.coefficients for part in parts]),
    )


def moving_nodes(
    program: Program, needed: Collection[int], names: Collection[str]
) -> frozenset[int]:
    """The nodes among some that depend on weights with these names."""
    nodes, moving = program.nodes, set[int]()
    for number in sorted(needed):
        node = nodes[number]
        if (node.op == "block" and not node.batched and node.name in names) or (
            moving.intersection(node.inputs)
        ):
            moving.add(number)
    return frozenset(moving)


def kept_values(program: Program, moving: Collection[int], with_signs: bool = True) -> set[int]:
    """The nodes whose values derivatives depend on; all others are released when they are used."""
    kept = set[int]()
    for number in moving:
        node = program.nodes[number]
        match node.op:
            case "contract" | "multiply":
                for position, k in enumerate(node.inputs):
                    if k in moving:
                        kept.update(node.inputs[:position], node.inputs[position + 1 :])
            case "choose" if with_signs:
                kept.add(node.inputs[0])
            case "power" | "invert" | "root" | "apply":
                kept.update((number, *node.inputs))
    return kept


def _planned(
    program: Program,
    targets: frozenset[int],
    names: frozenset[str] | None,
    more: frozenset[int],
    with_signs: bool,
) -> tuple[Order, frozenset[int]]:
    """The order of evaluation up to some nodes, and the nodes that depend on some weights."""
    needed = program.needed(targets, with_signs)
    moving = moving_nodes(program, needed, program.weights if names is None else names)
    shared = {k for k in needed if not program.nodes[k].batched}
    kept = targets | shared | more | kept_values(program, moving, with_signs)
    return evaluation_order(program, kept, with_signs), moving


class Sweep:
    """One forward and one backward pass through a program.

    Parameters
    ----------
    program : Program
    arithmetic : ArrayArithmetic
    blocks : mapping of str to ndarray
        Values of the blocks, with the batch axis last: `algebra.programs.arrays.placed`.
    names : collection of str, optional
        The weights by which to differentiate; all of them by default.
    target : int, optional
        The node that is differentiated; the labels by default.
    entries : ndarray of int, optional
        The entries of its value to differentiate, numbered row by row; all by default.
    targets : sequence of (int, ndarray of int or None), optional
        Several nodes with their entries instead, one below the other.
    kept : collection of int, optional
        Other nodes whose values are kept in `values`.
    covector : ndarray, optional
        Factors of the labels, a row for each sum, with the batch axis last: what is differentiated
        are their sums with these factors, which `gradients` takes over all samples, too.
    """

    def __init__(
        self,
        program: Program,
        arithmetic: ArrayArithmetic,
        blocks: Mapping[str, Array],
        names: Collection[str] | None = None,
        target: int | None = None,
        entries: np.ndarray | None = None,
        kept: Collection[int] = (),
        targets: Sequence[tuple[int, np.ndarray | None]] = (),
        covector: Array | None = None,
    ) -> None:
        self.program, self.arithmetic, self._covector = program, arithmetic, covector
        self.targets = list(targets) or [(program.output if target is None else target, entries)]
        self.target = self.targets[0][0]
        self.batch = max((value.shape[-1] for value in blocks.values()), default=1)
        ends = frozenset(number for number, _ in self.targets)
        own = None if names is None else frozenset(names)
        key = ends, own, frozenset(kept), not arithmetic.knows_signs
        if key not in program.sweeps:
            program.sweeps[key] = _planned(program, *key)
        order, self.moving = program.sweeps[key]
        self.values = evaluate_in(order, arithmetic, blocks)
        self.pairs: dict[int, list[Pair]] = {}
        # Adjoints of shared values that enter batched ones in another way than in a product.
        self.dense: dict[int, Array] = {}
        self._backwards()
        # What products hold of the values of samples is all that columns need.
        left = {*ends, *kept}
        self.values = {k: v for k, v in self.values.items() if k in left or v.shape[-1] == 1}

    @property
    def value(self) -> Array:
        """The value that is differentiated: its shape, then the batch."""
        return self.values[self.target]

    def _backwards(self) -> None:
        nodes, arithmetic = self.program.nodes, self.arithmetic
        # The rows of each target: those of later nodes precede those of earlier ones.
        starts, counts, self.total = dict[int, Array](), list[int](), 0
        for target, entries in self.targets:
            if self._covector is not None:
                starts[target] = self._covector
                counts.append(len(self._covector))
                continue
            size = nodes[target].size
            chosen = np.arange(size) if entries is None else np.asarray(entries)
            needed = 8 * len(chosen) * size
            if needed > NEGLIGIBLE and needed > memory_limit():
                raise Unfinished(
                    f"the derivatives of {len(chosen)} labels of a sample take {in_units(needed)}, "
                    f"more than the limit ({in_units(memory_limit())}): take an output with fewer"
                )
            rows = np.zeros((len(chosen), size), np.int64)
            rows[np.arange(len(chosen)), chosen] = 1
            counts.append(len(rows))
            starts[target] = arithmetic.constant(rows, 1).reshape(-1, *nodes[target].shape, 1)
        first = dict[int, int]()
        for target in sorted(starts, reverse=True):
            first[target] = self.total
            self.total += len(starts[target])
        order = [first[k] + np.arange(n) for (k, _), n in zip(self.targets, counts, strict=True)]
        self.order = np.concatenate(order)
        adjoints = dict[int, Array]()
        for number in sorted(self.moving, reverse=True):
            node = nodes[number]
            if number in starts:
                into = adjoints if node.batched else self.dense
                into[number] = _below(into.get(number), starts[number], first[number])
            if not node.batched or number not in adjoints:
                continue
            check_time()
            adjoint = adjoints.pop(number)
            for position, k in enumerate(node.inputs):
                if k not in self.moving or (node.op == "choose" and not position):
                    continue
                if not nodes[k].batched and node.op == "contract":
                    self.pairs.setdefault(k, []).append(self._pair(node, position, adjoint))
                    continue
                if isinstance(nodes[k].places, Patches) and self.arithmetic.forms_patches:
                    part = self._to_images(node, position, adjoint)
                    [k] = nodes[k].inputs
                elif node.op == "contract":
                    part = self._through(node, position, adjoint)
                else:
                    part = input_adjoint(
                        self.program, arithmetic, self.values, number, position, adjoint
                    )
                into = adjoints if nodes[k].batched else self.dense
                into[k] = self._added(into[k], part) if k in into else part

    def _added(self, a: Array, b: Array) -> Array:
        """The sum of two adjoints; the other may lack the last rows of the longer one."""
        if len(a) < len(b):
            a, b = b, a
        rest = np.zeros((len(a) - len(b), *b.shape[1:]), b.dtype)
        return self.arithmetic.reduced(a + (np.concatenate([b, rest]) if len(rest) else b))

    def in_order(self, adjoint: Array) -> Array:
        """An adjoint with all rows, in the order of the targets."""
        if len(self.targets) == 1:
            return adjoint
        rest = np.zeros((self.total - len(adjoint), *adjoint.shape[1:]), adjoint.dtype)
        return np.concatenate([adjoint, rest])[self.order]

    def _pair(self, node: Node, position: int, adjoint: Array) -> Pair:
        groups, _, result = node.letters.partition("->")
        split = groups.split(",")
        others = tuple(
            (split[k], self.values[number]) for k, number in enumerate(node.inputs) if k != position
        )
        return Pair(split[position], result, adjoint, others)

    def _through(self, node: Node, position: int, adjoint: Array) -> Array:
        """An adjoint times the other factors of a contraction."""
        groups, _, result = node.letters.partition("->")
        split = groups.split(",")
        own = split[position]
        parts = [(OUT + result, adjoint)]
        parts += [
            (split[k], self.values[number]) for k, number in enumerate(node.inputs) if k != position
        ]
        if len(set(own)) < len(own):
            return self._spread(node, position, parts)
        parts += _ones(own, self.program.nodes[node.inputs[position]].shape, parts)
        return self.arithmetic.sum_of_products(parts, OUT + own)

    def _to_images(self, node: Node, position: int, adjoint: Array) -> Array:
        """What a product with patches adds to the adjoint of their images, block by block.

        If the patches are multiplied by a kernel, it is a product of that kernel with patches of
        the adjoint: entries of the kernel at the positions where they meet a place.
        """
        groups, _, result = node.letters.partition("->")
        split = groups.split(",")
        letter, places = split[position][-1], self.program.nodes[node.inputs[position]].places
        assert isinstance(places, Patches)
        others = [
            (split[k], self.values[number]) for k, number in enumerate(node.inputs) if k != position
        ]
        [images] = self.program.nodes[node.inputs[position]].inputs
        shape_of_images = self.program.nodes[images].shape
        if len(others) == 1:
            found = self._at_meetings(result, adjoint, *others[0], split[position], places)
            if found is not None:
                return found.reshape(len(adjoint), *shape_of_images, -1)
        batch = max([adjoint.shape[-1], *(value.shape[-1] for _, value in others)])
        shape = len(adjoint), places.channels, places.inner, batch
        total = np.zeros(shape, adjoint.dtype)
        for part in places.blocks(len(adjoint) * batch):
            check_time()
            factors = [(OUT + result, cut(OUT + result, adjoint, letter, part))]
            factors += [(group, cut(group, value, letter, part)) for group, value in others]
            factors += _ones(split[position], (*places.shape[:-1], part.stop - part.start), factors)
            found = self.arithmetic.sum_of_products(factors, OUT + split[position])
            places.spread(found, part, total, self.arithmetic.reduced)
        return total.reshape(len(adjoint), *shape_of_images, batch)

    def _at_meetings(
        self, result: str, adjoint: Array, group: str, kernel: Any, own: str, places: Patches
    ) -> Array | None:
        """The adjoint of the images of patches, each multiplied by a kernel; None if it is none.

        Letters of the product are `result`, of the kernel `group`, of the patches `own`.
        """
        inner, letter = own[-2], own[-1]
        of_kernel = inner in group and inner not in result and letter not in group
        if not of_kernel or result[-1] != letter or not {*group, *result} >= set(own):
            return None
        taps, axis = len(places.windows), group.index(inner)
        cut_in_two = kernel.reshape(*kernel.shape[:axis], -1, taps, *kernel.shape[axis + 1 :])
        turned = Patches(
            math.prod(adjoint.shape[:-2]), places.windows.shape[1], places.meeting,
            (*adjoint.shape[:-2], taps, places.inner),
        )  # fmt: skip
        factors = [
            (group.replace(inner, inner + _TAP), cut_in_two),
            (OUT + result[:-1] + _TAP + letter, self.arithmetic.patches(turned, adjoint)),
        ]
        return self.arithmetic.sum_of_products(factors, OUT + own)

    def _spread(self, node: Node, position: int, parts: list[tuple[str, Array]]) -> Array:
        """For a factor whose diagonal is taken: zero off the diagonal."""
        groups, _, result = node.letters.partition("->")
        shape = self.program.nodes[node.inputs[position]].shape
        pair = Pair(groups.split(",")[position], result, parts[0][1], tuple(parts[1:]))
        columns = pair.columns(np.indices(shape).reshape(len(shape), -1), self.arithmetic)
        return np.moveaxis(columns.reshape(*shape, *columns.shape[1:]), len(shape), 0)

    # -- one gradient ------------------------------------------------------------------------

    def gradients(
        self, names: Collection[str], samples: slice = slice(None), row: int = 0
    ) -> Iterator[tuple[str, Array]]:
        """The derivatives of a sum with `covector` by whole weights, the last weights first.

        Values that all samples share are followed backwards, too, so that a weight with very many
        entries costs what a pass through the program costs.

        Parameters
        ----------
        names : collection of str
            The weights.
        samples, row : slice, int, optional
            The samples over which is summed, all by default; which of the sums.
        """
        nodes, arithmetic, own = self.program.nodes, self.arithmetic, slice(row, row + 1)
        adjoints, moving = dict[int, Array](), moving_nodes(self.program, self.moving, names)
        for number in sorted((k for k in moving if not nodes[k].batched), reverse=True):
            node = nodes[number]
            check_time()
            pairs = self.pairs.get(number, ())
            parts = [self._over_samples(pair, node.shape, samples, own) for pair in pairs]
            if number in self.dense:
                wide = _some(self.dense[number][own], samples)
                parts.append(arithmetic.added(wide, (wide.ndim - 1,))[..., None])
            parts += [adjoints.pop(number)] if number in adjoints else []
            if not parts:
                continue
            total = reduce(self._added, parts)
            if node.op == "block":
                yield node.name, total[0, ..., 0]
            for position, k in enumerate(node.inputs):
                if k not in moving or (node.op == "choose" and not position):
                    continue
                if node.op == "contract":
                    part = self._through(node, position, total)
                else:
                    part = input_adjoint(
                        self.program, arithmetic, self.values, number, position, total
                    )
                adjoints[k] = self._added(adjoints[k], part) if k in adjoints else part

    def _over_samples(self, pair: Pair, shape: Sequence[int], samples: slice, own: slice) -> Array:
        """What a product adds to the adjoint of a shared value in it, over some samples."""
        others = tuple((group, _some(value, samples)) for group, value in pair.others)
        pair = replace(pair, adjoint=_some(pair.adjoint[own], samples), others=others)
        if len(set(pair.letters)) < len(pair.letters):
            at = np.indices(shape).reshape(len(shape), -1)
            columns = pair.columns(at, self.arithmetic)
            found = self.arithmetic.added(columns, (columns.ndim - 1,))
            return found.T.reshape(-1, *shape, 1)
        factors = [(OUT + pair.result, pair.adjoint), *pair.others]
        factors += _ones(pair.letters, shape, factors)
        return self.arithmetic.over_samples(factors, OUT + pair.letters)

    # -- columns -----------------------------------------------------------------------------

    def jacobian(self, cells: Sequence[ProgramCell]) -> Array:
        """Columns of the Jacobian, rows (output, sample): see the module."""
        batch = self.batch
        output = self.program.nodes[self.target]
        rows = self.total
        shape = (len(cells), rows, batch if output.batched else 1)
        out, empty = np.zeros(shape, self.value.dtype), np.ones(len(cells), bool)
        for number, sparse in self._tangents(cells).items():
            for columns in self._columns_of(number):
                self._collect(out, empty, sparse, columns, self.program.nodes[number].shape)
        if len(self.targets) > 1:
            out = out[:, self.order]
        if not output.batched:
            out = np.broadcast_to(out, (len(cells), rows, batch))
        return out.reshape(len(cells), rows * out.shape[2]).T

    def low_rank(self, name: str, U: Array, V: Array) -> Array | None:
        """Derivatives by U and V of a weight W + U Vᵀ, rows (output, sample).

        None if W does not enter products with values of samples only.

        Parameters
        ----------
        name : str
        U, V : ndarray
            W is a matrix with its first axis as rows.
        """
        held = self.held_axes(name)
        if held is None or any(k in self.dense for k in held):
            return None
        rows, rank, shape = self.total, U.shape[1], self.program.weights[name]
        inner = math.prod(shape[1:])
        by_u = np.zeros((rows, len(U), rank, self.batch), np.int64)
        by_v = np.zeros((rows, inner, rank, self.batch), np.int64)
        for number, steps in held.items():
            sizes = self.program.nodes[number].shape
            first = [k for k, step in enumerate(steps) if step % inner == 0 and sizes[k] > 1]
            other = [k for k in range(len(sizes)) if k not in first]
            of_rows = offsets(sizes, steps, first) // inner
            of_inner = offsets(sizes, steps, other)
            if of_inner.max(initial=0) >= inner:
                return None
            for axes, table, places, total in (
                (other, V[of_inner], of_rows.ravel(), by_u),
                (first, U[of_rows], of_inner.ravel(), by_v),
            ):
                for pair in self.pairs.get(number, ()):
                    found = pair.times(axes, table, self.arithmetic)
                    if found is None:
                        return None
                    part = found[1].reshape(rows, len(places), rank, -1)
                    total[:, places] = self.arithmetic.reduced(total[:, places] + part)
        both = np.concatenate([by_u.reshape(rows, -1, self.batch),
                               by_v.reshape(rows, -1, self.batch)], axis=1)  # fmt: skip
        return both.swapaxes(1, 2).reshape(rows * self.batch, -1)

    def held_axes(self, name: str) -> dict[int, tuple[int, ...]] | None:
        """The values that hold the entries of a weight with other axes, and the step along each.

        None if the weight, or such a value, enters another value that samples share.
        """
        nodes, held = self.program.nodes, dict[int, np.ndarray]()
        for number in sorted(self.moving):
            node = nodes[number]
            if node.batched:
                continue
            if node.op == "block" and node.name == name:
                held[number] = np.arange(node.size).reshape(node.shape)
            elif held.keys() & set(node.inputs):
                where = node.where
                if where is None or len(node.inputs) > 1 or where.min(initial=0) < 0:
                    return None
                held[number] = held[node.inputs[0]].reshape(-1)[where]
        out = {}
        for number, places in held.items():
            found = strides_of(places)
            if (
                found is None
                or found[0]
                or any(n > 1 and not k for n, k in zip(places.shape, found[1], strict=True))
            ):
                return None
            out[number] = found[1]
        return out

    def _columns_of(self, number: int) -> Iterator[Columns]:
        """Maps from places of a shared value to derivatives, one for each place where it occurs."""
        for pair in self.pairs.get(number, ()):
            yield partial(pair.columns, arithmetic=self.arithmetic)
        if number in self.dense:
            adjoint = np.moveaxis(self.dense[number], 0, -2)
            yield lambda at: np.broadcast_to(adjoint[tuple(at)], (at.shape[1], *adjoint.shape[-2:]))

    def _collect(
        self, out: Array, empty: np.ndarray, sparse: _Sparse, columns: Columns,
        shape: tuple[int, ...],
    ) -> None:  # fmt: skip
        """Add to the columns the contributions of the entries of one value, block by block.

        Columns to which nothing was added before are marked as empty.
        """
        step = max(1, _BLOCK // max(1, out.shape[1] * out.shape[2]))
        for start in range(0, len(sparse.entries), step):
            check_time()
            part = slice(start, start + step)
            found = columns(_places(sparse.entries[part], shape))
            coefficients = sparse.coefficients[part]
            if (coefficients != 1).any():
                found = self.arithmetic.times(found, coefficients[:, None, None])
            targets = sparse.columns[part]
            if len(np.unique(targets)) < len(targets):
                # One number at many places, such as a bias at all positions of an image.
                order = np.argsort(targets, kind="stable")
                targets, starts = np.unique(targets[order], return_index=True)
                groups = np.split(order, starts[1:])
                found = np.stack([self.arithmetic.added(found[own], (0,)) for own in groups])
            # Rows of later targets come first, and those of earlier ones may not depend on a value.
            some = targets, slice(found.shape[1])
            if empty[targets].all():
                out[some] = found
            else:
                out[some] = self.arithmetic.reduced(out[some] + found)
            empty[targets] = False

    def _tangents(self, cells: Sequence[ProgramCell]) -> dict[int, _Sparse]:
        """Derivatives by the cells of the values that all samples share, in forward mode."""
        by_name: dict[str, list[int]] = {}
        for k, cell in enumerate(cells):
            by_name.setdefault(cell[0], []).append(k)
        moved: dict[int, _Sparse] = {}
        for number in sorted(self.moving):
            node = self.program.nodes[number]
            if node.batched:
                continue
            if node.op == "block":
                columns = by_name.get(node.name, [])
                if columns:
                    at = np.array([cells[k][1:] for k in columns], np.int64)
                    at = at.reshape(len(columns), len(node.shape))
                    ones = np.ones(len(columns), np.int64)
                    moved[number] = _Sparse(_entries(at.T, node.shape), np.array(columns), ones)
                continue
            parts = [
                self._pushed(number, position, moved[k])
                for position, k in enumerate(node.inputs)
                if k in moved
            ]
            if parts:
                joined = _joined(parts)
                # More than all entries by all cells: in products of products they would multiply.
                repeated = len(joined.entries) > node.size * len(cells)
                moved[number] = self._once(joined, node.size) if repeated else joined
        return moved

    def _once(self, moved: _Sparse, size: int) -> _Sparse:
        """The same derivatives of a value of so many entries, with each entry once by each cell."""
        keys = moved.columns * size + moved.entries
        order = np.argsort(keys, kind="stable")
        keys, coefficients = keys[order], moved.coefficients[order]
        before = np.arange(len(keys)) - np.searchsorted(keys, keys)
        distinct, total = keys[before == 0], coefficients[before == 0]
        for count in range(1, int(before.max()) + 1):
            own = before == count
            at = np.searchsorted(distinct, keys[own])
            total[at] = self.arithmetic.reduced(total[at] + coefficients[own])
        return _Sparse(distinct % size, distinct // size, total)

    def _pushed(self, number: int, position: int, moved: _Sparse) -> _Sparse:
        """Derivatives of a shared value, given those of its input at a position."""
        node, arithmetic = self.program.nodes[number], self.arithmetic
        inputs: list[Any] = [self.values.get(k) for k in node.inputs]
        match node.op:
            case "add":
                return moved
            case "multiply":
                return moved.scaled(inputs[1 - position], arithmetic)
            case "scale":
                assert node.number is not None
                found = arithmetic.scale(node, moved.coefficients[:, None], node.number)
                return _Sparse(moved.entries, moved.columns, found[:, 0])
            case "index":
                assert node.where is not None
                nodes = self.program.nodes
                start = sum(nodes[k].size for k in node.inputs[:position])
                size = nodes[node.inputs[position]].size
                where = node.where.ravel() - start
                return _followed(moved, where, size)
            case "choose":
                if position == 0:
                    return _Sparse(*(np.zeros(0, np.int64),) * 3)
                positive = arithmetic.signs(node, inputs[0])
                chosen = positive if position == 1 else ~positive
                return moved.scaled(chosen.astype(np.int64), arithmetic)
            case "power" | "invert" | "root" | "apply":
                slopes = arithmetic.slopes(node, inputs[0], self.values[number])
                return moved.scaled(slopes, arithmetic)
            case "contract":
                return self._contracted(node, position, moved)
        raise AssertionError(f"no derivative of {node.op!r}")

    def _contracted(self, node: Node, position: int, moved: _Sparse) -> _Sparse:
        groups, _, result = node.letters.partition("->")
        split = groups.split(",")
        own, shape = split[position], self.program.nodes[node.inputs[position]].shape
        at = _places(moved.entries, shape)
        keep = _on_diagonals(own, at)
        at, columns = at[:, keep], moved.columns[keep]
        factors = [(ENTRY, moved.coefficients[keep][:, None])]
        factors += [
            _at_places(split[k], self.values[number], own, at)
            for k, number in enumerate(node.inputs)
            if k != position
        ]
        rest = [letter for letter in result if letter not in own]
        found = self.arithmetic.sum_of_products(factors, ENTRY + "".join(rest))[..., 0]
        inner = np.indices(found.shape[1:]).reshape(len(rest), math.prod(found.shape[1:]))
        shape = (at.shape[1], inner.shape[1])
        places = [
            inner[rest.index(letter)][None] if letter in rest else at[own.index(letter)][:, None]
            for letter in result
        ]
        wide = np.array([np.broadcast_to(place, shape).ravel() for place in places], np.int64)
        entries = _entries(wide.reshape(len(result), math.prod(shape)), node.shape)
        return _Sparse(entries, np.repeat(columns, shape[1]), found.reshape(-1))


def _followed(moved: _Sparse, where: np.ndarray, size: int) -> _Sparse:
    """Entries at the places to which they are moved: none, one or several for each."""
    places = np.flatnonzero((where >= 0) & (where < size))
    order = places[np.argsort(where[places], kind="stable")]
    counts = np.bincount(where[places], minlength=size)
    starts = np.cumsum(counts) - counts
    many = counts[moved.entries]
    offsets = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    return _Sparse(
        order[np.repeat(starts[moved.entries], many) + offsets],
        np.repeat(moved.columns, many),
        np.repeat(moved.coefficients, many),
    )


def input_adjoint(
    program: Program,
    arithmetic: ArrayArithmetic,
    values: Mapping[int, Array],
    number: int,
    position: int,
    adjoint: Array,
) -> Array:
    """The contribution of a node's adjoint to that of its input, of every operation but `contract`.

    If values have an axis of runs in front (`numeric.programs.reverse`), the axis of
    outputs is the second of their adjoints.

    Parameters
    ----------
    program : Program
    arithmetic : ArrayArithmetic
    values : mapping of int to ndarray
        Those on which its derivatives depend (`kept_values`).
    number, position : int
        The node, and which of its inputs.
    adjoint : ndarray
    """
    node = program.nodes[number]

    def wide(value: Array) -> Array:
        """A value with an axis of outputs."""
        return value[None] if value.ndim == 1 + len(node.shape) else value[:, None]

    match node.op:
        case "add":
            return adjoint
        case "multiply":
            return arithmetic.times(adjoint, wide(values[node.inputs[1 - position]]))
        case "scale":
            assert node.number is not None
            return arithmetic.scale(node, adjoint, node.number)
        case "index":
            return _gathered(program, arithmetic, number, position, adjoint)
        case "choose":
            if position == 0:
                return np.zeros((1,) * adjoint.ndim, adjoint.dtype)
            value: Any = values.get(node.inputs[0])
            positive = wide(arithmetic.signs(node, value))
            return arithmetic.kept(adjoint, positive if position == 1 else ~positive)
        case "power" | "invert" | "root" | "apply":
            return arithmetic.times(
                adjoint, wide(arithmetic.slopes(node, values[node.inputs[0]], values[number]))
            )
    raise AssertionError(f"no derivative of {node.op!r}")


def _gathered(
    program: Program, arithmetic: ArrayArithmetic, number: int, position: int, adjoint: Array
) -> Array:
    """The adjoint of a part whose entries were moved, perhaps to several places."""
    node = program.nodes[number]
    part = program.nodes[node.inputs[position]]
    front, batch = adjoint.shape[: -1 - len(node.shape)], adjoint.shape[-1]
    if node.strides is not None:
        return _unmoved(node, part, arithmetic, adjoint)
    repeated = _repeated_axes(node)
    if repeated:
        adjoint = arithmetic.added(adjoint, tuple(len(front) + axis for axis in repeated))
    flat = adjoint.reshape(*front, -1, batch)
    out = np.zeros((*front, part.size, batch), flat.dtype)
    for count, (targets, places) in enumerate(_moved(program, number, position)):
        found = flat[..., places, :]
        out[..., targets, :] = arithmetic.reduced(out[..., targets, :] + found) if count else found
    return out.reshape(*front, *part.shape, batch)


def _unmoved(node: Node, part: Node, arithmetic: ArrayArithmetic, adjoint: Array) -> Array:
    """`_gathered` of an index that moves, cuts or repeats whole axes."""
    assert node.strides is not None
    start, steps = node.strides
    lead, batch = adjoint.ndim - 1 - len(node.shape), adjoint.shape[-1]
    repeated = [k for k, (n, step) in enumerate(zip(node.shape, steps, strict=True))
                if n > 1 and not step]  # fmt: skip
    if repeated:
        adjoint = arithmetic.added(adjoint, tuple(lead + axis for axis in repeated))
    front = adjoint.shape[:lead]
    kept = [k for k in range(len(steps)) if k not in repeated]
    order = sorted(range(len(kept)), key=lambda place: -steps[kept[place]])
    turned = adjoint.transpose(*range(lead), *(lead + place for place in order), -1)
    if math.prod(node.shape[k] for k in kept) == part.size:
        return turned.reshape(*front, *part.shape, batch)
    out = np.zeros((*front, part.size, batch), adjoint.dtype)
    own = out[..., start:, :]
    along = [steps[kept[place]] * own.strides[-2] for place in order]
    strides = (*own.strides[:-2], *along, own.strides[-1])
    np.lib.stride_tricks.as_strided(own, turned.shape, strides)[...] = turned
    return out.reshape(*front, *part.shape, batch)


def _repeated_axes(node: Node) -> tuple[int, ...]:
    """The axes along which an index repeats entries."""
    places = node.places
    if not isinstance(places, np.ndarray) or not places.size:
        return ()
    pairs = zip(places.strides, places.shape, strict=True)
    return tuple(axis for axis, (step, size) in enumerate(pairs) if not step and size > 1)


def _moved(
    program: Program, number: int, position: int
) -> list[tuple[Array | slice, Array | slice]]:
    """Where an index moved the entries of a part: entries, which do not repeat, and their places.

    Kept with the program, since descent asks for them at each step.
    """
    kept = program.moves.get((number, position))
    if kept is None:
        node = program.nodes[number]
        start = sum(program.nodes[k].size for k in node.inputs[:position])
        size = program.nodes[node.inputs[position]].size
        kept = program.moves[number, position] = _sorted_moves(node, start, size)
    return kept


def _sorted_moves(node: Node, start: int, size: int) -> list[tuple[Array | slice, Array | slice]]:
    """`_moved` of the part whose entries have the numbers from `start`."""
    assert node.where is not None
    repeated = _repeated_axes(node)
    few = tuple(0 if axis in repeated else slice(None) for axis in range(len(node.shape)))
    where = node.where[few].ravel()
    if not where.size:
        return []
    inside = (where >= start) & (where < start + size)
    run = slice(int(inside.argmax()), where.size - int(inside[::-1].argmax()))
    entries = consecutive(where[run])
    if isinstance(entries, slice) and inside[run].all():
        return [(slice(entries.start - start, entries.stop - start), run)]
    places = np.flatnonzero(inside)
    places = places[np.argsort(where[places], kind="stable")]
    targets = where[places] - start
    # How often an entry occurs before.
    before = np.arange(len(targets)) - np.searchsorted(targets, targets)
    return [
        (consecutive(targets[before == k]), consecutive(places[before == k]))
        for k in range(int(before.max(initial=-1)) + 1)
    ]


def program_jacobian(
    program: Program,
    arithmetic: ArrayArithmetic,
    blocks: Mapping[str, Array],
    cells: Sequence[ProgramCell],
    target: int | None = None,
) -> Array:
    """Columns of the Jacobian of a program's labels for some weights.

    Parameters
    ----------
    program : Program
    arithmetic : ArrayArithmetic
    blocks : mapping of str to ndarray
        Values of the blocks: `algebra.programs.arrays.placed`.
    cells : sequence of cells
        Name of a weight's block, then the place of the entry.
    target : int, optional
        Another node to differentiate instead of the labels.

    Returns
    -------
    ndarray, shape (entries of the labels of a sample · samples, number of cells)
        Row k·m + c holds the derivative of entry k (in row-major order) of sample c.
    """
    names = sorted({str(cell[0]) for cell in cells})
    return Sweep(program, arithmetic, blocks, names, target).jacobian(cells)


def factors(sweep: Sweep, names: Collection[str]) -> dict[str, tuple[Array, Array]]:
    """The factors L and R of each matrix: see `HasJacobian.modular_tangents`.

    Parameters
    ----------
    sweep : Sweep
        A sweep of a program in which matrices occur in ``contract("ij,j->i", matrix, value)``, and
        columns in a sum, as values of one axis.
    names : collection of str
        Matrices; those on which the differentiated value does not depend are omitted in the result.
    """
    found: dict[str, tuple[Array, Array]] = {}
    nodes, batch = sweep.program.nodes, sweep.batch
    columns = {k: node.inputs[0] for k, node in enumerate(nodes) if k in sweep.dense}
    for number, node in enumerate(nodes):
        if node.op != "block" or node.name not in names:
            continue
        pairs = [
            (sweep.in_order(pair.adjoint), pair.others[0][1])
            for pair in sweep.pairs.get(number, ())
        ]
        one = np.ones((1, batch), np.int64)
        pairs += [
            (sweep.in_order(sweep.dense[k]), one) for k, of in columns.items() if of == number
        ]
        if not pairs:
            continue
        wide = max(left.shape[-1] for left, _ in pairs)
        left = np.stack([_repeated(L, wide) for L, _ in pairs])
        right = np.stack([_repeated(R, batch) for _, R in pairs])
        found[node.name] = (left.swapaxes(2, 3) if wide > 1 else left[..., 0], right)
    return found


def side_by_side(
    found: Mapping[str, tuple[Array, Array]], steps: int, read_out: str | None
) -> dict[str, tuple[Array, Array]]:
    """Factors of labels that are the columns of several steps, from those with a row for each.

    Parameters
    ----------
    found : mapping of str to (ndarray, ndarray)
    steps : int
        Targets of the sweep, in the order of evaluation, with equally many rows.
    read_out : str or None
        The matrix whose products are the labels: its other factor is the states of all steps.
    """
    own: dict[str, tuple[Array, Array]] = {}
    for name, (L, R) in found.items():
        places, d, units, batch = len(L), L.shape[1] // steps, L.shape[-1], R.shape[2]
        if name == read_out:
            # A sweep meets the last step first.
            own[name] = np.eye(d, dtype=np.int64)[None], np.concatenate(R[::-1], axis=1)[None]
            continue
        left = L.reshape(places, steps, d, -1, units).swapaxes(1, 2)
        left = np.broadcast_to(left, (places, d, steps, batch, units))
        own[name] = left.reshape(places, d, -1, units), np.tile(R, (1, 1, steps))
    return own


def _repeated(value: Array, batch: int) -> Array:
    """A value with a batch axis of this size."""
    if value.shape[-1] == batch:
        return value
    return np.broadcast_to(value, (*value.shape[:-1], batch))
