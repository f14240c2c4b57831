r"""Allocations of a normalization network that realize every target, layer by layer.

Block k of the frozen network must equal layer k of the target on the samples.  First let it have
two layers, 2k − 1 and 2k.  Let U be a basis of the *differences* of the block's input samples, s of
them; the shifts account for the part common to all samples.  With δ_i = 1/(g_2k)_i and all units
active,

.. math:: W_{2k} \, \mathrm{diag}(g_{2k-1}) W_{2k-1} U - \mathrm{diag}(δ) T_k U = 0

are n_k s equations, linear in the learnable scales g_{2k-1} and the inverses δ of the learnable
scales g_2k.  Full row rank of this system and a solution without δ_i = 0 are required; both are
open conditions on polynomials, so one point modulo a prime at which they hold proves them for
generic weights and samples.

**For every target and all samples** (MP = 1) it suffices that this holds for each block, that all
shifts b_2k learn, and, with ReLU, that each hidden unit can be made always active or always
inactive: units whose shift learns are made active on all samples, those of which only the scale
learns are switched off, and there must be none without a learnable scale or shift.

*Why later blocks need no more.*  Their inputs are the target's own hidden states, in which units
may be inactive: then U has fewer independent columns than n_{k-1}, which are combinations of fewer
equations.  W_{2k-1} U is generic for generic W_{2k-1} and every U; if zeros of the frozen matrices
invalidate that argument, the system is checked for U = 1, from which any U follows by
multiplication.

*Blocks of more layers.*  The scales of one hidden layer are solved for, that of which most learn
(`solved_layer`).  The other hidden scales keep their random values; then the matrices before it,
with the scales between them, are one generic matrix in place of W_{2k-1}, and those after it one in
place of W_{2k}.  With ReLU every hidden unit of the block is made active or switched off as above.

The numbers: s = min(n_{k-1}, m − 1).  So with m samples, width w_k ≥ n_k·min(n_{k-1}, m − 1)
suffices, as the paper's n_k n_{k-1} does on the whole ball, and n_k − 1 units less with g_2k.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from algebra.linalg.echelon import modular_echelon
from algebra.linalg.modular import matmul
from algebra.linalg.primes import random_points
from algebra.linalg.residues import random_residues
from algebra.plugins.normalization.khatri_rao import khatri_rao
from algebra.plugins.normalization.network import NormNet
from algebra.problems.problem import Problem
from algebra.results import named

_POINTS = 3


@dataclass(frozen=True)
class BlockWitness:
    """A point at which a block realizes a random target layer.

    Attributes
    ----------
    layer : int
        The target's layer k, from 1.
    equations, unknowns : int
        n_k s, and the number of learnable scales in the block.
    p, seed : int
        Prime and number of the point.
    """

    layer: int
    equations: int
    unknowns: int
    p: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a certificate."""
        return {**named(self, "layer", "equations", "unknowns"), "witness": [self.p, self.seed]}


def shifts_fit(problem: Problem) -> str:
    """Why the learnable shifts do not suffice; empty if they do."""
    network = problem.network
    assert isinstance(network, NormNet)
    masks = problem.allocation.masks
    for block in network.blocks:
        last = block[-1]
        if network.is_linear and last < network.layers:
            continue
        if not masks[f"b{last}"].all():
            return f"not all shifts b{last} learn"
    if not network.is_linear:
        for j in (j for block in network.blocks for j in block[:-1]):
            loose = (masks[f"g{j}"] + masks[f"b{j}"]) == 0
            if loose.any():
                return f"hidden unit {int(np.flatnonzero(loose[:, 0])[0])} of layer {j} is frozen"
    return ""


def solved_layer(problem: Problem, layer: int) -> int:
    """The hidden layer of a block whose scales are solved for: the first of those of which most
    learn; with ReLU, of which most scales of units that can be made active.
    """
    network, masks = problem.network, problem.allocation.masks
    assert isinstance(network, NormNet)

    def solvable(j: int) -> int:
        learns = masks[f"g{j}"] != 0
        return int((learns if network.is_linear else learns & (masks[f"b{j}"] != 0)).sum())

    return max(network.blocks[layer - 1][:-1], key=solvable)


def _exists(problem: Problem, name: str) -> np.ndarray:
    every = np.ones(problem.network.shapes[name])
    return np.asarray(problem.support.get(name, every), dtype=np.int64)


def input_differences(problem: Problem, layer: int) -> tuple[int, bool]:
    """Number s of differences of the block's input samples, and whether U = 1 must be used."""
    network = problem.network
    assert isinstance(network, NormNet)
    before = network.widths[layer - 1]
    reach = min(network.widths[:layer]) if network.is_linear else before
    sparse = any(f"W{j}" in problem.support for j in network.blocks[layer - 1])
    if layer > 1 and sparse:
        return (before, True) if network.m > 1 else (0, True)
    s = min(reach, network.m - 1)
    return s, False


