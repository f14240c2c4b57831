r"""The dimension of the set of functions of a network: the verb dimension.

Labels of m generic samples are a projection of the function; near generic weights the rank of their
Jacobian with respect to all weights is the dimension of the projection's image.  It increases with
m, by non-increasing steps (`algebra.plugins.models.capacity`), until it is the dimension of the set
of functions itself (of its closure, for polynomial networks: the neurovariety [1]_).  So the first
step 0 ends the search.

The *expected dimension* is obtained by counting: the number of weights, minus the number of
independent scales, which are found from the operations of the program (`algebra.programs.scales`:
one for each hidden unit whose activation is a power; diagonal changes of basis of a linear
recurrent network), but at most the ambient dimension.  The *ambient* dimension is that of all
polynomial maps of the degree: d·C(q + D − 1, D) if all terms of the labels have the degree D in the
samples, otherwise d·C(q + D, D), all polynomials of degree D or less.  The degrees of the terms are
found from the operations (`algebra.programs.degrees.term_degrees`): if inputs enter a recurrent
network at several steps, through a square, they are different.  The *defect* is the expected minus
the actual dimension.  A network is *filling* if the dimension is the ambient one.

A network that chooses by signs (ReLU) has a rank on each activation pattern, and the dimension is
the largest.  The largest rank found is a lower bound, and the dimension itself only if it meets a
bound for all patterns, as the number of weights without scales is (a scale does not depend on the
pattern).

References
----------
.. [1] J. Kileel, M. Trager, J. Bruna, "On the expressive power of deep polynomial neural
   networks", NeurIPS 2019 (arXiv 1905.12207).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from algebra.checker.compact import compact
from algebra.documents import Document, Explanation, step
from algebra.errors import InputError, Unfinished
from algebra.memory_limits import beside_held
from algebra.networks.activated import ActivatedNetwork
from algebra.networks.base import Network
from algebra.problems.allocation import as_mask
from algebra.programs.degrees import term_degrees
from algebra.programs.program import Program
from algebra.programs.scales import scales
from algebra.ranks.generic_rank import GenericRank, network_rank
from algebra.results import Result, named
from algebra.time_limits import OutOfTime, check_time

if TYPE_CHECKING:
    from algebra.plugins.models.capacity import Piece

FORMAT = "matchprob-dimension"
VERSION = 1


@dataclass(frozen=True, repr=False)
class Dimension(Result):
    """The dimension of a set of functions.

    Attributes
    ----------
    network : Network or None
        With as many samples as were needed; None for a model that is not a network of a kind.
    model : str
        The name.
    dimension : int or None
        None if only a bound is known.
    at_least : int or None
        The largest rank found: the dimension, or a lower bound; None if ranks are upper bounds.
    expected : int or None
        None if scales were not counted (`algebra.programs.scales`).
    ambient : int or None
        None if the set of all such functions has no finite dimension.
    parameters : int
    samples : int
    known : str
        The basis of the rank.
    support : mapping of str to ndarray
    rank : GenericRank or None
    filling_widths : tuple of tuple of int, or None
        The smallest hidden widths that are filling, if these were requested.
    patterns : tuple of int
        For a network that chooses by signs, the rank on each activation pattern.
    is_stopped : bool
        Whether more samples might have increased the rank.
    at_most : int or None
        An upper bound, where ranks are no more than that.
    """

    network: Network | None
    model: str
    dimension: int | None
    at_least: int | None
    expected: int | None
    ambient: int | None
    parameters: int
    samples: int
    known: str
    support: Mapping[str, np.ndarray] = field(default_factory=dict)
    rank: GenericRank | None = None
    filling_widths: tuple[tuple[int, ...], ...] | None = None
    patterns: tuple[int, ...] = ()
    is_stopped: bool = False
    at_most: int | None = None

    @property
    def defect(self) -> int | None:
        """Expected minus actual dimension; None if one of them is not known."""
        if self.dimension is None or self.expected is None:
            return None
        return self.expected - self.dimension

    @property
    def filling(self) -> bool:
        """Whether the dimension is the ambient one.

        Then all functions of the ambient space near a generic function of the network can be
        realized.
        """
        return self.at_least is not None and self.at_least == self.ambient

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**self._sizes(), "known": self.known, "filling_widths": self.filling_widths}

    def _sizes(self) -> dict[str, Any]:
        sizes = {
            "model": self.model,
            **named(self, "dimension", "at_least", "expected", "ambient", "defect", "filling"),
            **named(self, "parameters", "samples"),
        }
        if self.at_most is not None:
            sizes["at_most"] = self.at_most
        return {**sizes, "patterns": list(self.patterns)} if self.patterns else sizes

    def proof_file(self) -> dict[str, Any]:
        """The content of a proof file, for `algebra.plugins.models.verify_dimension`.

        Raises
        ------
        InputError
            For a model that is read from another file.
        """
        if self.network is None or self.rank is None:
            raise InputError(
                f"{self.model}: its dimension was computed from a program; proof files exist only "
                "for linear networks and networks with activations"
            )
        data = {
            "format": FORMAT,
            "version": VERSION,
            "network": self.network.to_dict(),
            **named(self, "dimension", "expected", "ambient"),
        }
        if self.support:
            data["support"] = {name: compact(mask.tolist()) for name, mask in self.support.items()}
        return data

    def document(self) -> Document:
        """Dimension, expected and ambient dimension, defect, filling."""
        facts = self._sizes()
        if self.filling_widths is not None:
            widths = "; ".join(", ".join(map(str, own)) for own in self.filling_widths)
            facts["smallest_filling_widths"] = widths or "none within the limits"
        smooth = self.dimension is not None and not self.patterns
        most = ", and near none in more" if self.dimension is not None and self.patterns else ""
        where = "almost all" if smooth or self.at_most is not None else "some"
        count = self.at_least if self.at_most is None else f"at most {self.at_most}"
        known = [
            f"Near {where} weights, changes of the {self.parameters} weights change the function "
            f"in {count} independent directions{most}."
        ]
        if self.defect:
            known.append(
                f"The number of weights without scales is {self.expected}: the dimension is "
                f"smaller by {self.defect}, because of further relations."
            )
        elif self.dimension is None and self.expected is not None:
            known.append(
                f"The number of weights without scales is {self.expected}, which no dimension of "
                "this network exceeds."
            )
        if self.ambient is not None and self.dimension is not None:
            fills = "fills" if self.filling else "does not fill"
            known.append(f"It {fills} the space of polynomial maps, of dimension {self.ambient}.")
        known.append(f"The rank is {self.known}.")
        proof = step("dimension", "a proof for verify", out="proof.json")
        steps = (proof,) if self.network is not None else ()
        return Document(self._title(), facts, (), Explanation(tuple(known), steps=steps))

    def _title(self) -> str:
        space = "" if self.ambient is None else f" of {self.ambient}"
        hoped = "" if self.expected is None else f", {self.expected} expected"
        if self.dimension is not None:
            short = "" if self.defect is None else f", defect {self.defect}"
            filling = ", filling" if self.filling else ""
            return f"{self.model}: dimension {self.dimension}{space}{hoped}{short}{filling}"
        if self.at_most is not None:
            return (
                f"at most {self.at_most} (upper bounds of ranks): dimension of {self.model}{hoped}"
            )
        if self.is_stopped:
            why = f"stopped at {self.samples} samples"
        elif not self.patterns:
            why = f"{self.samples} samples of tokens"
        else:
            least, most = min(self.patterns), max(self.patterns)
            between = f"{least} on all" if least == most else f"between {least} and {most}"
            why = f"{len(self.patterns)} activation patterns, {between}"
        return f"at least {self.at_least} ({why}): dimension of {self.model}{hoped}"


def _exponents(network: Network) -> Sequence[int]:
    """Exponents of the terms of the activation; none if it is no polynomial."""
    if not isinstance(network, ActivatedNetwork) or network.activation.is_linear:
        return (1,)
    if not network.activation.is_polynomial:
        return ()
    return [k for k, c in enumerate(network.activation.coefficients) if c]


def degrees(network: Network) -> tuple[int, bool] | None:
    """Degree of the labels in the samples, and whether all terms have it; None if not polynomial.

    Raises
    ------
    InputError
        If the Jacobian of the kind is not known.
    """
    if not isinstance(network, ActivatedNetwork):
        if network.chain() is None:
            raise InputError(f"dimension does not support {network.title} networks")
        return 1, True
    if not network.activation.is_linear and not network.activation.is_polynomial:
        return None
    return _degrees(network.program(), _exponents(network))


def _degrees(program: Program, exponents: Sequence[int] = ()) -> tuple[int, bool] | None:
    """`degrees` of a program's labels, whose functions have terms with these exponents."""
    least, most = term_degrees(program, program.samples, exponents) or (0, 0)
    return None if math.isinf(most) else (int(most), least == most)


