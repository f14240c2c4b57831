r"""The certainty of a generic root count: a bound on the probability that it is wrong.

N is counted as the degree of the fibre over one random instance modulo a random prime of 31 bits
(`algebra.systems.root_count`), for two primes.  Let w be the r unknowns and θ the other data, and
f_1, …, f_r independent labels, polynomials with integer coefficients: of degree d in w, of degree
at most D in w and θ together.  An instance is c = (θ, y = f(w_0, θ)) with (w_0, θ) uniform over
GF(p).  Let N(c) be the degree of the fibre {w : f(w, θ) = y}, where it is finite.

**A count is never too large.**  At a finite fibre r equations in r unknowns are a regular sequence,
so the fibre's family is flat there, over Z as well as over GF(p); it is quasi-finite, so that by
Zariski's main theorem some solutions of nearby fibres may tend to infinity, but every solution of
this fibre persists nearby.  The instances are irreducible; hence N(c) ≤ N_p ≤ N, with N_p the count
at a generic instance over the closure of GF(p).

**When it is too small.**  N(c) = N_p if the weights are integral over the data at c: then the
family is finite and flat, and the degree constant.

1. *The point.*  For a linear form u = Σ U_j w_j with indeterminate U let P(T; c, U) be the
   characteristic polynomial of u, without denominators or common factors: its leading coefficient
   a(c) is free of U.  If a(c) ≠ 0, all w_j are integral at c.  On a line of data with parameter t
   the degree of P is at most the number of points (w, t) with f = y and u = τ, hence, by Bézout in
   A^r × A^1, deg_θ a ≤ r D d^{r−1} and deg_y a ≤ d^{r−1} (combine the labels so that t occurs in
   one).  With y = f(w_0, θ) inserted, a is a non-zero polynomial of degree at most
   δ = (r + 1) D d^{r−1} in (w_0, θ), and vanishes with probability at most δ/2^30
   (Schwartz–Zippel).
2. *The prime.*  Over Q choose integers θ_0 in 0 … δ with a(θ_0, ·) ≠ 0.  The arithmetic Perron
   theorem [1]_ gives for each j a relation E_j(w_j, f(w, θ_0)) = 0 with integer coefficients whose
   logarithms are at most d^r (r h/d + (r + 2) log(2 r + 8)), h the logarithm of a bound on the
   coefficients of f(·, θ_0).  If p does not divide a non-zero coefficient in the leading
   coefficient of E_j, for all j, the weights are integral at the generic labels over θ_0 modulo p,
   so N_p ≥ N.  At most r log2(…)/30 of the `PRIME_COUNT` primes divide one.
3. *Degeneracy loci* lose each solution with probability at most 1/p in each of at most r rows.

With ε the sum of the three, the counts modulo k independent primes are all too small with
probability at most ε^k, apart from the chance that two primes are equal.  Redundant labels (of
dependent samples) are omitted if the first ones are independent, which adds r to δ.  The bound
grows like d^r: if it is not below 1 nothing is claimed.

**Exact numbers** of fixed weights (`algebra.problems.laws.values`) are constants of the labels f:
with one denominator, which no prime divides that is used, they make the coefficients of f(·, θ_0)
larger by at most D times their bits.  The rest of the argument is unchanged, N being the count of
instances with these numbers.

**Proved counts** need no bound: if the labels are affine in the learnable weights; and if the
auxiliary unknowns are as many as the equations that are linear in them without elimination
(`core_dimension` 0) and elimination solved everything: then these equations determine them at the
point, hence generically, and each row of weights solves linear equations.

**Trace tests** are numerical (`numeric.tracking.trace_test`): floating point, no probability.

References
----------
.. [1] C. D'Andrea, T. Krick, M. Sombra, "Heights of varieties in multiprojective spaces and
   arithmetic Nullstellensätze", Ann. Sci. ENS 46 (2013), arXiv 1103.4561; the constant is doubled
   here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

from algebra.linalg.numbers import float_text, nearest_double
from algebra.linalg.primes import PRIME_COUNT
from algebra.networks.base import Network
from algebra.networks.protocols import jacobian_of

PROVED, PROBABLE, UNBOUNDED, NUMERICAL = "proved", "probable", "unbounded", "numerical"
_POINTS = 1 << 30
# Larger exponents of d never give a bound below 1.
_MOST_UNKNOWNS = 100


@dataclass(frozen=True)
class CountCertainty:
    """The certainty of a generic root count.

    Attributes
    ----------
    kind : str
        "proved"; "probable": wrong with probability at most `bound`; "unbounded": counted modulo
        primes, and no bound below 1 is proved; "numerical": a trace test passed.
    bound : Fraction or None
        0 if it is proved; None if there is none.
    text : str
        The certainty in words.
    """

    kind: str
    bound: Fraction | None
    text: str

    def to_dict(self) -> dict[str, Any]:
        """The object in ``--json``."""
        bound = None if self.bound is None else nearest_double(self.bound)
        return {"kind": self.kind, "error_bound": bound, "text": self.text}


def proved(text: str) -> CountCertainty:
    """Certainty of a count that depends on no random choice.

    Examples
    --------
    >>> proved("linear").bound
    Fraction(0, 1)
    """
    return CountCertainty(PROVED, Fraction(0), f"proved: {text}")


def by_rank(error: Fraction) -> CountCertainty:
    """Certainty of N = 0 by a generic rank that is too small (`algebra.ranks.generic_rank`)."""
    if not error:
        return proved("the rank is too small")
    text = f"a deficit of rank: wrong with probability at most {float_text(error)}"
    return CountCertainty(PROBABLE, error, text)


def by_trace(residual: str, tolerance: str, share: str) -> CountCertainty:
    """Certainty of a count by a trace test: numerical, without a probability."""
    text = (
        f"numerical: trace test with residual {residual} (passes below {tolerance}; a missing "
        f"point would give {share} or more); floating point, without a proof or a bound of the "
        "error probability"
    )
    return CountCertainty(NUMERICAL, None, text)


def by_primes(
    network: Network,
    matrices: Sequence[str],
    unknowns: int,
    value: int,
    primes: int,
    more_bits: int = 0,
) -> CountCertainty:
    """Certainty of a count that is the same modulo several random primes.

    Parameters
    ----------
    network : Network
    matrices : sequence of str
        The matrices that learn.
    unknowns : int
        r.
    value : int
        N.
    primes : int
    more_bits : int, optional
        Bits of exact numbers of fixed weights: `algebra.problems.laws.pinned.pinned_bits`.
    """
    counted = f"counted modulo {primes} random prime{'s' * (primes != 1)}"
    why = "the number of weights is too large for one"
    if unknowns != network.d * network.independent_columns:
        why = "the labels depend on each other"
    elif unknowns <= _MOST_UNKNOWNS:
        bound = _error(network, matrices, unknowns, value, primes, more_bits)
        if bound < 1:
            text = f"{counted}: too small with probability at most {float_text(bound)}, else right"
            return CountCertainty(PROBABLE, bound, text)
    return _unbounded(counted, why)


def _unbounded(counted: str, why: str) -> CountCertainty:
    text = (
        f"{counted}: N or more, proved; no bound below 1 is known for the probability that it is "
        f"larger ({why})"
    )
    return CountCertainty(UNBOUNDED, None, text)


def _error(
    network: Network, matrices: Sequence[str], r: int, value: int, primes: int, more_bits: int
) -> Fraction:
    """ε^k of the module's docstring, with bits in place of logarithms."""
    d = label_degree(network, matrices)
    D, labels = jacobian_of(network).label_bound
    delta = (r + 1) * D * d ** (r - 1) + r
    point = Fraction(delta + value * r, _POINTS)
    inserted = labels + D * (delta.bit_length() + more_bits)
    height = d**r * (Fraction(r * inserted, d) + 2 * (r + 2) * (2 * r + 8).bit_length())
    prime = Fraction(r * (int(height) // 30 + 1), PRIME_COUNT)
    bound = Fraction(1)
    for earlier in range(primes):
        bound *= point + prime + Fraction(earlier, PRIME_COUNT)
    return bound


def label_degree(network: Network, matrices: Sequence[str]) -> int:
    """Bound on the degree of the labels in the weights of these matrices.

    Parameters
    ----------
    network : Network
    matrices : sequence of str
        The matrices that learn.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> label_degree(LinearRNN(n=3, T=4, b=1, d=1, m=1), ("B", "W"))
    5
    """
    chain = network.chain()
    if chain is not None:
        return sum(max(1, chain.steps.count(name)) for name in matrices)
    from algebra.programs.degrees import degree_in

    degree = degree_in(network.program(), matrices)
    return int(degree) if degree < inf else jacobian_of(network).entry_bound.degree + 1
