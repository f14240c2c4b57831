r"""The number of learnable weights that may be lost before the match probability becomes 0.

Losing weights (they stay at their random values) makes an allocation minimal if the others have
less than the rank ρ of the network.  In the matroid of the allocation the smallest fatal sets are
the smallest *cocircuits*, the supports of the combinations of the Jacobian's rows with the fewest
non-zero entries; an allocation survives any loss of fewer weights.  A *coloop* is a fatal set of
one weight.  With r weights at most r - ρ losses can be survived.

Finding a smallest cocircuit is finding the minimum distance of a linear code, NP-hard in general
[1]_.  Every cocircuit meets every basis.  The search for one of at most k weights takes a basis
b_1, b_2, … and, for each i, the cocircuits that contain b_i but none before it: in the matroid with
b_i deleted and the earlier ones contracted, one of at most k - 1.  In coordinates of the basis this
means: drop the first i - 1 rows, exchange one pivot, drop one column.  The fundamental cocircuits
found on the way are upper bounds.

Before that, t disjoint bases are taken, one after the other, and for each of them all cocircuits
that contain one or two of its elements are enumerated (single rows in its coordinates, and
combinations of two rows in which as many entries as possible cancel).  A cocircuit of fewer than 3t
elements contains at most two elements of some basis, so only larger ones remain (Brouwer and
Zimmermann's idea for codes [3]_).

Proof.  Ranks at a random point over GF(p) are never above the generic ones: that an allocation
survives k losses is *proved*.  That a set is fatal has the error bound of its generic rank
(`algebra.ranks.jacobian`).

References
----------
.. [1] A. Vardy, "The intractability of computing the minimum distance of a code", IEEE Trans.
   Inform. Theory 43 (1997).
.. [2] J. Oxley, Matroid Theory, 2nd edition, Oxford 2011, Section 2.1 (cocircuits).
.. [3] M. Grassl, "Searching for linear codes with large minimum distance", in Discovering
   Mathematics with Magma, Springer 2006.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from algebra.documents import Document, Explanation, Step, step
from algebra.errors import InputError
from algebra.linalg.echelon import modular_echelon
from algebra.linalg.numbers import float_text
from algebra.linalg.primes import random_prime
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import inverses, times
from algebra.networks.protocols import jacobian_of
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.cells import cell_columns, cells_data, cells_text
from algebra.questions.design.demand import Line, line_name, line_of
from algebra.ranks.deficits import TARGET_ERROR, deficit_error, prime_bits
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import columns_at, random_point
from algebra.results import Result, named
from algebra.time_limits import check_time, checked
from algebra.words import plural, some
from algebra.work import end_of_part, has_passed

_ORDERS = 24
# Rows and columns that are named.
_MOST_LINES = 12
# Number of points tried if a set is not fatal at another point: the first was unlucky.
_POINTS = 4


@dataclass(frozen=True, repr=False)
class Robustness(Result):
    """The number of weights that may be lost.

    Attributes
    ----------
    allocation : Allocation
    equations : int
        Rank ρ of the network, and of the allocation.
    survives : int
        The allocation is not minimal after the loss of any this many weights; proved.
    fatal : tuple of cells
        A set whose loss makes MP = 0, the smallest known.
    coloops : tuple of cells
        Weights whose single loss is fatal.
    lines : tuple of str
        Rows and columns whose learnable weights are fatal if all are lost.
    error : Fraction
        Bound on the probability that `fatal` is not fatal.
    """

    allocation: Allocation
    equations: int
    survives: int
    fatal: tuple[Cell, ...]
    coloops: tuple[Cell, ...]
    lines: tuple[str, ...]
    error: Fraction

    @property
    def is_exact(self) -> bool:
        """Whether no smaller set than `fatal` is fatal."""
        return self.survives + 1 == len(self.fatal)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob robust``."""
        return {
            "learnable": self.allocation.size,
            **named(self, "equations", "survives"),
            "at_most": len(self.fatal) - 1,
            "exact": self.is_exact,
            **cells_data("fatal", self.allocation.network, self.fatal),
            **cells_data("coloops", self.allocation.network, self.coloops),
            **named(self, "lines"),
            "error_bound": float_text(self.error),
        }

    def columns(self) -> dict[str, list[Any]]:
        """One row for each learnable weight."""
        cells = self.allocation.cells
        return {
            **cell_columns(cells),
            "in_fatal_set": [cell in self.fatal for cell in cells],
            "fatal_alone": [cell in self.coloops for cell in cells],
        }

    def document(self) -> Document:
        """The losses that are survived, and those that are fatal."""
        size = self.allocation.size
        wrong = f"wrong with probability at most {float_text(self.error)}" if self.error else ""
        facts = {
            "learnable": size,
            "equations": self.equations,
            "survives": self.survives,
            "fatal": cells_text(self.fatal),
            "exact": self.is_exact,
            "fatal_alone": f"all {size}" if len(self.coloops) == size else cells_text(self.coloops),
            "fatal_lines": some(self.lines, _MOST_LINES) or None,
        }
        known = []
        if self.survives:
            known.append(
                f"After any loss of {plural(self.survives, f'{self.survives} weight')} the rest "
                f"still reaches all {self.equations} equations: MP > 0, proved."
            )
        if self.fatal:
            which = "that weight" if len(self.fatal) == 1 else f"those {len(self.fatal)} weights"
            known.append(f"Without {which} MP = 0 ({wrong or 'proved'}).")
        open_ = decided_by = ""
        steps: tuple[Step, ...] = ()
        if not self.is_exact:
            open_ = f"whether any {self.survives + 1} may be lost"
            decided_by = "a smaller fatal set, or a complete search"
            steps = (step("robust", "a longer search", seconds=300),)
        return Document(
            self._title(), facts, (), Explanation(tuple(known), open_, decided_by, steps)
        )

    def _title(self) -> str:
        size, fewest = self.allocation.size, len(self.fatal)
        if not self.survives:
            fatal = plural(fewest, f"{fewest} weight")
            known = f"the loss of some {fatal} of {size} makes MP = 0"
            return known if self.is_exact else f"{known}; whether any one may be lost is open"
        known = f"any {self.survives} of {size} weights may be lost"
        if self.is_exact:
            return f"{known}, some {fewest} may not" if fewest else known
        return f"{known}, some {fewest} may not; numbers in between are open"