def block_solvable(problem: Problem, layer: int, p: int, seed: int) -> tuple[bool, int, int]:
    """Whether a block realizes a random target layer at one point modulo p.

    Parameters
    ----------
    problem : Problem
        A `NormNet` with a fixed allocation.
    layer : int
        The target's layer, from 1.
    p, seed : int
        They determine the point.

    Returns
    -------
    solvable : bool
    equations, unknowns : int
    """
    network = problem.network
    assert isinstance(network, NormNet)
    rng = random.Random(f"block/{layer}/{p}/{seed}")
    before, n = network.widths[layer - 1], network.widths[layer]
    block, first = network.blocks[layer - 1], solved_layer(problem, layer)
    second = block[-1]
    masks: Mapping[str, np.ndarray] = problem.allocation.masks

    def hidden(j: int) -> tuple[np.ndarray, np.ndarray]:
        """Which hidden scales exist, and which of them learn."""
        exists, learns = _exists(problem, f"g{j}")[:, 0], masks[f"g{j}"][:, 0] != 0
        if network.is_linear:
            return exists, learns
        # A unit whose shift is fixed is switched off: its scale is not an unknown.
        off = learns & (masks[f"b{j}"][:, 0] == 0)
        return exists * ~off, learns & ~off

    exists1, learns1 = hidden(first)
    exists2 = _exists(problem, f"g{second}")[:, 0]
    learns2 = masks[f"g{second}"][:, 0] != 0

    def random_scales(j: int) -> np.ndarray:
        exists = hidden(j)[0]
        return (random_residues((len(exists),), p, rng) * exists)[:, None]

    s, whole = input_differences(problem, layer)
    unknowns = int(learns1.sum() + learns2.sum())
    if not s:
        return True, 0, unknowns
    if not exists2.all():
        return False, n * s, unknowns
    matrices = [
        random_residues(network.shapes[f"W{j}"], p, rng) * _exists(problem, f"W{j}") for j in block
    ]
    W1, place = matrices[0], first - block[0]
    for j, W in zip(block[:place], matrices[1:], strict=False):
        W1 = matmul(W, random_scales(j) * W1 % p, p)
    W2 = matrices[-1]
    for j, W in zip(reversed(block[place + 1 : -1]), reversed(matrices[:-1]), strict=False):
        W2 = matmul(W2, random_scales(j) * W % p, p)
    T = random_residues((n, before), p, rng)
    frozen1 = random_residues((len(exists1),), p, rng) * exists1
    frozen2 = random_residues((n,), p, rng)
    if not whole:
        U = random_residues((before, s), p, rng)
        W1, T = matmul(W1, U, p), matmul(T, U, p)
    K = khatri_rao(W2, W1.T) % p
    blocks = -khatri_rao(np.eye(n, dtype=np.int64), T.T) % p
    constant = matmul(K[:, ~learns1], frozen1[~learns1, None], p)
    constant = constant + matmul(blocks[:, ~learns2], frozen2[~learns2, None], p)
    system = np.concatenate([K[:, learns1], blocks[:, learns2]], axis=1)
    return _has_solution(system, constant[:, 0] % p, int(learns2.sum()), p, rng), n * s, unknowns


def _has_solution(
    system: np.ndarray, constant: np.ndarray, last: int, p: int, rng: random.Random
) -> bool:
    """Full row rank, and a solution of ``system x = −constant`` whose `last` entries are not 0."""
    rows, columns = system.shape
    if rows > columns:
        return False
    whole = np.concatenate([system, ((-constant) % p)[:, None]], axis=1)
    reduced, pivots = modular_echelon(whole, p)
    if len(pivots) < rows or (rows and pivots[-1] == columns):
        return False
    free = np.setdiff1d(np.arange(columns), pivots)
    x = np.zeros(columns, np.int64)
    x[free] = [rng.randrange(p) for _ in free]
    x[pivots] = (reduced[:, columns] - matmul(reduced[:, free], x[free, None], p)[:, 0]) % p
    return bool(x[columns - last :].all())


def realizes_all(problem: Problem, seed: int = 0) -> tuple[BlockWitness, ...] | str:
    """Witnesses that generic instances all have a match, or the reason why this is not shown.

    Parameters
    ----------
    problem : Problem
    seed : int, optional

    Returns
    -------
    tuple of BlockWitness, or str
    """
    network = problem.network
    assert isinstance(network, NormNet)
    missing = shifts_fit(problem)
    if missing:
        return missing
    points = random_points(f"blocks/{seed}")
    found = []
    for layer in range(1, network.depth + 1):
        for _ in range(_POINTS):
            p, number = next(points)
            good, equations, unknowns = block_solvable(problem, layer, p, number)
            if good:
                found.append(BlockWitness(layer, equations, unknowns, p, number))
                break
            if unknowns < equations:
                return f"layer {layer}: {unknowns} learnable scales, {equations} equations"
        else:
            return f"layer {layer}: its {unknowns} scales do not reach {equations} dimensions"
    return tuple(found)
