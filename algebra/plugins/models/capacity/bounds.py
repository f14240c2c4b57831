r"""Bounds of ranks for each number of samples, and affine last layers.

**Updates W + U Vᵀ.**  Let W (p × q) multiply T vectors x_t of a sample (positions of a sequence or
an image), L_t be the derivative of its d labels by the product at t, and r be the rank of the
update.  A direction dV changes the labels of the sample by Σ_t L_t U (dVᵀ x_t), which lies in the
span of the r T columns of L_1 U, …, L_T U: the columns by V have rank min(r q, m min(d, r T)) at
most for m samples, and those by U have rank min(r p, m d) at most.  The r² directions (U A, −V Aᵀ)
leave W + U Vᵀ as it is to first order; so, if r ≤ p, q, J_U vec(U A) = J_V vec(V Aᵀ) lies in both
spans.  If these vectors have the rank r² − t, then J_U is 0 at t directions U A, and has rank
r p − t at most; in any case

    rank (J_U J_V) ≤ r p + rank J_V − r²,  and  ≤ rank J_U + r q − r²  likewise.

**Affine last layers.**  If the labels are y = W h + b, and neither W nor b enters elsewhere, their
derivatives by row k of (W b) are (h 1) at label k, and 0 at the others: the rank by W and b is d
times that of the features (h 1) of the samples, which has few columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from algebra.plugins.models.capacity.result import Subset
from algebra.programs.program import Node, Program, matrix_shape


def largest_ranks(program: Program, subset: Subset, m: int, least: int) -> list[int]:
    """Upper bounds of the ranks of 1, …, m samples.

    Parameters
    ----------
    program : Program
    subset : Subset
    m : int
    least : int
        A bound for every number of samples.
    """
    d = program.nodes[program.output].size
    samples = np.arange(1, m + 1, dtype=np.int64)
    size = sum(math.prod(program.weights[name]) for name in subset.weights)
    total = np.minimum(size, d * samples)
    for name, rank in (subset.low_rank or {}).items():
        p, q = matrix_shape(program.weights[name])
        most = _vectors(program, name)
        own = d if most is None else min(d, rank * most)
        by_u = np.minimum(rank * p, d * samples)
        by_v = np.minimum(rank * q, own * samples)
        square = rank * rank if rank <= min(p, q) else 0
        total += np.minimum(
            by_u + by_v, np.minimum(rank * p + by_v, by_u + rank * q) - square
        ).clip(0)
    return [int(v) for v in np.minimum(np.minimum(total, least), d * samples)]


def samples_of_all(program: Program, subset: Subset) -> int:
    """The number of samples from which the bounds do not grow."""
    d = program.nodes[program.output].size
    size = subset.learnable(program)
    most = -(-size // d) + max((max(matrix_shape(program.weights[n])) for n in
                                subset.low_rank or {}), default=0)  # fmt: skip
    found = largest_ranks(program, subset, most, size)
    return found.index(found[-1]) + 1


def _vectors(program: Program, name: str) -> int | None:
    """The number of vectors of a sample that a matrix multiplies; None if not known."""
    total = 0
    own = {k for k, node in enumerate(program.nodes) if node.op == "block" and node.name == name}
    for k in sorted(program.needed([program.output])):
        node = program.nodes[k]
        used = [position for position, j in enumerate(node.inputs) if j in own]
        if not used:
            continue
        if node.op == "index" and len(node.inputs) == 1 and _moves_all(program, node):
            own.add(k)
            continue
        if node.op != "contract" or len(used) > 1 or len(node.inputs) != 2:
            return None
        groups, _, result = node.letters.partition("->")
        split = groups.split(",")
        letters, others = split[used[0]], split[1 - used[0]]
        sizes = dict(zip(others, program.nodes[node.inputs[1 - used[0]]].shape, strict=True))
        sizes |= dict(zip(letters, program.nodes[node.inputs[used[0]]].shape, strict=True))
        # A letter of all three stacks matrices, each with vectors of its own.
        free = set(others + result) - set(letters)
        stacked = set(letters) & set(others) & set(result)
        total += math.prod(sizes[c] for c in free | stacked)
    return total


def _moves_all(program: Program, node: Node) -> bool:
    """Whether an index holds each entry of its input once."""
    size = program.nodes[node.inputs[0]].size
    where = node.where
    assert where is not None
    return node.size == size and (
        node.is_reshape or bool((np.bincount(where.ravel() + 1, minlength=size + 1)[1:] == 1).all())
    )


@dataclass(frozen=True)
class LastLayer:
    """An affine layer whose values are the labels.

    Attributes
    ----------
    weight : str
    bias : str
        "" if there is none.
    row : ndarray of int64
        Numbers of the entries of the weight in the first label.
    features : int
        The node of what the weight multiplies.
    """

    weight: str
    bias: str
    row: np.ndarray
    features: int


def affine_last_layer(program: Program) -> LastLayer | None:
    """The last layer of a program, if it is affine and its parameters enter nowhere else."""
    nodes, places = program.nodes, np.arange(program.nodes[program.output].size)
    number, bias = program.output, ""
    while True:
        node = nodes[number]
        if node.op == "index" and len(node.inputs) == 1 and _moves_all(program, node):
            assert node.where is not None
            places, [number] = node.where.ravel()[places], node.inputs
        elif node.op == "add" and len(node.inputs) == 2 and not bias:
            shared = [k for k in node.inputs if not nodes[k].batched]
            bias = _block(program, shared[0])[0] if len(shared) == 1 else ""
            if not bias:
                return None
            [number] = [k for k in node.inputs if nodes[k].batched]
        else:
            break
    if node.op != "contract" or len(node.inputs) != 2:
        return None
    position = 0 if nodes[node.inputs[1]].batched else 1
    if nodes[node.inputs[position]].batched or not nodes[node.inputs[1 - position]].batched:
        return None
    weight, of_weight = _block(program, node.inputs[position])
    groups, _, result = node.letters.partition("->")
    split = groups.split(",")
    letters, others = split[position], split[1 - position]
    shape = nodes[node.inputs[position]].shape
    sizes = dict(zip(others, nodes[node.inputs[1 - position]].shape, strict=True))
    sizes |= dict(zip(letters, shape, strict=True))
    summed = [c for c in letters if c in others and c not in result]
    large = [c for c in result if sizes[c] > 1]
    if not weight or not all(c in letters and c not in others for c in large):
        return None
    if (
        len(set(letters)) < len(letters)
        or any(sizes[c] > 1 and c not in summed for c in others)
        or any(sizes[c] > 1 and c not in summed and c not in result for c in letters)
    ):
        return None
    if _occurrences(program, weight) > 1 or (bias and _occurrences(program, bias) > 1):
        return None
    if bias and math.prod(program.weights[bias]) != nodes[program.output].size:
        return None
    # The entries of the first label: those at the first place of all axes but the summed ones.
    entry = tuple(slice(None) if c in summed else 0 for c in letters)
    return LastLayer(weight, bias, of_weight.reshape(shape)[entry].ravel(),
                     node.inputs[1 - position])  # fmt: skip


def _block(program: Program, number: int) -> tuple[str, np.ndarray]:
    """The weight whose entries a shared value holds, each once, and their numbers; or ""."""
    node = program.nodes[number]
    places = np.arange(node.size)
    while node.op == "index" and len(node.inputs) == 1 and _moves_all(program, node):
        assert node.where is not None
        places, node = node.where.ravel()[places], program.nodes[node.inputs[0]]
    return (node.name if node.op == "block" and not node.batched else ""), places


def _occurrences(program: Program, name: str) -> int:
    """How many needed operations take a weight, through moves of its entries, as an input."""
    own = {k for k, node in enumerate(program.nodes) if node.op == "block" and node.name == name}
    total = 0
    for k in sorted(program.needed([program.output])):
        used = [j for j in program.nodes[k].inputs if j in own]
        if used and program.nodes[k].op == "index":
            own.add(k)
        total += len(used) if program.nodes[k].op != "index" else 0
    return total
