"""Evidence for one ReLU instance, as a file that can be checked independently.

A match is proved by a rational witness; "no match" by a list of refuted leaves that cover every
activation pattern (`algebra.relu.leaves`).

Verification proves a statement on the instance *in the file*: its network, learnable cells, fixed
weights, samples X and labels Y.

* "match": if (a) the student with the witness in its learnable cells, evaluated over Q, gives
  exactly Y, then the instance has a match.
* "no match": if (a) no two leaves are compatible and their shares of the patterns add up to 1, so
  that every activation pattern lies in a leaf, and (b) each leaf's vector refutes every pattern in
  it, then no values of the learnable weights give Y.
* With a box in the file (version 2), one closed interval for each learnable cell, both are
  statements on matches inside it: a witness must lie in it, and leaves may be refuted by means of
  it.
* With a teacher in the file, (c) its labels of X, computed over Q, are Y.  Without one the
  statement is about the given labels, and a check says so.

Entries of learnable cells in ``weights`` have no meaning.  The file does not name the problem, seed
or trial of the instance, and no field for it is accepted, since nothing would verify it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from algebra.certificates.checks import (
    FAILED,
    PROVED,
    UNCHECKED,
    Check,
    CheckFailed,
    Verification,
)
from algebra.certificates.fields import (
    Fields,
    RefusedAt,
    cells,
    items,
    matrices_of,
    matrix_of,
    rational_text,
    whole,
)
from algebra.certificates.parts import read_version
from algebra.certificates.reading import MOST_DIGITS, TooLarge
from algebra.errors import one_line, shown
from algebra.linalg.rational import rational_texts
from algebra.networks.relu import ShallowReLU
from algebra.problems.allocation import Allocation
from algebra.problems.constraints import Interval
from algebra.relu.arrangement import Refuter, arrangement_size
from algebra.relu.equations import ReluSystem, relu_system
from algebra.relu.leaves import Leaf, is_refuted, leaves_cover

FORMAT, VERSIONS = "matchprob relu decision", (1, 2)
MATCH, NO_MATCH = "match", "no match"

# Largest number of vertices and rays of all units' arrangements for which a check by μ is made.
_MOST_VERTICES = 200_000
# The largest size of a network in a decision file.
_LARGEST = 10_000
# Reads a rational number, from its text and its place.
_rational = partial(rational_text, digits=MOST_DIGITS)


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
        "version": 2 if system.box else 1,
        "network": {"kind": network.kind, **network.sizes},
        "cells": [list(cell) for cell in system.allocation.cells],
        "weights": {name: rational_texts(value) for name, value in system.weights.items()},
        "X": rational_texts(system.X),
        "Y": rational_texts(system.Y),
        "verdict": MATCH if witness is not None else NO_MATCH,
    }
    if system.box:
        data["box"] = [
            [None if end is None else str(end) for end in (interval.low, interval.high)]
            for interval in (system.interval(*cell) for cell in system.allocation.cells)
        ]
    if teacher is not None:
        data["teacher"] = {name: rational_texts(value) for name, value in teacher.items()}
    if witness is not None:
        data["witness"] = [str(value) for value in witness]
    else:
        data["leaves"] = [
            {"fixed": leaf.fixed.tolist()}
            | ({} if leaf.mu is None else {"mu": rational_texts(leaf.mu)})
            | ({} if leaf.lam is None else {"lambda": rational_texts(leaf.lam)})
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
        """Whether the leaves cover every activation pattern exactly once."""
        return leaves_cover([leaf.fixed for leaf in self.leaves])

    @property
    def labels_are_the_teachers(self) -> bool | None:
        """Whether the teacher's labels of X are Y; None without a teacher."""
        if self.teacher is None:
            return None
        labels = self.system.allocation.network.forward(self.teacher, self.system.X)
        return bool((labels == self.system.Y).all())


def read_decision(data: object, place: str = "") -> Decision:
    """Read the content of a decision file.

    Parameters
    ----------
    data : plain data
    place : str, optional
        Place of the decision, if it is within a larger file.

    Raises
    ------
    CheckFailed
        If the data are not a decision file; the message gives the place.
    TooLarge
        If units have too many learnable weights and samples for leaves to be checked.
    """
    fields = Fields(data, place)
    if fields.text("format") != FORMAT:
        raise CheckFailed(fields.at("format"), f"is not {FORMAT!r}")
    version = fields.whole("version", *VERSIONS)
    verdict = fields.text("verdict")
    if verdict not in (MATCH, NO_MATCH):
        text = f"({shown(verdict)}) must be {MATCH!r} or {NO_MATCH!r}"
        raise CheckFailed(fields.at("verdict"), text)
    sizes = fields.table("network")
    if sizes.text("kind") != ShallowReLU.kind:
        raise CheckFailed(sizes.at("kind"), f"must be {ShallowReLU.kind!r}")
    network = ShallowReLU(*(sizes.whole(name, 1, _LARGEST) for name in ("q", "n", "d", "m")))
    sizes.finish()
    order = cells(fields.raw("cells"), fields.at("cells"))
    with RefusedAt(fields.at("cells")):
        allocation = Allocation.from_cells(network, order)
    weights, teacher = matrices_of(fields.table("weights"), network.shapes, _rational), None
    if fields.has("teacher"):
        teacher = matrices_of(fields.table("teacher"), network.shapes, _rational)
    X = matrix_of(fields.raw("X"), fields.at("X"), network.input_shape, _rational)
    Y = matrix_of(fields.raw("Y"), fields.at("Y"), (network.d, network.m), _rational)
    box = None
    if version > 1:
        intervals = _box(fields.items("box"), fields.at("box"), len(order))
        box = dict(zip(order, intervals, strict=True))
    with RefusedAt(fields.at("cells")):
        system = relu_system(allocation, weights, X, Y, box)
    witness, leaves = None, []
    if verdict == MATCH:
        values, at = fields.items("witness"), fields.at("witness")
        if len(values) != len(order):
            raise CheckFailed(at, f"has {len(values)} values for {len(order)} learnable weights")
        # The values are in the file's own order of cells.
        given = {
            cell: _rational(value, f"{at}[{k}]")
            for k, (cell, value) in enumerate(zip(order, values, strict=True))
        }
        witness = tuple(given[cell] for cell in allocation.cells)
    else:
        for t, leaf in enumerate(fields.items("leaves")):
            leaves.append(_leaf(Fields(leaf, f"{fields.at('leaves')}[{t}]"), system))
        if any(leaf.mu is not None and leaf.lam is None for leaf in leaves):
            _limit_arrangements(system)
    fields.finish()
    return Decision(system, teacher, verdict, witness, tuple(leaves))


