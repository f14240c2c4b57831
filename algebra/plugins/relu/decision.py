"""Evidence for one ReLU instance, as a file that can be checked independently.

A match is proved by a rational witness; "no match" by a list of refuted leaves that cover every
activation pattern (`algebra.plugins.relu.leaves`).

Verification proves a statement on the instance *in the file*: its network, learnable cells, fixed
weights, samples X and labels Y.

* "match": if (a) the student with the witness in its learnable cells, evaluated over Q, gives
  exactly Y, then the instance has a match.
* "no match": if (a) no two leaves are compatible and their shares of the patterns add up to 1, so
  that every activation pattern lies in a leaf, and (b) each leaf's vector refutes every pattern in
  it, then no values of the learnable weights give Y.
* With a box in the file, one closed interval for each learnable cell, both are
  statements on matches inside it: a witness must lie in it, and leaves may be refuted by means of
  it.
* With a teacher in the file, (c) its labels of X, computed over Q, are Y.  Without one the
  statement is about the given labels, and a check says so.

Entries of learnable cells in ``weights`` have no meaning.  The file does not name the problem, seed
or trial of the instance, and no field for it is accepted, since nothing would verify it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np

from algebra.checker.arrays import matrices, matrix
from algebra.checker.checks import (
    FAILED,
    PROVED,
    UNCHECKED,
    CheckEffort,
    CheckFailed,
    Checklist,
)
from algebra.checker.fields import RefusedAt, items, within
from algebra.checker.formats import ProofFormat
from algebra.checker.reading import PROOF_LIMITS, TooLarge
from algebra.checker.records import (
    Cells,
    Context,
    Converted,
    Record,
    as_many,
    rational_of,
    read_form,
    write_form,
)
from algebra.declarations import Keyword, named_key
from algebra.errors import one_line
from algebra.linalg.arrangements import arrangement_size
from algebra.networks.ffn import FeedForward
from algebra.networks.rectified import HasRectifiedLayers
from algebra.plugins.relu.arrangement import Refuter
from algebra.plugins.relu.equations import ReluSystem, relu_system
from algebra.plugins.relu.leaves import Leaf, is_refuted, leaves_cover
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.intervals import Interval

FORMAT: Literal["matchprob relu decision"] = "matchprob relu decision"
VERSION: Literal[1] = 1
MATCH: Literal["match"] = "match"
NO_MATCH: Literal["no match"] = "no match"

# Largest number of vertices and rays of all units' arrangements for which a check by μ is made.
_MOST_VERTICES = 200_000
# The largest size of a network in a decision file, and number of hidden layers.
_LARGEST = 10_000
_MOST_LAYERS = 50
_Rational = rational_of(PROOF_LIMITS.digits)
_Size = Annotated[int, Keyword("minimum", 1), Keyword("maximum", _LARGEST)]
_Weights = Annotated[Mapping[str, np.ndarray], matrices(_Rational)]
_End = _Rational | None


@dataclass(frozen=True)
class ReluSizes(Record):
    """See `algebra.plugins.relu.network.ShallowReLU`."""

    kind: Literal["relu"]
    q: _Size
    n: _Size
    d: _Size
    m: _Size


@dataclass(frozen=True)
class LayeredSizes(Record):
    """See `algebra.networks.ffn.FeedForward`; hidden layers have at most `_LARGEST` units."""

    kind: Literal["ffn"]
    q: _Size
    widths: tuple[_Size, ...]
    d: _Size
    m: _Size
    activation: Literal["relu"]
    biases: bool = False


def _read_network(value: Any, place: str, context: Context) -> HasRectifiedLayers:
    if isinstance(value, Mapping) and value.get("kind") == FeedForward.kind:
        given = LayeredSizes.from_dict(value, place)
        if sum(given.widths) > _LARGEST or len(given.widths) > _MOST_LAYERS:
            raise CheckFailed(within(place, "widths"), "is too large")
        with RefusedAt(place):
            return FeedForward(
                given.q, given.widths, given.d, given.m, given.activation, given.biases
            )
    sizes = ReluSizes.from_dict(value, place)
    return ShallowReLU(sizes.q, sizes.n, sizes.d, sizes.m)


def _read_cells(value: Any, place: str, context: Context) -> tuple[Cell, ...]:
    found: tuple[Cell, ...] = read_form(Cells, value, place)
    with RefusedAt(place):
        Allocation.from_cells(context["network"], found)
    return found


_CELLS = Converted(Cells, _read_cells, lambda value: write_form(Cells, value))


def _of_pairs(entry: Any) -> Converted:
    """An array with an entry for each unit and sample, of the context's system."""
    return matrix(lambda context: context["system"].pairs, entry)


