r"""Parameters whose changes have no effect on the labels.

Entries of a parameter have no effect

* by the structure, if no path of operations leads from them to the labels: rows of a table of
  positions beyond the length of the inputs, parameters of another output (`reached`, which follows
  the program backwards; only moves of entries are followed entry by entry);
* otherwise if the derivatives of all labels by them are 0.  These are rational functions of
  weights, samples and formal values: one that is 0 is 0 at every point, and one that is not
  vanishes at a random point modulo a prime of 61 bits with a negligible probability.  Where the
  program chooses by signs this is about the activation patterns that were tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from algebra.documents import Document, Explanation, Table, step
from algebra.programs.generic import (
    COLUMNS,
    Columns,
    Model,
    NoPattern,
    random_program_point,
)
from algebra.programs.program import Program
from algebra.programs.residues import NoResidues
from algebra.questions.capacity.reasons import entries_in_words, reason_of
from algebra.results import Result, named
from algebra.time_limits import check_time

# Samples at one point: of smooth labels, and where each sample has its own activation pattern.
_SAMPLES = 2
_ON_PATTERNS = 12
_UNREACHED = "no label depends on it"


@dataclass(frozen=True)
class NoEffect:
    """Entries of a parameter that have no effect.

    Attributes
    ----------
    name : str
    size : int
        Their number.
    reason : str
    """

    name: str
    size: int
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return named(self, "name", "size", "reason")


@dataclass(frozen=True, repr=False)
class CapacityCheck(Result):
    """Result of `capacity` with `check`: what of the learnable parameters has an effect.

    Attributes
    ----------
    model : str
    trainable, effective : int
        Numbers of parameters.
    without_effect : tuple of NoEffect
    unmatched : tuple of str
        Patterns that match no parameter.
    seed : int
    """

    model: str
    trainable: int
    effective: int
    without_effect: tuple[NoEffect, ...]
    unmatched: tuple[str, ...]
    seed: int

    @property
    def unused(self) -> tuple[str, ...]:
        """Names of the parameters with entries that have no effect."""
        return tuple(one.name for one in self.without_effect)

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
            "reason": [one.reason for one in rows],
        })  # fmt: skip
        known = [f"{self.effective} of {self.trainable} parameters that learn change the labels."]
        if rows:
            known.append(
                "The others cost memory and time in training and change nothing: freeze them, or "
                "train others."
            )
        known += [f"No parameter matches {pattern}." for pattern in self.unmatched]
        return Document(
            f"{self.effective} of {self.trainable} learnable parameters have an effect", facts,
            (table,) if rows else (),
            Explanation(
                tuple(known), "how many directions are independent of each other",
                "capacity", (step("capacity", "ranks and capacities", learn="*.bias"),),
            ),
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return named(self, "model", "trainable", "effective", "without_effect", "unmatched")


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


def without_effect(
    models: Sequence[Model],
    names: Sequence[str],
    *,
    absent: Mapping[str, int] | None = None,
    seed: int = 0,
) -> tuple[NoEffect, ...]:
    """The entries of parameters that have no effect.

    Parameters
    ----------
    models : sequence of Model
        The same program, with several activation patterns if it chooses by signs.
    names : sequence of str
    absent : mapping of str to int, optional
        Parameters on which no operation depends, with their sizes.
    seed : int, optional

    Raises
    ------
    NoPattern
        If no model has an activation pattern.
    """
    program = models[0].program
    structure = reached(program, names)
    live = {name: np.zeros(mask.shape, bool) for name, mask in structure.items()}
    failures: list[NoPattern | NoResidues] = []
    valid: list[Model] = []
    for number, model in enumerate(models):
        left = [name for name in live if (structure[name] & ~live[name]).any()]
        try:
            if left:
                _mark(model, structure, live, left, f"effects/{seed}/{number}")
            valid.append(model)
        except (NoPattern, NoResidues) as error:
            # Values overflow, or do not exist at the model's own weights: other patterns decide.
            failures.append(error)
    if not valid:
        raise failures[0]
    chooses = "choose" in models[0].functions
    out = []
    for name in names:
        if name not in live:
            out.append(NoEffect(name, (absent or {}).get(name, 0), _UNREACHED))
            continue
        dead = structure[name] & ~live[name]
        if not structure[name].all():
            size = int((~structure[name]).sum())
            whole = size == structure[name].size
            reason = (
                _UNREACHED if whole else f"no label depends on {entries_in_words(~structure[name])}"
            )
            out.append(NoEffect(name, size + int(dead.sum()), reason))
        elif dead.any():
            reason = (reason_of(valid[0], [name], 0, dead.size) if dead.all() else "") or (
                "no label changes with it" if dead.all() else
                f"no label changes with {entries_in_words(dead)}"
            )  # fmt: skip
            if chooses:
                reason += f" (on {len(models) - len(failures)} activation patterns)"
            out.append(NoEffect(name, int(dead.sum()), reason))
    return tuple(out)


def _mark(
    model: Model,
    structure: Mapping[str, np.ndarray],
    live: dict[str, np.ndarray],
    names: Sequence[str],
    seed: str,
) -> None:
    """Mark the entries with derivatives that are not 0 at a point."""
    m = _ON_PATTERNS if "choose" in model.functions else _SAMPLES
    columns = Columns(model, random_program_point(model, m, seed), m, names)
    for name in names:
        # A row of a table that no token of these few samples chooses counts like the others.
        table = structure[name].shape[:1] and structure[name].shape[0] in model.tokens.values()
        places = np.argwhere(structure[name] & ~live[name])
        for start in range(0, len(places), COLUMNS):
            check_time()
            part = places[start : start + COLUMNS]
            moved = columns.of([(name, *map(int, place)) for place in part]).any(axis=0)
            live[name][tuple(part[moved].T)] = True
            if table and moved.any():
                live[name] |= structure[name]
                break
