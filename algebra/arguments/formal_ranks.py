r"""Exact generic ranks of analytic networks: the values of tanh may be treated as unknowns.

The test for MP = 0 of `algebra.ranks.jacobian` holds for every analytic activation.  (An analytic
map of generic rank ρ_A has an image that is a countable union of manifolds of dimension at most
ρ_A; the teacher's labels have a density on manifolds of dimension ρ.  Full rank at one point gives
an open set of labels by the constant rank theorem.)  It needs the generic rank.  The entries of the
Jacobian are polynomials over Q in the weights, the samples, and the values z = φ(a) and slopes
φ'(a) at the sums a that the hidden units receive (their pre-activations).

**Theorem.** Let φ be tanh, the sigmoid or softplus; weights that exist and samples are independent
variables v.  Call two sums of the network equal if they are the same function of v (a unit that no
sample reaches receives the same for all), and constant if they are always 0.  Then the values at
different, non-constant sums (for softplus: values and slopes) are algebraically independent over
the field C(v).  Hence the generic rank of any part of the Jacobian is the rank of the matrix in
which they are independent unknowns, the slopes 1 − z² or z − z² being computed from them; and
log 2 = softplus(0), where it occurs, is an unknown too, because it is transcendental.

*Proof.* Let a_1, …, a_k be the different non-constant sums of some stages, from the first on.

*Ax's theorem* [1]_: analytic functions y_1, …, y_s that are linearly independent over Q modulo
constants satisfy tr.deg C(y, e^y) ≥ s + rank(∂y/∂v).

(1) *Sums are linearly independent over Q modulo constants,* where the values at earlier stages are
independent unknowns over C(v).  A sum is Σ_j M_ij (z_j + Σ_l B_jl x_l) + c_i (in feed-forward nets
without B, and with x_j for z_j at the first stage), a polynomial in v and these unknowns.  Each of
its monomials holds exactly one weight of row i of M, or is c_i: different units have none in
common, and none is constant.  It remains to put the sums of one unit into an order in which each
has a monomial that no earlier one has.

*Sums that samples reach.*  The last sample that enters a sum at stage t is that of its own column
at stage t − s + 1, s being the number of steps from the inputs to the unit.  So such sums are equal
to no sum of another stage or column, and each contains M_ij x (with B) or M_ij z for a sample or an
unknown of its own column and latest stage.

*Sums that none reaches* are the same for all columns; write a_t, z_0 = 0, z_t = φ(a_t).  Equal
ones form intervals: if a_t = a_u and t < u then all between are equal; likewise for z.  (By
induction on u, all units at once.  a_t − a_u = Σ_j M_ij (z_(t−1),j − z_(u−1),j), and values at
different sums are independent, so a_t = a_u means that z_(t−1),j = z_(u−1),j for all weights M_ij
that exist, then equality all the way between, so a_t = … = a_u.  And if z_u = 0, then φ(0) = 0 and
a_u = 0: there is no c_i and all inputs are 0, at u − 1 and, by induction, before.  A unit
may well stay the same for some stages and change again: one with a bias in a ring of n receives its
own state every n stages.)  Where a_t ≠ a_(t−1), some z_(t−1),j ≠ z_(t−2),j is the first of its
interval: an unknown, or the constant φ(0) after 0, that no earlier sum of the unit holds with the
weight M_ij.

So no two sums are opposite, or differ by a rational factor or a constant: identities such as
tanh(−a) = −tanh(a), σ(a) + σ(−a) = 1, softplus(a) − softplus(−a) = a join none of them.  That a
sum may be a combination of weights (c_i; M_ij/2 after a sigmoid unit that receives nothing) does
not matter: let v' be a part of v that completes what is said to be independent to a basis of its
span with v over Q modulo constants.

(2) *tanh, sigmoid.*  By induction over the stages, let y be v' and the sums (twice the sums for
tanh).  The rank is #v, as v lies in the span.  C(y, e^y) is contained in C(v, e^v', e^y_a), y_a
being the sums among y, as each z is rational in its e^y_a and each a polynomial in v and earlier z:
#v + #v' + k generators of a field of transcendence degree at least (#v' + k) + #v.  So they are
independent, and with e^y_a the z.

(3) *softplus.*  Let y be v', the sums a up to some stage, and the values z at the stages before;
e^z = 1 + e^a.  Suppose, by induction, that they are linearly independent over Q modulo constants.
Then v, e^v', z and e^a are generators as many as the transcendence degree is at least, hence
independent.

The values of this last stage are linearly independent of y.  A relation Σ r_i z_i + Σ s_i a_i +
(others) = constant, with whole numbers r, s and sums a_i of the last stage, gives
∏ (1 + T_i)^(r_i) T_i^(s_i) = a function of e^v' and of e^a of the stages before; it depends on none
of the T_i = e^(a_i), which are independent of these.  Unique factorization gives r = s = 0; here
T_i and 1 + T_i are different primes, which is why values, sums and slopes are independent at once.

So the values join y and, by Ax again, are independent unknowns over C(v).  The different sums of
the next stage have, by (1), monomials of degree 2, or log 2 · M_ij, or c_i, that are in no element
of y before: log 2 is irrational, and such c_i are left out of v'.  So they join y, and the
induction goes on.  At its end z and the slopes e^a/(1 + e^a) are independent over C(v), and log 2
over Q. ∎

**Computation.** `Activation.modular` draws the unknowns at random modulo p, by unit and sum. Equal
sums are equal modulo p, so this is a specialization of the unknowns: the computed rank is never
above the generic one, and if it equals its upper bound it is proved.  Different sums that are equal
modulo p by chance (a polynomial of degree at most 3 in independent variables, with coefficients ±1,
vanishes there), or one that is 0 there, get values that are not independent: this is part of the
error bound of deficits (`ActivatedNetwork.formal_collisions`).

**Not covered** are samples and weights that are not independent variables: laws with repeated or
opposite samples, weights that are equal by construction.  Verdicts hold for laws with densities;
for discrete laws a certificate has a note.

**Other activations.** For any φ, a rank with independent values *and* slopes is an upper bound of
the generic rank: substituting functions for unknowns cannot raise a rank.  So a deficit found this
way holds for every activation; that it is not larger is proved if a minor is regular at one point,
in ball arithmetic (`algebra.ranks.minors`).  erf is treated in this way.

References
----------
.. [1] J. Ax, "On Schanuel's conjectures", Ann. of Math. 93 (1971) 252-268, Theorem 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from algebra.checker.minors import MinorInFile
from algebra.checker.records import Record
from algebra.declarations import Keyword
from algebra.ranks.pieces import MOST_PATTERNS


@dataclass(frozen=True)
class FormalEvidence(Record):
    """Evidence on ranks that are computed with formal values, or on a piece.

    Attributes
    ----------
    regular_minor : Minor or None
    pattern : int or None
        Number of a rational point, whose activation pattern the ranks are of.
    upper_bounds : bool or None
        Whether the ranks are only upper bounds.
    """

    regular_minor: MinorInFile | None = None
    pattern: Annotated[int, Keyword("minimum", 0), Keyword("maximum", MOST_PATTERNS - 1)] | None = (
        None
    )
    upper_bounds: bool | None = None