@dataclass(frozen=True)
class LeafTable(Record):
    """See `algebra.plugins.relu.leaves.Leaf`."""

    fixed: Annotated[
        np.ndarray, _of_pairs(Annotated[int, Keyword("minimum", 0), Keyword("maximum", 2)])
    ]
    mu: (
        Annotated[np.ndarray, matrix(lambda context: context["system"].G.shape, _Rational)] | None
    ) = None
    lam: Annotated[np.ndarray, _of_pairs(_Rational)] | None = field(
        default=None, metadata=named_key("lambda")
    )

    def check(self, place: str, context: Context) -> None:
        """A Farkas vector has two parts."""
        if self.lam is not None and self.mu is None:
            raise CheckFailed(f"{place}.lambda", "stands without `mu`: a Farkas vector has both")


@dataclass(frozen=True, kw_only=True)
class DecisionFile(Record):
    """The content of a decision file; see `Decision`.

    The shapes of leaves are those of the system that the other fields define, so they are read
    after it.
    """

    format: Literal["matchprob relu decision"]
    version: Literal[1]
    network: Annotated[
        HasRectifiedLayers,
        Converted(
            ReluSizes | LayeredSizes, _read_network, lambda net: {"kind": net.kind, **net.sizes}
        ),
    ]
    cells: Annotated[tuple[Cell, ...], _CELLS]
    weights: _Weights
    X: Annotated[np.ndarray, matrix(lambda context: context["network"].input_shape, _Rational)]
    Y: Annotated[
        np.ndarray, matrix(lambda context: (context["network"].d, context["network"].m), _Rational)
    ]
    verdict: Literal["match", "no match"]
    box: (
        Annotated[
            tuple[tuple[Any, Any], ...],
            as_many(lambda context: len(context["cells"]), tuple[_End, _End]),
        ]
        | None
    ) = None
    teacher: _Weights | None = None
    witness: (
        Annotated[tuple[Any, ...], as_many(lambda context: len(context["cells"]), _Rational)] | None
    ) = None
    leaves: (
        Annotated[list[Any], Converted(tuple[LeafTable, ...], _read_items, _write_leaves)] | None
    ) = None

    def check(self, place: str, context: Context) -> None:
        """The fields fit the verdict."""
        matches = self.verdict == MATCH
        for name, belongs in (("witness", matches), ("leaves", not matches)):
            if (getattr(self, name) is not None) != belongs:
                text = "is missing" if belongs else "does not belong to this verdict"
                raise CheckFailed(within(place, name), text)


def _read_items(value: Any, place: str, context: Context) -> list[Any]:
    return items(value, place)


def _write_leaves(leaves: Iterable[Leaf]) -> list[dict[str, Any]]:
    return [LeafTable(leaf.fixed, leaf.mu, leaf.lam).to_dict() for leaf in leaves]