def _ambient(program: Program, degree: int, homogeneous: bool) -> int:
    """The dimension of all polynomial maps of a degree with a program's inputs and labels."""
    q = sum(math.prod(shape) for shape in program.samples.values())
    return program.nodes[program.output].size * math.comb(q + degree - homogeneous, degree)


def counted_scales(network: Network, support: Mapping[str, np.ndarray] | None) -> int | None:
    """The number of independent scales of a network's weights: `algebra.programs.scales`."""
    terms = _exponents(network)
    return scales(network.program(), network.shapes, support=support, exponents=lambda _: terms)


def expected_dimension(
    network: Network, weights: int, support: Mapping[str, np.ndarray] | None = None
) -> tuple[int | None, int | None]:
    """Expected and ambient dimension: see the module's docstring."""
    found, alone = degrees(network), counted_scales(network, support)
    if found is None:
        return _expected(weights, alone, None), None
    ambient = _ambient(network.program(), *found)
    return _expected(weights, alone, ambient), ambient


def _expected(weights: int, alone: int | None, ambient: int | None) -> int | None:
    """The weights without scales, at most the ambient dimension; None if scales are unknown."""
    counted = None if alone is None else weights - alone
    return counted if counted is None or ambient is None else min(counted, ambient)


def dimension_of(
    network: Network, support: Mapping[str, Any] | None = None, *, seed: int = 0
) -> Dimension:
    """The dimension of the functions of a network.

    Parameters
    ----------
    network : Network
        Its number of samples is not used.
    support : mapping of str to mask, optional
        Structural zeros.
    seed : int, optional

    Returns
    -------
    Dimension

    Examples
    --------
    >>> from algebra.networks.ffn import FeedForward
    >>> square = {"polynomial": [0, 0, 1]}
    >>> dimension_of(FeedForward(q=5, widths=(5, 3), d=1, m=1, activation=square)).dimension
    32
    """
    zeros = {
        name: as_mask(mask, network.shape_of(name), f"support.{name}")
        for name, mask in (support or {}).items()
    }
    weights = network.parameters - sum(int((mask == 0).sum()) for mask in zeros.values())
    expected, ambient = expected_dimension(network, weights, zeros)
    most = min(value for value in (weights, expected, ambient) if value is not None)
    m = -(-most // (network.d * len(network.label_steps))) + 1
    before = network_rank(network.with_samples(m), zeros, seed)
    while before.rank < most:
        check_time()
        more = network_rank(network.with_samples(m + 1), zeros, seed)
        if more.rank == before.rank:
            break
        m = 2 * m
        before = network_rank(network.with_samples(m), zeros, seed)
    grown = network.with_samples(m)
    if before.rank == most:
        known = f"proved modulo {before.p}: no more is possible"
    elif not before.error:
        known = f"proved modulo {before.p} for {m} samples, where no more is possible"
    else:
        known = f"at least this is proved modulo {before.p}; more has probability {_small(before)}"
    if not network.ranks_are_exact(zeros):
        known = "found with formal values: an upper bound, probably attained"
    return Dimension(
        grown, str(network).split(", m =")[0], before.rank, before.rank, expected, ambient, weights,
        m, known, zeros, before,
    )  # fmt: skip


@beside_held()
def dimension_on_pieces(
    pieces: Iterable[Piece], names: Sequence[str], model: str, parameters: int, *, seed: int = 0
) -> Dimension:
    """The dimension of a program's functions: the largest rank on several pieces.

    Parameters
    ----------
    pieces : iterable of Piece
        Activation patterns, drawn as they are asked for; no more than are needed.
    names : sequence of str
        The parameters that learn.
    model : str
        The name.
    parameters : int
        Their number.
    seed : int, optional
    """
    # Loaded here: a check of a dimension draws no pieces.
    from algebra.plugins.models.capacity import whole_rank
    from algebra.plugins.models.capacity.pieces import ANY
    from algebra.programs.generic import NoPattern, argued
    from algebra.programs.tokens import number_of_samples

    expected, ambient, most = None, None, parameters
    # The rank of each piece, with as many samples as increase it.
    tried: list[tuple[tuple[int, int, bool], Piece]] = []
    failure: NoPattern | None = None
    is_cut = False
    try:
        for number, piece in enumerate(pieces):
            if not number:
                first = piece.model
                alone = scales(first.program, names, support=first.support)
                found = None if first.tokens else _degrees(first.program)
                ambient = None if found is None else _ambient(first.program, *found)
                expected = _expected(parameters, alone, ambient)
                most = parameters if expected is None else expected
            try:
                one = whole_rank(piece.model, names, seed + number, piece.samples)
            except NoPattern as error:
                failure = error
                continue
            tried.append((one, piece))
            if one[0] == most:
                break
    except (OutOfTime, Unfinished, KeyboardInterrupt):
        if not tried:
            raise
        is_cut = True
    if not tried:
        assert failure is not None
        raise failure
    (rank, samples, is_whole), best = max(tried, key=lambda one: one[0][0])
    own, at = best.model, best.at
    exactness = argued(own, f"argued/{seed}")
    chooses = "choose" in own.functions
    # Ranks that are upper bounds are no lower bounds of the dimension.
    is_bound = not exactness.is_exact
    # On a pattern ranks are lower bounds in any case, and grow as long as rare units switch;
    # if all labels are independent, more samples have a larger rank.
    is_full = rank == samples * own.outputs
    grows = not is_whole and (is_full or not chooses) and best.samples is None
    stopped = is_cut or (grows and not is_bound and rank < most)
    if not chooses and at == ANY:
        known = f"found with ranks that are {exactness.words}"
    else:
        place = {"file": "the model's own weights", "data": "the given samples"}.get(at)
        known = f"the largest rank on {len(tried)} activation patterns, "
        known += f"found at {place or 'drawn weights and samples'}, {exactness.words}"
        known += (
            "; a larger one is impossible"
            if rank == most
            else "; it is at least this near some weights, and may be smaller near others"
        )
    if stopped:
        known += f"; at {samples} samples it still grew, so it is at least this"
    every = number_of_samples(own.program, own.tokens) if own.draws_tokens else 0
    some = every is None or samples < every
    if some and rank < most:
        known += "; other choices of tokens may have a larger one"
    is_everywhere = is_whole and not (chooses or some) and at == ANY
    return Dimension(
        None, model, rank if not is_bound and (rank == most or is_everywhere) else None,
        None if is_bound else rank, expected, ambient, parameters, samples, known,
        patterns=tuple(one[0][0] for one in tried) if chooses else (), is_stopped=stopped,
        at_most=(min(rank, most) if is_everywhere else most) if is_bound else None,
    )  # fmt: skip


def _small(found: GenericRank) -> str:
    error = Fraction(found.error)
    bits = error.denominator.bit_length() - error.numerator.bit_length() if error else 0
    return f"below 2^-{bits - 1}" if bits > 1 else "unknown"


def filling_widths(
    network: Network, *, most: int = 12, seed: int = 0
) -> tuple[tuple[int, ...], ...]:
    """The smallest hidden widths for which a polynomial network is filling.

    Larger widths than filling ones are filling, since more units do not make the set of functions
    smaller.  So widths are tried in increasing order, and those above a solution are skipped.

    Parameters
    ----------
    network : Network
        Feed-forward, with a polynomial activation; its number of layers, inputs and outputs are
        used.
    most : int, optional
        The largest width.
    seed : int, optional

    Returns
    -------
    tuple of tuple of int
        All minimal ones within the limit.
    """
    own: tuple[int, ...] = getattr(network, "widths", ())
    if not own or degrees(network) is None:
        raise InputError(
            f"only polynomial feed-forward networks are filling by their widths; this is {network}"
        )
    found: list[tuple[int, ...]] = []
    every = product(range(1, most + 1), repeat=len(own))
    for widths in sorted(every, key=lambda w: (sum(w), w)):
        check_time()
        if any(all(a <= b for a, b in zip(known, widths, strict=True)) for known in found):
            continue
        made = replace(network, widths=widths, m=1)  # type: ignore[type-var]
        weights = made.parameters
        expected, ambient = expected_dimension(made, weights)
        if expected == ambient and dimension_of(made, seed=seed).filling:
            found.append(widths)
    return tuple(sorted(found))
