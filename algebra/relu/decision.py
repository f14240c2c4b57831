"""Evidence for one ReLU instance, as a file that somebody else can check.

A match is a rational witness.  "No match" is a list of leaves: each fixes u = 0 or v = 0
for some pairs (unit, sample) and carries μ, for the convex hulls of the units'
activations (see `algebra.relu.arrangement`), or a Farkas vector (λ, μ) of the weaker linear
program in u and v (see `algebra.relu.equations`), whose check needs no vertices, or nothing where
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

from algebra.certificates.checks import FAILED, PROVED, Check, Verification
from algebra.errors import InputError, shown
from algebra.networks.base import ShallowReLU
from algebra.problems.allocation import Allocation
from algebra.relu.arrangement import Refuter
from algebra.relu.equations import ReluSystem, relu_system

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
    system: ReluSystem,
    witness: list[Any] | None,
    leaves: tuple[Leaf, ...] | None,
    teacher: Mapping[str, np.ndarray] | None = None,
) -> dict[str, Any]:
    """The content of a decision file.

    Parameters
    ----------
    system : ReluSystem
    witness : list of fmpq or None
        Values of the learnable cells.
    leaves : tuple of Leaf or None
    teacher : mapping of str to ndarray of fmpq, optional
        Weights that gave the labels.

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
    if teacher is not None:
        data["teacher"] = {name: _texts(value) for name, value in teacher.items()}
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


@dataclass(frozen=True)
class Decision:
    """A decision file, read but not checked.

    Attributes
    ----------
    system : ReluSystem
    teacher : mapping of str to ndarray of fmpq, or None
    verdict : str
        "match" or "no match".
    witness : tuple of fmpq or None
        Values of the learnable cells in the allocation's order.
    leaves : tuple of Leaf
    """

    system: ReluSystem
    teacher: Mapping[str, np.ndarray] | None
    verdict: str
    witness: tuple[Any, ...] | None
    leaves: tuple[Leaf, ...]

    @property
    def is_covered(self) -> bool:
        """Whether the leaves hold every activation pattern exactly once."""
        return covers([leaf.fixed for leaf in self.leaves])


def read_decision(data: Mapping[str, Any]) -> Decision:
    """Read the content of a decision file.

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
        return _read(data)
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise InputError(f"the ReLU decision is damaged: {type(error).__name__}: {error}") from None


def _read(data: Mapping[str, Any]) -> Decision:
    sizes = dict(data["network"])
    if sizes.pop("kind") != ShallowReLU.kind:
        raise InputError("the network of a ReLU decision must be of kind 'relu'")
    network = ShallowReLU(**sizes)
    cells = [(str(name), int(i), int(j)) for name, i, j in data["cells"]]
    allocation = Allocation.from_cells(network, cells)
    weights, teacher = (
        {name: _rationals(data[key][name], shape) for name, shape in network.shapes.items()}
        if key in data
        else None
        for key in ("weights", "teacher")
    )
    if weights is None:
        raise InputError("the ReLU decision is damaged: it has no `weights`")
    X = _rationals(data["X"], network.input_shape)
    Y = _rationals(data["Y"], (network.d, network.m))
    system = relu_system(allocation, weights, X, Y)
    verdict, witness, leaves = data["verdict"], None, []
    if verdict == "match":
        # The file's own order of cells is that of its values.
        given = dict(zip(cells, map(_rational, data["witness"]), strict=True))
        witness = tuple(given[cell] for cell in allocation.cells)
    elif verdict == "no match":
        leaves = [
            Leaf(
                np.array(leaf["fixed"], dtype=int).reshape(system.pairs),
                _rationals(leaf["mu"], (network.d, network.m)) if "mu" in leaf else None,
                _rationals(leaf["lambda"], system.pairs) if "lambda" in leaf else None,
            )
            for leaf in data["leaves"]
        ]
    else:
        raise InputError(f"`verdict` ({shown(verdict)}) must be 'match' or 'no match'")
    return Decision(system, teacher, verdict, witness, tuple(leaves))


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
    decision = read_decision(data)
    system = decision.system
    checks = []
    if decision.teacher is not None:
        labels = system.allocation.network.forward(decision.teacher, system.X)
        same = bool((labels == system.Y).all())
        checks.append(Check("labels", PROVED if same else FAILED, "the labels are the teacher's"))
    if decision.witness is not None:
        passed = system.is_witness(decision.witness)
        text = "the witness, put through the whole network, gives the labels"
        checks.append(Check("witness", PROVED if passed else FAILED, text))
    else:
        refuter = Refuter(system)
        total = len(decision.leaves)
        good = sum(is_refuted(refuter, leaf) for leaf in decision.leaves)
        text = f"the leaves ({total}) hold every activation pattern exactly once"
        checks.append(Check("leaves", PROVED if decision.is_covered else FAILED, text))
        text = f"leaves refuted: {good} of {total}"
        checks.append(Check("leaves", PROVED if good == total else FAILED, text))
    return Verification(decision.verdict, tuple(checks))


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
