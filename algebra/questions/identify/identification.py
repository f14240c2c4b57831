"""The learnable weights that the data determine, cell by cell.

Labels are assumed to come from a network of the allocation itself: the learnable weights have true
values, everything else is known.  `fibre` computes which of them are determined near the truth,
`alternatives` which are determined globally.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from algebra.documents import Document, Paragraph
from algebra.linalg.numbers import nearest_double
from algebra.networks.own_point import about_parameters, at_these_parameters
from algebra.polynomials.msolve.process import MsolveError, MsolveMissing, MsolveTimeout
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.cells import MOST_CELLS, cell_columns, cells_data
from algebra.problems.problem import Problem
from algebra.questions.identify.alternatives import Alternatives, alternatives
from algebra.questions.identify.balls import proves_fibre
from algebra.questions.identify.explanation import explain, explain_updates
from algebra.questions.identify.fibre import Fibre, fibre
from algebra.questions.identify.freedom import TargetState, TargetStates, by_table
from algebra.questions.identify.updates import learning_fibre
from algebra.ranks.parametrized import by_parameters
from algebra.results import Result, named
from algebra.systems.forms import forms
from algebra.systems.root_count import RootCountError
from algebra.time_limits import OutOfTime, time_left


@dataclass(frozen=True, repr=False)
class Identification(Result):
    """The weights that generic data determine.

    Attributes
    ----------
    problem : Problem
    fibre : Fibre
        The local result.
    alternatives : Alternatives or None
        The global result; None if matches are not isolated, or counting them was out of reach.
    unknown : str
        The reason why `alternatives` is None.
    out_of_time : bool
        Whether a time limit is the reason.
    timeout : float
        Time limit of the call in seconds.
    seed : int
    aim : TargetStates or None
        What the labels leave free of a target.
    """

    problem: Problem
    fibre: Fibre
    alternatives: Alternatives | None
    unknown: str
    seed: int
    out_of_time: bool = False
    timeout: float = field(default=60.0, compare=False)
    aim: TargetStates | None = None

    @property
    def target(self) -> tuple[TargetState, ...]:
        """What the labels leave free of each activity of a target."""
        return () if self.aim is None else self.aim.states

    @property
    def globally_determined(self) -> tuple[Cell, ...] | None:
        """Weights with the same value in every match; None if unknown."""
        if self.alternatives is None:
            return None if self.fibre.determined else ()
        return self.alternatives.determined

    @property
    def finitely_many(self) -> tuple[Cell, ...]:
        """Weights that are determined locally, and known not to be determined globally."""
        if self.alternatives is None:
            return ()
        return tuple(cell for cell, count in self.alternatives.values.items() if count > 1)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data; keys as in the design of the command line."""
        found, network = self.alternatives, self.problem.network
        # Unknown values and omitted lists are null; omitted lists are replaced by numbers.
        known: dict[str, Any] = dict.fromkeys(("globally_determined", "up_to_sign", "values"))
        if found is not None:
            known = {
                **cells_data("globally_determined", network, found.determined),
                **cells_data("up_to_sign", network, found.up_to_sign),
                "values": [[*cell, count] for cell, count in found.values.items()],
            }
            if len(found.values) > MOST_CELLS:
                counts = Counter(found.values.values())
                known |= {"values": None, "values_in": {str(k): v for k, v in counts.items()}}
        return {
            "learnable": self.problem.learning.size,
            "rank": self.fibre.rank.rank,
            "fibre_dimension": None if self._is_first_order else self.fibre.dimension,
            "generic_root_count": None if found is None else found.root_count,
            **cells_data("determined", network, self.fibre.determined),
            **cells_data("free", network, self.fibre.free),
            **self._groups(),
            **known,
            "error_bound": nearest_double(self.fibre.error),
            "unknown": self.unknown,
            **self._parameters(),
            **({} if self.problem.network.own_point is None else self._about()),
            **({} if self.aim is None else self.aim.to_dict()),
        }

    @property
    def _is_first_order(self) -> bool:
        """Whether the kernel at given parameters is all that is known of the matches nearby."""
        return self.problem.network.own_point is not None and self.fibre.dimension > 0

    def _about(self) -> dict[str, Any]:
        """What the numbers are about: `algebra.networks.own_point`."""
        words = "own parameters, to first order" if self._is_first_order else "own parameters"
        return {"at": words, "kernel_dimension": self.fibre.dimension}

    def _parameters(self) -> dict[str, Any]:
        """The parameters of updates by name, if each weight is moved by one of them."""
        if (own := self.fibre.parameters) is None:
            return {}
        name = by_parameters(self.problem).names.cell
        return {
            "parameters": {
                "determined": list(map(name, own.determined)),
                "free": list(map(name, own.free)),
                "groups": [list(map(name, group)) for group in own.groups],
            }
        }

    def _groups(self) -> dict[str, Any]:
        """The groups cell by cell, or as rectangles if there are many free weights."""
        groups = self.fibre.groups
        if sum(map(len, groups)) <= MOST_CELLS:
            return named(self.fibre, "groups")
        network = self.problem.network
        parts = [Allocation.from_cells(network, cells) for cells in groups]
        blocks = [
            {name: list(map(list, part.blocks(name))) for name in part.matrices} for part in parts
        ]
        few = sum(len(own) for of in blocks for own in of.values()) <= MOST_CELLS
        return {"groups": None, "group_blocks": blocks if few else None}

    def columns(self) -> dict[str, list[Any]]:
        """One row for each weight that can change."""
        cells = self.problem.learning.moving.cells
        everywhere = self.globally_determined
        locally = set(self.fibre.determined)
        return {
            **cell_columns(cells),
            "weight": [self.problem.names.cell(cell) for cell in cells],
            "determined": [cell in locally for cell in cells],
            "globally_determined": [
                None if everywhere is None else cell in everywhere for cell in cells
            ],
            "values": [self.alternatives and self.alternatives.values.get(c) for c in cells],
        }

    def document(self) -> Document:
        """The weights that are determined near the truth, and those determined globally."""
        everywhere, dimension = self.globally_determined, self.fibre.dimension
        counted = self.fibre.parameters or self.fibre
        facts = {
            "learnable": self.problem.learning.size,
            "determined": len(counted.determined),
            "free": len(counted.free),
            "kernel_dimension" if self._is_first_order else "fibre_dimension": dimension,
            "generic_root_count": self.alternatives and self.alternatives.root_count,
            "globally_determined": None if everywhere is None else len(everywhere),
            "globally": self.unknown or None,
        }
        if dimension:
            title = f"matches form a family of dimension {dimension}: not determined"
        elif self.alternatives is None:
            title = "determined locally: matches are isolated"
        elif self.alternatives.root_count == 1:
            title = "determined: one match, the truth"
        else:
            title = f"determined up to {self.alternatives.root_count} complex alternatives"
        names = self.problem.names
        why = explain_updates(self) if self.problem.updates else explain(self)
        found = Document(title, facts, tuple(map(Paragraph, self._lines())), why)
        found = found.mapped(names.annotate) if names else found
        more = Document("", parts=tuple(map(Paragraph, self.aim.lines() if self.aim else ())))
        if self.problem.network.own_point is not None:
            exactly, new = not self._is_first_order, bool(self.aim and self.aim.new)
            found = at_these_parameters(found, about_parameters(exactly))
            more = at_these_parameters(more, about_parameters(exactly, new))
        return replace(found, parts=found.parts + more.parts)

    def _lines(self) -> list[str]:
        """The weights that are free, determined locally, or take several values."""
        if (own := self.fibre.parameters) is not None:
            moved = by_parameters(self.problem)
            free = by_table(moved.names, moved.allocation.cells, own.free)
            return [f"  free, {text}" for text in free]
        out = []
        for group in self.fibre.groups:
            cells = _listed(group)
            out.append(
                f"  free, each compensated by the others: {cells}"
                if len(group) > 1
                else f"  free, without effect on any label: {cells}"
            )
        if self.fibre.dimension and self.fibre.determined:
            out.append(f"  determined locally nevertheless: {_listed(self.fibre.determined)}")
        if self.alternatives is not None and self.finitely_many:
            for cell, count in self.alternatives.values.items():
                text = f"  {_listed([cell])}: "
                if count == 1:
                    out.append(text + "the same value in every match")
                elif cell in self.alternatives.up_to_sign:
                    out.append(text + "determined up to its sign")
                else:
                    out.append(text + f"{count} complex values")
        return out


