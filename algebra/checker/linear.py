"""Certificates of linear networks that follow by linear algebra, by the check's own map.

They contain ranks only, or that the labels are affine in weights of full rank.

Neither arrays nor the classes of problems and networks are needed: the problem is read as plain
data, and its ranks are computed in FLINT (`algebra.checker.linear_map`).

What is read is an allow-list: the four kinds, masks by their rows, laws by name, a teacher's or
arbitrary labels, and networks that are not large.  `linear_problem` returns None for everything
else, a wrong field too: the general reader (`algebra.checker.problem_tables`) reads or refuses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from algebra.checker.checks import Checked, CheckEffort, Checklist
from algebra.checker.claim import Claim, Conclusion, verified
from algebra.checker.linear_map import Cell, LinearColumns, LinearMap
from algebra.checker.premises import RANK_DEFICIT
from algebra.checker.rank_claims import EvidenceOnRanks, RankChecker, may_be_linear_algebra
from algebra.checker.verdicts import MAXIMAL, MINIMAL
from algebra.problems.premises import Feature, Features


@dataclass(frozen=True)
class LinearKind:
    """A kind of linear networks.

    Attributes
    ----------
    title : str
        Its name in a sentence.
    sizes : frozenset of str
    is_read_often : bool
        Whether the labels are the outputs of every step.
    """

    title: str
    sizes: frozenset[str]
    is_read_often: bool = False


_RECURRENT = frozenset(("n", "T", "b", "d", "m"))
_KINDS = {
    "linear": LinearKind("linear estimator", frozenset(("q", "d", "m"))),
    "lffn": LinearKind("multi-layer linear", frozenset(("q", "widths", "d", "m"))),
    "lrnn": LinearKind("linear RNN", _RECURRENT),
    "lrnn-sequence": LinearKind("linear RNN read at every step", _RECURRENT, True),
}
_LAWS = ("normal", "uniform", "rademacher")
# Entries of the Jacobian and of the samples up to which arrays are hardly faster (measured), if
# there are not more steps.
_MOST_ENTRIES = 15_000
_FEW_STEPS = 50


@dataclass(frozen=True)
class PlainLaws:
    """The laws of a problem: see `algebra.problems.laws.distribution.Distribution`."""

    weights: str = "normal"
    inputs: str = "normal"
    teacher: str = "normal"
    labels: str = "teacher"


@dataclass(frozen=True)
class LinearProblem:
    """A linear network and what learns in it.

    Attributes
    ----------
    network : LinearMap
    cells : tuple of cells
        The weights that learn.
    absent : frozenset of cells
        The weights that do not exist.
    has_zeros : bool
        Whether structural zeros are given.
    distribution : PlainLaws
    """

    network: LinearMap
    cells: tuple[Cell, ...]
    absent: frozenset[Cell]
    has_zeros: bool
    distribution: PlainLaws

    @cached_property
    def features(self) -> Features:
        """See `algebra.problems.features.features`."""
        laws = self.distribution
        used = {laws.weights, laws.inputs, laws.teacher}
        found = {
            Feature.ZEROS: self.has_zeros,
            Feature.BOUNDED: used != {"normal"},
            Feature.DISCRETE: "rademacher" in used,
            Feature.ARBITRARY_LABELS: laws.labels == "normal",
        }
        return frozenset(feature for feature, has in found.items() if has)

    @property
    def learning(self) -> LinearColumns:
        """The columns of the weights that learn."""
        return LinearColumns(self.network, self.cells, self.absent)

    @property
    def whole(self) -> LinearColumns:
        """The columns of the weights that exist."""
        every = (
            (name, i, j)
            for name, (rows, columns) in self.network.shapes.items()
            for i in range(rows)
            for j in range(columns)
        )
        cells = tuple(cell for cell in every if cell not in self.absent)
        return LinearColumns(self.network, cells, self.absent)


def linear_problem(data: Mapping[str, Any]) -> LinearProblem | None:
    """The problem of a certificate, if it and the evidence are what is checked here.

    Parameters
    ----------
    data : mapping
        The content of the file.
    """
    table = data.get("problem")
    if not may_be_linear_algebra(data) or not isinstance(table, Mapping):
        return None
    if table.keys() - {"network", "learnable", "support", "distribution"}:
        return None
    network = _network(table.get("network"))
    laws = _laws(table.get("distribution", {}))
    if network is None or laws is None:
        return None
    learns = _places(table.get("learnable"), network, 1)
    absent = _places(table.get("support", {}), network, 0)
    if learns is None or absent is None or not absent.isdisjoint(learns):
        return None
    order = [*network.shapes]
    cells = tuple(sorted(learns, key=lambda cell: (order.index(cell[0]), cell[1:])))
    problem = LinearProblem(network, cells, absent, bool(table.get("support")), laws)
    if data["verdict"] != MAXIMAL:
        return problem
    # Loaded here, as below: ranks alone prove the other verdicts.
    from algebra.checker.affine_part import affine_matrix

    return problem if affine_matrix(data["evidence"], problem) else None


def _network(table: Any) -> LinearMap | None:
    """A network that is not large."""
    if not isinstance(table, Mapping) or not isinstance(table.get("kind"), str):
        return None
    sizes = {key: value for key, value in table.items() if key not in ("kind", "widths")}
    kind, widths = _KINDS.get(table["kind"]), table.get("widths", [])
    if kind is None or table.keys() != {"kind", *kind.sizes} or type(widths) is not list:
        return None
    if any(type(size) is not int or size < 1 for size in (*sizes.values(), *widths)):
        return None
    if "T" in sizes:
        n, d = sizes["n"], sizes["d"]
        shapes = {"D": (d, n), "W": (n, n), "B": (n, sizes["b"])}
    elif "widths" not in table:
        shapes = {"W": (sizes["d"], sizes["q"])}
    else:
        layers = [*enumerate(pairwise([sizes["q"], *widths, sizes["d"]]), 1)]
        shapes = {f"W{k}": (after, before) for k, (before, after) in reversed(layers)}
    steps, is_read_often = sizes.get("T", 0), kind.is_read_often
    network = LinearMap(kind.title, shapes, steps, sizes["m"], is_read_often)
    rows, columns = network.input_shape
    work = network.outputs * network.parameters + rows * columns
    return network if work * max(1, network.steps // _FEW_STEPS) <= _MOST_ENTRIES else None


def _laws(table: Any) -> PlainLaws | None:
    """Laws by their names."""
    if not isinstance(table, Mapping) or table.keys() - vars(PlainLaws()).keys():
        return None
    if any(not isinstance(law, str) for law in table.values()):
        return None
    laws = PlainLaws(**table)
    known = {laws.weights, laws.inputs, laws.teacher} <= {*_LAWS}
    # Arbitrary labels have no teacher.
    fits = laws.labels == "teacher" or (laws.labels == "normal" and laws.teacher == "normal")
    return laws if known and fits else None


def _places(table: Any, network: LinearMap, value: int) -> frozenset[Cell] | None:
    """The cells at which masks of 0 and 1 have a value."""
    if not isinstance(table, Mapping) or table.keys() - network.shapes.keys():
        return None
    found = []
    for name, mask in table.items():
        rows, columns = network.shapes[name]
        if type(mask) is not list or len(mask) != rows:
            return None
        for i, row in enumerate(mask):
            if type(row) is not list or len(row) != columns:
                return None
            if any(type(bit) is not int or bit not in (0, 1) for bit in row):
                return None
            found += [(name, i, j) for j, bit in enumerate(row) if bit == value]
    return frozenset(found)


class LinearChecker(RankChecker):
    """The checks of one claim on a linear network."""

    @property
    def whole(self) -> LinearColumns:
        columns: LinearColumns = self.problem.whole
        return columns

    @property
    def learning(self) -> LinearColumns:
        columns: LinearColumns = self.problem.learning
        return columns

    def run(self) -> Conclusion:
        """The ranks, and what follows from them: the labels are polynomials."""
        self._need_numbers(self.evidence.root_count)
        known, attained = self._network_rank(), self._allocation_rank()
        if self.claim.verdict == MINIMAL:
            return Conclusion(self._minimal(attained), RANK_DEFICIT)
        self._full_rank(known)
        if self.claim.verdict == MAXIMAL:
            from algebra.checker.affine_part import check_affine

            return check_affine(self, known)
        return Conclusion(self._only_numbers())


def verify_linear(data: Mapping[str, Any], problem: LinearProblem, effort: CheckEffort) -> Checked:
    """Verify a certificate whose problem was read."""

    def check(claim: Claim, checklist: Checklist) -> Conclusion:
        context = {"problem": problem, "network": problem.network}
        common = {key: value for key, value in claim.evidence.items() if key != "affine_part"}
        evidence = EvidenceOnRanks.from_dict(common, "evidence", context)
        return LinearChecker(claim, evidence, checklist, effort).run()

    return verified(data, check, problem=problem)
