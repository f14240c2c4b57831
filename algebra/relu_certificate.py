"""Evidence for one ReLU instance, as a file that somebody else can check.

A match is a rational witness.  "No match" is a list of leaves: each fixes u = 0 or v = 0
for some pairs (unit, sample) and carries μ, for the convex hulls of the units'
activations (see `algebra.relu_arrangement`), or a Farkas vector (λ, μ) of the weaker linear
program in u and v (see `algebra.relu_system`), whose check needs no vertices, or nothing where
it is a single cell, whose linear equations are solved again.  The
leaves cover every activation pattern if no two are compatible and Σ 2^(−fixed) = 1: each
leaf holds a share 2^(−fixed) of the patterns and none is held twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq

from algebra.allocation import Allocation
from algebra.checks import FAILED, PROVED, Check, Verification
from algebra.errors import InputError
from algebra.messages import shown
from algebra.networks import ShallowReLU
from algebra.relu_arrangement import Refuter
from algebra.relu_system import ReluSystem, relu_system

FORMAT, VERSION = "matchprob relu decision", 1


@dataclass(frozen=True)
class Leaf:
    """A leaf of the tree: fixings (k×m; see `FREE`, `U_ZERO`, `V_ZERO`) and their refutation.

    λ is None where μ alone refutes the convex hulls, μ too where the leaf is a single cell whose
    linear equations have no solution in it.
    """

    fixed: np.ndarray
    mu: np.ndarray | None
    lam: np.ndarray | None = None


def covers(leaves: list[np.ndarray]) -> bool:
    """Whether sets of fixings hold every activation pattern exactly once.

    Examples
    --------
    >>> covers([np.array([[1, 0]]), np.array([[2, 1]]), np.array([[2, 2]])])
    True
    >>> covers([np.array([[1, 0]]), np.array([[2, 1]])])
    False
    """
    if not leaves:
        return False
    rows = np.array([leaf.ravel() for leaf in leaves])
    if not np.isin(rows, (0, 1, 2)).all():
        return False
    if sum((fmpq(1, 2 ** int((row != 0).sum())) for row in rows), fmpq(0)) != 1:
        return False
    for t in range(len(rows) - 1):
        later = rows[t + 1 :]
        if not ((rows[t] != later) & (rows[t] != 0) & (later != 0)).any(axis=1).all():
            return False
    return True


def is_refuted(refuter: Refuter, leaf: Leaf) -> bool:
    """Whether a leaf's vector proves that the leaf has no match."""
    if leaf.mu is None:
        return refuter.system.refutes_cell(leaf.fixed)
    if leaf.lam is None:
        return refuter.refutes(leaf.fixed, leaf.mu)
    return refuter.system.is_farkas(leaf.fixed, leaf.lam, leaf.mu)


def refutes(system: ReluSystem, leaves: tuple[Leaf, ...]) -> bool:
    """Whether the leaves prove that the instance has no match."""
    refuter = Refuter(system)
    return covers([leaf.fixed for leaf in leaves]) and all(
        is_refuted(refuter, leaf) for leaf in leaves
    )


def decision_data(
    system: ReluSystem, witness: list[Any] | None, leaves: tuple[Leaf, ...] | None
) -> dict[str, Any]:
    """The content of a decision file.

    Parameters
    ----------
    system : ReluSystem
    witness : list of fmpq or None
        Values of the learnable cells.
    leaves : tuple of Leaf or None

    Returns
    -------
    dict
        JSON-ready; rationals are strings.
    """
    network = system.allocation.network
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "network": {"kind": network.kind, **network.sizes},
        "cells": [list(cell) for cell in system.allocation.cells],
        "weights": {name: _texts(value) for name, value in system.weights.items()},
        "X": _texts(system.X),
        "Y": _texts(system.Y),
        "verdict": "match" if witness is not None else "no match",
    }
    if witness is not None:
        data["witness"] = [str(value) for value in witness]
    else:
        data["leaves"] = [
            {"fixed": leaf.fixed.tolist()}
            | ({} if leaf.mu is None else {"mu": _texts(leaf.mu)})
            | ({} if leaf.lam is None else {"lambda": _texts(leaf.lam)})
            for leaf in leaves or ()
        ]
    return data


def verify_decision(data: Mapping[str, Any]) -> Verification:
    """Check a decision file from scratch, in exact arithmetic.

    Parameters
    ----------
    data : mapping
        The content of the file.

    Returns
    -------
    Verification

    Raises
    ------
    InputError
        Where the data is no such file.
    """
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise InputError(f"this is not a ReLU decision: `format` is not {FORMAT!r}")
    if data.get("version") != VERSION:
        raise InputError(f"decision version {shown(data.get('version'))}; this reads {VERSION}")
    try:
        sizes = dict(data["network"])
        if sizes.pop("kind") != ShallowReLU.kind:
            raise InputError("the network of a ReLU decision must be of kind 'relu'")
        network = ShallowReLU(**sizes)
        cells = [(str(name), int(i), int(j)) for name, i, j in data["cells"]]
        allocation = Allocation.from_cells(network, cells)
        weights = {
            name: _rationals(data["weights"][name], shape) for name, shape in network.shapes.items()
        }
        X = _rationals(data["X"], network.input_shape)
        Y = _rationals(data["Y"], (network.d, network.m))
        system = relu_system(allocation, weights, X, Y)
        verdict = data["verdict"]
        if verdict == "match":
            # The file's own order of cells is that of its values.
            given = dict(zip(cells, map(_rational, data["witness"]), strict=True))
            passed = system.is_witness([given[cell] for cell in allocation.cells])
            text = "the witness, put through the whole network, gives the labels"
            checks = [Check("witness", PROVED if passed else FAILED, text)]
        elif verdict == "no match":
            pairs = system.pairs
            leaves = [
                Leaf(
                    np.array(leaf["fixed"], dtype=int).reshape(pairs),
                    _rationals(leaf["mu"], (network.d, network.m)) if "mu" in leaf else None,
                    _rationals(leaf["lambda"], pairs) if "lambda" in leaf else None,
                )
                for leaf in data["leaves"]
            ]
            refuter = Refuter(system)
            bad = sum(not is_refuted(refuter, leaf) for leaf in leaves)
            covered = covers([leaf.fixed for leaf in leaves])
            checks = [
                Check(
                    "leaves",
                    PROVED if covered else FAILED,
                    f"{len(leaves)} leaves hold every activation pattern exactly once",
                ),
                Check(
                    "leaves",
                    FAILED if bad else PROVED,
                    f"Farkas vectors refute {len(leaves) - bad} of {len(leaves)} leaves",
                ),
            ]
        else:
            raise InputError(f"`verdict` ({shown(verdict)}) must be 'match' or 'no match'")
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise InputError(f"the ReLU decision is damaged: {type(error).__name__}: {error}") from None
    return Verification(verdict, tuple(checks))


def _texts(array: np.ndarray) -> list[list[str]]:
    return [[str(value) for value in row] for row in array]


def _rational(text: Any) -> fmpq:
    top, _, bottom = str(text).partition("/")
    return fmpq(int(top), int(bottom or 1))


def _rationals(rows: Any, shape: tuple[int, int]) -> np.ndarray:
    out = np.empty(shape, dtype=object)
    if len(rows) != shape[0] or any(len(row) != shape[1] for row in rows):
        raise InputError(f"the ReLU decision is damaged: a matrix is not {shape[0]}×{shape[1]}")
    for i, row in enumerate(rows):
        for j, text in enumerate(row):
            out[i, j] = _rational(text)
    return out
