"""A problem: a network, its learnable weights, structural zeros, laws and constraints.

`algebra.problems.files` reads problem files.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from algebra.errors import ErrorsAt, InputError, one_line, shown
from algebra.linalg.sparse import SparseMatrix
from algebra.networks.base import Network, Support
from algebra.networks.masks import as_masks, check_held, held, in_form, is_mask
from algebra.problems.allocation import Allocation, as_mask
from algebra.problems.constraints import Constraints
from algebra.problems.features import OF_PROBLEM, features, need_entries
from algebra.problems.laws.distribution import ARBITRARY, Distribution
from algebra.problems.laws.pinned import StudentSupport
from algebra.problems.laws.values import Values
from algebra.problems.learning import Learning
from algebra.problems.names import Names
from algebra.problems.premises import Features

if TYPE_CHECKING:
    from algebra.problems.updates import Update

# In place of a mask: every weight of the matrix that exists.
ALL = "all"


@dataclass(frozen=True)
class Problem:
    """A network and its learnable weights, whose match probability is the question.

    Parameters
    ----------
    network : Network
    learnable : mapping of str to mask, RandomCells or Update
        One entry for each weight matrix that learns, or for all whose names fit a pattern
        (``"*.bias"``); an update may be written as in a problem file, ``{"lora": 2}``
        (`algebra.problems.updates`).
    support : mapping of str to mask, optional
        Structural zeros: cells outside are 0 in student and teacher.
    distribution : Distribution, optional
    constraints : Constraints, optional
        Constraints on the learnable weights of a match.
    names : mapping of str to sequence of str, optional
        Names of units, see `algebra.problems.names.Names`; they change no result.
    teacher : Problem, optional
        Another network that gives the labels, with its structural zeros and laws; what learns in it
        has no meaning.  By default the teacher has the same network.
    values : mapping, optional
        Measured weights, which are not drawn; see `algebra.problems.laws.values.Values.read`.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> problem = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]})
    >>> problem.allocation
    Allocation(W[0,0] W[1,1])
    """

    network: Network
    learnable: Mapping[str, Any]
    support: Mapping[str, Any] = field(default_factory=dict)
    distribution: Distribution = field(default_factory=Distribution)
    constraints: Constraints = field(default_factory=Constraints)
    names: Any = field(default_factory=dict, compare=False, repr=False)
    values: Any = field(default_factory=dict)
    teacher: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.network, Network):
            raise InputError(
                f"`network` ({shown(self.network)}) must be a network, such as "
                "LinearRNN(n=2, T=2, b=1, d=1, m=2)"
            )
        shapes = self.network.shapes
        names = self.names
        if not isinstance(names, Names):
            names = Names(self.network, names)
        elif names.network != self.network:
            # The problem that is reduced to this one.
            names = Names(self.network)
        object.__setattr__(self, "names", names)
        if not isinstance(self.distribution, Distribution):
            raise InputError(f"`distribution` ({shown(self.distribution)}) must be a Distribution")
        if not isinstance(self.constraints, Constraints):
            raise InputError(f"`constraints` ({shown(self.constraints)}) must be Constraints")
        for table in ("learnable", "support"):
            masks = getattr(self, table)
            if not isinstance(masks, Mapping):
                raise InputError(
                    f"`{table}` ({shown(masks)}) must map the names of matrices to masks, "
                    'such as {"W": [[1, 0], [0, 1]]}'
                )
        support = {
            name: self._mask(value, name, f"support.{name}")
            for name, value in self._named("support").items()
        }
        check_held(self.network, support)
        learnable: dict[str, Any] = {}
        for name, value in self._named("learnable").items():
            other = self._otherwise(value, name, support.get(name))
            if other is not None:
                learnable[name] = other
                continue
            if isinstance(value, str) and value == ALL:
                value = support[name] if name in support else np.ones(shapes[name], np.int8)
                value = value.copy() if isinstance(value, np.ndarray) else value
            mask = self._mask(value, name, f"learnable.{name}")
            missing = _missing(mask, support.get(name))
            if missing is not None:
                i, j = missing
                raise InputError(
                    f"learnable.{name}[{i}][{j}] is 1 but support.{name}[{i}][{j}] is 0: "
                    "a weight that does not exist cannot learn"
                )
            learnable[name] = mask
        for mask in (*support.values(), *learnable.values()):
            if isinstance(mask, np.ndarray):
                mask.setflags(write=False)
        object.__setattr__(self, "support", as_masks(support))
        object.__setattr__(self, "learnable", as_masks(learnable))
        object.__setattr__(self, "distribution", self.distribution.on(self.network))
        object.__setattr__(self, "values", self._read_values())
        if self.teacher is not None:
            from algebra.problems.options import check_teacher

            if not isinstance(self.teacher, Problem):
                raise InputError(f"`teacher` ({shown(self.teacher)}) must be a Problem")
            check_teacher(self, self.teacher)
        elif self.network.needs_teacher and not self.distribution.has_own_labels:
            raise InputError(self.network.needs_teacher)
        if self.updates:
            from algebra.problems.options import check_updates

            check_updates(self)
        masks = {
            name: value if is_mask(value) else support.get(name)
            for name, value in learnable.items()
        }
        if self.constraints:
            masks = {
                name: None if mask is None else np.asarray(mask) for name, mask in masks.items()
            }
        constraints = self.constraints.on(self.network, masks, fixed=bool(learnable))
        object.__setattr__(self, "constraints", constraints)

    def __repr__(self) -> str:
        from algebra.problems.plain import problem_in_words

        return problem_in_words(self)

    def _repr_html_(self) -> str:
        """The HTML shown by a notebook."""
        from algebra.problems.mask_pictures import problem_page

        return problem_page(self).html()

    def _named(self, table: str) -> dict[str, Any]:
        """A table's entries by the names of matrices; the entry of a pattern is that of all names
        that fit.

        Entries by name precede those by patterns; patterns are in the order of the table.
        """
        shapes, given = self.network.shapes, getattr(self, table)
        found = {name: held(given, name) for name in given if name in shapes}
        for pattern in given:
            if pattern in shapes:
                continue
            value = given[pattern]
            fitting = [] if not isinstance(pattern, str) else self.network.matching(pattern)
            if not fitting:
                raise InputError(
                    f"[{table}] names `{one_line(pattern)}`, but a {self.network.title} has "
                    f"{self.network.known_names()}"
                )
            for name in fitting:
                found.setdefault(name, value)
        return found

    def _mask(self, value: Any, name: str, where: str) -> Any:
        """The mask of a matrix: rows, a graph, an edge list or a sparse matrix."""
        if not isinstance(value, (list, tuple, np.ndarray, SparseMatrix)):
            from algebra.problems.edges import given_mask

            value = given_mask(value, name, self.names)
        return in_form(as_mask(value, self.network.shapes[name], where), name, self.network)

    def _otherwise(self, value: Any, name: str, support: np.ndarray | None) -> Any:
        """Random cells or an update, checked; None if the matrix learns by a mask."""
        if isinstance(value, (list, tuple, str, np.ndarray, SparseMatrix)):
            return None
        from algebra.problems.random_cells import RandomCells
        from algebra.problems.updates import Update, read_update

        if isinstance(value, RandomCells):
            with ErrorsAt(f"learnable.{name}"):
                value.draw(self.network.shapes[name], random.Random(0), support)
            return value
        if isinstance(value, Mapping):
            value = read_update(value, f"learnable.{name}")
        if isinstance(value, Update):
            value.check(name, self.network.shapes[name], support)
            return value
        return None

    def _read_values(self) -> Values:
        """Measured weights, checked against structural zeros, signs and the kind of network."""
        values = Values.read(self.values, self.network)
        if not (values or self.distribution.signs):
            return values
        from algebra.problems.options import checked_values

        return checked_values(self, values)

    def student(self, allocation: Allocation | None = None) -> Support:
        """Structural zeros of a student, with the exact numbers of its fixed weights, if any.

        Parameters
        ----------
        allocation : Allocation, optional
            The learnable weights; the problem's by default.
        """
        if not self.values:
            return self.support
        learning = (allocation or self.learning).cells
        pinned = self.values.pinned(set(learning))
        return StudentSupport(self.support, pinned) if pinned else self.support

    @classmethod
    def of(cls, allocation: Allocation, **more: Any) -> Problem:
        """The problem of a fixed allocation."""
        masks = {name: allocation.masks[name] for name in allocation.matrices}
        return cls(allocation.network, masks, **more)

    def with_arbitrary_labels(self) -> Problem:
        """The same problem with arbitrary labels."""
        laws = replace(self.distribution, labels=ARBITRARY, teacher="normal", noise=0)
        return replace(self, teacher=None, distribution=laws)

    @cached_property
    def features(self) -> Features:
        """What a theorem has to cover before a statement follows for this problem."""
        return features(self)

    @cached_property
    def is_random(self) -> bool:
        """Whether the allocation is drawn anew for each trial."""
        return len(self.others) > len(self.updates)

    @cached_property
    def others(self) -> dict[str, Any]:
        """Updates and random cells by matrix, in the network's order."""
        given = {n: held(self.learnable, n) for n in self.network.shapes if n in self.learnable}
        return {n: value for n, value in given.items() if not is_mask(value)}

    @property
    def learns(self) -> str:
        """The learnable parameters and the constraints, on one line."""
        from algebra.problems.plain import learning_in_words

        return learning_in_words(self)

    @cached_property
    def updates(self) -> dict[str, Update]:
        """The matrices that learn by an update, in the network's order."""
        others = self.others
        if not others:
            return {}
        from algebra.problems.updates import Update

        return {name: value for name, value in others.items() if isinstance(value, Update)}

    @property
    def updated(self) -> str:
        """The matrices that learn by an update, with these updates, on one line."""
        from algebra.problems.plain import updates_in_words

        return updates_in_words(self)

    @cached_property
    def learning(self) -> Learning:
        """The parameters that learn (cells and updates), if they are fixed.

        Raises
        ------
        InputError
            If cells are random.
        """
        updates = self.updates
        if not updates:
            return Learning(self.network, self.allocation.cells, {}, self.support)
        masks = {n: held(self.learnable, n) for n in self.learnable if n not in updates}
        cells = Allocation.from_masks(self.network, masks).cells
        return Learning(self.network, cells, updates, self.support)

    @cached_property
    def allocation(self) -> Allocation:
        """The allocation, if it is fixed and consists of single cells.

        Raises
        ------
        InputError
            If it is random (each trial has its own: `draw`), or if a matrix learns by an update
            (see `learning`).
        """
        if self.updates:
            raise InputError(
                f"{self.updated}: this verb needs single cells (masks of 0 and 1); inspect, "
                "certify, verify, count, estimate, train, profile, identify, record, design, "
                "repair and robust take updates"
            )
        if self.is_random:
            raise InputError(
                "the allocation is random, drawn for each trial; this verb needs a fixed one "
                "(masks of 0 and 1)"
            )
        masks = {name: held(self.learnable, name) for name in self.learnable}
        return Allocation.from_masks(self.network, masks)

    def draw(self, rng: random.Random) -> Allocation:
        """The allocation of one trial; if it is not random, the fixed one."""
        if not self.is_random:
            return self.allocation
        masks = {
            name: value.draw(self.network.shapes[name], rng, self.support.get(name))
            if name in self.others
            else value
            for name, value in sorted(self.learnable.items())
        }
        return Allocation.from_masks(self.network, masks)

    def with_allocation(self, allocation: Allocation | Mapping[str, Any]) -> Problem:
        """The same problem with a fixed allocation; its cells keep their constraints.

        Parameters
        ----------
        allocation : Allocation or mapping of str to mask
        """
        if isinstance(allocation, Mapping):
            allocation = Allocation.from_masks(self.network, allocation)
        if not isinstance(allocation, Allocation) or allocation.network != self.network:
            raise InputError(
                f"`allocation` ({shown(allocation)}) must be an Allocation of this network, or "
                'masks such as {"W": [[1, 0], [0, 1]]}'
            )
        return Problem.of(
            allocation,
            support=self.support,
            distribution=self.distribution,
            constraints=self.constraints.restricted(allocation),
            names=self.names,
            values=self.values,
            teacher=self.teacher,
        )

    def without_constraints(self) -> Problem:
        """The same problem without constraints: the weights of a match are any real numbers."""
        if not self.constraints:
            return self
        return replace(self, constraints=Constraints())

    def to_dict(self) -> dict[str, Any]:
        """The problem as plain data, with the tables of a problem file."""
        # Loaded here, as all that writes problems: a check reads them.
        from algebra.problems.plain import problem_tables

        return problem_tables(self)

    def named_dict(self) -> dict[str, Any]:
        """The tables of a problem file, with the names of units and of groups of parameters."""
        data = self.to_dict()
        data["learnable"] |= {name: own.named_dict() for name, own in self.updates.items()}
        return data | ({"names": self.names.to_dict()} if self.names else {})

    def as_teacher(self) -> dict[str, Any]:
        """The table [teacher] of a problem whose labels this one's network gives."""
        return {key: value for key, value in self.to_dict().items() if key != "learnable"}

    def to_toml(self) -> str:
        """The text of a problem file that describes this problem."""
        from algebra.problems.plain import problem_text

        return problem_text(self.named_dict())

    @cached_property
    def digest(self) -> str:
        """A short digest of the problem: equal for equal problems, the same in every run."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.digest)


need_entries(Problem, OF_PROBLEM)


def _missing(mask: Any, support: Any) -> tuple[int, int] | None:
    """The first weight that learns and does not exist."""
    if support is None:
        return None
    if isinstance(mask, SparseMatrix) and isinstance(support, SparseMatrix):
        missing = np.flatnonzero(support.at(mask.rows, mask.columns) == 0)
        if not len(missing):
            return None
        return int(mask.rows[missing[0]]), int(mask.columns[missing[0]])
    wrong = np.argwhere(np.asarray(mask) > np.asarray(support))
    return (int(wrong[0][0]), int(wrong[0][1])) if len(wrong) else None
