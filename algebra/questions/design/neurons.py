r"""The fewest neurons that must learn: branch and bound over rows (or columns).

A neuron learns if one of the weights *onto* it does: a row of a weight matrix.  Synaptic change
takes place in the receiving cell (its dendrites hold the synapse's machinery), and Theorem 3.5
counts rows, too.  With ``line="column"`` the weights *from* a neuron are counted instead.  In a
recurrent net row i of W and row i of B are the same neuron, and so are column j of W and column j
of D.

The bound.  Let a *group* be the weights of one line of one matrix, and c_g its cap (its number of
weights if it has none).  Replace a group of more than c_g columns by c_g random combinations of
them over GF(p): the *compressed* columns.  Let f(U) be their rank for a set U of neurons.

*Theorem.*  Let B be a design, independent at the random point, with neurons U.  Then f(U) ≥ |B|
except with a probability of at most |B|/p, whatever the other demands are.

*Proof.*  B has at most c_g weights of each group g, so some choice of the combinations has B's
columns among the compressed ones of U, and then some minor of |B| rows and columns of these is
not zero.  As a polynomial in the coefficients it is of degree at most |B| (1 in each column), so
at uniformly random coefficients it vanishes with a probability of at most |B|/p
(Schwartz and Zippel).  ∎

(For generic coefficients f is the polymatroid of the groups' ranks reduced by the vector of caps,
f(U) = min_S r(S) + c(U - S); see [1]_, Section 48.3.  With caps it would be wrong to truncate only
the rank of the chosen lines: the increase by the others may exceed that over the chosen lines'
whole span.)

f is the rank function of columns, so the increase by a neuron is non-increasing in U.  With C
chosen and the increases of the other neurons g_1 ≥ g_2 ≥ … , a set U ⊇ C with f(U) ≥ wanted has at
least k more neurons, k the smallest number with g_1 + … + g_k ≥ wanted - f(C).  Take for B an
optimal design, which does not depend on the random point: the search never excludes its neurons
unless B is dependent at this point or for these combinations.

With equal numbers of neurons the cheaper allocation is better; its cost is at least that of the
cheapest weights of this number from this number of neurons, subject to each neuron's own
dependences and cap but not to those between neurons (a small knapsack problem).  The search is
exact; if it is stopped early it returns what is proved.  Its leaves are the proof: `neuron_bound`
recomputes their bounds.

References
----------
.. [1] A. Schrijver, Combinatorial Optimization, Springer 2003, Section 48.3 (reductions of
   polymatroids).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from algebra.errors import InputError
from algebra.linalg.modular import matmul
from algebra.linalg.residues import random_residues
from algebra.matroids.capped import Optimum
from algebra.matroids.groups import GroupLeaf, Groups, branch, least_rating
from algebra.matroids.linear import LinearMatroid
from algebra.matroids.optimum import TARGET, RelaxationMaker, optimum
from algebra.networks.base import Network
from algebra.problems.allocation import Cell
from algebra.questions.design.cheapest import cheapest
from algebra.questions.design.demand import Demand
from algebra.questions.design.result import Design, NeuronEvidence, allocation_of, design_of
from algebra.work import end_of_part, has_passed, seconds_until

if TYPE_CHECKING:
    from algebra.questions.design.goals import SearchOptions

# Rounds of the heuristic, and the price of an unused line.
_REWEIGHTINGS = 12
_SHARP = 720_720
# The share of the time for minimizing the cost once the number of lines is fixed.
_COST_SHARE = 5
# Sums of costs below this are computed in 64 bits, larger ones with Python integers.
_WORD = 1 << 61

# Number of neurons, then cost in units of the demand.
Rating = tuple[int, int]


class _FewestNeurons(NamedTuple):
    """The best design so far."""

    neurons: int
    cost: int
    elements: tuple[int, ...]

    @property
    def rating(self) -> Rating:
        return self.neurons, self.cost


def neuron_of(network: Network, cell: Cell, line: str = "row") -> tuple[str, int]:
    """The neuron that receives (or, by "column", sends) through a weight.

    Returns
    -------
    population : str
        Of a recurrent net "input", "hidden" or "output"; otherwise the matrix.
    index : int
    """
    name, i, j = cell
    return network.population(name, line), i if line == "row" else j


class Neurons:
    """The neurons of a demand at one random point, and lower bounds on how many must learn.

    Parameters
    ----------
    demand : Demand
    line : {"row", "column"}
    p, number : int
        The point.

    Attributes
    ----------
    names : list of (str, int)
        The neurons with free weights, in the order of the free weights.
    start : frozenset of int
        Those with weights that must learn.
    base : int
        Number of neurons with weights that must learn and no free ones.
    """

    def __init__(self, demand: Demand, line: str, p: int, number: int) -> None:
        self.demand, self.problem = demand, demand.problem_at(p, number)
        keys = [neuron_of(demand.network, cell, line) for cell in demand.free]
        self.names = list(dict.fromkeys(keys))
        place = {name: k for k, name in enumerate(self.names)}
        self.members: list[list[int]] = [[] for _ in self.names]
        for e, key in enumerate(keys):
            self.members[place[key]].append(e)
        touched = {neuron_of(demand.network, cell, line) for cell in demand.must}
        self.start = frozenset(k for k, name in enumerate(self.names) if name in touched)
        self.base = len(touched - set(self.names))
        columns, owner = self._compress(line, p, number)
        self.groups = Groups.of_columns(
            LinearMatroid(columns, p),
            [np.flatnonzero(owner == k) for k in range(len(self.names))],
        )

    def _compress(self, line: str, p: int, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Compressed columns, and the neuron of each."""
        demand, columns = self.demand, self.problem.columns
        owner = np.zeros(columns.shape[1], np.int64)
        for k, members in enumerate(self.members):
            owner[members] = k
        own = dict(demand.caps).get(line)
        if own is None:
            return columns, owner
        group, left = demand.groups(line, own)
        lines = np.array(group, np.int64)
        rng = random.Random(f"compress/{p}/{number}")
        parts, owners = [np.zeros((len(columns), 0), np.int64)], [owner[:0]]
        for g, cap in enumerate(left):
            inside = np.flatnonzero(lines == g)
            part = columns[:, inside]
            if len(inside) > cap:
                part = matmul(part, random_residues((len(inside), cap), p, rng), p)
            parts.append(part)
            owners.append(np.full(part.shape[1], owner[inside[0]]))
        return np.concatenate(parts, axis=1), np.concatenate(owners)

    @property
    def miss(self) -> Fraction:
        """Bound on the probability that the optimal design is dependent at this point."""
        return self.demand.point_error + Fraction(self.demand.wanted, self.problem.p)

    @cached_property
    def prefixes(self) -> list[list[int]]:
        """Cost of the cheapest 0, 1, 2, … independent weights of each neuron under its caps."""
        costs = self.demand.costs
        found = []
        for members, size in zip(self.members, self.groups.sizes, strict=True):
            order = sorted(members, key=costs.__getitem__)
            basis = self.problem.matroid.greedy(order, min(size, len(order)))
            sums = [0]
            for e in basis:
                sums.append(sums[-1] + costs[e])
            found.append(sums)
        return found

    @cached_property
    def unaffordable(self) -> int:
        """More than the cost of all weights."""
        return sum(abs(cost) for cost in self.demand.costs) + 1

    def count(self, chosen: frozenset[int]) -> int:
        """Number of neurons that learn if all of these do."""
        return self.base + len(chosen)

    def elements(self, chosen: frozenset[int]) -> list[int]:
        """The free weights of some neurons."""
        return sorted(e for k in chosen for e in self.members[k])

    def gains(self, leaf: GroupLeaf) -> tuple[int, dict[int, int]]:
        """f of the chosen neurons, and its increase by each open neuron."""
        return self.groups.gains(frozenset(leaf.chosen), self.groups.open(leaf))

    def bound(self, leaf: GroupLeaf) -> Rating | None:
        """A lower bound on (neurons, cost) of the leaf's designs; None if it has no designs.

        In a leaf with a dual solution the chosen neurons may suffice: designs with just these
        neurons have the cost bound of the dual solution, and all others have more neurons.
        """
        chosen = frozenset(leaf.chosen)
        if leaf.dual is not None:
            cost = leaf.dual.bound(self.problem.inside(self.elements(chosen)))
            if cost is not None:
                return self.count(chosen), cost
            return (self.count(chosen) + 1, self.problem.floor) if self.groups.open(leaf) else None
        found, adds = self.gains(leaf)
        need, more = self.demand.wanted - found, 0
        for gain in sorted(adds.values(), reverse=True):
            if need <= 0:
                break
            need -= gain
            more += 1
        if need > 0:
            return None
        if self.groups.rank((*chosen, *adds)) < self.demand.wanted:
            return None
        cost = self.least(chosen, more, list(adds))
        return None if cost is None else (self.count(chosen) + more, cost)

    def least(self, chosen: frozenset[int], more: int, others: list[int]) -> int | None:
        """Least cost of enough weights of the chosen neurons and at most `more` others.

        None if there are not enough.
        """
        wanted, far = self.demand.wanted, self.unaffordable
        table = np.full((more + 1, wanted + 1), far, np.int64 if far < _WORD else object)
        table[0, 0] = 0
        for k in [*chosen, *others]:
            shift = 0 if k in chosen else 1
            new = table.copy()
            for taken, cost in enumerate(self.prefixes[k][: wanted + 1]):
                if not taken:
                    continue
                source = table[: more + 1 - shift, : wanted + 1 - taken]
                target = new[shift:, taken:]
                np.minimum(target, np.where(source < far, source + cost, far), out=target)
            table = new
        least = int(table[:, wanted].min())
        return None if least == far else least


