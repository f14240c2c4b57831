r"""The generic root count N: the number of complex solutions of a generic instance.

If r equals the rank ρ of the whole Jacobian and the allocation is not minimal, a generic instance
has finitely many solutions, all simple, and their number N does not depend on the instance: the
solution variety {(instance, W)} is a graph over (instance without labels, W), hence irreducible,
and it maps generically finitely onto the variety of instances.  N is the degree of the core's ideal
at one random instance over GF(p).

The labels of the instance are computed from the student itself at random weights, so one solution
is known.  Therefore the block triangular form can be used: the blocks of the core are counted one
after another, with the unknowns of earlier blocks set to that solution's values, which is a generic
point of the earlier blocks' solution variety (irreducible too, as an image).  N is the product over
the blocks.

If only a recurrent matrix learns, the same points are those of a degeneracy locus in far fewer
unknowns (`algebra.systems.degeneracy`): it is counted if a block of the core is large.  Where there
is no such locus (fewer samples than T b), the labels themselves are counted, polynomials of degree
T in the weights alone, if there are fewer weights than unknowns of the block: a Gröbner basis in
few unknowns of higher degree is faster than one of many quadrics.

N is counted modulo two random primes; two different counts are an error, and two equal ones are
wrong with a probability that `algebra.ranks.root_count_error` bounds.

If msolve is missing or too slow, a counter passed as an argument is used (numerical: see
`TraceEvidence`), and the result says so.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import comb, prod

import numpy as np

from algebra.declarations import DEGREE, LINEAR
from algebra.errors import InputError
from algebra.networks.base import Support
from algebra.polynomials.msolve.process import (
    MsolveDied,
    MsolveFailed,
    MsolveMissing,
    MsolveTimeout,
)
from algebra.polynomials.msolve.solver import quotient_degree
from algebra.problems.allocation import Allocation
from algebra.problems.laws.pinned import pinned_bits, pins, prime_for
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.root_count_error import (
    CountCertainty,
    by_primes,
    label_degree,
    proved,
)
from algebra.systems.core import Core
from algebra.systems.degeneracy import degeneracy_locus
from algebra.systems.forms import (
    DIRECT,
    SUMS_FORM,
    core_dimension,
    forms,
    preferred_form,
    unknown_count,
)
from algebra.systems.incidence import block_triangular_form
from algebra.systems.instances import modular_core, modular_instance
from algebra.time_limits import checked, phase
from algebra.words import plural
from algebra.work import share


class RootCountError(RuntimeError):
    """The generic root count could not be computed; the message gives the reason.

    Attributes
    ----------
    at_least : int or None
        Number of solutions that were found numerically.
    """

    def __init__(self, text: str, at_least: int | None = None) -> None:
        super().__init__(text)
        self.at_least = at_least


class RootCountLost(RootCountError):
    """The count failed because a child process died: a further attempt may succeed."""


# Text that accompanies every statement based on a trace test.
NUMERICAL = "numerical: monodromy, trace test"
# For blocks of the core with at most this many unknowns msolve is as fast as for a locus.
_SMALL_BLOCK = 10
# Largest number of terms of all labels together, were they dense, for which they are written out.
_MOST_TERMS = 200_000


@dataclass(frozen=True)
class TraceEvidence:
    """The result of a trace test: numerical evidence for a root count, not a proof.

    The numbers are texts, since nothing here computes with them.

    Attributes
    ----------
    points : int
        Points of the curve section whose sum was tested; N of them are solutions.
    residual : str
        Deviation of the sum from linearity, relative to its terms.
    tolerance : str
        The largest residual that passes.
    share : str
        The smallest share of a single point: the residual if such a point were missing.
    """

    points: int
    residual: str
    tolerance: str
    share: str


@dataclass(frozen=True)
class RootCount:
    """The generic root count and the method of counting.

    Attributes
    ----------
    value : int
        N.
    rule : str
        "linear" if elimination alone leaves one solution, otherwise "quotient degree" or, if
        counted numerically, "trace test".
    form : str
        The form whose core was counted, directly or as a degeneracy locus (for a trace test: the
        form that would have been used).
    blocks : tuple of int
        Number of solutions of each block of the core; N is their product.  (N,) for a
        degeneracy locus.
    primes : tuple of int
        Primes modulo which it was counted; empty for a trace test.
    seed : int
        It determines the instances.
    trace : TraceEvidence or None
        For a trace test.
    because : str
        For a trace test: the reason why no ideal's degree was computed.
    certainty : CountCertainty or None
        Error bound or proof; None for a count that is only claimed.
    """

    value: int
    rule: str
    form: str
    blocks: tuple[int, ...]
    primes: tuple[int, ...]
    seed: int
    trace: TraceEvidence | None = None
    because: str = ""
    certainty: CountCertainty | None = field(default=None, compare=False)

    @property
    def is_numerical(self) -> bool:
        """Whether it is based on a trace test."""
        return self.trace is not None

    @property
    def how(self) -> str:
        """The method of counting, in words."""
        if self.trace is not None:
            return (
                f"monodromy, trace test: residual {self.trace.residual} over "
                f"{self.trace.points} points; numerical, not a proof"
            )
        if self.rule == LINEAR:
            return f"the {self.form} form is linear after elimination"
        product = f"{' · '.join(map(str, self.blocks))}: " if len(self.blocks) > 1 else ""
        primes = " and ".join(map(str, self.primes))
        return f"{product}degree of the {self.form} core modulo {primes}"

    def __str__(self) -> str:
        return f"{self.value} ({self.how})"


# From an allocation, a support and a seed; raises `RootCountError` on failure.
RootCounter = Callable[[Allocation, Mapping[str, np.ndarray], int], RootCount]


def generic_root_count(
    allocation: Allocation,
    support: Mapping[str, np.ndarray] | None = None,
    *,
    seed: int = 0,
    timeout: float = 60.0,
    primes: int = 2,
    fallback: RootCounter | None = None,
    has_full_rank: bool = False,
    only_odd: bool = False,
) -> RootCount:
    """N of an allocation that is neither minimal nor over-complete.

    Parameters
    ----------
    allocation : Allocation
        Its number of cells and its rank are the network's generic rank.
    support : mapping of str to mask, optional
    seed : int, optional
    timeout : float, optional
        Seconds for each Gröbner basis.
    primes : int, optional
        Number of independent primes.
    fallback : callable, optional
        Counts if msolve is missing or does not finish (`numeric.tracking.root_count`).
    has_full_rank : bool, optional
        Whether it is known that the number of cells, the allocation's rank and the network's are
        equal; otherwise the ranks are computed.
    only_odd : bool, optional
        Whether an even N is of no use: then one prime is enough for it.

    Raises
    ------
    InputError
        If the number of solutions is not finite and positive; `MsolveMissing` if msolve is needed,
        is not installed and there is no fallback.
    RootCountError
        If it cannot be computed in the given time.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> generic_root_count(Allocation.rows(net, "W", [0])).value
    1
    """
    network = allocation.network
    if not has_full_rank:
        _need_full_rank(allocation, support, seed)
    if network.equations_are and network.affine_in(allocation.matrices):
        return _affine(seed)
    try:
        few = with_few_samples(allocation)
        return _modular_count(few, support, seed, timeout, primes, only_odd=only_odd)
    except (RootCountError, MsolveMissing) as error:
        if fallback is None or pins(support):
            # A numerical counter does not support exact numbers.
            raise
        try:
            return replace(fallback(allocation, support or {}, seed), because=str(error))
        except RootCountError as other:
            lost = isinstance(error, RootCountLost) or isinstance(other, RootCountLost)
            kind = RootCountLost if lost else RootCountError
            raise kind(f"{error}; {other}", other.at_least) from None


def _need_full_rank(
    allocation: Allocation, support: Mapping[str, np.ndarray] | None, seed: int
) -> None:
    """Refuse an allocation without finitely many solutions."""
    rank = network_rank(allocation.network, support, seed).rank
    own = allocation_rank(allocation, support, rank, seed).rank
    if own < rank:
        raise InputError(
            f"the allocation is minimal (rank {own} of {rank}): a generic instance has no solution"
        )
    if allocation.size > rank:
        raise InputError(
            f"{allocation.size} learnable weights meet {rank} independent equations: a generic "
            "instance has infinitely many complex solutions"
        )


def linear_root_count(
    allocation: Allocation,
    support: Mapping[str, np.ndarray] | None = None,
    *,
    seed: int = 0,
) -> RootCount | None:
    """N = 1 if elimination leaves a linear system, else None: no Gröbner basis is needed.

    It is tried only if counting makes it likely: one matrix learns, and the auxiliary unknowns of
    its rows (or columns) are as many as the equations.

    Parameters
    ----------
    allocation : Allocation
        As for `generic_root_count`.
    support : mapping of str to mask, optional
    seed : int, optional
    """
    network = allocation.network
    if network.equations_are and network.affine_in(allocation.matrices):
        return _affine(seed)
    if len(allocation.matrices) > 1:
        return None
    if not forms(network, allocation) or core_dimension(allocation) not in (0, None):
        return None
    form = preferred_form(allocation)
    p = prime_for(support, random.Random(f"root-count/{seed}"))
    allocation = with_few_samples(allocation)
    core, _ = modular_core(allocation, p, seed, form, support)
    if not core.is_linear:
        return None
    return _with_certainty(RootCount(1, LINEAR, form, (), (p,), seed), allocation, support)


def with_few_samples(allocation: Allocation) -> Allocation:
    """The allocation with only as many samples as determine all labels: the same solutions."""
    network = allocation.network
    if network.determining_samples == network.m:
        return allocation
    return Allocation(network.with_samples(network.determining_samples), allocation.cells)


def _affine(seed: int) -> RootCount:
    """N = 1, if the labels are affine in the learnable parameters."""
    certainty = proved("the labels are affine in what learns")
    return RootCount(1, LINEAR, DIRECT.name, (), (), seed, certainty=certainty)


def _with_certainty(roots: RootCount, allocation: Allocation, support: Support | None) -> RootCount:
    """The same count modulo primes, with its certainty."""
    if roots.rule == LINEAR and core_dimension(allocation) == 0:
        certainty = proved("linear at every stage, and of full rank modulo a prime")
    else:
        certainty = by_primes(
            allocation.network, allocation.matrices, allocation.size, roots.value,
            len(roots.primes), more_bits=pinned_bits(support),
        )  # fmt: skip
    return replace(roots, certainty=certainty)


@dataclass(frozen=True)
class _LocusCount:
    """Number of points of a degeneracy locus, and the degenerate ones that were removed."""

    value: int
    without: tuple[int, ...]


def _modular_count(
    allocation: Allocation,
    support: Mapping[str, np.ndarray] | None,
    seed: int,
    timeout: float,
    primes: int,
    *,
    only_odd: bool,
) -> RootCount:
    form = preferred_form(allocation)
    if form == SUMS_FORM.name and unknown_count(allocation, form) == allocation.size:
        # No value of the program is an unknown.
        need_short_labels(allocation)
    rng = random.Random(f"root-count/{seed}")
    used: list[int] = []
    found: list[tuple[int, ...]] = []
    # A degeneracy locus is preferred if it has no more unknowns than `most`.
    most, locus = 0, None
    for _ in range(primes):
        p = prime_for(support, rng)
        used.append(p)
        if locus:
            locus = _count_locus(allocation, support, p, seed, form, most, timeout, locus)
        if locus is None:
            core, root = modular_core(allocation, p, seed, form, support)
            if core.is_linear:
                roots = RootCount(1, LINEAR, form, (), tuple(used), seed)
                return _with_certainty(roots, allocation, support)
            blocks = _blocks(core)
            largest = max(len(unknowns) for _, unknowns in blocks)
            if not found and largest > _SMALL_BLOCK:
                most = largest - 1
                locus = _count_locus(allocation, support, p, seed, form, most, timeout)
                if locus is None and allocation.size < largest and has_short_labels(allocation):
                    form = DIRECT.name
                    core, root = modular_core(allocation, p, seed, form, support)
                    blocks = _blocks(core)
        found.append((locus.value,) if locus else _count_blocks(core, root, blocks, timeout))
        if only_odd and prod(found[0]) % 2 == 0:
            break
    if len({prod(count) for count in found}) != 1:
        raise RootCountError(f"the counts modulo {used} differ: {found}")
    roots = RootCount(prod(found[0]), DEGREE, form, found[0], tuple(used), seed)
    return _with_certainty(roots, allocation, support)


def _count_locus(
    allocation: Allocation,
    support: Mapping[str, np.ndarray] | None,
    p: int,
    seed: int,
    form: str,
    most: int,
    timeout: float,
    before: _LocusCount | None = None,
) -> _LocusCount | None:
    """N as the degree of a degeneracy locus; None if this is not applicable.

    If N was counted modulo another prime, only the points removed there are removed: the degree is
    then at least N, and equality proves that no more had to be removed.
    """
    instance = modular_instance(allocation, p, seed, support)
    locus = degeneracy_locus(instance, form, seed, most_unknowns=most)
    if locus is None or not locus.equations:
        return None
    if any(equation(*locus.root) != 0 for equation in locus.equations):
        raise RootCountError("the known solution is not on the degeneracy locus: a bug")
    if any(delta(*locus.root) == 0 for delta in locus.excluded):
        return None
    what = plural(len(locus.equations), f"{len(locus.equations)} minor")
    inside = plural(len(locus.unknowns), f"{len(locus.unknowns)} unknown")
    seconds = max(1, round(timeout))
    try:
        with phase(f"generic root count, a Gröbner basis of {what}"):
            without = before.without if before else ()
            degree = locus.degree(seconds, without)
            if before is None or degree != before.value:
                without = locus.degenerate(seconds)
                degree = locus.degree(seconds, without) if without else degree
    except MsolveTimeout:
        raise RootCountError(
            f"the Gröbner basis of {what} in {inside} was not finished in {share()}"
        ) from None
    except MsolveFailed:
        return None
    return _LocusCount(degree, without) if degree else None


def has_short_labels(allocation: Allocation) -> bool:
    """Whether the labels of a linear network, as polynomials in the weights, have few terms.

    Parameters
    ----------
    allocation : Allocation
        Of any network; False if it is not linear.
    """
    return allocation.network.chain() is not None and _terms(allocation) <= _MOST_TERMS


def need_short_labels(allocation: Allocation, most: int = _MOST_TERMS) -> None:
    """Refuse labels whose expansion as polynomials in the weights would take too long.

    Raises
    ------
    RootCountError
    """
    if _terms(allocation) > most:
        raise RootCountError(
            f"the labels are polynomials of degree {_degree(allocation)} in {allocation.size} "
            "parameters: too long to be written out"
        )


def _degree(allocation: Allocation) -> int:
    return label_degree(allocation.network, allocation.matrices)


def _terms(allocation: Allocation) -> int:
    """A bound of the number of terms of all labels."""
    degree = _degree(allocation)
    return comb(allocation.size + degree, degree) * allocation.network.outputs


def _blocks(core: Core) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Equations and unknowns of the core's blocks; a core that is not square is one block."""
    triangular = block_triangular_form(core.occurs, len(core.unknowns))
    if len(triangular.overdetermined.equations) or len(triangular.underdetermined.unknowns):
        return [(tuple(range(len(core.equations))), tuple(range(len(core.unknowns))))]
    return [(b.equations, b.unknowns) for b in triangular.blocks]


