r"""Parameters whose changes have no effect on the labels.

Entries of a parameter have no effect *anywhere* where training goes

* by the structure, if no path of operations leads from them to the labels: rows of a table of
  positions beyond the length of the inputs, parameters of another output (`reached`, which follows
  the program backwards; only moves of entries are followed entry by entry);
* otherwise if the derivatives of all labels by them are 0, with frozen weights at their values.
  These are rational functions of what learns, of samples and formal values: one that is 0 is 0 at
  every point, and one that is not vanishes at a random point modulo a prime of 61 bits with a
  negligible probability.  Where the program chooses by signs this is about the activation patterns
  that were tried.

They have none *here* if the derivatives are 0 at the model's own weights and samples, as one
backward pass sees it.  The other parameters move, and may give them an effect: the factor A of an
update with B = 0.  If none of what moves does so, gradients never move them: they are *stuck*, as
the weights of units that are off, or an update with A = B = 0.

All labels of a sample are added with random numbers first (`summed`): the derivative of the sum is
0 where those of all labels are, and otherwise with a negligible probability (Schwartz and Zippel,
by the numbers as variables).  So the work does not grow with the number of labels.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from algebra.documents import Document, Explanation, Step, Table
from algebra.programs.generic import (
    COLUMNS,
    Columns,
    Model,
    NoPattern,
    random_program_point,
)
from algebra.programs.program import Node, Program
from algebra.programs.residues import NoResidues
from algebra.questions.capacity.reasons import entries_in_words, reason_of
from algebra.results import Result, named
from algebra.time_limits import OutOfTime, check_time

# Samples at one point: of smooth labels, and where each sample has its own activation pattern.
_SAMPLES = 2
_ON_PATTERNS = 12
# How often what has no gradient is tried again after others have moved; at so many points each.
_TURNS = 6
_DRAWS = 2
_UNREACHED = "no label depends on it"
_STOPPED = "its gradient is stopped: a `detach`, `no_grad`, or the row of padding"


@dataclass(frozen=True)
class NoEffect:
    """Entries of a parameter that have no effect.

    Attributes
    ----------
    name : str
    size : int
        Their number.
    reason : str
    where : str
        "anywhere", or "here": at the model's own weights and samples.
    is_stuck : bool
        Whether no gradient ever moves them from these weights.
    """

    name: str
    size: int
    reason: str
    where: str = "anywhere"
    is_stuck: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**named(self, "name", "size", "reason", "where"), "stuck": self.is_stuck}


@dataclass(frozen=True, repr=False)
class CapacityCheck(Result):
    """Result of `capacity` with `check`: what of the learnable parameters has an effect.

    Attributes
    ----------
    model : str
    trainable, effective : int
        Numbers of parameters: of those that learn, and of those that gradients can move.
    without_effect : tuple of NoEffect
    unmatched : tuple of str
        Patterns that match no parameter.
    seed : int
    open : tuple of str
        Parameters of which not all entries were decided, because of a limit or an interrupt.
    """

    model: str
    trainable: int
    effective: int
    without_effect: tuple[NoEffect, ...]
    unmatched: tuple[str, ...]
    seed: int
    open: tuple[str, ...] = ()

    @property
    def unused(self) -> tuple[str, ...]:
        """Names of the parameters with entries that no gradient moves."""
        return tuple(dict.fromkeys(one.name for one in self.without_effect if one.is_stuck))

    def document(self) -> Document:
        """Numbers, a row for each parameter without effect, patterns that match nothing."""
        facts = {
            "model": self.model,
            "trainable": self.trainable,
            "effective": self.effective,
            "without_effect": self.trainable - self.effective,
            "unmatched": ", ".join(self.unmatched) or "none",
        }
        rows = self.without_effect
        table = Table({
            "parameter": [one.name for one in rows],
            "without effect": [one.size for one in rows],
            "where": [one.where for one in rows],
            "reason": [one.reason for one in rows],
        })  # fmt: skip
        known = [f"{self.effective} of {self.trainable} parameters that learn change the labels."]
        if self.unused:
            known.append(
                "The others cost memory and time in training and change nothing: freeze them, or "
                "train others."
            )
        here = sum(one.size for one in rows if one.where == "here")
        if here:
            known.append(
                f"Here: at these weights and samples {here} more have no gradient; at almost all "
                "other weights they have."
            )
        if any(not one.is_stuck for one in rows):
            known.append("A start that others move away from is no fault: a warning only.")
        if self.open:
            known.append(
                f"Not decided, because of a limit or an interrupt: {', '.join(self.open)}."
            )
        known += [f"No parameter matches {pattern}." for pattern in self.unmatched]
        return Document(
            f"{self.effective} of {self.trainable} learnable parameters have an effect", facts,
            (table,) if rows else (),
            Explanation(
                tuple(known), "how many directions are independent of each other",
                "capacity", (Step("capacity", "ranks and capacities", {"check": False}),),
            ),
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return named(self, "model", "trainable", "effective", "without_effect", "unmatched", "open")


def reached(program: Program, names: Sequence[str]) -> dict[str, np.ndarray]:
    """For parameters, the entries from which operations lead to the labels.

    Moves are followed entry by entry; every entry counts of a value that is computed with.
    """
    masks: dict[int, np.ndarray] = {
        program.output: np.ones(program.nodes[program.output].shape, bool)
    }
    found = {name: np.zeros(program.weights[name], bool) for name in names if name in
             program.weights}  # fmt: skip
    for number in range(program.output, -1, -1):
        mask = masks.pop(number, None)
        if mask is None or not mask.any():
            continue
        node = program.nodes[number]
        if node.op == "block" and node.name in found and not node.batched:
            found[node.name] |= mask.reshape(found[node.name].shape)
        shapes = [program.nodes[k].shape for k in node.inputs]
        if node.where is not None:
            sizes = [int(np.prod(shape, dtype=np.int64)) for shape in shapes]
            whole = np.zeros(sum(sizes) + 1, bool)
            whole[node.where[mask]] = True
            parts = np.split(whole[:-1], np.cumsum(sizes)[:-1])
            own = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        else:
            entrywise = node.op not in ("contract", "block")
            own = [
                mask if entrywise and shape == node.shape else np.ones(shape, bool)
                for shape in shapes
            ]
        for k, part in zip(node.inputs, own, strict=True):
            masks[k] = masks[k] | part if k in masks else part
    return found


# For masks of the entries that move, the model after they have moved.
After = Callable[[Mapping[str, np.ndarray]], Model]


def without_effect(
    models: Iterable[Model],
    names: Sequence[str],
    *,
    program: Program,
    here: Model | None = None,
    samples: int | None = None,
    after: After | None = None,
    absent: Mapping[str, int] | None = None,
    stopped: Collection[str] = (),
    seed: int = 0,
) -> tuple[tuple[NoEffect, ...], tuple[str, ...]]:
    """The entries of parameters that have no effect, and parameters that are not decided.

    Parameters
    ----------
    models : iterable of Model
        Where training goes, with several activation patterns if the program chooses by signs.
    names : sequence of str
    program : Program
    here : Model, optional
        The model at its own weights.
    samples : int, optional
        The number of its samples, if they are given.
    after : callable, optional
        The model after some entries have moved from its own weights.
    absent : mapping of str to int, optional
        Parameters on which no operation depends, with their sizes.
    stopped : collection of str, optional
        Those of them whose gradient is stopped.
    seed : int, optional

    Raises
    ------
    NoPattern
        If no model has an activation pattern.
    """
    search = _EffectSearch(program, names, dict(absent or {}), seed)
    with suppress(OutOfTime, KeyboardInterrupt):
        search.run(models, here, samples, after)
    return search.answer(stopped)


class _EffectSearch:
    """Marks of the entries that have an effect: anywhere, here, and after others have moved."""

    def __init__(
        self, program: Program, names: Sequence[str], absent: Mapping[str, int], seed: int
    ) -> None:
        self.names, self.absent, self.seed = names, absent, seed
        self.structure = reached(program, [name for name in names if name not in absent])
        self.live = {name: np.zeros(mask.shape, bool) for name, mask in self.structure.items()}
        self.here: dict[str, np.ndarray] | None = None
        self.moved: dict[str, np.ndarray] = {}
        self.valid: list[Model] = []
        self.is_open = True

    def run(
        self, models: Iterable[Model], here: Model | None, samples: int | None, after: After | None
    ) -> None:
        """All marks.

        Raises
        ------
        NoPattern
            If no model has an activation pattern.
        """
        failure: NoPattern | NoResidues | None = None
        found = {name: np.zeros(mask.shape, bool) for name, mask in self.live.items()}
        # Values overflow, or do not exist at the model's own weights: other points decide.
        with suppress(NoPattern, NoResidues):
            if here is not None:
                self._mark(here, found, "here", samples)
                self.here = found
                # An effect here is one where training goes, at formal values of functions.
                self.live = {name: own.copy() for name, own in found.items()}
        for number, model in enumerate(models):
            try:
                if self._left(self.live):
                    self._mark(model, self.live, f"{number}")
                self.valid.append(model)
            except (NoPattern, NoResidues) as error:
                failure = error
        if not self.valid:
            assert failure is not None
            raise failure
        self.is_open = False
        if self.here is None or after is None:
            return
        self.moved = {name: own.copy() for name, own in self.here.items()}
        for turn in range(_TURNS):
            left = {name: self.live[name] & ~own for name, own in self.moved.items()}
            if not any(own.any() for own in left.values()):
                break
            before = sum(int(own.sum()) for own in self.moved.values())
            for draw in range(_DRAWS):
                with suppress(NoPattern, NoResidues):
                    self._mark(after(self.moved), self.moved, f"after/{turn}/{draw}", samples)
            if sum(int(own.sum()) for own in self.moved.values()) == before:
                break

    def _left(self, live: Mapping[str, np.ndarray]) -> list[str]:
        return [name for name in live if (self.structure[name] & ~live[name]).any()]

    def _mark(
        self, model: Model, live: dict[str, np.ndarray], stream: str, samples: int | None = None
    ) -> None:
        """Mark the entries with derivatives that are not 0 at a point."""
        seed = f"effects/{self.seed}/{stream}"
        model = replace(model, program=summed(model.program, seed))
        m = samples or (_ON_PATTERNS if "choose" in model.functions else _SAMPLES)
        names = self._left(live)
        if not names:
            return
        columns = Columns(model, random_program_point(model, m, seed), m, names)
        for name in names:
            # A row of a table that no token of these few samples chooses counts like the others.
            rows = len(self.structure[name]) if self.structure[name].ndim else 0
            # Of a table with a row of padding that row is a weight of its own.
            rows += any(other.startswith(f"{name}[") for other in model.program.weights)
            table = rows in model.tokens.values()
            places = np.argwhere(self.structure[name] & ~live[name])
            for start in range(0, len(places), COLUMNS):
                check_time()
                part = places[start : start + COLUMNS]
                moved = columns.of([(name, *map(int, place)) for place in part]).any(axis=0)
                live[name][tuple(part[moved].T)] = True
                if table and moved.any():
                    live[name] |= self.structure[name]
                    break

    def answer(self, stopped: Collection[str]) -> tuple[tuple[NoEffect, ...], tuple[str, ...]]:
        """What has no effect, and what is open."""
        out, left = [], []
        for name in self.names:
            if name not in self.live:
                text = _STOPPED if name in stopped else _UNREACHED
                out.append(NoEffect(name, self.absent.get(name, 0), text))
                continue
            structure, live = self.structure[name], self.live[name]
            if not structure.all():
                whole = not structure.any()
                words = (
                    _UNREACHED if whole else f"no label depends on {entries_in_words(~structure)}"
                )
                out.append(NoEffect(name, int((~structure).sum()), words))
            dead = structure & ~live
            if dead.any() and self.is_open:
                left.append(name)
            elif dead.any():
                out.append(NoEffect(name, int(dead.sum()), self._reason(name, dead)))
            if self.here is None or self.is_open:
                continue
            moved = self.moved.get(name, live)
            for mask, is_stuck, words in (
                (live & ~moved, True, "no gradient at these weights and samples, and none later"),
                (live & moved & ~self.here[name], False, "no gradient until others have moved"),
            ):
                if mask.any():
                    part = "" if mask.all() else f": {entries_in_words(mask)}"
                    size = int(mask.sum())
                    out.append(NoEffect(name, size, words + part, "here", is_stuck))
        return tuple(out), tuple(left)

    def _reason(self, name: str, dead: np.ndarray) -> str:
        reason = (reason_of(self.valid[0], [name], 0, dead.size) if dead.all() else "") or (
            "no label changes with it" if dead.all() else
            f"no label changes with {entries_in_words(dead)}"
        )  # fmt: skip
        chooses = "choose" in self.valid[0].functions
        return f"{reason} (on {len(self.valid)} activation patterns)" if chooses else reason


def summed(program: Program, seed: str) -> Program:
    """A program whose only label is the sum of all labels, each times a random whole number."""
    size = program.nodes[program.output].size
    if size == 1:
        return program
    rng, shape = random.Random(f"summed/{seed}"), program.nodes[program.output].shape
    numbers = np.array([rng.randrange(1, 1 << 31) for _ in range(size)], np.int64).reshape(shape)
    letters = string.ascii_lowercase[: len(shape)]
    factors = Node("constant", (), shape, False, number=Fraction(1), table=numbers)
    total = Node(
        "contract", (program.output, len(program.nodes)), (), True,
        letters=f"{letters},{letters}->",
    )  # fmt: skip
    return Program((*program.nodes, factors, total), len(program.nodes) + 1, program.named)
