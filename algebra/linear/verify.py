"""Certificates checked again, from scratch and as far as possible by other means.

* Jacobians are compared with forward-mode derivatives (dual numbers) in random
  directions; ranks are found by our own elimination instead of FLINT.
* A rank deficit is looked for at new random primes and points.
* The generic root count is made again modulo another prime in another form (or without
  deferring blocks), small ones by SymPy's Gröbner bases.  Where msolve is missing or too
  slow, a numerical counter may be handed in; it starts from another seed.
* A witness without real solutions is rebuilt from its rationals; its parametrization is
  proved to consist of solutions, and SymPy's Sturm sequences count no real one.

How a check ends is told in `algebra.certificates.checks`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpz

from algebra.certificates.certificate import (
    INTERMEDIATE,
    MAXIMAL,
    MINIMAL,
    UNDECIDED,
)
from algebra.certificates.checks import (
    FAILED,
    PROBABLE,
    PROVED,
    TRUSTED,
    Check,
    CheckFailed,
    Verification,
)
from algebra.certificates.family import Effort
from algebra.certificates.vanishing import check_vanishing
from algebra.linalg.modular import batched_rank, matmul, random_residues, rank
from algebra.linear.derivatives import dual_derivative
from algebra.linear.recount import prime_not_in, recount
from algebra.linear.verify_witness import check_no_real_root
from algebra.networks.base import Network
from algebra.networks.chain import need_chain
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.problem import Problem, problem_from_dict
from algebra.ranks.jacobian import (
    Point,
    all_cells,
    allocation_rank,
    jacobian,
    network_rank,
    random_point,
    tangent_factors,
)
from algebra.systems.root_count import TRACE, modular_core, preferred_forms

# Matrices up to this many label entries are ranked by our own elimination.
_OWN_RANK = 128


def verify_linear(data: Mapping[str, Any], effort: Effort) -> Verification:
    """Check the certificate of a linear network.

    Parameters
    ----------
    data : mapping
        The content of ``cert.json``.
    effort : Effort
        New points and primes follow from its seed.

    Returns
    -------
    Verification
    """
    checker = _Checker(data, effort)
    return Verification(str(data.get("verdict")), tuple(checker.run()))


class _Checker:
    def __init__(self, data: Mapping[str, Any], effort: Effort) -> None:
        self.data, self.seed, self.timeout = data, effort.seed, effort.limits.timeout
        self.fallback = effort.tools.root_counter
        self.checks: list[Check] = []

    def say(self, place: str, status: str, text: str) -> None:
        self.checks.append(Check(place, status, text))

    def step(self, place: str, action: Callable[[], Any]) -> Any:
        """Run one check; whatever goes wrong in it is a failure at this place."""
        try:
            return action()
        except CheckFailed as failure:
            self.say(failure.place, FAILED, str(failure))
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            self.say(place, FAILED, f"malformed: {type(error).__name__}: {error}")
        raise _Stop

    def run(self) -> list[Check]:
        with suppress(_Stop):
            self._run()
        return self.checks

    def _run(self) -> None:
        data = self.data
        self.problem: Problem = self.step("problem", lambda: problem_from_dict(data["problem"]))
        verdict = data.get("verdict")
        if verdict not in (MINIMAL, MAXIMAL, INTERMEDIATE, UNDECIDED):
            self.say("verdict", FAILED, f"{verdict!r} is no verdict")
            return
        self.step("learnable", self._learnable)
        if "labels_vanish" in self.step("evidence", lambda: dict(data["evidence"])):
            self.step(
                "evidence.labels_vanish",
                lambda: check_vanishing(
                    self.problem, verdict, data["equations"], data["rank"], self.say
                ),
            )
            return
        self.step("evidence.network_rank", self._network_rank)
        self.step("evidence.allocation_rank", self._allocation_rank)
        if verdict == MINIMAL:
            self.step("verdict", self._minimal)
            return
        self.step("verdict", self._not_minimal)
        if verdict == MAXIMAL:
            self.step("evidence.root_count", self._maximal)
        elif verdict == INTERMEDIATE:
            self.step("evidence.root_count", self._root_count)
            self.step("evidence.no_real_root", self._no_real_root)
        else:
            self.say("verdict", TRUSTED, "undecided: nothing more is claimed")

    # -- ranks ---------------------------------------------------------------------

    def _learnable(self) -> None:
        allocation = self.problem.allocation
        if self.data["learnable"] != allocation.size:
            raise CheckFailed(
                "learnable", f"says {self.data['learnable']}, the masks hold {allocation.size}"
            )

    def _network_rank(self) -> None:
        network = self.problem.network
        claimed = self.data["equations"]
        cells = all_cells(network, self.problem.support)
        self._witness("network_rank", cells, claimed)
        bound = need_chain(network).label_dimension_bound
        if claimed > bound:
            raise CheckFailed("equations", f"{claimed} exceeds the bound {bound} from counting")
        if claimed == bound:
            self.say(
                "equations", PROVED, f"generic rank {claimed}: attained, and a bound by counting"
            )
            return
        again = network_rank(network, self.problem.support, self.seed)
        if again.rank > claimed:
            raise CheckFailed("equations", f"a new point shows rank {again.rank} > {claimed}")
        self.say("equations", PROBABLE, f"generic rank {claimed}; new points: {_odds(again.error)}")

    def _allocation_rank(self) -> None:
        self._witness("allocation_rank", list(self.problem.allocation.cells), self.data["rank"])

    def _witness(self, name: str, cells: list[Cell], claimed: Any) -> None:
        """The claimed rank is attained at the witness point."""
        place = f"evidence.{name}"
        evidence = self.data["evidence"][name]
        if not isinstance(claimed, int) or evidence["rank"] != claimed:
            raise CheckFailed(place, f"rank {evidence['rank']!r} does not fit {claimed!r}")
        p, number = evidence["witness"]
        if name == "allocation_rank" and self.data["prime"] != p:
            raise CheckFailed("prime", f"{self.data['prime']!r} is not the witness's prime {p}")
        if not (isinstance(p, int) and 2**20 < p < 2**31 and fmpz(p).is_prime()):
            raise CheckFailed(f"{place}.witness", f"{p!r} is not a prime between 2^20 and 2^31")
        network = self.problem.network
        point = self._point(evidence, p, number)
        names = sorted({cell[0] for cell in cells})
        if not cells:
            found = 0
        else:
            chosen = cells
            if len(cells) > 2 * claimed + 64:
                # Enough random columns show the rank of them all.
                rng = random.Random(f"columns/{self.seed}")
                chosen = rng.sample(cells, claimed + claimed // 4 + 16)
            matrix = jacobian(tangent_factors(network, point, names), chosen, p)
            self._compare_derivatives(network, point, chosen, matrix, place)
            found = _own_rank(matrix, p)
            if found < claimed and len(chosen) < len(cells):
                found = rank(jacobian(tangent_factors(network, point, names), cells, p), p)
        if found != claimed and not (found > claimed and name == "network_rank"):
            raise CheckFailed(place, f"the rank at the witness point is {found}, not {claimed}")
        self.say(place, PROVED, f"rank {claimed} at the witness point modulo {p}")

    def _point(self, evidence: Mapping[str, Any], p: int, number: int) -> Point:
        network = self.problem.network
        if "witness_point" not in evidence:
            return random_point(network, p, number, self.problem.support)
        given = evidence["witness_point"]
        weights = {}
        for name, shape in network.shapes.items():
            weights[name] = np.array(given["weights"][name], dtype=np.int64).reshape(shape) % p
            if name in self.problem.support and (
                weights[name][self.problem.support[name] == 0].any()
            ):
                raise CheckFailed("evidence", f"the point has weights outside support.{name}")
        X = np.array(given["X"], dtype=np.int64).reshape(network.input_shape) % p
        return Point(p, number, weights, X)

    def _compare_derivatives(
        self, network: Network, point: Point, cells: list[Cell], matrix: np.ndarray, place: str
    ) -> None:
        """Jacobian times random directions against forward-mode derivatives."""
        p, rng = point.p, random.Random(f"directions/{self.seed}")
        for _ in range(3):
            step = random_residues((len(cells),), p, rng)
            if not np.array_equal(
                matmul(matrix, step[:, None], p)[:, 0],
                dual_derivative(network, point, cells, step).ravel(),
            ):
                raise CheckFailed(place, "the Jacobian differs from forward-mode derivatives")

    def _minimal(self) -> None:
        rank_, equations = self.data["rank"], self.data["equations"]
        if not rank_ < equations:
            raise CheckFailed("verdict", f"minimal needs rank {rank_} < equations {equations}")
        allocation = self.problem.allocation
        if allocation.size < equations:
            self.say("verdict", PROVED, f"{allocation.size} weights, rank at least {equations}")
            return
        again = allocation_rank(
            allocation, self.problem.support, equations, seed=self.seed + 7_777_777
        )
        if again.rank > rank_:
            raise CheckFailed("rank", f"a new point shows rank {again.rank} > {rank_}")
        self.say(
            "verdict", PROBABLE, f"rank {rank_} < {equations} at new points: {_odds(again.error)}"
        )

    def _not_minimal(self) -> None:
        rank_, equations = self.data["rank"], self.data["equations"]
        if rank_ != equations:
            raise CheckFailed("verdict", f"rank {rank_} ≠ equations {equations}: minimal, not this")
        known = any(c.place == "equations" and c.status == PROVED for c in self.checks)
        self.say(
            "verdict",
            PROVED if known else PROBABLE,
            "not minimal: the allocation's rank is the whole network's",
        )

    # -- root counts ---------------------------------------------------------------

    def _target(self) -> Allocation:
        """The allocation whose roots are counted: the whole, or a named part."""
        allocation = self.problem.allocation
        cells = self.data["evidence"].get("sub_allocation")
        if cells is None:
            return allocation
        part = Allocation.from_cells(self.problem.network, [tuple(c) for c in cells])
        if not set(part.cells) <= set(allocation.cells):
            raise CheckFailed("evidence.sub_allocation", "it is not part of the allocation")
        found = allocation_rank(part, self.problem.support, self.data["equations"], self.seed)
        if found.rank != self.data["equations"] or part.size != found.rank:
            raise CheckFailed(
                "evidence.sub_allocation", f"{part.size} weights of rank {found.rank}: no basis"
            )
        self.say("evidence.sub_allocation", PROVED, f"{part.size} weights of full rank")
        return part

    def _maximal(self) -> None:
        value = self._root_count()
        if value % 2 == 0:
            raise CheckFailed("evidence.root_count", f"{value} is even: it does not prove MP = 1")
        text = f"N = {value} is odd, so a real solution always exists"
        if any(c.place == "evidence.root_count" and c.status == PROVED for c in self.checks):
            self.say("verdict", PROVED, text)
            return
        numerical = self.data["evidence"]["root_count"]["rule"] == TRACE
        source = ", which the certificate has from a trace test: numerical, no proof" * numerical
        self.say("verdict", PROBABLE, f"{text} (given N{source})")

    def _root_count(self) -> int:
        evidence = self.data["evidence"]["root_count"]
        value = evidence["value"]
        target = self._target()
        place = "evidence.root_count"
        whole = target.size == self.problem.allocation.size
        if (
            not isinstance(value, int)
            or value < 1
            or (whole and self.data["generic_root_count"] != value)
        ):
            raise CheckFailed(
                place, f"value {value!r}, generic_root_count {self.data['generic_root_count']!r}"
            )
        rng = random.Random(f"recount/{self.seed}")
        p = prime_not_in(evidence["primes"], rng)
        support = self.problem.support
        first = preferred_forms(self.problem.network, target)[0]
        core, _ = modular_core(target, p, self.seed, first, support)
        if core.is_linear:
            if value != 1:
                raise CheckFailed(place, f"the system is linear, so N is 1, not {value}")
            self.say(place, PROVED, f"elimination modulo {p} leaves no equation: N = 1")
            return 1
        count, how = recount(
            target,
            support,
            core,
            p,
            seed=self.seed,
            timeout=self.timeout,
            fallback=self.fallback,
        )
        if count is None:
            source = f"modulo {evidence['primes']}" if evidence["primes"] else evidence["rule"]
            self.say(place, TRUSTED, f"N = {value} by {source}; {how}")
            return value
        if count != value:
            raise CheckFailed(place, f"counted again, {how}: {count}, not {value}")
        self.say(place, PROBABLE, f"N = {value} again, {how}")
        return value

    def _no_real_root(self) -> None:
        witness = self.data["evidence"]["no_real_root"]
        check_no_real_root(self.problem, witness, self.data["generic_root_count"], self.say)


class _Stop(Exception):
    pass


def _own_rank(matrix: np.ndarray, p: int) -> int:
    if matrix.shape[0] <= _OWN_RANK:
        return int(batched_rank(matrix[None], p)[0])
    return rank(matrix, p)


def _odds(error: Fraction) -> str:
    if error == 0:
        return "proved"
    return f"error at most 2^-{(error.denominator // error.numerator).bit_length() - 1}"