def _count_blocks(
    core: Core,
    root: tuple[int, ...],
    blocks: list[tuple[tuple[int, ...], tuple[int, ...]]],
    timeout: float,
) -> tuple[int, ...]:
    if any(equation(*root) != 0 for equation in checked(core.equations)):
        raise RootCountError("the known solution does not satisfy the core: a bug")
    counts = []
    field = core.system.ring
    for equations, unknowns in blocks:
        ring = field.context([core.unknowns[k] for k in unknowns])
        generators = dict(zip(unknowns, ring.gens(), strict=True))
        images = [generators.get(k, ring.constant(value)) for k, value in enumerate(root)]
        block = [core.equations[e].compose(*images, ctx=ring) for e in checked(equations)]
        try:
            size = plural(len(block), f"{len(block)} equation")
            with phase(f"generic root count, a Gröbner basis of {size}"):
                degree = quotient_degree(block, timeout=max(1, round(timeout)))
        except MsolveTimeout:
            inside = plural(len(unknowns), f"{len(unknowns)} unknown")
            raise RootCountError(
                f"the Gröbner basis of {size} in {inside} was not finished in {share()}"
            ) from None
        except MsolveDied as error:
            raise RootCountLost(str(error)) from None
        except MsolveFailed as error:
            raise RootCountError(str(error)) from None
        if degree.degree is None or degree.degree < 1:
            raise RootCountError(f"a block of the core is not zero-dimensional: {degree}")
        counts.append(degree.degree)
    return tuple(counts)
