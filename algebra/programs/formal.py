r"""Programs with exponentials, square roots and signs over GF(p): formal values.

**Exponentials.**  tanh, the sigmoid and softplus are expressed by the exponential, whose value E(a)
is a pseudorandom residue that depends on a, subject to the identities

E(0) = 1,  E(−a) = 1/E(a),  tanh a = (E(a)² − 1)/(E(a)² + 1),  σ(a) = E(a)/(1 + E(a)),
softplus(−a) = softplus(a) − a.

Equal arguments have equal values, wherever they occur.  sin and cos are (2t, 1 − t²)/(1 + t²), with
t = tan(a/2) a pseudorandom odd function of a, with t = 0 at 0.

**Theorem.**  Let v be independent variables (weights, samples), and let a_1, …, a_k be the
different arguments of exponentials in a program, up to sign, in an order of evaluation; L_1, …, L_l
the different values softplus(a_i) up to the identity.  Suppose that a_1, …, a_k, L_1, …, L_l *as
computed with formal values* are linearly independent over Q modulo constants.  Then
e^(a_1), …, e^(a_k), L_1, …, L_l are algebraically independent over C(v), so ranks computed with
formal values are the generic ranks.  The same holds with the arguments b_1, …, b_n of sines and
cosines, if they are independent by themselves: for e^(i b_1), …, e^(i b_n) beside the others, and
tan(b/2) = −i (e^(ib) − 1)/(e^(ib) + 1).

*Proof.*  By induction along the order: let the claim hold for all before a = a_(j+1).  Then a,
which is an algebraic function of v and of these values, is the function that the formal computation
represents, and the assumption holds for the functions themselves.  Let v' be a part of v that
completes y = (v', a_1, …, a_(j+1), L_1, …, L_i) to a basis of its span with v over Q modulo
constants.  Ax's theorem [1]_: tr.deg C(y, e^y) ≥ #y + rank(∂y/∂v) = #y + #v.  All of y and e^y is
algebraic over C(v, e^v', e^(a), L), because e^L = 1 + e^a; these are #v + #y elements, hence
independent.  Let now L be the softplus of an argument that occurs already.  A relation Σ r_i a_i +
Σ s_i L_i + s L + (a part of v') = constant with integer coefficients would give ∏ e^(r_i a_i) (1 +
e^(a_i))^(s_i) … = constant in independent elements T_i = e^(a_i); T_i and 1 + T_i are different
primes, so all exponents are 0.  So y with L is linearly independent, Ax's theorem applies again
with e^L = 1 + e^a, and L is independent of the elements before.  Arguments i b are treated as those
of exponentials: all functions are real at real points, so the real and the imaginary part of a
relation Σ r_i a_i + Σ s_i L_i + i Σ q_i b_i + (a part of v') = constant are relations of each sort
by itself, the variables being in the first. ∎

The assumption is *checked* (`algebra.programs.generic`): for one sample x the arguments that depend
on it are independent modulo functions of the weights if the differences a_i(w, x) − a_i(w, x') at
some points (w, x, x') over GF(p) have a matrix of full rank: a relation over Q, with integer
coefficients that have no common divisor, holds modulo p as well.  Then those of all samples are
independent: if all samples but one are fixed in a relation, its coefficients at that one must be 0.
This covers quotients of exponentials (softmax), nested functions, and arguments that are products
(scores of attention): the form of an argument is not used.

**Square roots.**  A value with square roots is an element of K = Q(v)(√u_1, …, √u_s), where u_i may
contain earlier roots.  A point at which every u_i is a square modulo p is a point of the variety X
with these equations; a minor that is not 0 there is not 0 in the ring Z[1/N][v][√u_1, …], a free
module over Z[1/N][v].  This proves the rank of the network, for any signs of the roots, if X is
irreducible: so if no u_i is a constant times a square in the field of the roots before. If one
were, then u_i would be a square at all points of the earlier roots' variety or at none (the
constant's quadratic character); so both cases must occur, for one and the same choice of the
weights, which proves irreducibility over functions of the weights, and of the product over samples.
Roots of equal values are equal.

**Tokens** (`algebra.programs.tokens`) are no variables, so neither argument covers samples of
tokens alone: u_i at two samples, and arguments of exponentials at two samples, are functions of the
same weights, and may be related (e_1 + e_2 and 2e_1 of two rows of one table).  The arguments are
then checked at all samples together, with the weights as variables; roots are free values.
Samples are never chosen so that roots exist: these may be few, of smaller ranks.  If there are
other inputs, too, both arguments hold for each choice of tokens by itself, and are checked for
each.

`algebra.programs.roots` finds such points.  If it finds none, √u is a *free* value r with the
derivative u'/(2r): the root of u + δ with a variable δ of its own.  Putting δ = 0 cannot raise a
rank, so these ranks are upper bounds; that they are attained is probable, but not proved.

**erf** is formal, with a formal slope: an upper bound.

**Logarithms** are free values l with the derivative u'/u: those of log u + δ with a variable δ of
their own, so ranks are upper bounds as for roots.  If the labels are affine functions of the
logarithms, with constant factors (a log-softmax at the end), the values l occur in no derivative,
and nothing is formal (`algebra.programs.generic.Model.functions`).

**Signs** (ReLU, maximum, absolute value) are given: the pattern at a drawn real point.  Ranks are
then those on the piece with this pattern, an open set of weights and samples.

References
----------
.. [1] J. Ax, "On Schanuel's conjectures", Ann. of Math. 93 (1971) 252-268, Theorem 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from algebra.linalg.residues import SPLITMIX, Residues, inverses, times
from algebra.programs.program import Node, Program
from algebra.programs.residues import ModularArithmetic, NoResidues

EXPONENTIAL = ("exp", "tanh", "sigmoid", "softplus", "sin", "cos")
# Kinds of arguments: those of different sorts are never compared with each other.
ARGUMENT, SOFTPLUS, ANGLE = range(3)


@dataclass(frozen=True)
class Formal:
    """Formal values over GF(p).

    Attributes
    ----------
    p : int
        Congruent to 3 modulo 4.
    seed : int
        It determines the values.
    signs : mapping of int to ndarray of bool
        For the number of each node that chooses.
    strict : bool
        Whether samples with a value that has no square root are invalid; otherwise the root is
        free.
    invalid : list
        If `strict`: for each root the mask of samples without a root.
    arguments : list
        The arguments of exponentials, values of softplus, and angles, in the order of evaluation.
    turned : mapping of int to ndarray of bool
        For the number of each root: where it is the one that is no square modulo p.
    """

    p: int
    seed: int
    signs: Mapping[int, np.ndarray] = field(default_factory=dict)
    strict: bool = False
    invalid: list[tuple[Residues, np.ndarray]] = field(default_factory=list)
    arguments: list[tuple[int, Residues]] = field(default_factory=list)
    turned: Mapping[int, np.ndarray] = field(default_factory=dict)

    def hashed(self, a: Residues, which: int) -> Residues:
        """Pseudorandom nonzero residues, a function of `a`."""
        h = a.astype(np.uint64) + np.uint64((self.seed * 8 + which) * SPLITMIX[0] % 2**64)
        for shift, step in ((30, SPLITMIX[1]), (27, SPLITMIX[2])):
            h = (h ^ (h >> np.uint64(shift))) * np.uint64(step)
        h ^= h >> np.uint64(31)
        return (h % np.uint64(self.p - 1)).astype(np.int64) + 1

    def exponential(self, a: Residues) -> Residues:
        """E(a)."""
        negative = a > self.p // 2
        plain = self.hashed(np.where(negative, self.p - a, a), 0)
        # −1 would be a pole of the sigmoid.
        plain = np.where(plain == self.p - 1, 1, plain)
        found = np.where(negative, inverses(plain, self.p), plain)
        return np.where(a == 0, 1, found)

    def values(self, name: str, a: Residues) -> tuple[Residues, Residues]:
        """Values and slopes of a function."""
        p = self.p
        if name == "erf":
            negative = a > p // 2
            size = np.where(negative, p - a, a)
            plain = np.where(a == 0, 0, self.hashed(size, 1))
            return np.where(negative, (p - plain) % p, plain), self.hashed(size, 2)
        if name == "log":
            if not a.all():
                raise NoResidues(f"a logarithm of 0 modulo {p} at this point")
            return np.where(a == 1, 0, self.hashed(a, 5)), inverses(a, p)
        if name in ("sin", "cos"):
            return self._circular(name, a)
        self.arguments.append((ARGUMENT, a))
        powers = self.exponential(a)
        if name == "exp":
            return powers, powers
        if name == "tanh":
            square = times(powers, powers, p)
            value = (1 - 2 * inverses((square + 1) % p, p)) % p
            return value, (1 - times(value, value, p)) % p
        share = times(powers, inverses((powers + 1) % p, p), p)
        if name == "sigmoid":
            return share, times(share, (1 - share) % p, p)
        if name == "softplus":
            negative = a > p // 2
            size = np.where(negative, p - a, a)
            plain = self.hashed(size, 3)
            value = np.where(negative, (plain + a) % p, plain)
            self.arguments.append((SOFTPLUS, value))
            return value, share
        raise NoResidues(f"the function {name} has no formal values")

    def _circular(self, name: str, a: Residues) -> tuple[Residues, Residues]:
        """sin or cos and its slope; 1 + t² is never 0, as p is 3 modulo 4."""
        p = self.p
        self.arguments.append((ANGLE, a))
        negative = a > p // 2
        plain = self.hashed(np.where(negative, p - a, a), 6)
        t = np.where(a == 0, 0, np.where(negative, p - plain, plain))
        below = inverses((times(t, t, p) + 1) % p, p)
        sine, cosine = times(2 * t % p, below, p), (2 * below - 1) % p
        return (sine, cosine) if name == "sin" else (cosine, (p - sine) % p)

    def root(self, a: Residues) -> Residues:
        """Square roots, or free values if there are none: see `strict`."""
        if not self.strict:
            return self.hashed(a, 4)
        result = _power(a, (self.p + 1) // 4, self.p)
        self.invalid.append((a, times(result, result, self.p) != a))
        return result


def _power(a: Residues, exponent: int, p: int) -> Residues:
    """Powers with one exponent, four of its bits at a time."""
    small = [np.ones_like(a), a]
    while len(small) < 16:
        small.append(times(small[-1], a, p))
    result = small[0]
    for place in reversed(range(0, exponent.bit_length(), 4)):
        if result is not small[0]:
            for _ in range(4):
                result = times(result, result, p)
        digit = exponent >> place & 15
        result = times(result, small[digit], p) if digit else result
    return result


class FormalArithmetic(ModularArithmetic):
    """Residues with formal values of functions, roots and signs.

    Parameters
    ----------
    formal : Formal
    program : Program
        The nodes of the signs are numbered as in it.
    """

    knows_signs = True

    def __init__(self, formal: Formal, program: Program) -> None:
        self._numbers = numbers = {id(node): k for k, node in enumerate(program.nodes)}

        # No method: an arithmetic that held itself would keep its pattern until a collection.
        def pattern(node: Node, a: Residues) -> np.ndarray:
            found = formal.signs.get(numbers[id(node)])
            if found is None:
                raise NoResidues("an activation pattern is needed")
            return found

        super().__init__(formal.p, lambda node, a: formal.values(node.name, a), pattern)
        object.__setattr__(self, "formal", formal)

    formal: Formal

    def root(self, node: Node, a: Residues) -> Residues:
        """Square roots."""
        found = self.formal.root(a)
        turned = self.formal.turned.get(self._numbers[id(node)])
        return (
            found
            if turned is None
            else np.where(turned & (found > 0), self.formal.p - found, found)
        )
