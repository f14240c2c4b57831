"""The theorems, as stated, compared with the exact verdict over many allocations.

All allocations with r learnable weights in one matrix are taken, or uniformly random ones. The
Jacobian of all cells of the matrix is computed once at a random point over GF(p); an allocation's
rank is that of a selection of its columns, and thousands of selections are eliminated in one batch.
Full rank proves that an allocation is not minimal; the others are tested at further points and
primes until the probability of an error on any of them is below 2^-60.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, islice
from itertools import count as count_up
from math import comb
from typing import Any

import numpy as np

from algebra.documents import Document
from algebra.errors import InputError
from algebra.linalg.numbers import nearest_double
from algebra.linalg.primes import random_prime
from algebra.linalg.ranks import batched_rank
from algebra.networks.base import Network
from algebra.networks.protocols import jacobian_of
from algebra.plugins.papers.theorems.corrected import CORRECTED
from algebra.plugins.papers.theorems.statements import THEOREMS, VERDICT_OF_CODE, Theorem
from algebra.problems.allocation import Cell
from algebra.ranks.deficits import TARGET_ERROR, deficit_error, prime_bits
from algebra.ranks.generic_rank import generic_rank, network_rank
from algebra.ranks.jacobian import all_cells, columns_at, random_point
from algebra.results import Result, attribute_columns, named
from algebra.time_limits import OutOfTime, check_time, unlimited

# With more allocations, some must be drawn.
LARGEST = 5_000_000
# Numbers of matrix entries eliminated, and of random keys drawn, in one batch.
_ENTRIES = 2_000_000
_KEYS = 4_000_000
_FIRST = 16

# The two ways in which a theorem can be wrong: fields of `TheoremAudit`.
_WRONG = ("says_maximal_but_minimal", "says_minimal_but_not")
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Counterexample:
    """An allocation on which a theorem is wrong.

    Attributes
    ----------
    theorem, says : str
        "maximal" for a minimal allocation, or "minimal" for one that is not.
    cells : tuple of cells
        The first one that uses the fewest rows and columns.
    rank, equations : int
        Generic ranks of its Jacobian and of the whole network's.
    points : tuple of (int, int)
        Primes and numbers of points (`algebra.ranks.jacobian.random_point`): one point where the
        rank equals the number of equations, or all points, if it is smaller at each.
    """

    theorem: str
    says: str
    cells: tuple[Cell, ...]
    rank: int
    equations: int
    points: tuple[tuple[int, int], ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return named(self, "theorem", "says", "cells", "rank", "equations", "points")

    def __str__(self) -> str:
        cells = " ".join(f"{name}[{i},{j}]" for name, i, j in self.cells)
        return (
            f"{self.theorem} says {self.says}, wrongly, of {cells}: "
            f"rank {self.rank} of {self.equations}"
        )


@dataclass(frozen=True)
class TheoremAudit:
    """The comparison of one theorem with the exact verdicts.

    Attributes
    ----------
    theorem : str
    checked, agree, silent : int
    says_maximal_but_minimal, says_minimal_but_not : int
    examples : tuple of Counterexample
        The smallest ones, at most one for each kind of error.
    """

    theorem: str
    checked: int
    agree: int
    silent: int
    says_maximal_but_minimal: int
    says_minimal_but_not: int
    examples: tuple[Counterexample, ...]

    @property
    def wrong(self) -> int:
        """Number of allocations on which it is wrong."""
        return self.says_maximal_but_minimal + self.says_minimal_but_not


@dataclass(frozen=True, repr=False)
class AuditResult(Result):
    """The result of an audit.

    Attributes
    ----------
    network : Network
    matrix : str
    budget : int
    checked : int
        Allocations.
    total : int
        Number of allocations that exist.
    minimal : int
        Number of checked allocations that are minimal.
    theorems : tuple of TheoremAudit
        The theorems on this matrix.
    error_bound : Fraction
        Bound on the probability that any allocation is misjudged.
    seed : int
    requested : int
        Allocations requested; more than checked if time was up.
    """

    network: Network
    matrix: str
    budget: int
    checked: int
    total: int
    minimal: int
    theorems: tuple[TheoremAudit, ...]
    error_bound: Fraction
    seed: int
    requested: int

    def columns(self) -> dict[str, list[Any]]:
        """One row for each theorem."""
        names = ("theorem", "checked", "agree", "silent", *_WRONG)
        return {
            "matrix": [self.matrix for _ in self.theorems],
            **attribute_columns(self.theorems, *names),
        }

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob audit``."""
        keys = {"agree": "agree", "silent": "silent", **{n: f"theorem_{n}" for n in _WRONG}}
        return {
            **named(self, "network", "matrix", "budget", "checked", "total", "minimal"),
            **{key: {t.theorem: getattr(t, n) for t in self.theorems} for n, key in keys.items()},
            "examples": [e.to_dict() for t in self.theorems for e in t.examples],
            "error_bound": nearest_double(self.error_bound),
            "seed": self.seed,
        }

    def document(self) -> Document:
        """How many allocations, and how often theorems are wrong of them."""
        from algebra.plugins.papers.document import audit_explanation, audit_parts

        facts = {
            **named(self, "matrix", "budget", "checked", "total", "minimal"),
            "wrong": sum(t.wrong for t in self.theorems),
        }
        why = audit_explanation([self], self.seed)
        return Document(f"theorems on {self.matrix}", facts, audit_parts(self), why, "strong")


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """The audits of several matrices of one network, as a sequence.

    Attributes
    ----------
    matrices : tuple of AuditResult
        One for each matrix.
    seed : int
    requested : int
        Allocations requested; more than checked if time was up.
    """

    matrices: tuple[AuditResult, ...]
    seed: int
    requested: int

    def __iter__(self) -> Iterator[AuditResult]:
        return iter(self.matrices)

    def __len__(self) -> int:
        return len(self.matrices)

    def __getitem__(self, k: int) -> AuditResult:
        return self.matrices[k]

    @property
    def checked(self) -> int:
        """Allocations checked, over the matrices."""
        return sum(a.checked for a in self.matrices)

    @property
    def is_partial(self) -> bool:
        """Whether time was up: more allocations were requested than checked."""
        return self.checked < self.requested

    @property
    def examples(self) -> tuple[Counterexample, ...]:
        """Allocations on which a theorem is wrong, at most two for each theorem and matrix."""
        return tuple(e for a in self.matrices for t in a.theorems for e in t.examples)

    def _total(self, name: str) -> int:
        return sum(getattr(t, name) for a in self.matrices for t in a.theorems)

    def document(self) -> Document:
        """Totals over the matrices, and each of them."""
        from algebra.plugins.papers.document import audit_explanation, audit_parts

        facts = {
            "network": str(self.matrices[0].network) if self.matrices else None,
            "matrices": " ".join(a.matrix for a in self.matrices),
            "checked": f"{self.checked} of {self.requested}" if self.is_partial else self.checked,
            "agree": self._total("agree"),
            "silent": self._total("silent"),
            "wrong": self._total("wrong"),
            "seed": self.seed,
        }
        parts = tuple(part for a in self.matrices for part in audit_parts(a))
        title = f"{self.checked} allocations: theorems wrong {facts['wrong']} times"
        if not any(a.theorems for a in self.matrices):
            facts |= dict.fromkeys(("agree", "silent", "wrong"))
            title = f"{self.checked} allocations: no theorem applies"
        why = audit_explanation(self.matrices, self.seed)
        return Document(title, facts, parts, why, tone="strong")

    def columns(self) -> dict[str, list[Any]]:
        """One row for each matrix and theorem."""
        parts = [a.columns() for a in self.matrices]
        return {name: [v for p in parts for v in p[name]] for name in (parts[0] if parts else ())}

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob audit``: totals, and each of the matrices."""
        return {
            "checked": self.checked,
            "agree": self._total("agree"),
            "silent": self._total("silent"),
            **{f"theorem_{name}": self._total(name) for name in _WRONG},
            **named(self, "examples", "matrices", "seed"),
        }


def audit(
    network: Network,
    matrix: str,
    *,
    budget: int | None = None,
    count: int | None = None,
    corrected: bool = False,
    support: Mapping[str, np.ndarray] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> AuditResult:
    """Audit the theorems over allocations of one matrix.

    Parameters
    ----------
    network : Network
        Linear.
    matrix : str
        The matrix that contains all learnable weights.
    budget : int, optional
        Number of learnable weights; dm by default, as the theorems assume.
    count : int, optional
        Number of allocations drawn uniformly at random; by default all of them.
    corrected : bool, optional
        Also audit the corrected theorems (`algebra.plugins.papers.theorems.corrected`), which is
        much slower if they search budgets.
    support : mapping of str to mask, optional
    seed : int, optional
    progress : callable, optional
        Called with (done, all) after each chunk.

    Returns
    -------
    AuditResult
        It has fewer allocations than requested if the time limit of the call is over, or after an
        interrupt.

    Raises
    ------
    InputError
        If the matrix or budget does not fit, or there are too many allocations.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearFeedForward
    >>> found = audit(LinearFeedForward(q=3, widths=(3,), d=2, m=2), "W1")
    >>> found.checked, found.theorems[1].says_maximal_but_minimal
    (126, 9)
    """
    cells = _cells(network, matrix, support)
    size = network.outputs if budget is None else budget
    total = _total(cells, matrix, size, count)
    whole = network_rank(network, support, seed)
    checked = total if count is None else count
    tallies = {t.name: _Tally(t) for t in _speaking(network, matrix, size, corrected)}
    shape = network.shapes[matrix]
    places = np.array([cell[1] * shape[1] + cell[2] for cell in cells])
    ranks = _Ranks(network, matrix, cells, whole.rank, support, seed, checked)
    chunk = max(1, min(_ENTRIES // (network.outputs * size), _KEYS // len(cells)))
    done = minimal = 0
    try:
        for chosen in _selections(len(cells), size, count, seed, chunk):
            check_time()
            is_minimal = ranks.are_minimal(chosen)
            flat = np.zeros((len(chosen), shape[0] * shape[1]), np.int8)
            np.put_along_axis(flat, places[chosen], 1, axis=1)
            masks = flat.reshape(len(chosen), *shape)
            codes = [tally.theorem.codes(network, matrix, masks) for tally in tallies.values()]
            with unlimited():
                # A chunk counts as a whole, or not at all.
                for tally, conclusions in zip(tallies.values(), codes, strict=True):
                    tally.add(conclusions, is_minimal, chosen, masks)
                minimal += int(is_minimal.sum())
                done += len(chosen)
            if progress is not None:
                progress(done, checked)
    except (OutOfTime, KeyboardInterrupt):
        pass

    def evidence(word: int, theorem: str, places: np.ndarray) -> Counterexample:
        found = tuple(cells[int(k)] for k in places)
        known = generic_rank(network, found, support=support, upper=whole.rank, seed=seed)
        points = known.points if known.rank < whole.rank else ((known.p, known.seed),)
        return Counterexample(theorem, VERDICT_OF_CODE[word], found, known.rank, whole.rank, points)

    with unlimited():
        found = tuple(t.result(evidence) for t in tallies.values())
    return AuditResult(
        network=network,
        matrix=matrix,
        budget=size,
        checked=done,
        total=total,
        minimal=minimal,
        theorems=found,
        error_bound=whole.error + (ranks.error if minimal else Fraction(0)),
        seed=seed,
        requested=checked,
    )


def _cells(network: Network, matrix: str, support: Mapping[str, np.ndarray] | None) -> list[Cell]:
    """The weights of one matrix that exist."""
    network.shape_of(matrix)
    return [cell for cell in all_cells(network, support) if cell[0] == matrix]


def _total(cells: Sequence[Cell], matrix: str, size: int, count: int | None) -> int:
    """Number of allocations; refused if they are too many to enumerate."""
    if not 0 < size <= len(cells):
        raise InputError(f"`budget` ({size}) must lie between 1 and {matrix}'s {len(cells)} cells")
    total = comb(len(cells), size)
    if count is None and total > LARGEST:
        raise InputError(
            f"there are {total} allocations of {size} of {len(cells)} cells, more than {LARGEST}; "
            "draw some at random with `count`"
        )
    if count is not None and count < 1:
        raise InputError(f"`count` ({count}) must be at least 1")
    return total


def _speaking(network: Network, matrix: str, size: int, corrected: bool) -> list[Theorem]:
    """The theorems that apply to this number of weights in a matrix."""
    return [
        t
        for t in [*THEOREMS.values(), *(CORRECTED.values() if corrected else ())]
        if matrix in t.matrices(network)
        and not t.gaps(network)
        and (t.any_size or size == network.outputs)
    ]


def _selections(
    cells: int, size: int, count: int | None, seed: int, chunk: int
) -> Iterator[np.ndarray]:
    """Chunks of sorted selections of `size` of the cells, all or at random.

    The first chunks are small, so that results come soon; the draws do not depend on the chunks.
    """
    sizes = (min(chunk, _FIRST << k) for k in count_up())
    if count is None:
        every = combinations(range(cells), size)
        while True:
            flat = np.fromiter(chain.from_iterable(islice(every, next(sizes))), np.int32)
            if not flat.size:
                return
            yield flat.reshape(-1, size)
    rng = np.random.default_rng(seed)
    left = count
    while left:
        now = min(next(sizes), left)
        keys = rng.integers(0, 2**63, size=(now, cells))
        picked = np.argpartition(keys, size - 1, axis=1)[:, :size]
        yield np.sort(picked, axis=1).astype(np.int32)
        left -= now


class _Ranks:
    """Decides which selections of columns are deficient."""

    def __init__(
        self,
        network: Network,
        matrix: str,
        cells: list[Cell],
        equations: int,
        support: Mapping[str, np.ndarray] | None,
        seed: int,
        checked: int,
    ) -> None:
        self.equations = equations
        rng = random.Random(f"audit/{seed}")
        self.points: list[tuple[int, np.ndarray]] = []
        once, error = deficit_error(jacobian_of(network), equations), Fraction(1)
        # Enough points to make all errors together unlikely.
        while error * checked >= TARGET_ERROR:
            p = random_prime(rng, prime_bits(jacobian_of(network), equations))
            point = random_point(network, p, rng.randrange(1 << 32), support)
            self.points.append((p, columns_at(network, point, cells)))
            error *= once
        self.error = error * checked

    def are_minimal(self, chosen: np.ndarray) -> np.ndarray:
        """For each selection, whether its rank is below the network's at every point."""
        open_ = np.arange(len(chosen))
        if chosen.shape[1] >= self.equations:
            for p, matrix in self.points:
                found = batched_rank(matrix.T[chosen[open_]], p)
                open_ = open_[found < self.equations]
                if not open_.size:
                    break
        result = np.zeros(len(chosen), bool)
        result[open_] = True
        return result


