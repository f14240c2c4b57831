r"""Parameters whose changes have no effect on the labels.

Entries of a parameter have no effect *anywhere* where training goes

* by the structure, if no path of operations leads from them to the labels: rows of a table of
  positions beyond the length of the inputs, parameters of another output (`reached`, which follows
  the program backwards; only moves of entries are followed entry by entry);
* otherwise if the derivatives of all labels by them are 0, with frozen weights at their values.
  These are rational functions of what learns, of samples and formal values: one that is 0 is 0 at
  every point, and one that is not vanishes at three random points modulo independent primes of 23
  bits with a negligible probability.  Where the program chooses by signs this is about the
  activation patterns that were tried.

They have none *here* if the derivatives are 0 at the model's own weights and samples, as one
backward pass sees it: also where a unit is exactly at its kink, since the derivative of a ReLU at 0
is taken as 0.  The other parameters move, and may give them an effect: the factor A of an
update with B = 0.  If none of what moves does so, gradients never move them: they are *stuck*, as
the weights of units that are off, or an update with A = B = 0.

All labels are added with random factors (`algebra.programs.generic.gradients`), so that one
backward pass shows every entry that has an effect, but for few that vanish by chance, whatever the
number of labels and parameters: what is not 0 modulo a prime is not 0.  What is 0 is looked at
again at other points.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from algebra.documents import Document, Explanation, Step, Table
from algebra.errors import one_line
from algebra.linalg.short_primes import BITS as SHORT_BITS
from algebra.plugins.models.capacity.reasons import entries_in_words, reason_of
from algebra.programs.generic import (
    Model,
    NoPattern,
    gradients,
    labels_move,
    random_program_point,
    work_of_sample,
)
from algebra.programs.program import Program
from algebra.programs.residues import NoResidues
from algebra.results import Result, named
from algebra.time_limits import OutOfTime, check_time

# Samples at one point: of smooth labels, and where each sample has its own activation pattern.
_SAMPLES = 2
_ON_PATTERNS = 12
# Multiplications of a pass above which there are as few samples on patterns, too.
_MOST_WORK = 10_000_000_000
# Points at which derivatives are 0 where there is no effect; tries of each, as divisors may be 0.
_POINTS = 3
_ATTEMPTS = 3
# So few entries that are left may be 0 by chance.
_BY_CHANCE = 100
_AT_FEW_PLACES = 1000
# If so few of all entries of smooth labels have no effect at the model's own weights, none is
# expected to have one elsewhere.
_FEW_OF = 1000
# How often what has no gradient is tried again after others have moved; in a large model.
_TURNS = 6
_FEW_TURNS = 1
# How often they move each time, by more and by less: the smaller one of two values may become the
# larger one.  In a large model.
_MOVES = 8
_FEW_MOVES = 2
_UNREACHED = "no label depends on it"


def no_gradient(name: str, stopped: Mapping[str, str]) -> str:
    """Why a parameter of a module has no gradient."""
    if name not in stopped:
        return _UNREACHED
    line = stopped[name]
    if not line:
        return "its gradient is stopped: a `detach`, `no_grad`, or the row of padding"
    return f"its gradient is stopped, by a `detach` or `no_grad`: {one_line(line)}"


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
        "anywhere"; "patterns": on the activation patterns that were tried, another one may show an
        effect; or "here": at the model's own weights and samples.
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
    undecided : int
        The number of these entries: neither effective nor without effect.
    """

    model: str
    trainable: int
    effective: int
    without_effect: tuple[NoEffect, ...]
    unmatched: tuple[str, ...]
    seed: int
    open: tuple[str, ...] = ()
    undecided: int = 0

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
            "without_effect": self.trainable - self.effective - self.undecided,
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
        on_patterns = any(one.where == "patterns" for one in rows)
        if on_patterns:
            known.append(
                "On patterns: on none of the activation patterns that were tried; another one may "
                "show an effect."
            )
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
                f"Not decided, because of a limit or an interrupt: {self.undecided} entries of "
                f"{', '.join(self.open)}."
            )
        known += [f"No parameter matches {pattern}." for pattern in self.unmatched]
        least = "at least " if on_patterns else ""
        title = f"{least}{self.effective} of {self.trainable} learnable parameters have an effect"
        later = sum(one.size for one in rows if not one.is_stuck)
        # One backward pass from here shows so many less.
        title += f", {later} of them after others have moved" if later else ""
        return Document(
            f"{title}, {self.undecided} are not decided" if self.undecided else title, facts,
            (table,) if rows else (),
            Explanation(
                tuple(known), "how many directions are independent of each other",
                "capacity", (Step("capacity", "ranks and capacities", {"check": False}),),
            ),
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return named(
            self, "model", "trainable", "effective", "without_effect", "unmatched", "open",
            "undecided",
        )  # fmt: skip


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


def tables_of(program: Program) -> frozenset[str]:
    """The weights whose rows samples choose by 0 and 1: tables of tokens."""
    nodes, found = program.nodes, set[str]()

    def origins(number: int) -> set[int]:
        node = nodes[number]
        if node.op != "index":
            return {number}
        return {k for own in node.inputs for k in origins(own)}

    for node in nodes:
        if node.op == "contract" and node.letters == "sv,vd->sd":
            rows, tables = map(origins, node.inputs)
            if all(nodes[k].op == "block" and nodes[k].batched for k in rows):
                found |= {nodes[k].name for k in tables if nodes[k].op == "block"}
    return frozenset(found)


def _names_left(among: Mapping[str, np.ndarray], live: Mapping[str, np.ndarray]) -> list[str]:
    """The names of those with entries that are not marked."""
    return [name for name, own in among.items() if (own & ~live[name]).any()]


def _entries_left(among: Mapping[str, np.ndarray], live: Mapping[str, np.ndarray]) -> int:
    """How many are not marked."""
    return sum(int((own & ~live[name]).sum()) for name, own in among.items())


# For masks of the entries that move, and the number of a draw, the model after they have moved.
After = Callable[[Mapping[str, np.ndarray], int], Model]


def without_effect(
    models: Iterable[Model],
    names: Sequence[str],
    *,
    program: Program,
    here: Model | None = None,
    samples: int | None = None,
    after: After | None = None,
    absent: Mapping[str, int] | None = None,
    stopped: Mapping[str, str] = {},
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[tuple[NoEffect, ...], dict[str, int]]:
    """The entries of parameters that have no effect, and the numbers of those not decided.

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
    stopped : mapping of str to str, optional
        Those of them whose gradient is stopped, with the line that stops it, or "".
    seed : int, optional
    progress : callable, optional
        Called during the passes with the numbers of entries that are shown to have an effect, and
        of all.

    Raises
    ------
    NoPattern
        If no model has an activation pattern.
    """
    search = _EffectSearch(program, names, dict(absent or {}), seed, progress)
    with suppress(OutOfTime, KeyboardInterrupt):
        search.run(models, here, samples, after)
    return search.answer(stopped)


class _EffectSearch:
    """Marks of the entries that have an effect: anywhere, here, and after others have moved."""

    def __init__(
        self, program: Program, names: Sequence[str], absent: Mapping[str, int], seed: int,
        progress: Callable[[int, int], None] | None,
    ) -> None:  # fmt: skip
        self.names, self.absent, self.seed, self.progress = names, absent, seed, progress
        self.structure = reached(program, [name for name in names if name not in absent])
        self.tables = tables_of(program)
        self.live = {name: np.zeros(mask.shape, bool) for name, mask in self.structure.items()}
        self.here: dict[str, np.ndarray] | None = None
        self.moved: dict[str, np.ndarray] = {}
        self.valid: list[Model] = []
        self.is_open = True
        # Whether others might have moved entries at more turns.
        self.is_cut = False

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
                first = 1 if self._is_costly(here, samples) else samples
                self._mark(here, found, self.structure, "here", first, 1)
                self.here = found
                # An effect here is one where training goes, at formal values of functions.
                self.live = {name: own.copy() for name, own in found.items()}
        points = list(models)
        if here is not None and len(points) > 1 and self._is_costly(here, samples):
            # The pattern at the model's own weights comes last, since it was seen here.
            points.append(points.pop(0))
        for number, model in enumerate(points):
            try:
                chooses = "choose" in model.functions
                # Smooth labels have at nearly all weights the effects that they have at one's own.
                left = _entries_left(self.structure, self.live)
                expects = chooses or left > sum(map(np.size, self.live.values())) / _FEW_OF
                self._mark(model, self.live, self.structure, f"{number}", points=1, expects=expects)
                more, few = None, _BY_CHANCE
                if chooses:
                    # Behind units that are on at few places: with more samples.
                    more, few = _ON_PATTERNS, _AT_FEW_PLACES
                if 0 < _entries_left(self.structure, self.live) < few:
                    self._mark(model, self.live, self.structure, f"{number}/few", more, points=1)
                self.valid.append(model)
            except (NoPattern, NoResidues) as error:
                failure = error
        if not self.valid:
            assert failure is not None
            raise failure
        # On many patterns fewer points of each are as sure.
        again = max(1, _POINTS - len(self.valid))
        for number, model in enumerate(self.valid):
            with suppress(NoPattern, NoResidues):
                stream = f"{number}/again"
                self._mark(model, self.live, self.structure, stream, points=again, expects=False)
        if here is not None and self.here is not None:
            with suppress(NoPattern, NoResidues):
                self._mark(here, self.here, self.live, "here again", samples, 1)
        self.is_open = False
        if here is None or self.here is None or after is None:
            return
        if not _names_left(self.live, self.here):
            return
        self.moved = {name: own.copy() for name, own in self.here.items()}
        turns, moves = _TURNS, _MOVES
        if self._is_costly(here, samples):
            turns, moves = _FEW_TURNS, _FEW_MOVES
        for turn in range(turns):
            before = _entries_left(self.live, self.moved)
            if not before:
                break
            for draw in range(moves):
                with suppress(NoPattern, NoResidues):
                    stream = f"after/{turn}/{draw}"
                    self._mark(after(self.moved, draw), self.moved, self.live, stream, samples, 1)
            if _entries_left(self.live, self.moved) == before:
                break
        else:
            self.is_cut = turns < _TURNS

    def _mark(
        self,
        model: Model,
        live: dict[str, np.ndarray],
        among: Mapping[str, np.ndarray],
        stream: str,
        samples: int | None = None,
        points: int = _POINTS,
        expects: bool = True,
    ) -> None:
        """Mark the entries, among some, with derivatives that are not 0 at some points.

        If none is expected, derivatives along one direction tell first whether there is one.

        Raises
        ------
        NoPattern, NoResidues
            If a value exists at no point.
        """
        chooses = "choose" in model.functions
        most = samples or (_ON_PATTERNS if chooses else _SAMPLES)
        if samples is None and self._is_costly(model, most):
            most = _SAMPLES if chooses else 1
        missing: NoResidues | None = None
        for number in range(points):
            # Few samples show nearly everything.
            m = min(_SAMPLES, most) if points == _POINTS and not number else most
            for attempt in range(_ATTEMPTS):
                try:
                    self._mark_at(model, live, among, f"{stream}/{number}/{attempt}", m, expects)
                    break
                except NoResidues as error:
                    missing = error
            else:
                assert missing is not None
                raise missing

    def _is_costly(self, model: Model, samples: int | None) -> bool:
        """Whether a pass takes seconds."""
        program, chooses = model.program, "choose" in model.functions
        work = work_of_sample(program, frozenset(self.structure), chooses, labels=1)
        return (samples or _SAMPLES) * work > _MOST_WORK

    def _mark_at(
        self,
        model: Model,
        live: dict[str, np.ndarray],
        among: Mapping[str, np.ndarray],
        stream: str,
        m: int,
        expects: bool,
    ) -> None:
        """Mark entries by one backward pass modulo a short prime."""
        names = _names_left(among, live)
        if not names:
            return
        seed = f"effects/{self.seed}/{stream}"
        point = random_program_point(model, m, seed, bits=SHORT_BITS)
        if not expects:
            left = {name: among[name] & ~live[name] for name in names}
            if not labels_move(model, point, m, left, random.Random(f"direction/{seed}")):
                return
        rng, size = random.Random(f"sum/{seed}"), sum(own.size for own in among.values())
        shown = size - _entries_left(among, live)
        for name, slopes in gradients(model, point, m, lambda: _names_left(among, live), rng):
            check_time()
            own = self.structure[name]
            moved = (slopes != 0) & own
            if name in self.tables:
                # A row that no token of these few samples chooses counts like the others.
                moved = own & moved.any(axis=0)
            if self.progress is not None:
                shown += int((moved & among[name] & ~live[name]).sum())
                self.progress(shown, size)
            live[name] |= moved

    def answer(self, stopped: Mapping[str, str]) -> tuple[tuple[NoEffect, ...], dict[str, int]]:
        """What has no effect, and what is open."""
        out, left = list[NoEffect](), dict[str, int]()
        for name in self.names:
            if name not in self.live:
                size = self.absent.get(name, 0)
                out.append(NoEffect(name, size, no_gradient(name, stopped)))
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
                left[name] = int(dead.sum())
            elif dead.any():
                out.append(NoEffect(name, int(dead.sum()), *self._reason(name, dead)))
            if self.here is None or self.is_open:
                continue
            moved = self.moved.get(name, live)
            later = ", nor after others have moved"
            if self.is_cut:
                later = "; whether others move them was not decided"
            for mask, is_stuck, words in (
                (
                    live & ~moved,
                    not self.is_cut,
                    f"no gradient here{later}",
                ),
                (live & moved & ~self.here[name], False, "no gradient until others have moved"),
            ):
                if mask.any():
                    part = "" if mask.all() else f": {entries_in_words(mask)}"
                    size = int(mask.sum())
                    out.append(NoEffect(name, size, words + part, "here", is_stuck))
        return tuple(out), left

    def _reason(self, name: str, dead: np.ndarray) -> tuple[str, str]:
        """Why entries have no effect, and where."""
        reason = (reason_of(self.valid[0], [name], 0, dead.size) if dead.all() else "") or (
            "no label changes with it" if dead.all() else
            f"no label changes with {entries_in_words(dead)}"
        )  # fmt: skip
        if "choose" not in self.valid[0].functions:
            return reason, "anywhere"
        return f"{reason} (on {len(self.valid)} activation patterns)", "patterns"