def neuron_bound(
    demand: Demand, line: str, p: int, number: int, leaves: Sequence[GroupLeaf]
) -> tuple[Rating | None, Fraction]:
    """A lower bound on (neurons, cost) of all designs, from the leaves alone.

    Parameters
    ----------
    demand : Demand
    line : {"row", "column"}
    p, number : int
        A random point.
    leaves : sequence of GroupLeaf

    Returns
    -------
    rating : (int, int) or None
        Number of neurons, and cost of the free weights in units of the demand: no design has fewer
        neurons, and none with this number costs less.  None if there is no design.
    error : Fraction
        Bound on the probability that this is false.

    Raises
    ------
    DualError
        If the leaves do not cover all sets of neurons.
    """
    return _least(Neurons(demand, line, p, number), leaves)


def _least(neurons: Neurons, leaves: Sequence[GroupLeaf]) -> tuple[Rating | None, Fraction]:
    # Every set of learning neurons contains those with weights that must learn.
    found: Rating | None = least_rating(neurons.groups, neurons.start, leaves, neurons.bound)
    return found, neurons.miss


class _NeuronSearch:
    """Branch and bound at one random point."""

    def __init__(
        self, neurons: Neurons, relaxation: RelaxationMaker | None, ends: float, cost_ends: float
    ) -> None:
        self.neurons, self.relaxation = neurons, relaxation
        self.ends, self.cost_ends = ends, cost_ends
        self.solved: dict[frozenset[int], Optimum] = {}
        self.found: _FewestNeurons

    def touched(self, elements: Sequence[int]) -> list[int]:
        """Number of some elements in each neuron."""
        inside = set(elements)
        return [sum(e in inside for e in members) for members in self.neurons.members]

    def rated(self, elements: Sequence[int]) -> _FewestNeurons:
        """A design with its rating."""
        used = {k for k, n in enumerate(self.touched(elements)) if n}
        costs = self.neurons.demand.costs
        return _FewestNeurons(
            self.neurons.count(self.neurons.start | used), sum(costs[e] for e in elements),
            tuple(elements),
        )  # fmt: skip

    def solve(self, chosen: frozenset[int], prices: Sequence[int] | None = None) -> Optimum:
        """The cheapest design inside some neurons, by cost or by a price of each neuron.

        Its elements are numbered like the free weights.
        """
        if prices is None and chosen in self.solved:
            return self.solved[chosen]
        inside = self.neurons.elements(chosen)
        problem = self.neurons.problem.inside(inside)
        if prices is not None:
            of = {e: price for k, price in enumerate(prices) for e in self.neurons.members[k]}
            problem = problem._replace(costs=[of[e] for e in inside])
        left = max(0.1, seconds_until(self.ends))
        found = optimum(problem, self.relaxation, left)
        if found.elements is not None:
            found = replace(found, elements=tuple(inside[e] for e in found.elements))
        if prices is None:
            self.solved[chosen] = found
        return found

    def concentrate(self, best: _FewestNeurons, ends: float) -> _FewestNeurons:
        """Fewer neurons by repeated solution, in which a neuron is cheaper the more it was used.

        Then neurons are closed one by one, the emptiest first, as long as a design remains.
        """
        neurons = self.neurons
        everything = frozenset(range(len(neurons.names)))
        used = [len(members) for members in neurons.members]
        for _ in range(_REWEIGHTINGS):
            if has_passed(ends):
                return best
            price = [0 if k in neurons.start else _SHARP // (1 + n) for k, n in enumerate(used)]
            found = self.solve(everything, price)
            if found.elements is None:
                return best
            best = min(best, self.rated(found.elements))
            now = self.touched(found.elements)
            if now == used:
                break
            used = now
        counts = self.touched(best.elements)
        lines = frozenset(k for k, count in enumerate(counts) if count) | neurons.start
        for k in sorted(lines - neurons.start, key=counts.__getitem__):
            if has_passed(ends):
                break
            found = self.solve(lines - {k})
            if found.elements is not None:
                lines -= {k}
                best = min(best, self.rated(found.elements))
        return best

    def search(self, best: _FewestNeurons) -> tuple[_FewestNeurons, list[GroupLeaf]]:
        """The best design at this point, and leaves that cover all others."""
        self.found = best
        leaves, _, interrupt = branch(self)
        if interrupt:
            raise interrupt
        return self.found, leaves

    @property
    def start(self) -> frozenset[int]:
        """Neurons with weights that must learn."""
        return self.neurons.start

    @property
    def best(self) -> Rating:
        """The rating of the best design so far."""
        return self.found.rating

    def bound(self, leaf: GroupLeaf) -> Rating | None:
        """See `Neurons.bound`."""
        return self.neurons.bound(leaf)

    def is_late(self, bound: Rating) -> bool:
        """Fewer neurons may use all the time, lower cost only a part of it."""
        fewer = bound[0] < self.found.neurons
        return has_passed(self.ends if fewer else min(self.ends, self.cost_ends))

    def settle(self, leaf: GroupLeaf) -> GroupLeaf | None:
        """The leaf, closed, if the chosen neurons suffice: all other designs have more neurons."""
        found = self.solve(frozenset(leaf.chosen))
        if found.elements is not None:
            self.found = min(self.found, self.rated(found.elements))
        elif self.neurons.gains(leaf)[1]:
            return None
        return replace(leaf, dual=found.dual)

    def next_group(self, leaf: GroupLeaf) -> int:
        """The neuron with the largest increase; among equals the cheapest for it."""
        _, adds = self.neurons.gains(leaf)
        return max(adds, key=lambda k: (adds[k], -self.neurons.prefixes[k][-1], -k))


def fewest_neurons(
    demand: Demand,
    line: str = "row",
    relaxation: RelaxationMaker | None = None,
    seconds: float = 60.0,
) -> Design:
    """The cheapest of the non-minimal allocations whose weights lie in the fewest rows.

    Parameters
    ----------
    demand : Demand
    line : {"row", "column"}
        Count receiving or sending neurons.
    relaxation : callable, optional
        As for `algebra.questions.design.cheapest.cheapest`.
    seconds : float, optional
        Time for the search.

    Returns
    -------
    Design
        `value` is the number of neurons; `bound` and `cost_bound` are what is proved.

    Raises
    ------
    NoDesign
        If there is no design.

    Examples
    --------
    >>> from algebra.questions.design.demand import checked_demand
    >>> from algebra.networks.recurrent import LinearRNN
    >>> fewest_neurons(checked_demand(LinearRNN(n=4, T=4, b=1, d=2, m=4))).value
    Fraction(2, 1)
    """
    if line not in ("row", "column"):
        raise InputError(f"`line` ({line!r}) must be row or column")
    # Refuses impossible demands, with a reason; otherwise it is a first solution.
    first = cheapest(demand, relaxation, seconds, goal="neurons")
    place = {cell: k for k, cell in enumerate(demand.free)}
    elements = tuple(place[cell] for cell in first.allocation.cells if cell in place)
    best: _FewestNeurons | None = None
    leaves: list[GroupLeaf] = []
    proved: Rating | None = None
    points: list[tuple[int, int]] = []
    error = Fraction(1)
    ends, half = end_of_part(seconds), end_of_part(seconds / 2)
    cost_ends = end_of_part(seconds / _COST_SHARE)
    for p, number in demand.points():
        if error < TARGET:
            break
        points.append((p, number))
        neurons = Neurons(demand, line, p, number)
        error *= neurons.miss
        if best is not None:
            now, _ = _least(neurons, leaves)
            if now is None or (proved is not None and now >= proved):
                continue
        search = _NeuronSearch(neurons, relaxation, ends, cost_ends)
        best = search.rated(elements) if best is None else search.rated(best.elements)
        if len(points) == 1:
            best = search.concentrate(best, half)
        found, new_leaves = search.search(best)
        best = min(best, found)
        now, _ = _least(neurons, new_leaves)
        now = best.rating if now is None else min(now, best.rating)
        if proved is None or now < proved:
            proved, leaves = now, new_leaves
    assert best is not None
    assert proved is not None
    fixed = demand.cost(sorted(demand.must))
    cost = Fraction(best.cost, demand.unit) + fixed
    cost_bound = cost if proved == best.rating else Fraction(proved[1], demand.unit) + fixed
    if proved[0] < best.neurons:
        proof = "the search was stopped by its time limit"
    else:
        proof = f"a search of the neurons at {len(points)} random points excludes fewer"
        proof += (
            ", and as many at less cost"
            if cost_bound == cost
            else "; whether as many can cost less was not decided in time"
        )
    return design_of(
        demand, allocation_of(demand, best.elements), "neurons", error, points,
        value=Fraction(best.neurons), bound=Fraction(proved[0]), proof=proof,
        measure=f"neurons that {'receive' if line == 'row' else 'send'} what learns", line=line,
        cost_bound=cost_bound if proved[0] == best.neurons else Fraction(0),
        evidence=NeuronEvidence(tuple(leaves)),
    )  # fmt: skip


def search_neurons(demand: Demand, options: SearchOptions) -> Design:
    """The search of goal "neurons"."""
    return fewest_neurons(demand, options.line, options.relaxation, options.seconds)