_LEAVES = Converted(tuple[LeafTable, ...], _read_items, _write_leaves)


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
    cells, box = system.allocation.cells, None
    if system.box:
        intervals = [system.interval(cell) for cell in cells]
        box = tuple((interval.low, interval.high) for interval in intervals)
    network = system.allocation.network
    assert isinstance(network, HasRectifiedLayers)
    file = DecisionFile(
        format=FORMAT, version=VERSION, network=network, cells=cells,
        weights=system.weights, X=np.array(system.X), Y=np.array(system.Y),
        verdict=NO_MATCH if witness is None else MATCH, box=box, teacher=teacher,
        witness=None if witness is None else tuple(witness),
        leaves=list(leaves or ()) if witness is None else None,
    )  # fmt: skip
    return file.to_dict()


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
    given = DecisionFile.from_dict(data, place)
    order = given.cells
    box = None
    if given.box is not None:
        box = {cell: Interval(*ends) for cell, ends in zip(order, given.box, strict=True)}
    with RefusedAt(within(place, "cells")):
        allocation = Allocation.from_cells(given.network, order)
        system = relu_system(allocation, given.weights, given.X, given.Y, box)
    witness = None
    if given.witness is not None:
        # The values are in the file's own order of cells.
        values = dict(zip(order, given.witness, strict=True))
        witness = tuple(values[cell] for cell in allocation.cells)
    leaves = []
    for t, leaf in enumerate(given.leaves or ()):
        at = f"{within(place, 'leaves')}[{t}]"
        table = LeafTable.from_dict(leaf, at, {"system": system})
        leaves.append(Leaf(table.fixed.astype(int), table.mu, table.lam))
    if system.is_shallow and any(leaf.mu is not None and leaf.lam is None for leaf in leaves):
        _limit_arrangements(system)
    return Decision(system, given.teacher, given.verdict, witness, tuple(leaves))


def _limit_arrangements(system: ReluSystem) -> None:
    """Refuse units with too many vertices, since checks enumerate all of them."""
    _, m = system.pairs
    total = sum(arrangement_size(len(own), m) for own in system.terms)
    if total > _MOST_VERTICES:
        raise TooLarge(
            f"the units' arrangements may have {total:,} vertices and rays; verification goes "
            f"through at most {_MOST_VERTICES:,}"
        )


def _check(data: Mapping[str, Any], checklist: Checklist, effort: CheckEffort) -> None:
    """Check a decision in exact arithmetic; the module says what each line proves."""
    decision, say = read_decision(data), checklist.say
    system = decision.system
    same = decision.labels_are_the_teachers
    if same is None:
        text = "as they stand in the file, which has no teacher"
        say("Y", UNCHECKED, f"the question is about these labels, {text}")
    else:
        text = "the labels are the teacher's" if same else "the labels are not the teacher's"
        say("Y", PROVED if same else FAILED, text)
    if system.box:
        bounded = sum(interval.is_bounded for interval in system.box.values())
        text = f"the question is about matches with {bounded} of {len(system.box)} weights bounded"
        say("box", UNCHECKED, text)
    if decision.witness is not None:
        passed = system.is_witness(decision.witness)
        text = f"the witness, put through the whole network, {'gives' if passed else 'misses'} Y"
        if system.box:
            inside = all(
                value in system.interval(cell)
                for cell, value in zip(system.allocation.cells, decision.witness, strict=True)
            )
            text += " and lies in the box" if passed else "" if inside else "; it is not in the box"
        say("witness", PROVED if passed else FAILED, text)
    else:
        total, covered = len(decision.leaves), decision.is_covered
        text = f"the leaves ({total}) {'' if covered else 'do not '}hold every activation pattern"
        say("leaves", PROVED if covered else FAILED, f"{text} exactly once")
        refuter = Refuter(system)
        bad = [t for t, leaf in enumerate(decision.leaves) if not is_refuted(refuter, leaf)]
        if bad:
            text = f"not refuted, the first of {len(bad)} such leaves of {total}"
            say(f"leaves[{bad[0]}]", FAILED, text)
        else:
            say("leaves", PROVED, f"leaves refuted: {total} of {total}")


DECISION = ProofFormat(
    FORMAT, (VERSION,), "a ReLU decision", DecisionFile, _check,
    lambda data: one_line(data.get("verdict")),
)  # fmt: skip