def robustness(
    allocation: Allocation,
    support: Mapping[str, np.ndarray] | None = None,
    *,
    seed: int = 0,
    seconds: float = 30.0,
) -> Robustness:
    """The number of weights that an allocation may lose.

    Parameters
    ----------
    allocation : Allocation
        Not minimal.
    support : mapping of str to mask, optional
    seed : int, optional
    seconds : float, optional
        Time for the search; if it is not enough, bounds are returned.

    Raises
    ------
    InputError
        If the allocation is minimal without any loss.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> net = LinearEstimator(q=4, d=2, m=2)
    >>> found = robustness(Allocation.rows(net, "W", [0, 1]))
    >>> found.survives, found.is_exact
    (2, True)
    """
    network = allocation.network
    if not network.rank_decides:
        raise InputError(
            f"a {network.title} network has no minimal allocations: MP > 0 after any loss"
        )
    network.need_ranks("robust", support or {})
    whole = network_rank(network, support, seed).rank
    if not whole:
        raise InputError("every label is 0 (structural zeros): MP = 1 whatever is lost")
    own = allocation_rank(allocation, support, whole, seed)
    if own.rank < whole:
        raise InputError(
            f"the allocation is minimal (rank {own.rank} of {whole}): MP = 0 before anything is "
            "lost; `matchprob repair` finds the fewest weights to move"
        )
    cells = list(allocation.cells)
    rng = random.Random(f"robustness/{seed}")
    ends = end_of_part(seconds)
    survives, bits = 0, prime_bits(jacobian_of(network), whole)
    for _ in range(_POINTS):
        p, number = random_prime(rng, bits), rng.randrange(1 << 32)
        point = random_point(network, p, number, support)
        search = _CocircuitSearch(columns_at(network, point, cells), p, rng)
        search.collect(cells, ends)
        if search.rank < whole:
            continue
        survives = max(survives, search.prove(ends))
        fatal = tuple(cells[k] for k in sorted(search.best))
        rest = allocation_rank(allocation.without(fatal), support, whole, seed)
        if rest.rank < whole:
            break
    else:
        raise ArithmeticError("a fatal set is none at four random points: a bug")
    coloops, lines, error = _fatal_losses(allocation, support, whole, search, rng)
    return Robustness(
        allocation, whole, survives, fatal, coloops, lines, max(error, rest.error)
    )  # fmt: skip