def _box(values: list[Any], place: str, count: int) -> list[Interval]:
    """Intervals: pairs of bounds, each a rational or null."""
    if len(values) != count:
        raise CheckFailed(place, f"has {len(values)} intervals for {count} learnable weights")
    found = []
    for k, value in enumerate(values):
        at = f"{place}[{k}]"
        ends = items(value, at)
        if len(ends) != 2:
            raise CheckFailed(at, f"({shown(value)}) is no interval: lower and upper end")
        found.append(Interval(*(None if e is None else _rational(e, at) for e in ends)))
    return found


def _leaf(given: Fields, system: ReluSystem) -> Leaf:
    k, m = system.pairs
    state = partial(whole, least=0, most=2)
    fixed = matrix_of(given.raw("fixed"), given.at("fixed"), (k, m), state)
    mu = lam = None
    if given.has("mu"):
        mu = matrix_of(given.raw("mu"), given.at("mu"), system.G.shape, _rational)
    if given.has("lambda"):
        if mu is None:
            raise CheckFailed(given.at("lambda"), "stands without `mu`: a Farkas vector has both")
        lam = matrix_of(given.raw("lambda"), given.at("lambda"), (k, m), _rational)
    given.finish()
    return Leaf(fixed.astype(int), mu, lam)


def _limit_arrangements(system: ReluSystem) -> None:
    """Refuse units with too many vertices, since checks enumerate all of them."""
    _, m = system.pairs
    total = sum(arrangement_size(len(own), m) for own in system.cells)
    if total > _MOST_VERTICES:
        raise TooLarge(
            f"the units' arrangements may have {total:,} vertices and rays; verification goes "
            f"through at most {_MOST_VERTICES:,}"
        )


def verify_decision(data: Any) -> Verification:
    """Verify a decision file in exact arithmetic.

    Parameters
    ----------
    data : mapping
        The content of the file.

    Returns
    -------
    Verification
        The module says what each check proves.

    Raises
    ------
    InputError
        If the data are not a decision of this format and version.
    """
    read_version(data, FORMAT, VERSIONS, "a ReLU decision")
    try:
        decision = read_decision(data)
    except CheckFailed as failure:
        verdict = one_line(data.get("verdict"))
        return Verification(verdict, (Check(failure.place, FAILED, str(failure)),))
    system = decision.system
    same = decision.labels_are_the_teachers
    if same is None:
        text = "as they stand in the file, which has no teacher"
        checks = [Check("Y", UNCHECKED, f"the question is about these labels, {text}")]
    else:
        text = "the labels are the teacher's" if same else "the labels are not the teacher's"
        checks = [Check("Y", PROVED if same else FAILED, text)]
    if system.box:
        bounded = sum(interval.is_bounded for interval in system.box.values())
        text = f"the question is about matches with {bounded} of {len(system.box)} weights bounded"
        checks.append(Check("box", UNCHECKED, text))
    if decision.witness is not None:
        passed = system.is_witness(decision.witness)
        text = f"the witness, put through the whole network, {'gives' if passed else 'misses'} Y"
        if system.box:
            inside = all(
                value in system.interval(*cell)
                for cell, value in zip(system.allocation.cells, decision.witness, strict=True)
            )
            text += " and lies in the box" if passed else "" if inside else "; it is not in the box"
        checks.append(Check("witness", PROVED if passed else FAILED, text))
    else:
        total, covered = len(decision.leaves), decision.is_covered
        text = f"the leaves ({total}) {'' if covered else 'do not '}hold every activation pattern"
        checks.append(Check("leaves", PROVED if covered else FAILED, f"{text} exactly once"))
        refuter = Refuter(system)
        bad = [t for t, leaf in enumerate(decision.leaves) if not is_refuted(refuter, leaf)]
        if bad:
            text = f"not refuted, the first of {len(bad)} such leaves of {total}"
            checks.append(Check(f"leaves[{bad[0]}]", FAILED, text))
        else:
            checks.append(Check("leaves", PROVED, f"leaves refuted: {total} of {total}"))
    return Verification(decision.verdict, tuple(checks))
