"""Atlases: every allocation of a small network, up to symmetry, with its verdict.

For each orbit of the symmetries that preserve MP (`algebra.problems.symmetry`) the first allocation
is certified and represents all.  Finished entries are written to a file line by line, so that an
atlas can be interrupted and resumed.

An atlas of the *limit* of large linear RNNs has the same form: r cells have at most 2r units, so
the orbits of W with 2r units are all digraphs of r cells, and the verdict is on what MP tends to.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from algebra.checker.verdicts import INTERMEDIATE, MAXIMAL, MINIMAL, UNDECIDED
from algebra.documents import Document
from algebra.errors import InputError
from algebra.families.certify import certify
from algebra.files.opening import read_bytes
from algebra.networks.base import Network
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.problem import Problem
from algebra.problems.symmetry import SymmetryGroup
from algebra.results import Result, attribute_columns, named
from algebra.time_limits import OutOfTime, check_time

# Largest number of allocations that are enumerated.
LARGEST = 2_000_000
_FORMAT = "matchprob-atlas"
# The order of verdicts in a picture.
DRAWN = (MAXIMAL, INTERMEDIATE, UNDECIDED, MINIMAL)


class EntryVerdict(Protocol):
    """What an entry needs of a verdict: a certificate, or a verdict on a limit."""

    @property
    def verdict(self) -> str: ...
    @property
    def rule(self) -> str: ...
    @property
    def rank(self) -> int: ...
    @property
    def generic_root_count(self) -> int | None: ...


Decide = Callable[[Problem], EntryVerdict]
Try = Callable[[Problem], tuple[int, int, int]]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class AtlasEntry:
    """One orbit of allocations.

    Attributes
    ----------
    cells : tuple of cells
        The orbit's first allocation.
    orbit : int
        Number of allocations in the orbit.
    verdict, rule : str
    rank : int
    root_count : int or None
    outcomes : (int, int, int) or None
        Numbers of trials that matched, did not match, and stayed undetermined; None without trials.
    """

    cells: tuple[Cell, ...]
    orbit: int
    verdict: str
    rule: str
    rank: int
    root_count: int | None
    outcomes: tuple[int, int, int] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, one line of the file."""
        names = ("cells", "orbit", "verdict", "rule", "rank")
        tried = {} if self.outcomes is None else {"outcomes": self.outcomes}
        return {**named(self, *names), "generic_root_count": self.root_count, **tried}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> AtlasEntry:
        """The entry of one line."""
        return cls(
            cells=tuple((str(n), int(i), int(j)) for n, i, j in data["cells"]),
            orbit=int(data["orbit"]),
            verdict=str(data["verdict"]),
            rule=str(data["rule"]),
            rank=int(data["rank"]),
            root_count=data["generic_root_count"],
            outcomes=_outcomes(data["outcomes"]) if "outcomes" in data else None,
        )


def _outcomes(data: Any) -> tuple[int, int, int]:
    matched, unmatched, undetermined = map(int, data)
    return matched, unmatched, undetermined