def _fatal_losses(
    allocation: Allocation, support: Mapping[str, np.ndarray] | None, whole: int,
    search: _CocircuitSearch, rng: random.Random,
) -> tuple[tuple[Cell, ...], tuple[str, ...], Fraction]:  # fmt: skip
    """The weights and the lines whose single loss makes MP = 0, and an error bound.

    At a random point these are the fatal weights and lines of the generic matroid and, rarely, some
    more.  A weight or a line is returned if its loss is fatal at every point that is tried; a point
    needs one elimination.  The error bounds the probability that a given returned weight or line is
    not fatal.
    """
    cells, network = allocation.cells, allocation.network
    places: dict[str, list[int]] = {}
    for line in ("row", "column"):
        for key in sorted({line_of(cell, line) for cell in cells}):
            places[line_name(line, key)] = []
        for k, cell in enumerate(cells):
            places[line_name(line, line_of(cell, line))].append(k)
    if allocation.size == whole:
        return cells, tuple(places), Fraction(0)
    left, once = set(search.coloops()), deficit_error(jacobian_of(network), whole)
    lines = search.fatal(places)
    error, bits = once, prime_bits(jacobian_of(network), whole)
    while (left or lines) and error >= TARGET_ERROR:
        p, number = random_prime(rng, bits), rng.randrange(1 << 32)
        columns = columns_at(network, random_point(network, p, number, support), cells)
        search = _CocircuitSearch(columns, p, rng)
        if search.rank == whole:
            left &= set(search.coloops())
            lines = search.fatal({name: places[name] for name in lines})
            error *= once
    if not left and not lines:
        error = Fraction(0)
    return tuple(cells[k] for k in sorted(left)), tuple(lines), error