class _Tally:
    """Counts for one theorem."""

    def __init__(self, theorem: Theorem) -> None:
        self.theorem = theorem
        self.checked = self.agree = self.silent = 0
        self.wrong = {1: 0, -1: 0}
        # Number of rows and columns touched, and the cells' positions.
        self.smallest: dict[int, tuple[int, np.ndarray]] = {}

    def add(
        self, codes: np.ndarray, minimal: np.ndarray, chosen: np.ndarray, masks: np.ndarray
    ) -> None:
        truth = np.where(minimal, -1, 1)
        self.checked += len(codes)
        self.silent += int((codes == 0).sum())
        self.agree += int((codes == truth).sum())
        for word in (1, -1):
            mistaken = np.flatnonzero((codes == word) & (truth != word))
            if not len(mistaken):
                continue
            self.wrong[word] += len(mistaken)
            at = masks[mistaken]
            lines = at.any(axis=2).sum(axis=1) + at.any(axis=1).sum(axis=1)
            first = int(lines.argmin())
            if word not in self.smallest or lines[first] < self.smallest[word][0]:
                self.smallest[word] = (int(lines[first]), chosen[mistaken[first]])

    def result(self, evidence: Callable[[int, str, np.ndarray], Counterexample]) -> TheoremAudit:
        name = self.theorem.name
        return TheoremAudit(
            theorem=name,
            checked=self.checked,
            agree=self.agree,
            silent=self.silent,
            says_maximal_but_minimal=self.wrong[1],
            says_minimal_but_not=self.wrong[-1],
            examples=tuple(evidence(w, name, cells) for w, (_, cells) in self.smallest.items()),
        )
