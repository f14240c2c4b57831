"""Certified, distinct real solutions of one instance, from approximate ones.

The endpoint of an optimizer is a solution only if Krawczyk's test proves it
(`numeric.certification.krawczyk`; in balls of up to 256 bits where doubles do not suffice).
Engines that search without knowing the number of solutions certify their endpoints here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from algebra.errors import InputError
from algebra.problems.allocation import Allocation
from numeric.certification.krawczyk import (
    FAILED,
    REAL,
    Certified,
    RootPool,
    certify_roots,
    make_target,
)
from numeric.certification.krawczyk_balls import certify_exact
from numeric.equations.chain import Chain, make_chain
from numeric.families.activations.pool import EnclosedPool, enclosed_pool
from numeric.trials.instances import Instance

_MOST_BITS = 256


class RealPool:
    """Certified real solutions of one instance, collected from the endpoints of a search.

    Parameters
    ----------
    chain : Chain
    instance : Instance
    enough : int, optional
        After this number of solutions no endpoint need be tested; None for no limit.
    """

    def __init__(self, chain: Chain, instance: Instance, enough: int | None = None) -> None:
        self._chain = chain
        self._instance = instance
        self._enough = enough
        self._target = make_target(chain, instance)
        self._pool = RootPool(chain)

    def __len__(self) -> int:
        return len(self._pool)

    def take(self, ends: np.ndarray) -> None:
        """Certify endpoints (·, r) and add the real solutions that are new."""
        if not len(ends):
            return
        roots = distinct_endpoints(ends).astype(complex)
        if self._enough is not None and self._chain.is_large:
            # To write the equations in discs takes longer than a test in balls.
            for root in roots:
                if not self.is_enough:
                    self._take_exactly(root[None])
            return
        certified = certify_roots(self._chain, self._target, roots, lifted_first=True)
        left = certified.kind == FAILED
        if left.any():
            self._take_exactly(certified.roots[left])
        self._pool.add(_real_only(certified))

    @property
    def is_enough(self) -> bool:
        """Whether it has enough solutions."""
        return self._enough is not None and len(self) >= self._enough

    def _take_exactly(self, roots: np.ndarray) -> None:
        exact = certify_exact(self._chain, self._instance, roots, most_bits=_MOST_BITS)
        self._pool.add(_real_only(exact))

    @property
    def solutions(self) -> tuple[tuple[float, ...], ...]:
        """The solutions, sorted by their first weight, then the second, …"""
        roots = self._pool.roots.real
        order: Any = np.lexsort(roots.T[::-1]) if len(roots) else []
        return tuple(tuple(float(x) for x in roots[k]) for k in order)


def certified_pool(
    chain: Chain, instance: Instance, solutions: np.ndarray, *, most_bits: int = 1024
) -> RootPool:
    """The solutions (·, r) that are certified, real and distinct.

    Parameters
    ----------
    chain : Chain
    instance : Instance
    solutions : ndarray of float, shape (·, r)
    most_bits : int, optional
        Largest precision of the balls that are tried where doubles do not suffice.

    Raises
    ------
    InputError
        If the instance is special: its samples are dependent.
    """
    certified = certify_roots(chain, make_target(chain, instance), solutions.astype(complex))
    left = certified.kind == FAILED
    pool = RootPool(chain)
    pool.add(_real_only(certified))
    if left.any():
        roots = solutions[left].astype(complex)
        pool.add(_real_only(certify_exact(chain, instance, roots, most_bits=most_bits)))
    return pool


class CertifiedPools:
    """Certified real solutions of instances of one problem; each allocation's chain is made once.

    Parameters
    ----------
    support : mapping of str to ndarray
    """

    def __init__(self, support: Mapping[str, np.ndarray]) -> None:
        self._support = support
        self._chains: dict[Allocation, Chain | None] = {}

    def of(self, instance: Instance, solutions: np.ndarray) -> RootPool | EnclosedPool | None:
        """The solutions (·, r) that are certified, real and distinct.

        None if there is no square system to certify them with, or if the instance is special: its
        samples are dependent.
        """
        allocation = instance.allocation
        if allocation.network.equations_are:
            return enclosed_pool(instance, solutions)
        try:
            if allocation not in self._chains:
                self._chains[allocation] = None
                self._chains[allocation] = make_chain(allocation, self._support)
            chain = self._chains[allocation]
            return None if chain is None else certified_pool(chain, instance, solutions)
        except InputError:
            return None


def distinct_endpoints(ends: np.ndarray) -> np.ndarray:
    """One endpoint of each cluster of equal ones (to about eight digits)."""
    keys = np.round(ends / (np.abs(ends).max(axis=1, keepdims=True) + 1e-300), 8)
    return ends[np.sort(np.unique(keys, axis=0, return_index=True)[1])]


def _real_only(certified: Certified) -> Certified:
    kind = np.where(certified.kind == REAL, REAL, FAILED)
    return Certified(kind, certified.roots, certified.radii)
