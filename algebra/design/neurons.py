r"""The fewest neurons that need to learn: a branch and bound over rows (or columns).

A neuron learns where one of the weights *onto* it does: a row of a weight matrix.  Synaptic
change is the business of the receiving cell (its dendrites hold the synapse's machinery), and a
row is also what Theorem 3.5 counts.  With ``line="column"`` the weights *from* a neuron are
counted instead.  In a recurrent net row i of W and row i of B are the same neuron, and so are
column j of W and column j of D.

For a set R of lines let f(R) be the rank of the Jacobian's columns in them: a polymatroid rank
function, so what a line adds never grows as R does.  With R chosen and no other line adding more
than g_1 ≥ g_2 ≥ … , at least k more are needed where g_1 + … + g_k ≥ wanted - f(R) first holds.
Caps can only ask for more.  Among as many lines the cheaper allocation wins; its cost is at
least that of the cheapest weights, so many in all, from so many lines, each line's own
dependences and cap kept and those between lines forgotten (a small knapsack).  The search is
exact; stopped early it says what is proved.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from algebra.design.cheapest import Design, RelaxationMaker, allocation_of, cheapest, made
from algebra.design.demand import TARGET, Demand
from algebra.errors import InputError
from algebra.linalg.modular import rank as rank_of
from algebra.matroids.branch_and_bound import capped_basis
from algebra.matroids.intersection import CommonBasis, common_basis, greedy
from algebra.networks.base import LinearRNN, Network
from algebra.problems.allocation import Cell

# Rounds of the heuristic, and the price of a line that was not used.
_REWEIGHTINGS, _SHARP = 12, 720_720
# Projections kept for the nodes that come next.
_KEPT = 40
# This part of the time is for settling the cost once the number of lines is.
_COST_SHARE = 5
# Which neurons the rows and the columns of a recurrent net's matrices are.
_POPULATIONS = {
    "row": {"D": "output", "W": "hidden", "B": "hidden"},
    "column": {"D": "hidden", "W": "hidden", "B": "input"},
}
_FAR = np.iinfo(np.int64).max // 4


def neuron_of(network: Network, cell: Cell, line: str = "row") -> tuple[str, int]:
    """The neuron that receives (or, by "column", sends) through a weight.

    Returns
    -------
    population : str
        Of a recurrent net "input", "hidden" or "output"; otherwise the matrix.
    index : int
    """
    name, i, j = cell
    if isinstance(network, LinearRNN):
        name = _POPULATIONS[line][name]
    return name, i if line == "row" else j


@dataclass(frozen=True)
class _Node:
    chosen: frozenset[int]
    banned: frozenset[int]


class _Search:
    """Branch and bound at one random point."""

    def __init__(
        self, asked: Demand, line: str, columns: np.ndarray, p: int,
        relaxation: RelaxationMaker | None,
    ) -> None:  # fmt: skip
        self.asked, self.columns, self.p, self.relaxation = asked, columns, p, relaxation
        keys = [neuron_of(asked.network, cell, line) for cell in asked.free]
        names = list(dict.fromkeys(keys))
        self.lines = [np.flatnonzero([k == name for k in keys]) for name in names]
        # Lines in which something must learn are touched already.
        touched = {neuron_of(asked.network, cell, line) for cell in asked.must}
        self.start = frozenset(k for k, name in enumerate(names) if name in touched)
        self.base = len(touched - set(names))
        self.limits = [asked.size] * len(names)
        own = dict(asked.caps).get(line)
        if own is not None:
            # A neuron's cap is that of its lines, which are in different matrices, together.
            group, left = asked.groups(line, own)
            self.limits = [
                sum(left[g] for g in {group[e] for e in members}) for members in self.lines
            ]
        self.systems = asked.all_groups()
        self.quotients: dict[frozenset[int], tuple[np.ndarray, int]] = {}
        self.prefixes = [self._prefix(k) for k in range(len(names))]

    def _prefix(self, k: int) -> np.ndarray:
        """Cost of the cheapest 0, 1, 2, … independent weights of a line."""
        costs = self.asked.costs
        order = sorted((int(e) for e in self.lines[k]), key=costs.__getitem__)
        basis = greedy(self.columns, self.p, order, min(self.limits[k], len(order)))
        return np.cumsum([0, *(costs[e] for e in basis)])

    def count(self, chosen: frozenset[int]) -> int:
        """Lines touched."""
        return self.base + len(chosen)

    def elements(self, lines: frozenset[int]) -> np.ndarray:
        """The free weights in some lines."""
        if not lines:
            return np.zeros(0, np.int64)
        return np.sort(np.concatenate([self.lines[k] for k in lines]))

    def quotient(self, chosen: frozenset[int]) -> tuple[np.ndarray, int]:
        """Columns with some lines projected away, and the rank of these lines."""
        if chosen not in self.quotients:
            # Most nodes add one line to another node's.
            less = next((chosen - {k} for k in chosen if chosen - {k} in self.quotients), None)
            if less is None:
                made = _quotient(self.columns, self.elements(chosen), self.p)
            else:
                table, found = self.quotients[less]
                table, more = _quotient(table, self.elements(chosen - less), self.p)
                made = table, found + more
            if len(self.quotients) >= _KEPT:
                self.quotients.pop(next(iter(self.quotients)))
            self.quotients[chosen] = made
        return self.quotients[chosen]

    def gains(self, node: _Node) -> tuple[int, dict[int, int]]:
        """Rank of the chosen lines, and what each open line would add to it."""
        table, found = self.quotient(node.chosen)
        found = min(found, sum(min(self.limits[k], len(self.lines[k])) for k in node.chosen))
        adds = {}
        for k, members in enumerate(self.lines):
            if k not in node.chosen and k not in node.banned:
                gain = rank_of(table[:, members], self.p) if len(table) else 0
                adds[k] = min(gain, self.limits[k])
        return found, adds

    def bound(self, node: _Node) -> tuple[int, int] | None:
        """A lower bound for (lines, cost); None where the node has no design."""
        found, adds = self.gains(node)
        need, more = self.asked.wanted - found, 0
        for gain in sorted(adds.values(), reverse=True):
            if need <= 0:
                break
            need -= gain
            more += 1
        if need > 0:
            return None
        left = self.elements(node.chosen | set(adds))
        if rank_of(self.columns[:, left], self.p) < self.asked.wanted:
            return None
        return self.count(node.chosen) + more, self.least(node, more, list(adds))

    def least(self, node: _Node, more: int, open_lines: list[int]) -> int:
        """Least cost of enough weights of the chosen lines and `more` others."""
        table = np.full((more + 1, self.asked.wanted + 1), _FAR)
        table[0, 0] = 0
        for k in [*node.chosen, *open_lines]:
            shift = 0 if k in node.chosen else 1
            new = table.copy()
            for taken, cost in enumerate(self.prefixes[k]):
                if not taken or taken > self.asked.wanted:
                    continue
                source = table[: more + 1 - shift, : self.asked.wanted + 1 - taken]
                target = new[shift:, taken:]
                np.minimum(target, np.where(source < _FAR, source + cost, _FAR), out=target)
            table = new
        return int(table[:, self.asked.wanted].min())

    def touched(self, elements: Sequence[int]) -> list[int]:
        """How many of some elements lie in each line."""
        inside = np.zeros(self.columns.shape[1], bool)
        inside[list(elements)] = True
        return [int(inside[members].sum()) for members in self.lines]

    def concentrate(
        self, best: tuple[int, int, tuple[int, ...]], ends: float
    ) -> tuple[int, int, tuple[int, ...]]:
        """Fewer lines by repeated solution, each line the cheaper the more it was used.

        Then lines are closed one by one, the emptiest first, where a design is left.
        """
        everything = frozenset(range(len(self.lines)))
        used = [len(members) for members in self.lines]
        for _ in range(_REWEIGHTINGS):
            if time.monotonic() > ends:
                return best
            price = [0 if k in self.start else _SHARP // (1 + used[k]) for k in range(len(used))]
            found = self.solve(everything, price)
            if found is None:
                return best
            best = min(best, self.rated(found[1]))
            now = self.touched(found[1])
            if now == used:
                break
            used = now
        counts = self.touched(best[2])
        lines = frozenset(k for k, count in enumerate(counts) if count) | self.start
        for k in sorted(lines - self.start, key=counts.__getitem__):
            if time.monotonic() > ends:
                break
            found = self.solve(lines - {k})
            if found is not None:
                lines -= {k}
                best = min(best, self.rated(found[1]))
        return best

    def rated(self, elements: Sequence[int]) -> tuple[int, int, tuple[int, ...]]:
        """Lines touched, cost, elements."""
        lines = self.start | {k for k, n in enumerate(self.touched(elements)) if n}
        return self.count(lines), sum(self.asked.costs[e] for e in elements), tuple(elements)

    def solve(
        self, chosen: frozenset[int], prices: Sequence[int] | None = None
    ) -> tuple[int, tuple[int, ...]] | None:
        """The cheapest design inside some lines, by cost or by a price of each line.

        None where there is none.
        """
        inside = self.elements(chosen)
        wanted = self.asked.wanted
        if len(inside) < wanted or rank_of(self.columns[:, inside], self.p) < wanted:
            return None
        columns = self.columns[:, inside]
        costs = [self.asked.costs[e] for e in inside]
        if prices is not None:
            of_line = np.zeros(self.columns.shape[1], np.int64)
            for members, price in zip(self.lines, prices, strict=True):
                of_line[members] = price
            costs = [int(of_line[e]) for e in inside]
        systems = [([g[e] for e in inside], caps) for g, caps in self.systems]
        if len(systems) == 1:
            found = common_basis(columns, self.p, *systems[0], costs, wanted)
            if not isinstance(found, CommonBasis):
                return None
            return found.cost, tuple(int(inside[e]) for e in found.elements)
        task = (columns, self.p, systems, costs, wanted)
        relax = self.relaxation(*task) if self.relaxation else None
        capped = capped_basis(*task, relax=relax)
        if capped.elements is None or capped.cost is None:
            return None
        return capped.cost, tuple(int(inside[e]) for e in capped.elements)


def _quotient(columns: np.ndarray, inside: np.ndarray, p: int) -> tuple[np.ndarray, int]:
    """Columns with some of them projected away, and the rank of those."""
    table, left = np.array(columns), np.ones(len(columns), bool)
    for e in inside:
        rows = np.flatnonzero(left & (table[:, e] != 0))
        if not len(rows):
            continue
        left[rows[0]] = False
        pivot = table[rows[0]] * pow(int(table[rows[0], e]), -1, p) % p
        others = rows[1:]
        table[others] = (table[others] - table[others, e][:, None] * pivot % p) % p
    return table[left], len(left) - int(left.sum())


def fewest_neurons(
    asked: Demand,
    line: str = "row",
    *,
    relaxation: RelaxationMaker | None = None,
    seconds: float = 60.0,
) -> Design:
    """The allocation, not minimal, whose weights lie in the fewest rows; then at least cost.

    Parameters
    ----------
    asked : Demand
    line : {"row", "column"}
        Neurons that receive or that send.
    relaxation : callable, optional
        As for `algebra.design.cheapest.least_cost`.
    seconds : float, optional
        Time for the search.

    Returns
    -------
    Design
        `value` is the number of lines; `bound` what is proved.

    Raises
    ------
    InputError
        Where there is no design at all.

    Examples
    --------
    >>> from algebra.design.demand import demand
    >>> from algebra.networks.base import LinearRNN
    >>> fewest_neurons(demand(LinearRNN(n=4, T=4, b=1, d=2, m=4))).value
    Fraction(2, 1)
    """
    if line not in ("row", "column"):
        raise InputError(f"`line` ({line!r}) must be row or column")
    # Refuses, with a reason, what is impossible; and is a first solution.
    first = cheapest(asked, "neurons", relaxation, seconds)
    chosen = [k for k, cell in enumerate(asked.free) if cell in set(first.allocation.cells)]
    best = (0, 0, tuple(chosen))
    bound: int | None = None
    points: list[tuple[int, int]] = []
    error = Fraction(1)
    settled = True
    began = time.monotonic()
    for p, number in asked.points():
        if error < TARGET:
            break
        points.append((p, number))
        error *= asked.point_error
        search = _Search(asked, line, asked.columns(p, number), p, relaxation)
        best = search.rated(best[2])
        if len(points) == 1:
            best = search.concentrate(best, began + seconds / 2)
        found, least, done = _branch(search, best, began + seconds, began + seconds / _COST_SHARE)
        best = min(best, search.rated(found[2]))
        bound = least if bound is None else min(bound, least)
        settled = settled and done
    assert bound is not None
    noun = f"neurons that {'receive' if line == 'row' else 'send'} what learns"
    proof = f"a search of the neurons at {len(points)} random points leaves nothing smaller"
    if bound == best[0]:
        proof += (
            ", nor as many at less cost"
            if settled
            else "; whether as many can cost less was not settled in the time given"
        )
    else:
        proof = "the search was stopped by its time limit"
    allocation = allocation_of(asked, best[2])
    return made(
        asked, allocation, "neurons", error, points, proof,
        value=Fraction(best[0]), bound=Fraction(bound), measure=noun,
    )  # fmt: skip


def _branch(
    search: _Search, best: tuple[int, int, tuple[int, ...]], ends: float, cost_ends: float
) -> tuple[tuple[int, int, tuple[int, ...]], int, bool]:
    """The best of one point, the least number of lines that is still possible, whether done."""
    root = _Node(search.start, frozenset())
    first = search.bound(root)
    if first is None:
        # Only at an unlucky point, where the design known is dependent.
        return best, best[0], True
    heap: list[tuple[tuple[int, int], int, int, _Node]] = [(first, 0, 0, root)]
    count = 0
    while heap:
        bound, _, _, node = heapq.heappop(heap)
        if bound >= best[:2]:
            return best, best[0], True
        if time.monotonic() > (ends if bound[0] < best[0] else cost_ends):
            return best, min(bound[0], best[0]), False
        found = search.solve(node.chosen)
        if found is not None:
            lines = search.count(node.chosen)
            best = min(best, (lines, found[0], found[1]))
            continue
        _, adds = search.gains(node)
        if not adds:
            continue
        # The most useful line; among those the one that is cheap for what it adds.
        k = max(adds, key=lambda k: (adds[k], -int(search.prefixes[k][-1]), -k))
        for child in (
            _Node(node.chosen | {k}, node.banned),
            _Node(node.chosen, node.banned | {k}),
        ):
            value = search.bound(child)
            if value is None:
                continue
            count += 1
            value = max(bound, value)
            if value < best[:2]:
                heapq.heappush(heap, (value, -len(child.chosen), count, child))
    return best, best[0], True


def touched_neurons(design: Design, line: str = "row") -> list[tuple[str, int]]:
    """The neurons that learn in a design.

    Examples
    --------
    >>> from algebra.design.demand import demand
    >>> from algebra.networks.base import LinearEstimator
    >>> touched_neurons(fewest_neurons(demand(LinearEstimator(q=3, d=1, m=2))))
    [('W', 0)]
    """
    allocation = design.allocation
    return sorted({neuron_of(allocation.network, cell, line) for cell in allocation.cells})
