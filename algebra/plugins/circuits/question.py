r"""The question of a recording: elements, costs, required elements; and the rows of elements.

Let z be all numbers that may be recorded, as functions of the r learnable weights (or parameters of
updates) θ at generic fixed weights and samples, and J = ∂z/∂θ, one row for each number. The labels
of a network come from a network of the same allocation, as in `algebra.questions.identify`.

**Theorem.** For generic θ, the numbers of a set U of elements determine θ locally (no other value
nearby gives the same numbers) if and only if the rows of U have rank r.  They determine the same
functions of θ as all elements do, near θ, if and only if the rows of U have the generic rank ρ of
all rows.

*Proof.*  By the constant rank theorem the values θ' near a generic θ with z_U(θ') = z_U(θ) form a
manifold of dimension r - rank J_U; it is a point if and only if the rank is r.  The manifold of all
elements is contained in it and has dimension r - ρ; both are connected near θ, so they are equal if
and only if their dimensions are. ∎

So the sets of elements that determine as much as all elements are the spanning sets of the
*polymatroid* of the elements' rows, or of a matroid if each element is one number; the cheapest
sets are bases of least cost.  A *target* asks for less: that other activities are determined
(`algebra.plugins.circuits.target`).  Units may be driven as well, in further samples
(`algebra.plugins.circuits.stimulation`).  (Identifiability from the rank of the Jacobian of
recorded quantities is the classical test of Rothenberg [1]_ and, in systems theory, of Walter and
Lecourtier [2]_; here the set of rows is chosen.)

References
----------
.. [1] T. J. Rothenberg, "Identification in parametric models", Econometrica 39 (1971) 577-591.
.. [2] E. Walter and Y. Lecourtier, "Unidentifiable compartmental models: what to do?",
   Math. Biosci. 56 (1981) 1-25.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice
from math import lcm

import numpy as np

from algebra.errors import ErrorsAt, InputError, shown, whole_number
from algebra.given import given_list, given_mapping, known_name
from algebra.linalg.numbers import exact_number
from algebra.linalg.primes import ChosenNumbers, random_points
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import Residues
from algebra.matroids.capped import CappedProblem, System
from algebra.matroids.containing import ContainingProblem
from algebra.matroids.groups import Span
from algebra.matroids.linear import LinearMatroid
from algebra.matroids.pairs import PairedProblem, pair_groups
from algebra.matroids.spanning import SpanningProblem
from algebra.networks.base import STATES, Network, Point
from algebra.networks.own_point import about_parameters
from algebra.networks.protocols import jacobian_of
from algebra.plugins.circuits.blocks import SEEN, Check, groups_at, span_at
from algebra.plugins.circuits.elements import (
    Recordable,
    check_kinds,
    elements_of,
    fitting,
    is_relay,
    numbers_of,
)
from algebra.plugins.circuits.stimulation import Drive, bounding_network, stimulations_of
from algebra.plugins.circuits.target import (
    RecordingTarget,
    check_target,
    determined_dimension,
    determined_part,
    with_target,
)
from algebra.problems.allocation import Allocation
from algebra.problems.names import Names
from algebra.problems.problem import Problem
from algebra.questions.identify.effects import have_effect
from algebra.ranks.deficits import RARE, deficit_error, prime_bits
from algebra.ranks.generic_rank import GenericRank, rank_at_points
from algebra.ranks.jacobian import random_point
from algebra.ranks.parametrized import by_parameters
from algebra.ranks.readings import entries_at_once, reading_tables
from algebra.ranks.size import FOR_GROUPS, check_size
from algebra.words import plural

# Kinds of caps: on entries of one output, on entries of one sample, on one population's elements.
CAPS = ("row", "column", "matrix")
# Larger than any number of elements.
MOST_CAP = 10**9
_CAPPED = {"row": "output", "column": "sample", "matrix": "population"}


@dataclass(frozen=True)
class RecordingQuestion:
    """A checked question; `recording_question` makes it.

    Attributes
    ----------
    parametrized : Problem
        The problem; the parameters of updates are weights in it (`algebra.ranks.parametrized`).
    kinds : tuple of str
        Of `ELEMENT_KINDS`.
    elements : tuple of Recordable
        All elements of these kinds.
    prices : tuple of Fraction
        Of each element.
    must, forbidden : frozenset of int
        Numbers of required, and of forbidden elements.
    caps : tuple of (str, int)
    stream : str
        Random points are derived from it.
    owners : list of (str, list of ndarray of int)
        As of `algebra.plugins.circuits.elements.elements_of`; numbers that may not be recorded
        belong to an element behind the last.
    target : RecordingTarget or None
        The activities that are to be determined; None if all that may be recorded is.
    drives : dict of int to Drive
        The stimulations of units, by their numbers as elements: the last ones.
    drive : Drive or None
        Of the question about the samples of one stimulation.
    """

    parametrized: Problem
    kinds: tuple[str, ...]
    elements: tuple[Recordable, ...]
    prices: tuple[Fraction, ...]
    must: frozenset[int]
    forbidden: frozenset[int]
    caps: tuple[tuple[str, int], ...]
    stream: str
    owners: list[tuple[str, list[np.ndarray]]] = field(repr=False, compare=False)
    target: RecordingTarget | None = None
    drives: Mapping[int, Drive] = field(default_factory=dict, repr=False, compare=False)
    drive: Drive | None = None

    @property
    def allocation(self) -> Allocation:
        """The weights that learn."""
        return self.parametrized.allocation

    @cached_property
    def allowed(self) -> tuple[int, ...]:
        """Numbers of the elements that may be recorded."""
        return tuple(k for k in range(len(self.elements)) if k not in self.forbidden)

    @cached_property
    def free(self) -> tuple[int, ...]:
        """Numbers of the elements that the search chooses from."""
        return tuple(k for k in self.allowed if k not in self.must)

    @cached_property
    def experiments(self) -> dict[int | None, RecordingQuestion]:
        """The question about each stimulation's samples, by its element; None: the problem's own.

        Nothing is driven in them: what is recorded is chosen from all but the stimulations.
        """
        if not self.drives:
            return {None: self}
        own = replace(self, drives={}, forbidden=self.forbidden.union(self.drives), caps=())
        found: dict[int | None, RecordingQuestion] = {None: own}
        for k, drive in self.drives.items():
            if k not in self.forbidden:
                found[k] = replace(own, parametrized=drive.driven, drive=drive, target=None)
        return found

    @cached_property
    def bounding(self) -> Network:
        """The network that bounds the errors of ranks: it has the samples of all stimulations."""
        every = {
            k: own.parametrized.network for k, own in self.experiments.items() if k is not None
        }
        return bounding_network(self.parametrized, every)

    @cached_property
    def asked(self) -> Problem:
        """The problem without the new samples of the target."""
        new = 0 if self.target is None else self.target.new
        if not new:
            return self.parametrized
        network = self.parametrized.network.with_samples(self.parametrized.network.m - new)
        names = Names(network, self.parametrized.names.given)
        return replace(self.parametrized, network=network, names=names)

    @cached_property
    def about(self) -> str:
        """What ranks at given parameters are about; "" if ranks are generic."""
        if self.parametrized.network.own_point is None:
            return ""
        return about_parameters(self.is_exact, bool(self.target and self.target.new))

    @cached_property
    def is_exact(self) -> bool:
        """Whether ranks at given parameters hold for all nearby.

        No direction is left free, but those of weights without any effect on the pattern there.
        """
        known = self.effective
        full = self.allocation.size if known is None else int(known.sum())
        return self.is_whole and self.rank.rank == full

    @property
    def is_plain(self) -> bool:
        """Whether each element is a single number: a matroid."""
        return self.kinds == ("entries",)

    @property
    def of_units(self) -> bool:
        """Whether each element is a hidden unit."""
        return self.kinds == ("units",)

    @cached_property
    def unit(self) -> int:
        """Common denominator of the prices."""
        return lcm(*(price.denominator for price in self.prices))

    @cached_property
    def sizes(self) -> list[int]:
        """Number of the numbers of each element."""
        found = np.zeros(len(self.elements) + 1, np.int64)
        for _, inside in self.owners:
            for of in inside:
                found += np.bincount(of.ravel(), minlength=len(found))
        return found[:-1].tolist()  # type: ignore[no-any-return]

    @property
    def count(self) -> int:
        """Number of all numbers that may be recorded."""
        return self.count_of(self.allowed)

    def count_of(self, elements: Iterable[int]) -> int:
        """Number of the numbers of some elements, with their stimulations."""
        chosen = frozenset(elements)
        return sum(self.sizes[k] for k in chosen) * (1 + len(chosen.intersection(self.drives)))

    def restricted(self, chosen: frozenset[int]) -> RecordingQuestion:
        """The question in which only some elements may be recorded, and some units driven."""
        others = frozenset(range(len(self.elements))) - chosen
        drives = {k: drive for k, drive in self.drives.items() if k in chosen}
        return replace(self, must=frozenset(), forbidden=others, caps=(), drives=drives)

    @cached_property
    def about_target(self) -> RecordingQuestion:
        """The question whose elements are those of the target."""
        assert self.target is not None
        elements = self.target.elements
        return replace(
            self, kinds=("target",), elements=elements, prices=(Fraction(1),) * len(elements),
            must=frozenset(), forbidden=frozenset(), caps=(), owners=self.target.owners,
            target=None, stream=f"{self.stream}/target", drives={},
        )  # fmt: skip

    def cost(self, elements: Sequence[int] | frozenset[int]) -> Fraction:
        """Total price."""
        return sum((self.prices[k] for k in elements), Fraction(0))

    def units(self, elements: Sequence[int]) -> list[int]:
        """Prices in units of 1/`unit`."""
        return [int(self.prices[k] * self.unit) for k in elements]

    # -- the rows --------------------------------------------------------------------------

    def rows(
        self, point: Point, elements: Sequence[int] | None = None
    ) -> tuple[Residues, np.ndarray]:
        """The rows of some elements, or of all allowed ones, at a point over GF(p).

        Returns
        -------
        ndarray of int64, shape (numbers, r)
        owner : ndarray of int, shape (numbers,)
            The element of each row.
        """
        network, cells = self.parametrized.network, self.allocation.cells
        wanted = np.zeros(len(self.elements) + 1, bool)
        wanted[list(self.allowed if elements is None else elements)] = True
        tables, owners = [np.zeros((0, len(cells)), np.int64)], [np.zeros(0, np.int64)]
        for source, inside in self.owners:
            units = [np.flatnonzero(wanted[of].any(axis=1)) for of in inside]
            some = sum(map(len, units))
            if not some:
                continue
            check_size(
                network, len(cells), sum(int(wanted[of].sum()) for of in inside),
                per_entry=FOR_GROUPS, reading=source, share=some / sum(map(len, inside)),
                at_once=entries_at_once(network),
            )  # fmt: skip
            found = reading_tables(network, source, point, cells, units)
            for table, of, chosen in zip(found, inside, units, strict=True):
                owner = of[chosen].ravel()
                kept = wanted[owner]
                tables.append(table[kept])
                owners.append(owner[kept])
        return np.concatenate(tables), np.concatenate(owners)

    def point(self, p: int, number: int) -> Point:
        """A random point."""
        network = self.parametrized.network
        if self.drive is not None:
            return self.drive.point(network, p, number)
        return random_point(network, p, number, self.parametrized.support)

    def span(
        self, p: int, number: int, bound: int, used: list[int] | None = None,
    ) -> Span:  # fmt: skip
        """The span of the rows of all allowed elements at a point, in all samples.

        Parameters
        ----------
        p, number : int
        bound : int
            An upper bound of its dimension.
        used : list of int, optional
            Numbers of elements that span it are added.
        """
        found: Span | None = None
        for k, own in self.experiments.items():
            if found is not None and found.rank >= bound:
                break
            before = 0 if found is None else found.rank
            some = None if used is None else list[int]()
            found = span_at(own, own.point(p, number), bound, some, found)
            if used is not None and some and found.rank > before:
                used += [*some, *([] if k is None else [k])]
        assert found is not None
        return found

    @cached_property
    def bits(self) -> int:
        """Number of bits of the primes of random points."""
        return prime_bits(jacobian_of(self.bounding), max(1, self.rank.rank), below=RARE)

    def points(self) -> Iterator[tuple[int, int]]:
        """Random primes and point numbers, without end."""
        own = self.parametrized.network.own_point
        return random_points(self.stream, self.bits, ChosenNumbers() if own is None else own.given)

    def rank_of(
        self, elements: frozenset[int] | None = None, spanning: list[frozenset[int]] | None = None
    ) -> GenericRank:
        """Generic rank of the rows of some elements, or of all allowed ones.

        Of all allowed ones, elements that span their rows at a point of the largest rank are added
        to `spanning`.
        """
        size = self.allocation.size
        chosen = self.allowed if elements is None else sorted(elements)
        part = self if elements is None or not self.drives else self.restricted(elements)
        bound = min(size, self.count_of(chosen))
        if self.effective is not None:
            bound = min(bound, int(self.effective.sum()))

        largest = -1

        def rank_of(point: Point) -> int:
            nonlocal largest
            if elements is None or self.drives:
                used = list[int]()
                found = part.span(point.p, point.seed, bound, used).rank
                if found > largest and spanning is not None:
                    largest, spanning[:] = found, [frozenset(used)]
                return found
            return modular_rank(self.rows(point, chosen)[0], point.p)

        network = self.parametrized.network
        return rank_at_points(
            network, bound, rank_of, support=self.parametrized.support, seed=self.stream,
            bounding=self.bounding,
        )  # fmt: skip

    @cached_property
    def effective(self) -> np.ndarray | None:
        """Which weights may have an effect on what is recorded; None if it is of all.

        Of states it is known with ReLU alone.
        """
        on_states = STATES in dict(self.owners)
        if on_states and self.parametrized.network.own_point is None:
            return None
        if self.drives:
            every = [own.effective for own in self.experiments.values()]
            return np.any([own for own in every if own is not None], axis=0)
        allocation, support = self.allocation, self.parametrized.support
        return have_effect(allocation.network, allocation.cells, support, on_states=on_states)

    @cached_property
    def _ranked(self) -> tuple[GenericRank, frozenset[int]]:
        spanning = list[frozenset[int]]()
        found = self.rank_of(spanning=spanning)
        return found, spanning[0] if spanning else frozenset(self.allowed)

    @property
    def rank(self) -> GenericRank:
        """ρ, the generic rank of all rows."""
        return self._ranked[0]

    @property
    def spanning(self) -> frozenset[int]:
        """Numbers of elements that have the rank ρ, the required ones among them.

        They are known with ρ, before any choice.
        """
        return self._ranked[1] | self.must

    @cached_property
    def rank_of_must(self) -> int:
        """Generic rank of the required elements."""
        return self.rank_of(self.must).rank if self.must else 0

    @cached_property
    def point_error(self) -> Fraction:
        """Bound on the probability that given elements miss their generic rank at a point.

        It includes a missed dependence of a number on a weight there:
        `algebra.plugins.circuits.blocks`.
        """
        network = jacobian_of(self.bounding)
        units = sum(len(of) for _, inside in self.owners for of in inside)
        samples = min(SEEN, network.m)
        seen = deficit_error(network, 1, bits=self.bits) ** samples
        missed = units * self.allocation.size * seen
        error = deficit_error(network, max(1, self.rank.rank), bits=self.bits) + missed
        if self.target is not None:
            # The ranks of the target, and of its union with all and with a cheapest recording.
            error += 3 * deficit_error(network, max(1, self.allocation.size), bits=self.bits)
        return error

    # -- the problems ----------------------------------------------------------------------

    def classes(self, kind: str) -> list[object]:
        """The line or population that each element belongs to, for one kind of cap."""
        if kind == "row":
            return [element.unit for element in self.elements]
        if kind == "column":
            return [(element.step, element.sample) for element in self.elements]
        return [(element.kind, element.axis) for element in self.elements]

    def systems(self, elements: Sequence[int], used: frozenset[int]) -> list[System]:
        """The caps on some elements if other elements are used already."""
        found: list[System] = []
        for kind, number in self.caps:
            of = self.classes(kind)
            index = {key: k for k, key in enumerate(dict.fromkeys(of[k] for k in elements))}
            taken = Counter(of[k] for k in used)
            found.append(([index[of[k]] for k in elements], [number - taken[key] for key in index]))
        return found

    def groups(
        self, p: int, number: int, check: Check | None = None, sizes_only: bool = False
    ) -> SpanningProblem:
        """The spanning problem of groups of rows at a point; groups are numbered as `allowed`.

        `check` is called with all rows that are computed.  With `sizes_only` nothing is computed
        to bound the ranks of groups but the numbers of their rows.
        """
        place = {k: i for i, k in enumerate(self.allowed)}
        groups = groups_at(self, self.point(p, number), check, sizes_only)
        return SpanningProblem(
            groups,
            self.units(self.allowed),
            self.rank.rank,
            frozenset(place[k] for k in self.must),
            self.systems(self.allowed, frozenset()),
            groups.indispensable,
        )

    @cached_property
    def is_whole(self) -> bool:
        """Whether the target is determined only by what determines all that may be recorded."""
        if self.target is None or self._is_in_target:
            return True
        size = self.allocation.size
        if self.rank.rank == size:
            at = self.point(self.rank.p, self.rank.seed)
            if span_at(self.about_target, at, size).rank == size:
                # Both have the largest rank, proved at this point.
                return True
        return self._determined == self.rank.rank

    @cached_property
    def _determined(self) -> int:
        """dim V at the first point."""
        [(p, number)] = islice(self.points(), 1)
        return self.determined_rank(p, number)

    @property
    def _is_in_target(self) -> bool:
        """Whether all numbers that may be recorded belong to the target."""
        assert self.target is not None
        if self.drives:
            return False
        known = dict(self.target.owners)
        allowed, last = list(self.allowed), len(self.target.elements)
        return all(
            source in known
            and all(
                not (np.isin(of, allowed) & (aim == last)).any()
                for of, aim in zip(inside, known[source], strict=True)
            )
            for source, inside in self.owners
        )

    def determined_rank(self, p: int, number: int) -> int:
        """dim V at a point (`algebra.plugins.circuits.target`)."""
        if self._is_in_target:
            return self.rank.rank
        whole = self.span(p, number, self.rank.rank)
        return determined_dimension(self, self.point(p, number), whole)

    def least_by_numbers(self) -> tuple[int, tuple[int, int]]:
        """A lower bound of all costs (in `units`) from numbers of rows alone, and its point.

        What is recorded has at least as many numbers as the part of the target that everything
        determines has dimensions at this point.
        """
        [(p, number)] = islice(self.points(), 1)
        size = self.rank.rank if self.is_whole else self._determined
        problem = self._containing(p, number, np.zeros((size, 0), np.int64), sizes_only=True)
        return problem.quick_bound(problem.whole) or 0, (p, number)

    def containing(self, p: int, number: int, check: Check | None = None) -> ContainingProblem:
        """The problem of the target at a point; groups are numbered as `allowed`."""
        whole = self.span(p, number, self.rank.rank)
        if self.is_whole:
            vectors = whole.rows
        else:
            vectors = determined_part(self, self.point(p, number), whole)
        return self._containing(p, number, vectors, check)

    def _containing(
        self, p: int, number: int, vectors: Residues, check: Check | None = None,
        *, sizes_only: bool = False,
    ) -> ContainingProblem:  # fmt: skip
        place = {k: i for i, k in enumerate(self.allowed)}
        given = (
            self.units(self.allowed), len(vectors), frozenset(place[k] for k in self.must),
            self.systems(self.allowed, frozenset()),
        )  # fmt: skip
        if not self.drives:
            return ContainingProblem(
                groups_at(self, self.point(p, number), check, sizes_only), *given, vectors=vectors
            )
        parts = [
            groups_at(own, own.point(p, number), check, sizes_only=True)
            for own in self.experiments.values()
        ]
        sizes = parts[0].sizes

        def cell(r: int, s: int) -> Residues:
            return parts[s].part(r)

        groups = pair_groups(cell, sizes, len(parts) - 1, self.allocation.size, p)
        return PairedProblem(groups, *given, vectors=vectors, cell=cell, sizes=sizes)

    def problem_at(self, p: int, number: int) -> CappedProblem:
        """The capped problem of single rows at a point, the required rows contracted.

        Elements are numbered as `free`.
        """
        table, owner = self.rows(self.point(p, number))
        place = {int(k): i for i, k in enumerate(owner)}
        # An entry that belongs to the target is not recorded: its row is zero.
        table = np.concatenate([table, np.zeros((1, table.shape[1]), np.int64)])
        order = [place.get(k, len(table) - 1) for k in (*self.free, *sorted(self.must))]
        matroid, _ = LinearMatroid(table[order].T, p).contract(range(len(self.free), len(order)))
        free = len(self.free)
        return CappedProblem(
            matroid.columns[:, :free], p,
            self.systems(self.free, self.must) or [([0] * free, [free])],
            self.units(self.free), self.rank.rank - self.rank_of_must,
        )  # fmt: skip


def recording_question(
    problem: Problem,
    what: str | Sequence[str] = "outputs",
    *,
    costs: Mapping[str, object] | None = None,
    must: Sequence[str] = (),
    forbidden: Sequence[str] = (),
    caps: Mapping[str, int] | None = None,
    target: str | Sequence[str] = (),
    stimulate: str | Sequence[str] = (),
    seed: int = 0,
    stream: str = "record",
) -> RecordingQuestion:
    """Check a question.

    Parameters
    ----------
    problem : Problem
        With a fixed allocation, or updates, of which the parameters are to be determined.
    what : str or sequence of str
        Kinds of elements: see `algebra.plugins.circuits.elements.ELEMENT_KINDS`.
    costs : mapping of str to number, optional
        By name of an element, or by a pattern for several; exact (see
        `algebra.linalg.numbers.exact_number`); 1 by default.
    must, forbidden : sequence of str, optional
        Names, or patterns, of required, and of forbidden elements.
    caps : mapping, optional
        At most so many elements of a population ("matrix"); of entries also of one output ("row")
        and of one sample ("column").
    target : str or sequence of str, optional
        The activities to be determined (`algebra.plugins.circuits.target.with_target`).
    stimulate : str or sequence of str, optional
        Names of units that may be driven, or patterns
        (`algebra.plugins.circuits.stimulation.stimulations_of`).
    seed : int, optional
    stream : str, optional
        Random points are derived from it and the seed.

    Raises
    ------
    InputError
        If the question contradicts itself, or the network has no such elements.
    """
    kinds = check_kinds(what)
    relays = problem.network.relays(problem.support)
    problem = by_parameters(problem)
    elements, owners = elements_of(problem.network, kinds)
    recordable = len(elements)
    if stimulate:
        if any(name == "B" for name, _ in getattr(problem.network, "updates", ())):
            raise InputError(
                "`stimulate`: B learns by an update, which would change the effect of the drive as "
                "well; learn its entries one by one"
            )
        elements += stimulations_of(problem.network, problem.names, stimulate)
    known = numbers_of(elements, problem.names)

    costs = given_mapping(costs, "costs", '{"output 0": 2}')
    caps = given_mapping(caps, "caps", '{"row": 3}')

    def numbers(names: Sequence[str], option: str) -> list[int]:
        given = given_list(names, option, '["output 0"]')
        return list(dict.fromkeys(k for name in given for k in numbers_named(name, option)))

    def numbers_named(name: object, option: str) -> list[int]:
        found = fitting(name, known)
        if not found:
            first, last = elements[0].name, elements[-1].name
            raise InputError(
                f"`{option}` ({shown(name)}) is none of the {len(elements)} elements that can be "
                f"recorded as {', '.join(kinds)}: {first} to {last}"
            )
        return found

    wanted, never = numbers(must, "must"), numbers(forbidden, "forbidden")
    # Of a relay nothing is learned: it is no candidate, unless it is recorded anyway.
    others = {k for k, element in enumerate(elements) if not is_relay(element, relays)}
    if others.difference(never):
        never += sorted(set(range(len(elements))).difference(others, wanted, never))
    for k in wanted:
        if k in never:
            raise InputError(f"{elements[k].name} both must and must not be recorded")
    if set(range(recordable)) <= set(never):
        raise InputError("`forbidden`: nothing is left that may be recorded")
    prices = [Fraction(1)] * len(elements)
    for name, value in costs.items():
        with ErrorsAt(f"`costs` ({name})"):
            price = exact_number(value, "price")
        if price < 0:
            raise InputError(f"`costs` ({name}: {value}) must not be negative")
        for k in numbers_named(name, "costs"):
            prices[k] = price
    limits = _caps(caps, kinds)
    aim: RecordingTarget | None = None
    if target:
        network, owners, aim = with_target(problem.network, problem.names, target, elements, owners)
        check_target(aim, owners, frozenset(wanted))
        named = {known[word] for word in aim.given if word in known}
        for k in wanted:
            if k in named:
                raise InputError(
                    f"`target` ({elements[k].name}) is recorded in any case; name an activity that "
                    "is not"
                )
        network.need_ranks("a target", problem.support)
        if network is not problem.network:
            names = Names(network, problem.names.given)
            problem = replace(problem, network=network, names=names)
    drives = {
        k: Drive(element.unit, problem)
        for k, element in enumerate(elements[recordable:], recordable)
        if element.unit is not None
    }
    question = RecordingQuestion(
        problem, kinds, elements, tuple(prices), frozenset(wanted), frozenset(never), limits,
        f"{stream}/{seed}", owners, aim, drives,
    )  # fmt: skip
    for kind, number in limits:
        of = question.classes(kind)
        most, count = Counter(of[k] for k in wanted).most_common(1)[0] if wanted else (None, 0)
        if count > number:
            first = next(elements[k].name for k in wanted if of[k] == most)
            what = plural(count, f"{count} element")
            raise InputError(
                f"`must`: {what} of one {_CAPPED[kind]} ({first}, …) to be recorded, its cap is "
                f"{number}"
            )
    return question


def _caps(caps: Mapping[str, int], kinds: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    for kind in caps:
        known_name(kind, "caps", CAPS)
        if kind != "matrix" and kinds != ("entries",):
            raise InputError(
                f"`caps`: a cap on each {kind} is one on entries of an output or a sample; of "
                f"{', '.join(kinds)} a population is capped ('matrix')"
            )
    return tuple(
        (kind, whole_number(caps[kind], f"caps.{kind}", 0, MOST_CAP))
        for kind in CAPS
        if kind in caps
    )
