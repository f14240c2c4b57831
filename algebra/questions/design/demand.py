r"""The demand on a design: which weights may learn, which must, costs, caps, their number.

Weights that must learn are *contracted*: their Jacobian columns are projected away, so the rest of
the design is a problem on the free weights, in a smaller matroid.

If more weights are requested than there are independent equations, `extra` rows of random residues
are added to the Jacobian.  Sets of ρ + extra columns are then independent if and only if they have
rank ρ without these rows (the *elongation* of the matroid [1]_; for generic rows).  Independence at
one random point still proves a rank of ρ: removing the extra rows lowers the rank by at most their
number.

References
----------
.. [1] J. Oxley, Matroid Theory, 2nd edition, Oxford 2011, Section 7.3 (duals of truncations).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from algebra.errors import ErrorsAt, InputError, Unfinished
from algebra.given import known_name
from algebra.linalg.numbers import exact_number
from algebra.linalg.primes import random_points
from algebra.linalg.residues import random_residues
from algebra.matroids.capped import CappedProblem, Dual, System
from algebra.matroids.linear import LinearMatroid
from algebra.networks.base import Network
from algebra.networks.protocols import jacobian_of
from algebra.problems.allocation import Cell
from algebra.ranks.deficits import deficit_error, prime_bits
from algebra.ranks.generic_rank import generic_rank, network_rank
from algebra.ranks.jacobian import all_cells, columns_at, random_point
from algebra.words import plural

Line = tuple[str, int]

LINES = ("row", "column", "matrix")


class SearchUnfinished(Unfinished):
    """A search reached its time limit without an answer; the message says what is known."""


class NoDesign(InputError):
    """No allocation meets a demand; the message gives the reason.

    Attributes
    ----------
    dual : Dual or None
        Its proof.
    """

    def __init__(self, message: str, dual: Dual | None = None) -> None:
        super().__init__(message)
        self.dual = dual


def line_of(cell: Cell, line: str) -> Line:
    """The row, column or matrix that contains a weight."""
    name, i, j = cell
    return {"row": (name, i), "column": (name, j), "matrix": (name, 0)}[line]


def line_name(line: str, key: Line) -> str:
    """A row, column or matrix in words."""
    return key[0] if line == "matrix" else f"{line} {key[1]} of {key[0]}"


def exact_price(value: object) -> Fraction:
    """A price as an exact rational; see `algebra.linalg.numbers.exact_number`.

    Examples
    --------
    >>> exact_price("2.5e-1"), exact_price("1/3"), exact_price(2)
    (Fraction(1, 4), Fraction(1, 3), Fraction(2, 1))
    """
    return exact_number(value, "price")


@dataclass(frozen=True)
class Demand:
    """A checked demand; created by `checked_demand`.

    Attributes
    ----------
    network : Network
    cells : tuple of cells
        All weights that may learn, in the network's order.
    prices : mapping of cell to Fraction
        The price of each.
    must : frozenset of cells
        Weights that must learn.
    caps : tuple of (str, int)
        Largest number of weights in each "row", "column", "matrix".
    size : int
        Number of weights in the design.
    equations : int
        Generic rank ρ of the whole network's Jacobian.
    support : mapping of str to mask
    seed : int
    cost_budget : Fraction or None
        Largest cost of all weights together, for goal "rank".
    """

    network: Network
    cells: tuple[Cell, ...]
    prices: Mapping[Cell, Fraction]
    must: frozenset[Cell]
    caps: tuple[tuple[str, int], ...]
    size: int
    equations: int
    support: Mapping[str, np.ndarray] = field(default_factory=dict)
    seed: int = 0
    cost_budget: Fraction | None = None

    @cached_property
    def free(self) -> tuple[Cell, ...]:
        """The weights among which to choose."""
        return tuple(cell for cell in self.cells if cell not in self.must)

    @property
    def wanted(self) -> int:
        """Number of free weights to choose."""
        return self.size - len(self.must)

    @property
    def extra(self) -> int:
        """Weights beyond the number of independent equations."""
        return self.size - self.equations

    @cached_property
    def unit(self) -> int:
        """Common denominator of the prices."""
        return lcm(*(price.denominator for price in self.prices.values()))

    @cached_property
    def costs(self) -> list[int]:
        """Prices of the free weights in units of 1/`unit`."""
        return [int(self.prices[cell] * self.unit) for cell in self.free]

    def cost(self, cells: Sequence[Cell]) -> Fraction:
        """Total price."""
        return sum((self.prices[cell] for cell in cells), Fraction(0))

    def groups(self, line: str, number: int) -> tuple[list[int], list[int]]:
        """The line of each free weight, and the remaining capacity of each line."""
        keys = [line_of(cell, line) for cell in self.free]
        index = {key: k for k, key in enumerate(dict.fromkeys(keys))}
        used = Counter(line_of(cell, line) for cell in self.must)
        # A cap above the number of weights has no effect.
        number = min(number, len(self.cells))
        return [index[key] for key in keys], [number - used[key] for key in index]

    def line_keys(self, line: str) -> list[Line]:
        """The lines that `groups` numbers."""
        return list(dict.fromkeys(line_of(cell, line) for cell in self.free))

    def all_groups(self) -> list[System]:
        """`groups` for every kind of cap; one group of all weights if there is none."""
        if not self.caps:
            return [([0] * len(self.free), [len(self.free)])]
        return [self.groups(line, number) for line, number in self.caps]

    def points(self) -> Iterator[tuple[int, int]]:
        """Random primes and point numbers, an infinite sequence."""
        bits = prime_bits(jacobian_of(self.network), self.size)
        return random_points(f"design/{self.seed}", bits)

    @cached_property
    def point_error(self) -> Fraction:
        """Bound on the probability that a given design of this size is dependent at a point."""
        return deficit_error(jacobian_of(self.network), self.size)

    def columns(self, p: int, number: int) -> np.ndarray:
        """Columns of the free weights at a point: elongated, `must` contracted."""
        point = random_point(self.network, p, number, self.support)
        order = [*self.free, *(cell for cell in self.cells if cell in self.must)]
        table = columns_at(self.network, point, order)
        if self.extra:
            rows = random_residues(
                (self.extra, len(order)), p, random.Random(f"elongate/{p}/{number}")
            )
            table = np.concatenate([table, rows])
        if not self.must:
            return table
        free = len(self.free)
        matroid, rank = LinearMatroid(table, p).contract(range(free, len(order)))
        if rank < len(self.must):
            raise ArithmeticError("weights that must learn are dependent at a random point: a bug")
        return matroid.columns[:, :free]

    def problem_at(self, p: int, number: int) -> CappedProblem:
        """The problem on the free weights at a point."""
        columns = self.columns(p, number)
        return CappedProblem(columns, p, self.all_groups(), self.costs, self.wanted)


def checked_demand(
    network: Network,
    *,
    allowed: Sequence[Cell] | None = None,
    forbidden: Sequence[Cell] = (),
    must: Sequence[Cell] = (),
    costs: Mapping[Cell, Fraction | float | str] | None = None,
    caps: Mapping[str, int] | None = None,
    budget: int | None = None,
    cost_budget: object = None,
    least: int = 0,
    support: Mapping[str, np.ndarray] | None = None,
    seed: int = 0,
) -> Demand:
    """Check a demand.

    Parameters
    ----------
    network : Network
        Linear.
    allowed : sequence of cells, optional
        Weights that may learn; by default all.
    forbidden : sequence of cells, optional
        Weights that must not learn.
    must : sequence of cells, optional
        Weights that must learn.
    costs : mapping of cell to number, optional
        Exact (see `exact_price`); 1 for weights that are not named.
    caps : mapping, optional
        Largest number of weights in each "row", "column", "matrix".
    budget : int, optional
        Number of weights.  By default the number ρ of independent equations, plus one for each
        weight that must learn and depends on others that must.
    cost_budget : number, optional
        Exact, as a price: largest cost of all weights together (goal "rank").
    least : int, optional
        Without a budget, the smallest number of weights.
    support : mapping of str to mask, optional
    seed : int, optional

    Raises
    ------
    InputError
        If the demand is contradictory.
    """
    cells, fixed = _cells(network, allowed, forbidden, must, support)
    for cell in costs or {}:
        rows, columns = network.shape_of(cell[0], "`costs`: ")
        if not (0 <= cell[1] < rows and 0 <= cell[2] < columns):
            raise InputError(
                f"`costs`: {cell[0]}[{cell[1]}, {cell[2]}] is outside {cell[0]} "
                f"({rows}×{columns}, 0-based)"
            )
    prices = {cell: exact_price((costs or {}).get(cell, 1)) for cell in cells}
    whole = network_rank(network, support, seed).rank
    if not whole:
        raise InputError("every label is 0 (structural zeros): no weight needs to learn")
    own = generic_rank(network, sorted(fixed), support=support, upper=whole, seed=seed).rank
    wasted = len(fixed) - own
    size = max(whole + wasted, least) if budget is None else budget
    if size < whole:
        raise InputError(
            f"`budget` ({size}) is too small: {whole} independent equations need {whole} weights"
        )
    if size < whole + wasted:
        raise InputError(
            f"`budget` ({size}) is too small: of the {len(fixed)} weights that `must` learn only "
            f"{own} take part in independent equations, so {whole} equations need "
            f"{whole + wasted} weights"
        )
    # Within a cost budget fewer weights than equations are an answer, too.
    if size > len(cells) and (cost_budget is None or budget is not None):
        what = f"{size} are needed" if budget is None else f"`budget` asks for {budget}"
        raise InputError(f"only {plural(len(cells), f'{len(cells)} weight')} may learn, {what}")
    limits = tuple((line, (caps or {})[line]) for line in LINES if line in (caps or {}))
    for line in caps or {}:
        known_name(line, "caps", LINES)
    for line, number in limits:
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise InputError(f"`caps` ({line}: {number!r}) must be a whole number")
        if number < 0:
            raise InputError(f"`caps` ({line}: {number}) must not be negative")
        for key, count in Counter(line_of(cell, line) for cell in sorted(fixed)).items():
            if count > number:
                raise InputError(
                    f"`must`: {count} weights of {line_name(line, key)} must learn, but its cap is "
                    f"{number}"
                )
    return Demand(
        network, tuple(cells), prices, frozenset(fixed), limits, size, whole,
        dict(support or {}), seed, None if cost_budget is None else _cost_budget(cost_budget),
    )  # fmt: skip


def _cost_budget(value: object) -> Fraction:
    with ErrorsAt("`cost_budget`"):
        budget = exact_price(value)
    if budget < 0:
        raise InputError(f"`cost_budget` ({value}) must not be negative")
    return budget


def _cells(
    network: Network,
    allowed: Sequence[Cell] | None,
    forbidden: Sequence[Cell],
    must: Sequence[Cell],
    support: Mapping[str, np.ndarray] | None,
) -> tuple[list[Cell], set[Cell]]:
    exist = all_cells(network, support)
    known = set(exist)
    for name, wanted in (("allowed", allowed or ()), ("must", must), ("forbidden", forbidden)):
        for cell in wanted:
            if cell not in known:
                raise InputError(f"`{name}`: {cell} is not a weight of this network")
    both = sorted(set(must) & set(forbidden))
    if both:
        name, i, j = both[0]
        raise InputError(f"{name}[{i}, {j}] both must and must not learn")
    chosen = (set(exist if allowed is None else allowed) | set(must)) - set(forbidden)
    return [cell for cell in exist if cell in chosen], set(must)
