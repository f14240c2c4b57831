"""The monodromy group of an allocation's solutions, and its consequences for solving.

When all data of an instance (fixed weights, samples, labels) go around a loop of complex values,
the N solutions come back in another order.  The permutations of all loops form the monodromy
group, which is the Galois group of the solutions over the field C(data) [1]_.  It is transitive,
because the solutions and the data form an irreducible variety.

* The solutions can be written with radicals of complex-rational functions of the data if and only
  if the group is solvable [1]_.  If it is not, no formula with radicals exists over Q(data)
  either, because that field is smaller.
* A block system of the group means that the problem can be solved in stages: first for the block
  (an equation whose number of solutions is the number of blocks), then for the solutions in it
  [2]_.  A primitive group, for instance the full symmetric group, allows no stages.

**Certainty.** A random complex instance and another one are joined by several lines; each pair of
lines is a loop.  The permutations found generate a *subgroup* of the monodromy group.  Properties
that follow from a large subgroup (it is the symmetric group, it is not solvable, it has no blocks)
hold for the whole group; others (blocks, a formula with radicals, the order) only for the loops
that were tracked, as the statements say.  The paths are tracked in doubles, without a proof that
paths near each other were not exchanged: a line counts only if all N paths arrive at N different
solutions, and lead back along the line to their starts.  So every statement is numerical evidence,
although the group theory is exact (`algebra.polynomials.permutation_groups`).

References
----------
.. [1] J. Harris, "Galois groups of enumerative problems", Duke Math. J. 46 (1979).
.. [2] C. Améndola, J. Lindberg, J. I. Rodriguez, "Solving parameterized polynomial systems with
   decomposable projections", arXiv 1612.08807.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import factorial
from typing import TYPE_CHECKING, Any

import numpy as np

from algebra.documents import Document, Paragraph
from algebra.errors import InputError
from algebra.polynomials.permutation_groups import (
    ALTERNATING,
    SYMMETRIC,
    RootGroup,
    root_group,
)
from algebra.results import Result
from algebra.time_limits import check_time, phase
from algebra.words import plural
from numeric.equations.system import ParameterSystem
from numeric.tracking.monodromy import StartSystem, match
from numeric.tracking.tracker import DONE, TrackerSettings, track

if TYPE_CHECKING:
    from sympy.combinatorics import PermutationGroup

# Lines tracked at a time, and in all.
_LINES = 3
_MOST_LINES = 30
# Consecutive batches without new permutations after which the group is taken for complete.
_QUIET = 2
# Largest number of digits of an order that is printed.
_DIGITS = 12


@dataclass(frozen=True, repr=False)
class MonodromyGroup(Result):
    """The group that the permutations found generate.

    Attributes
    ----------
    group : RootGroup
        Order, blocks, whether it is solvable.
    permutations : tuple of tuple of int
        Its generators: one for each loop.
    lines : int
        Lines of parameters whose N paths all arrived and led back.
    lost : int
        Lines that were omitted because some paths did not.
    root_count_source : str
        The source of N.
    """

    group: RootGroup
    permutations: tuple[tuple[int, ...], ...] = field(repr=False)
    lines: int
    lost: int
    root_count_source: str = ""

    @property
    def degree(self) -> int:
        """N."""
        return self.group.degree

    @property
    def permutation_group(self) -> PermutationGroup:
        """The group as SymPy's, of the points 0 … N − 1: its orders, subgroups and characters."""
        from sympy.combinatorics import Permutation, PermutationGroup

        own = [Permutation(list(images)) for images in self.permutations]
        return PermutationGroup(own or [Permutation(size=self.degree)])

    @property
    def is_whole(self) -> bool:
        """Whether the group found is the largest possible one, and therefore all of it."""
        return self.group.kind == SYMMETRIC

    def statements(self) -> list[str]:
        """The group and its consequences for solving, in sentences."""
        N, group = self.degree, self.group
        if N == 1:
            return ["One solution: it is rational in the data, and nothing is permuted."]
        size = "of unknown order (not found in its share of the time)"
        if group.order is not None:
            size = f"of order {_short(group.order)}"
        if self.is_whole:
            lines = [
                f"the full symmetric group S_{N}, {size}: no larger group exists, so this is all "
                "of it."
            ]
        elif group.kind == ALTERNATING:
            lines = [f"at least A_{N}, {size}: the alternating group, or the symmetric one."]
        else:
            lines = [f"at least a group {size} (of {_short(factorial(N))} permutations)."]
        if not group.is_transitive:
            parts = " + ".join(map(str, group.orbits))
            lines.append(
                f"The loops followed join {parts} solutions, but the group is transitive: more "
                "loops are needed, and blocks are not known."
            )
        elif group.blocks:
            inner, outer = group.stages[0], N // group.stages[0]
            lines.append(
                f"Blocks: {outer} of {inner} solutions each were kept by every loop followed. "
                f"Where all loops keep them, the instance is solved in stages "
                f"({' · '.join(map(str, reversed(group.stages)))}): an equation of degree {outer} "
                f"for the block, then one of degree {inner} in it."
            )
        elif N > 2:
            lines.append("No blocks: the equation cannot be solved in stages of lower degree.")
        lines += self._on_radicals()
        lost = plural(self.lost, f"; {self.lost} more line") + " lost paths" if self.lost else ""
        lines.append(
            f"From {plural(len(self.permutations), f'{len(self.permutations)} loop')} over "
            f"{plural(self.lines, f'{self.lines} line')}{lost}; paths followed in doubles, there "
            "and back: numerical evidence, not a proof."
        )
        return [line[0].upper() + line[1:] for line in lines]

    def _on_radicals(self) -> list[str]:
        match self.group.is_solvable:
            case False:
                return [
                    "Not solvable: no formula with radicals in the data gives the solutions, "
                    "even if further loops add to the group."
                ]
            case True:
                sure = "" if self.is_whole else ", if no further loop adds to the group"
                return [f"Solvable: formulas with radicals give the solutions{sure}."]
            case _:
                return []

    def document(self) -> Document:
        """Order, blocks, solvability."""
        group = self.group
        facts = {
            "degree": group.degree, "group": group.kind, "order": group.order,
            "stages": " · ".join(map(str, group.stages)), "solvable": group.is_solvable,
        }  # fmt: skip
        lines = tuple(Paragraph(f"  {line}") for line in self.statements())
        return Document(f"monodromy group of the {self.degree} solutions", facts, lines)

    def to_dict(self) -> dict[str, Any]:
        """The object ``monodromy`` of ``count --json``; the order is a text."""
        group = self.group
        return {
            "degree": group.degree,
            "group": group.kind,
            "order": None if group.order is None else str(group.order),
            "order_is_exact": self.is_whole,
            "orbits": list(group.orbits),
            "stages": list(group.stages),
            "blocks": [list(block) for block in group.blocks],
            "solvable": group.is_solvable,
            "permutations": [list(p) for p in self.permutations],
            "lines": self.lines,
            "lines_lost": self.lost,
            "evidence": "numerical",
            "statements": self.statements(),
        }


