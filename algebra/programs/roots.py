r"""Points over GF(p) at which all square roots of a program exist.

A program with square roots r_i² = u_i(v, r_1, …, r_(i−1)) has values on the variety X of the points
(v, r) with these equations (`algebra.programs.formal`).  Half of all residues are squares, so plain
search needs 2^s samples v for s roots.

**Both signs.**  A point of X has a sign for each root, and later u_i depend on it.  A search that
follows both signs is a branching process: a root exists with probability 1/2 and then has two
values, so the mean number of continuations is 1 for each root, as it must be: X has about as many
points as there are values of v.  The probability that such a *critical* process with s steps
survives is about 2/s (Kolmogorov's estimate, [1]_, with a variance of 1), not 2^−s, and its
expected size is s.  So 24 norms, one after the other, need about 12 samples instead of 2^24.

Here many samples move forward together: at each root those without a root are removed, and the
others are copied with different signs.  T roots side by side (one for each token) exist together
with probability 2^−T, and have 2^T values; that is what limits the search.

**Nothing generic is lost.**  A point found is a point of X over GF(p), and a minor that is not 0
there is not 0 on X, whatever the signs, if X is irreducible (`formal`); so ranks at these points
are at most the generic rank, in whatever way points are found.  That they are not smaller is
probable, and its bound is that of points with free roots, which have no equations.

**Equal values** have equal roots: the signs of equal values of one sample are equal.

**Irreducibility.**  Let K be the field of the roots before a group of roots u_1, …, u_T that do not
depend on each other.  By Kummer theory K(√u_1, …, √u_T) has degree 2^T over K, and no new
constants, if no product of some of the u_i (at least one) is a constant times a square in K.  If
one were, then the product of their quadratic characters would be the same at all points of the
variety of the roots before.  So with the characters at some of these points as vectors over GF(2),
it suffices that the vectors of u_1, …, u_T and (1, …, 1) are linearly independent
(`RootSearch.are_independent`).

References
----------
.. [1] K. B. Athreya, P. E. Ney, "Branching Processes", Springer 1972, section I.9.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import Residues
from algebra.programs.arrays import placed
from algebra.programs.evaluate import evaluation_order, value_of
from algebra.programs.formal import Formal, FormalArithmetic
from algebra.programs.program import Program
from algebra.time_limits import check_time

# Largest numbers of roots side by side, and of roots of one sample.
MOST_BESIDE = 7
MOST_ROOTS = 1024
# Candidates in a batch, and for each sample in the first one; batches for independence.
WIDEST = 512
_FIRST = 8
_ROUNDS = 32
# Candidates for each sample without success after which the search ends, for each root.
_PATIENCE = 32
# Entries of values of all candidates.
_WORK = 1 << 28


@dataclass
class _Forward:
    """A batch on its way through a program.

    Attributes
    ----------
    size : int
        The number of candidates; copies are at most twice as many.
    origin : ndarray of int
        The candidate from which each copy stems.
    known : ndarray of int64
        Values of the roots until now, roots × copies.
    minus : ndarray of bool
        Whether the other root is taken, for each.
    turned : dict of int to ndarray of bool
        The same by the numbers of nodes, in the shape of their values.
    """

    size: int
    origin: np.ndarray
    known: Residues
    minus: np.ndarray
    turned: dict[int, np.ndarray] = field(default_factory=dict)

    def take(self, chosen: np.ndarray) -> None:
        """Go on with some copies."""
        self.origin, self.known = self.origin[chosen], self.known[:, chosen]
        self.minus = self.minus[:, chosen]
        self.turned = {k: mask[..., chosen] for k, mask in self.turned.items()}


@dataclass
class RootSearch:
    """The search of samples at which all roots exist, for given weights.

    Attributes
    ----------
    program : Program
    at : sequence of int
        The nodes that are roots.
    p, number : int
        The prime, and that which determines the formal values.
    weights : mapping of str to ndarray
    draw : callable
        From the numbers of samples to a candidate for each.
    most : int
        Largest number of candidates in a batch.
    rng : random.Random
    characters : dict of int to list of (ndarray of bool, ndarray of bool)
        For each node, in each batch: which candidates have which root; which roots are new.
    beside, roots : int
        Largest number of new roots side by side, and number of all, as found until now.
    is_long : bool
        Whether a search was given up because of its work.
    """

    program: Program
    at: Sequence[int]
    p: int
    number: int
    weights: Mapping[str, Residues]
    draw: Callable[[np.ndarray], dict[str, Residues]]
    most: int
    rng: random.Random
    characters: dict[int, list[tuple[np.ndarray, np.ndarray]]] = field(default_factory=dict)
    beside: int = 0
    roots: int = 0
    is_long: bool = False

    @property
    def is_crowded(self) -> bool:
        """Whether too many roots were found side by side, as they are at other points, too."""
        return self.beside > MOST_BESIDE or self.roots > MOST_ROOTS

    def forward(
        self, samples: Mapping[str, Residues], signs: Mapping[int, np.ndarray]
    ) -> _Forward | None:
        """Copies of the candidates with all roots; None if a root of weights does not exist.

        Parameters
        ----------
        samples : mapping of str to ndarray
            At least two.
        signs : mapping of int to ndarray of bool
            The activation pattern of each candidate.
        """
        wide = next(iter(samples.values())).shape[-1]
        generator = np.random.default_rng(self.rng.randrange(1 << 62))
        moved = {k: own for k, own in signs.items() if own.shape[-1] > 1}
        current = dict(signs)
        formal = Formal(self.p, self.number, current, True)
        arithmetic = FormalArithmetic(formal, self.program)
        blocks = placed(self.program, self.weights, samples)
        none = np.zeros((0, wide), np.int64)
        batch = _Forward(wide, np.arange(wide), none, none.astype(bool))
        values: dict[int, Residues] = {}
        roots = set(self.at)
        for number, node, done in evaluation_order(self.program, roots):
            check_time()
            if node.op == "block" and node.batched:
                values[number] = samples[node.name][..., batch.origin]
            elif number in roots:
                argument = values[node.inputs[0]]
                found = formal.root(argument)
                square = ~formal.invalid.pop()[1]
                if argument.shape[-1] == 1:
                    if not square.all():
                        return None
                    values[number] = found
                    continue
                before = len(batch.origin)
                chosen = self._continued(batch, argument, square, number, generator)
                if not len(chosen):
                    return batch
                for k, value in values.items():
                    values[k] = value[..., chosen] if value.shape[-1] == before else value
                current.update({k: own[..., batch.origin] for k, own in moved.items()})
                found = found[..., chosen]
                values[number] = np.where(batch.turned[number], self.p - found, found)
            else:
                inputs = [values[k] for k in node.inputs]
                values[number] = value_of(node, arithmetic, blocks, inputs)
            for k in done:
                del values[k]
        return batch

    def _continued(
        self,
        batch: _Forward,
        argument: Residues,
        square: np.ndarray,
        number: int,
        generator: np.random.Generator,
    ) -> np.ndarray:
        """Copies of the candidates with these roots, with signs; the numbers of those copied."""
        wide, start = len(batch.origin), len(batch.known)
        rows, exists = argument.reshape(-1, wide), square.reshape(-1, wide)
        known = np.concatenate([batch.known, rows])
        # The number of an earlier root with this value, or −1.
        earlier = np.full(rows.shape, -1)
        for k in range(len(rows) if len(known) > 1 else 0):
            equal = known[: start + k] == rows[k]
            if equal.any():
                earlier[k] = np.where(equal.any(axis=0), equal.argmax(axis=0), -1)
        fresh = earlier < 0
        self.characters.setdefault(number, []).append((exists, np.asarray(fresh.any(axis=1))))
        good = np.flatnonzero(exists.all(axis=0))
        count = int(fresh.sum(axis=0).max())
        self.beside, self.roots = max(self.beside, count), max(self.roots, len(known))
        copies = min(max(1, 2 * batch.size // max(1, len(good))), 1 << min(count, 20))
        chosen = np.repeat(good, max(copies, 2) if len(good) == 1 else copies)
        # Copies of one candidate take all signs, or random ones if these are too many.
        minus = generator.integers(0, 2, (len(known), len(chosen))).astype(bool)
        if len(chosen) == len(good) << count:
            order = np.maximum(np.cumsum(fresh[:, chosen], axis=0) - 1, 0)
            minus[start:] = (np.tile(np.arange(copies), len(good)) >> order) & 1
        batch.take(chosen)
        minus[:start] = batch.minus
        places = np.arange(len(chosen))
        for k, own in enumerate(earlier[:, chosen], start):
            minus[k] = np.where(own < 0, minus[k], minus[own, places])
        batch.known, batch.minus = known[:, chosen], minus
        batch.turned[number] = minus[start:].reshape(*argument.shape[:-1], len(chosen))
        return chosen

    def samples(
        self, m: int, signs: Mapping[int, np.ndarray]
    ) -> tuple[dict[str, Residues], dict[int, np.ndarray]] | None:
        """Samples at which all roots exist, and whether roots are turned; None if none are found.

        Parameters
        ----------
        m : int
        signs : mapping of int to ndarray of bool
            The activation pattern of the samples.
        """
        size = sum(node.size for node in self.program.nodes if node.batched)
        missing, tried, rounds, spent = np.arange(m), 0, 0, 0
        found: dict[str, Residues] = {}
        turned: dict[int, np.ndarray] = {}
        while missing.size:
            check_time()
            wide = min(max(WIDEST, 16 << self.beside), self.most)
            # Few candidates for each sample first: they suffice if there are few roots.
            each = max(2, min(_FIRST << min(rounds, 16), wide // len(missing)))
            own = np.tile(missing, each)
            samples = self.draw(own)
            patterns = {k: s if s.shape[-1] == 1 else s[..., own] for k, s in signs.items()}
            batch = self.forward(samples, patterns)
            if batch is None or self.is_crowded:
                return None
            rounds, tried = rounds + 1, tried + each
            good, first = np.unique(own[batch.origin], return_index=True)
            for name, value in samples.items():
                whole = found.setdefault(name, np.zeros((*value.shape[:-1], m), np.int64))
                whole[..., good] = value[..., batch.origin[first]]
            for number, mask in batch.turned.items() if len(good) else ():
                all_turned = turned.setdefault(number, np.zeros((*mask.shape[:-1], m), bool))
                all_turned[..., good] = mask[..., first]
            missing = np.setdiff1d(missing, good)
            spent += len(own) * size
            # What all samples take, if the others are found as those were.
            expected = spent * m // max(1, m - len(missing)) if missing.size else 0
            if len(good):
                tried = 0
            elif tried > _PATIENCE * max(self.roots, 1 << self.beside):
                return None
            if expected > _WORK * (1 if rounds > 1 else 4):
                self.is_long = True
                return None
        return found, turned

    def are_independent(self, signs: Callable[[int], Mapping[int, np.ndarray]]) -> bool:
        """Whether the variety of the roots was shown to be irreducible: see the module.

        Parameters
        ----------
        signs : callable
            From a number of samples to their activation pattern.
        """
        wide = min(WIDEST, max(2, self.most))
        size = sum(node.size for node in self.program.nodes if node.batched)
        for rounds in range(1, _ROUNDS):
            batch = self.forward(self.draw(np.arange(wide)), signs(wide))
            if batch is None or self.is_crowded:
                return False
            if len(self.characters) == len(self.at) and all(
                _has_full_rank(parts) for parts in self.characters.values()
            ):
                return True
            if rounds * wide * size > _WORK:
                return False
        return False


def _has_full_rank(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> bool:
    """Whether characters and ones are independent over GF(2), of the roots with new values."""
    new = np.any([fresh for _, fresh in parts], axis=0)
    if not new.any():
        return True
    table = np.concatenate([exists[new] for exists, _ in parts], axis=1)
    table = np.concatenate([table, np.ones((1, table.shape[1]), bool)]).astype(np.int64)
    return modular_rank(table, 2) == len(table)