@dataclass(frozen=True, repr=False)
class Atlas(Result):
    """All allocations of a budget.

    Attributes
    ----------
    network : Network
    matrices : tuple of str
    budget : int
    orbits : int
        Number of orbits; more than entries if the work was interrupted.
    entries : tuple of AtlasEntry
    seed : int
    limit : bool
        Whether the verdicts are on what MP tends to as the number of hidden units grows.
    """

    network: Network
    matrices: tuple[str, ...]
    budget: int
    orbits: int
    entries: tuple[AtlasEntry, ...]
    seed: int
    limit: bool = False

    @property
    def totals(self) -> dict[str, int]:
        """Allocations (not orbits) by verdict."""
        tally: Counter[str] = Counter()
        for entry in self.entries:
            tally[entry.verdict] += entry.orbit
        return dict(sorted(tally.items()))

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob atlas``."""
        return {
            **named(self, "network", "matrices", "budget", "orbits"),
            **({"limit": True} if self.limit else {}),
            "allocations": sum(e.orbit for e in self.entries),
            **named(self, "totals", "entries", "seed"),
        }

    def drawn(self) -> list[tuple[AtlasEntry, str]]:
        """The entries in the order of a picture, each with the words above its mask."""
        entries = sorted(self.entries, key=lambda own: (DRAWN.index(own.verdict), own.cells))
        counts = ("" if own.root_count is None else f"N {own.root_count} " for own in entries)
        return [(own, f"{count}×{own.orbit}") for own, count in zip(entries, counts, strict=True)]

    # What the words above a mask are.
    drawn_words = "root count N, ×masks alike"

    @property
    def is_partial(self) -> bool:
        """Whether the work was interrupted: there are more orbits than entries."""
        return len(self.entries) < self.orbits

    def columns(self) -> dict[str, list[Any]]:
        """One row for each orbit."""
        return {
            "cells": [" ".join(f"{n}[{i},{j}]" for n, i, j in e.cells) for e in self.entries],
            **attribute_columns(self.entries, "orbit", "verdict", "rule", "rank"),
            "generic_root_count": [e.root_count for e in self.entries],
        }

    def to_csv(self) -> str:
        """A table, one orbit a line."""
        out = io.StringIO()
        table = csv.writer(out, lineterminator="\n")
        columns = self.columns()
        table.writerow(columns)
        table.writerows(zip(*columns.values(), strict=True))
        return out.getvalue()

    def document(self) -> Document:
        """How many allocations have which verdict, orbit by orbit."""
        from algebra.plugins.papers.document import atlas_document

        return atlas_document(self)


def orbits(
    network: Network,
    matrices: Sequence[str],
    budget: int,
    support: Mapping[str, np.ndarray] | None = None,
    *,
    transposition: bool = False,
) -> list[tuple[Allocation, int]]:
    """The first allocation of each orbit and the orbit's size.

    Raises
    ------
    InputError
        If there are too many allocations or symmetries to enumerate.
    """
    group = SymmetryGroup(network, matrices, support, transposition=transposition)
    allowed = [
        k
        for k, (name, i, j) in enumerate(group.cells)
        if not support or name not in support or support[name][i, j]
    ]
    if not 0 < budget <= len(allowed):
        raise InputError(
            f"`budget` ({budget}) must lie between 1 and {len(allowed)} cells; "
            f"dm = {network.outputs} by default"
        )
    total = comb(len(allowed), budget)
    if total > LARGEST:
        raise InputError(
            f"there are {total} allocations of {budget} of {len(allowed)} cells: too many for an "
            "atlas; choose a smaller net"
        )
    return [
        (Allocation.from_cells(network, [group.cells[k] for k in chosen]), size)
        for chosen, size in group.orbits(allowed, budget).items()
    ]


def atlas(
    network: Network,
    budget: int,
    *,
    matrices: Sequence[str] | None = None,
    support: Mapping[str, np.ndarray] | None = None,
    transposition: bool = False,
    limit: bool = False,
    seed: int = 0,
    decide: Decide | None = None,
    trials: int | None = None,
    tried: Try | None = None,
    store: Path | None = None,
    progress: Progress | None = None,
) -> Atlas:
    """Verdicts for all allocations of a budget, up to symmetry.

    Parameters
    ----------
    network : Network
    budget : int
        Number of learnable weights.
    matrices : sequence of str, optional
        Matrices with learnable cells: W of a recurrent net, every matrix of others, by default.
    support : mapping of str to mask, optional
    transposition : bool, optional
        Whether an allocation and its transpose are one orbit, if transposition is a symmetry
        (`algebra.problems.symmetry`).
    limit : bool, optional
        Whether `decide` and `tried` are about the limit of large networks.
    seed : int, optional
    decide : callable, optional
        Certifies one problem; `algebra.families.certify.certify` by default.
    trials : int, optional
        The number of trials that `tried` makes, for the store.
    tried : callable, optional
        Makes the trials of one problem whose verdict does not give MP, and returns the numbers that
        matched, did not match, and stayed undetermined.
    store : Path, optional
        Entries are written here line by line; an unfinished atlas is resumed.
    progress : callable, optional
        Called with (done, all) after each orbit.

    Returns
    -------
    Atlas
        An interrupt (Ctrl-C), or the end of the call's time, ends the survey; the finished entries
        are kept.

    Raises
    ------
    InputError
        If an argument is invalid, or the store has another content.
    """
    names = tuple(matrices or (("W",) if "W" in network.shapes else network.shapes))
    for name in names:
        network.shape_of(name)
    wanted = orbits(network, names, budget, support, transposition=transposition)
    header = {
        "format": _FORMAT,
        "version": 1,
        "network": network.to_dict(),
        "matrices": list(names),
        "budget": budget,
        "support": {n: np.asarray(m).tolist() for n, m in (support or {}).items()},
        "seed": seed,
    }
    if transposition:
        header["transposition"] = True
    if limit:
        header["limit"] = True
    if trials is not None:
        header["trials"] = trials
    known = _open_store(store, header) if store else {}
    entries: list[AtlasEntry] = []

    try:
        for allocation, size in wanted:
            entry = known.get(allocation.cells)
            if entry is None:
                problem = Problem.of(allocation, support=dict(support or {}))
                verdict: EntryVerdict = decide(problem) if decide else certify(problem, seed=seed)
                is_open = tried is not None and verdict.verdict not in (MAXIMAL, MINIMAL)
                outcomes = tried(problem) if tried is not None and is_open else None
                # A verdict, and trials, that the time limit prevented are not kept.
                check_time()
                entry = AtlasEntry(
                    allocation.cells,
                    size,
                    verdict.verdict,
                    verdict.rule,
                    verdict.rank,
                    verdict.generic_root_count,
                    outcomes,
                )
                if store:
                    _keep(store, entry)
            entries.append(entry)
            if progress is not None:
                progress(len(entries), len(wanted))
    except (KeyboardInterrupt, OutOfTime):
        pass
    return Atlas(network, names, budget, len(wanted), tuple(entries), seed, limit)


def _open_store(store: Path, header: dict[str, Any]) -> dict[tuple[Cell, ...], AtlasEntry]:
    """The entries that a file contains; a new file starts with the header."""
    if not store.exists():
        try:
            store.write_bytes((json.dumps(header) + "\n").encode())
        except OSError as error:
            raise InputError(f"{store}: cannot be written: {error}") from None
        return {}
    try:
        content = read_bytes(store, is_named_inside=True)
        if content.startswith(b"SQLite format 3"):
            raise InputError(
                "it holds trials, as `estimate` keeps them; an atlas is kept in a file of its own"
            )
        text = content.decode("utf-8")
    except (InputError, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{store}: cannot be read: {error}") from None
    lines = list(_whole_lines(text))
    try:
        found = json.loads(lines[0])
        if found != header:
            different = [k for k in {**header, **found} if found.get(k) != header.get(k)]
            raise InputError(
                f"{store} holds another atlas ({', '.join(different)} differ): name another file"
            )
        entries = [AtlasEntry.from_dict(json.loads(line)) for line in lines[1:]]
    except (IndexError, ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{store} is not an atlas file: {error!r}") from None
    if not text.endswith("\n"):
        # A run was killed while writing: its incomplete last line is cut off and computed again.
        # The other lines are not rewritten, so that they cannot be lost.
        os.truncate(store, sum(len(line.encode()) + 1 for line in lines))
    return {entry.cells: entry for entry in entries}


def _keep(store: Path, entry: AtlasEntry) -> None:
    """Append an entry to the file, and flush it to disk before the next one is computed."""
    try:
        with store.open("a", encoding="utf-8", newline="\n") as file:
            file.write(json.dumps(entry.to_dict()) + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InputError(f"{store}: cannot be written: {error}") from None


def _whole_lines(text: str) -> Iterator[str]:
    yield from text.split("\n")[:-1]