def _listed(cells: Sequence[Cell]) -> str:
    return ", ".join(f"{name}[{i},{j}]" for name, i, j in cells)


def identify(problem: Problem, *, seed: int = 0, timeout: float = 60.0) -> Identification:
    """The learnable weights that generic data determine.

    Parameters
    ----------
    problem : Problem
        Its allocation is fixed; if matrices learn by updates the result is about the weights that
        these change (`algebra.questions.identify.updates`).
    seed : int, optional
    timeout : float, optional
        Seconds for the solutions of one instance.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> print(identify(Problem(net, {"W": [[1, 0], [0, 1]]})))
    determined up to 2 complex alternatives
      W[0,0]: 2 complex values
      W[1,1]: 2 complex values
    """
    local: Fibre | None = None

    def attained() -> bool:
        nonlocal local
        local = _local(problem, seed)
        if problem.updates and local.dimension:
            # These groups are of weights, and columns are of parameters.
            return False
        moved = by_parameters(problem)
        cells = moved.allocation.cells
        return proves_fibre(moved.network, cells, problem.support, local, seed)

    problem.network.need_ranks("identify", problem.support, attained)
    local = local or _local(problem, seed)
    if problem.updates:
        unknown = "the number of matches is not counted where updates learn"
        return Identification(problem, local, None, "" if local.dimension else unknown, seed)
    allocation, support = problem.allocation, problem.support
    found, unknown, out_of_time = None, "", False
    if local.dimension:
        unknown = "not computed where matches are not isolated" if local.determined else ""
    elif allocation.size and not forms(allocation.network, allocation):
        unknown = "the equations are no polynomials"
    elif allocation.size:
        try:
            found = alternatives(allocation, support, seed=seed, timeout=time_left(timeout))
        except (RootCountError, MsolveMissing, MsolveError, OutOfTime) as error:
            unknown = str(error)
            out_of_time = isinstance(error, (OutOfTime, MsolveTimeout))
    return Identification(problem, local, found, unknown, seed, out_of_time, timeout)


def _local(problem: Problem, seed: int) -> Fibre:
    if problem.updates:
        return learning_fibre(problem.learning, seed=seed)
    return fibre(problem.allocation, problem.support, seed=seed)