class _CocircuitSearch:
    """Smallest cocircuits of the columns of one matrix modulo p."""

    def __init__(self, columns: np.ndarray, p: int, rng: random.Random) -> None:
        self.columns, self.p, self.rng = columns, p, rng
        self.table, self.pivots = modular_echelon(columns, p)
        self.rank = len(self.pivots)
        self.best: tuple[int, ...] = tuple(range(columns.shape[1]))
        self._keep(self.table)

    def _keep(self, table: np.ndarray, order: np.ndarray | None = None) -> None:
        """Keep the support of the sparsest row if it is the smallest so far."""
        weights = (table != 0).sum(axis=1)
        if not len(weights) or weights.min() >= len(self.best):
            return
        support = np.flatnonzero(table[int(weights.argmin())])
        self.best = tuple(int(k) for k in (support if order is None else order[support]))

    def coloops(self) -> list[int]:
        """Elements in every basis."""
        light = np.flatnonzero((self.table != 0).sum(axis=1) == 1)
        return [self.pivots[k] for k in light]

    def fatal(self, losses: Mapping[str, Sequence[int]]) -> list[str]:
        """The names of the losses, sets of elements, that lower the rank.

        Let T be the echelon form without the unit columns of the basis B.  After the loss of a set
        L the rank is |B - L| + rank T[B in L, columns not in L].
        """
        row_of = {element: row for row, element in enumerate(self.pivots)}
        others = np.ones(self.columns.shape[1], bool)
        others[self.pivots] = False
        found = []
        for name, lost in losses.items():
            check_time()
            rows = [row_of[k] for k in lost if k in row_of]
            left = others.copy()
            left[list(lost)] = False
            if rows and modular_rank(self.table[rows][:, left], self.p) < len(rows):
                found.append(name)
        return found

    def collect(self, cells: list[Cell], ends: float) -> None:
        """Fundamental cocircuits of bases that avoid one line, and of random bases."""
        size = len(cells)
        owners, lines = list[np.ndarray](), list[tuple[int, int]]()
        for line in ("row", "column"):
            number: dict[Line, int] = {}
            keys = (line_of(cell, line) for cell in checked(cells))
            owners.append(np.array([number.setdefault(key, len(number)) for key in keys]))
            lines += [(len(owners) - 1, k) for k in range(len(number))]
        self.rng.shuffle(lines)
        # One order at a time: of very many cells all orders take too much memory.
        for which, k in [*lines[: 4 * _ORDERS], *[(-1, 0)] * _ORDERS]:
            if has_passed(ends):
                return
            if which < 0:
                order = np.array(self.rng.sample(range(size), size))
            else:
                order = np.argsort(owners[which] == k, kind="stable")
            table, _ = modular_echelon(self.columns[:, order], self.p)
            self._keep(table, order)

    def prove(self, ends: float) -> int:
        """A number of losses that are certainly survived."""
        basis = set(self.pivots)
        others = np.array([k for k in range(self.columns.shape[1]) if k not in basis], np.int64)
        names = np.array(self.pivots, np.int64)
        table = self.table[:, others] if len(others) else np.zeros((self.rank, 0), np.int64)
        survived = min(self._light(ends), len(self.best)) - 1
        # Each size is searched anew: a smaller answer ends the search early, and a bound always
        # exists.
        while survived + 1 < len(self.best):
            k = survived + 1
            done = self._find(table, names, others, k, (), ends)
            if done is None:
                return survived
            if done:
                return k - 1
            survived = k
        return len(self.best) - 1

    def _find(
        self, table: np.ndarray, names: np.ndarray, others: np.ndarray, k: int,
        lost: tuple[int, ...], ends: float,
    ) -> bool | None:  # fmt: skip
        """Whether there is a cocircuit of at most k elements; None if time is over.

        `table` has a row for each basis element of `names`, a column for each of `others`; the unit
        columns of the basis itself are omitted.
        """
        weights = (table != 0).sum(axis=1) + 1
        lightest = int(weights.argmin())
        if weights[lightest] + len(lost) < len(self.best):
            support = others[np.flatnonzero(table[lightest])]
            self.best = (*lost, int(names[lightest]), *(int(e) for e in support))
        if weights[lightest] <= k:
            return True
        if k == 1:
            return False
        if has_passed(ends):
            return None
        p = self.p
        for i in range(len(table)):
            part = table[i:]
            column = int(np.flatnonzero(part[0])[0])
            pivot = times(part[0], np.array(pow(int(part[0, column]), -1, p)), p)
            new = (part - times(part[:, column][:, None], pivot[None, :], p)) % p
            new[0] = pivot
            new = np.delete(new, column, axis=1)
            entered = names[i:].copy()
            entered[0] = others[column]
            found = self._find(
                new, entered, np.delete(others, column), k - 1, (*lost, int(names[i])), ends
            )
            if found is None or found:
                return found
        return False

    def _light(self, ends: float) -> int:
        """A lower bound on the size of all cocircuits not yet found, by disjoint bases."""
        left = np.arange(self.columns.shape[1])
        bases = 0
        while len(left) >= self.rank and (not bases or not has_passed(ends)):
            rest = np.setdiff1d(np.arange(self.columns.shape[1]), left)
            order = np.concatenate([left, rest])
            table, pivots = modular_echelon(self.columns[:, order], self.p)
            if max(pivots) >= len(left):
                break
            self._keep(table, order)
            if not self._pairs(table, pivots, order, ends):
                # For this basis only single rows are done: cocircuits with two elements are still
                # possible.
                return 3 * bases + 2
            bases += 1
            left = np.setdiff1d(left, order[pivots])
        return 3 * bases

    def _pairs(self, table: np.ndarray, pivots: list[int], order: np.ndarray, ends: float) -> bool:
        """Sparsest combinations of two rows; returns whether all were enumerated."""
        others = np.delete(table, pivots, axis=1)
        names = np.delete(order, pivots)
        inverse = inverses(others, self.p)
        spoilt = -1 - np.arange(others.shape[1])
        for i in range(len(others) - 1):
            if has_passed(ends):
                return False
            rows = others[i + 1 :]
            quotient = times(others[i], inverse[i + 1 :], self.p)
            ratio = np.where((others[i] != 0) & (rows != 0), quotient, spoilt)
            ratio.sort(axis=1)
            # The largest number of entries that cancel at once: the longest run of equal ratios.
            either = ((others[i] != 0) | (rows != 0)).sum(axis=1)
            run = 1
            while (
                run < ratio.shape[1] and (ratio[:, run:] == ratio[:, : ratio.shape[1] - run]).any()
            ):
                run += 1
            for length in range(run, 0, -1):
                if 2 + int(either.min(initial=0)) - length >= len(self.best):
                    break
                same = ratio[:, length - 1 :] == ratio[:, : ratio.shape[1] - length + 1]
                for j in np.flatnonzero((same & (ratio[:, length - 1 :] >= 0)).any(axis=1)):
                    if 2 + either[j] - length < len(self.best):
                        at = int(np.flatnonzero(same[j] & (ratio[j, length - 1 :] >= 0))[0])
                        sum_of = (others[i] - times(ratio[j, at], rows[j], self.p)) % self.p
                        support = names[np.flatnonzero(sum_of)]
                        pair = (int(order[pivots[i]]), int(order[pivots[i + 1 + int(j)]]))
                        self.best = (*pair, *(int(e) for e in support))
        return True
