r"""The dimension of the set of functions of a network: the verb dimension.

Labels of m generic samples are a projection of the function; near generic weights the rank of their
Jacobian with respect to all weights is the dimension of the projection's image.  It increases with
m, by non-increasing steps (`algebra.questions.capacity`), until it is the dimension of the set of
functions itself (of its closure, for polynomial networks: the neurovariety [1]_).  So the first
step 0 ends the search.

The *expected dimension* is obtained by counting: the number of weights, minus one scale for each
hidden unit if the activation is homogeneous (φ(λa) = λ^r φ(a): a unit's inputs times λ, its outputs
divided by λ^r), but at most the ambient dimension.  The *ambient* dimension is that of all
polynomial maps of the degree: d·C(q + D − 1, D), D = r^(L−1), if all terms are of this degree,
otherwise d·C(q + D, D).  The *defect* is the expected minus the actual dimension.  A network is
*filling* if the dimension is the ambient one.

References
----------
.. [1] J. Kileel, M. Trager, J. Bruna, "On the expressive power of deep polynomial neural
   networks", NeurIPS 2019 (arXiv 1905.12207).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from algebra.certificates.sparse import compact
from algebra.documents import Document, Explanation, step
from algebra.errors import InputError
from algebra.networks.activated import ActivatedNetwork
from algebra.networks.base import Network
from algebra.problems.allocation import as_mask
from algebra.programs.leaks import NO_LEAK
from algebra.ranks.generic_rank import GenericRank, network_rank
from algebra.results import Result, named
from algebra.time_limits import check_time

FORMAT, VERSION = "matchprob-dimension", 1


@dataclass(frozen=True, repr=False)
class Dimension(Result):
    """The dimension of a set of functions.

    Attributes
    ----------
    network : Network or None
        With as many samples as were needed; None for a model that is not a network of a kind.
    model : str
        The name.
    dimension : int
    expected : int
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
    """

    network: Network | None
    model: str
    dimension: int
    expected: int
    ambient: int | None
    parameters: int
    samples: int
    known: str
    support: Mapping[str, np.ndarray] = field(default_factory=dict)
    rank: GenericRank | None = None
    filling_widths: tuple[tuple[int, ...], ...] | None = None

    @property
    def defect(self) -> int:
        """Expected minus actual dimension."""
        return self.expected - self.dimension

    @property
    def filling(self) -> bool:
        """Whether the dimension is the ambient one.

        Then all functions of the ambient space near a generic function of the network can be
        realized.
        """
        return self.dimension == self.ambient

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**self._sizes(), "known": self.known, "filling_widths": self.filling_widths}

    def _sizes(self) -> dict[str, Any]:
        return {
            "model": self.model,
            **named(self, "dimension", "expected", "ambient", "defect", "filling", "parameters"),
            "samples": self.samples,
        }

    def proof_file(self) -> dict[str, Any]:
        """The content of a proof file, for `algebra.questions.identify.verify_dimension`.

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
        space = "" if self.ambient is None else f" of {self.ambient}"
        title = (
            f"{self.model}: dimension {self.dimension}{space}, {self.expected} expected, defect "
            f"{self.defect}" + (", filling" if self.filling else "")
        )
        facts = self._sizes()
        if self.filling_widths is not None:
            widths = "; ".join(", ".join(map(str, own)) for own in self.filling_widths)
            facts["smallest_filling_widths"] = widths or "none within the limits"
        known = [
            f"Near almost all weights, changes of the {self.parameters} weights change the "
            f"function in {self.dimension} independent directions."
        ]
        if self.defect:
            known.append(
                f"The number of weights without scales is {self.expected}: the dimension is "
                f"smaller by {self.defect}, because of further relations."
            )
        if self.ambient is not None:
            fills = "fills" if self.filling else "does not fill"
            known.append(f"It {fills} the space of polynomial maps, of dimension {self.ambient}.")
        known.append(f"The dimension is {self.known}.")
        proof = step("dimension", "a proof for verify", out="proof.json")
        steps = (proof,) if self.network is not None else ()
        return Document(title, facts, (), Explanation(tuple(known), steps=steps))


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
    if network.activation.is_linear:
        return 1, not network.biases
    if not network.activation.is_polynomial:
        return None
    coefficients = network.activation.coefficients
    alone = sum(1 for c in coefficients if c) == 1 and not network.biases
    alone = alone and network.leak == NO_LEAK
    return network.activation.degree ** len(network.stages()), alone


def expected_dimension(network: Network, weights: int) -> tuple[int, int | None]:
    """Expected and ambient dimension: see the module's docstring."""
    found = degrees(network)
    if found is None:
        return weights, None
    degree, alone = found
    q = network.input_shape[0]
    ambient = network.d * len(network.label_steps) * math.comb(q + degree - alone, degree)
    scales = sum(network.widths) if alone and hasattr(network, "widths") else 0
    # With structural zeros there may be fewer weights than units, whose scales are then not free.
    return max(0, min(weights - scales, ambient)), ambient


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
    expected, ambient = expected_dimension(network, weights)
    most = min(weights, weights if ambient is None else ambient)
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
    else:
        known = f"at least this is proved modulo {before.p}; more has probability {_small(before)}"
    if not network.ranks_are_exact(zeros):
        known = "found with formal values: an upper bound, probably attained"
    return Dimension(
        grown, str(network).split(", m =")[0], before.rank, expected, ambient, weights, m, known,
        zeros, before,
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