def _short(order: int) -> str:
    text = str(order)
    if len(text) <= _DIGITS:
        return text
    return f"{text[0]}.{text[1:4]}e{len(text) - 1}"


def trivial_group(source: str) -> MonodromyGroup:
    """The group of a single solution."""
    return MonodromyGroup(root_group([], 1), (), 0, 0, source)


def monodromy_group(
    of: ParameterSystem, start: StartSystem, source: str = "", *, seed: int = 0
) -> MonodromyGroup:
    """The group of the permutations of a start system's roots along random loops.

    Parameters
    ----------
    of : ParameterSystem
    start : StartSystem
        A start system with all N roots.
    source : str, optional
        The source of N.
    seed : int, optional
        Seed of the loops.

    Returns
    -------
    MonodromyGroup
        Loops are added until they generate the symmetric group, or give no new permutations.

    Raises
    ------
    InputError
        If paths of every line were lost.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0x4D6F,)))
    lines = _LoopLines(of, start, rng)
    found: RootGroup | None = None
    quiet = 0
    while quiet < _QUIET and lines.followed < _MOST_LINES:
        with phase(f"monodromy, loops of {start.root_count} solutions"):
            lines.follow()
        loops = lines.permutations()
        if not loops:
            continue
        before, found = found, root_group(loops, start.root_count)
        if found.kind == SYMMETRIC:
            break
        same = before is not None and _alike(before, found)
        quiet = quiet + 1 if same else 0
    if found is None:
        raise InputError(
            f"no monodromy group: paths were lost along each of {lines.followed} lines; try "
            "another `seed`"
        )
    return MonodromyGroup(
        found, tuple(lines.permutations()), lines.arrived, lines.followed - lines.arrived, source
    )


def _alike(first: RootGroup, second: RootGroup) -> bool:
    """Whether the statements on both groups are equal."""
    return (first.kind, first.order, first.orbits, first.blocks) == (
        second.kind, second.order, second.orbits, second.blocks
    )  # fmt: skip


class _LoopLines:
    """Lines from a start system to one other instance, and the images of its roots."""

    def __init__(self, of: ParameterSystem, start: StartSystem, rng: np.random.Generator) -> None:
        self.of, self.start, self.rng = of, start, rng
        self.other = of.random(rng)[0]
        self.settings = TrackerSettings()
        self.followed = 0
        # The roots at the end of the first good line; for each line the images.
        self.ends: np.ndarray | None = None
        self.images: list[np.ndarray] = []

    @property
    def arrived(self) -> int:
        """Number of lines whose paths all arrived and led back."""
        return len(self.images)

    def permutations(self) -> list[tuple[int, ...]]:
        """Permutations by the first line and back along each other one, without the identity."""
        if not self.images:
            return []
        loops = [np.argsort(image)[self.images[0]] for image in self.images[1:]]
        own = {tuple(loop.tolist()) for loop in loops} - {tuple(range(self.start.root_count))}
        return sorted(own)

    def follow(self) -> None:
        """Track some more lines, in both directions."""
        check_time()
        N = self.start.root_count
        turns = self.rng.integers(1, 2**31, _LINES)
        which = np.repeat(np.arange(_LINES), N)
        here, there = self.start.parameters[None], np.tile(self.other, (_LINES, 1))
        # Corners off the straight lines give loops of the whole complex line through both
        # instances.  These generate the whole group (Zariski), even if no data can be turned.
        real, imaginary = self.rng.standard_normal((2, _LINES))
        corners = (0.5 + real + 1j * imaginary)[which][None]
        roots = np.tile(self.start.roots, (_LINES, 1))
        ahead = track(
            self.of, here, there, np.zeros_like(which), which, roots, self.settings,
            second_turn=turns, via=corners,
        )  # fmt: skip
        ends = np.where((ahead.status == DONE)[:, None], ahead.roots, np.nan)
        back = track(
            self.of, there, here, which, np.zeros_like(which),
            np.where(np.isfinite(ends), ends, 0), self.settings, first_turn=turns,
            via=1 - corners,
        )  # fmt: skip
        returned = np.where((back.status == DONE)[:, None], back.roots, np.nan)
        for line in range(_LINES):
            self.followed += 1
            mine = which == line
            if not np.isfinite(ends[mine]).all():
                continue
            back_at = match(returned[mine], self.start.roots)
            if not np.array_equal(back_at, np.arange(N)):
                continue
            if self.ends is None:
                self.ends = ends[mine]
            image = match(ends[mine], self.ends)
            if np.array_equal(np.sort(image), np.arange(N)):
                self.images.append(image)
