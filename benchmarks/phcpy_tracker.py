"""Engines `phcpy-track` and `phcpy-core`: phcpy's path tracker from known start solutions.

For comparison only; `register_trackers` registers them with `numeric.engines.base`.

The tracker does not need the time that the blackbox solver spends on a system of far larger mixed
volume: it follows N paths from N known roots.  But PHCpack varies *coefficients* on straight lines,
``γ (1 - t)² start + t² target``, and this is a parameter homotopy only if the coefficients of the
family's systems are its parameters.  Two formulations:

``"lifted"``
    Unknowns are the learnable weights, every state ``S_0, …, S_K`` and Z:
    ``S_0 = given``, ``S_k = M_k S_{k-1}``, ``Z = Σ S_k P_k`` (or S_K), ``D Z = Y``.  Each
    coefficient is one parameter.  (Where there are as many samples as inputs, the P_k are
    blocks of the identity and Z is not needed.)  Dividing by ``γ (1 - t)² + t²`` shows that
    all parameters stay on one complex line, the same for every equation as long as none is
    scaled separately.  All systems belong to the family, so only the tracker can lose a path.
    The disadvantage is the number of unknowns in every step of phcpy's tracker.

``"core"``
    The core after elimination, a few unknowns.  Its coefficients are other functions of the
    parameters, so the line leaves the family.  Systems on the line may have more roots than N; the
    N paths then lead to some of the target's roots, others go to infinity.  Smaller counts are
    "undetermined"; their frequency shows the benefit of a parameter homotopy.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from flint import ctx

from algebra.errors import InputError
from algebra.polynomials.msolve.solver import real_roots
from algebra.polynomials.real_roots import Parametrization
from algebra.problems.problem import Problem
from numeric.counts import COMPLETE, UNDETERMINED, InstanceCount, Reason
from numeric.engines.base import Assignment, EngineInfo, InstanceEngine, Resources, engine
from numeric.engines.exact import exact_core, settled_by_elimination
from numeric.engines.phcpy.engine import audited_count
from numeric.engines.phcpy.floating_core import FloatingCore, Terms
from numeric.engines.phcpy.process import PhcpyCrashed, PhcpyError, PhcpyProcess
from numeric.equations.chain import IN_D, IN_M, IN_S0, Chain, make_chain
from numeric.instances import Instance, draw_instance
from numeric.tracking.monodromy import StartSystem, find_start
from numeric.tracking.start_cache import load_start, save_start

# The form of the systems that each engine tracks.
ENGINES = {"phcpy-track": "lifted", "phcpy-core": "core"}
_ATTEMPTS = 3  # with other random numbers γ


class LiftedSystems:
    """The lifted systems of a chain, as exponents to coefficients.

    Parameters
    ----------
    chain : Chain

    Attributes
    ----------
    size : int
        Number of unknowns: first the learnable weights, then S_0, …, S_K, then Z if needed.
    """

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        n, c = chain.widths.tolist(), chain.columns
        self._states = np.cumsum([chain.unknowns, *(w * c for w in n)]).tolist()
        # A reading by blocks of the identity picks entries of the states.
        self._picks = chain.read_all and chain.samples == c * chain.steps
        self._has_z = chain.read_all and not self._picks
        self.size = self._states[-1] + (n[-1] * chain.samples if self._has_z else 0)
        self._cells = {tuple(cell[:4]): v for v, cell in enumerate(chain.cells.tolist())}

    def _read(self, i: int, x: int) -> int:
        """The unknown that is Z_ix."""
        n, c, m = int(self.chain.widths[-1]), self.chain.columns, self.chain.samples
        if self._has_z:
            return self._states[-1] + i * m + x
        if self._picks:
            return self._states[self.chain.steps - x // c] + i * c + x % c
        return self._states[-1] - n * c + i * c + x

    def _add(self, terms: dict, value: complex, *unknowns: int) -> None:
        """Add a value times a product of unknowns."""
        exponents = [0] * self.size
        for k in unknowns:
            exponents[k] += 1
        key = tuple(exponents)
        terms[key] = terms.get(key, 0) + value

    def system(self, parameters: np.ndarray) -> list[dict[tuple[int, ...], complex]]:
        """The equations at a parameter vector; equal parameters have equal coefficients."""
        chain, p, one = self.chain, parameters, 1.0 + 0j
        n, c, m, K = chain.widths.tolist(), chain.columns, chain.samples, chain.steps
        S = self._states
        per_step = any(kind == IN_M and step for kind, step, *_ in self._cells)
        out = []

        def entry(terms: dict, cell: tuple[int, ...], at: int, *unknowns: int) -> None:
            learnt = self._cells.get(cell)
            if learnt is None:
                self._add(terms, complex(p[at]), *unknowns)
            else:
                self._add(terms, one, learnt, *unknowns)

        for i in range(n[0]):
            for y in range(c):
                terms: dict = {}
                self._add(terms, -one, S[0] + i * c + y)
                entry(terms, (IN_S0, 0, i, y), chain.s0_at + i * c + y)
                out.append(terms)
        for k in range(1, K + 1):
            for i in range(n[k]):
                for y in range(c):
                    terms = {}
                    self._add(terms, -one, S[k] + i * c + y)
                    for j in range(n[k - 1]):
                        cell = (IN_M, k if per_step else 0, i, j)
                        at = chain.m_at[k] + i * n[k - 1] + j
                        entry(terms, cell, at, S[k - 1] + j * c + y)
                    out.append(terms)
        if self._has_z:
            for i in range(n[K]):
                for x in range(m):
                    terms = {}
                    self._add(terms, -one, self._read(i, x))
                    for k in range(1, K + 1):
                        for y in range(c):
                            value = complex(p[chain.p_at[k] + y * m + x])
                            self._add(terms, value, S[k] + i * c + y)
                    out.append(terms)
        for a, x in chain.equations.tolist():
            terms = {}
            self._add(terms, -complex(p[chain.y_at + a * m + x]))
            for i in range(n[K]):
                entry(terms, (IN_D, 0, a, i), chain.d_at + a * n[K] + i, self._read(i, x))
            out.append(terms)
        return [{e: v for e, v in terms.items() if v != 0} for terms in out]

    def lift(self, parameters: np.ndarray, roots: np.ndarray) -> np.ndarray:
        """Learnable weights (·, r) with the states and Z that follow from them (·, size)."""
        chain = self.chain
        n, c = chain.widths, chain.columns
        out = []
        for root in roots:
            p = np.array(parameters, complex)
            p[chain.cells[:, 4]] = root
            S = [p[chain.s0_at : chain.s0_at + n[0] * c].reshape(n[0], c)]
            Z = np.zeros((n[-1], chain.samples), complex)
            for k in range(1, len(n)):
                at = chain.m_at[k]
                S.append(p[at : at + n[k] * n[k - 1]].reshape(n[k], n[k - 1]) @ S[-1])
                if chain.read_all:
                    at = chain.p_at[k]
                    Z = Z + S[k] @ p[at : at + c * chain.samples].reshape(c, chain.samples)
            parts = [root, *(s.ravel() for s in S)]
            out.append(np.concatenate([*parts, Z.ravel()] if self._has_z else parts))
        return np.array(out).reshape(len(roots), self.size)


class PhcpyTracker:
    """Counts the real solutions of instances with PHCpack's path tracker.

    Parameters
    ----------
    problem : Problem
    root_count : int or None
        The generic root count, which is the number of paths.
    form : {"lifted", "core"}, optional
        See the docstring of the module.
    seed : int, optional
        Of the start system.
    timeout : float, optional
        Seconds for one call of PHCpack.
    process : PhcpyProcess, optional
        A worker to share.

    Raises
    ------
    InputError
        If the root count is not known, or not all start solutions can be computed.

    Notes
    -----
    A context manager: the worker ends with it.
    """

    def __init__(
        self,
        problem: Problem,
        root_count: int | None,
        *,
        form: str = "lifted",
        seed: int = 0,
        timeout: float = 600.0,
        process: PhcpyProcess | None = None,
    ) -> None:
        if form not in ENGINES.values():
            raise InputError(f"`form` ({form!r}) must be one of {', '.join(ENGINES.values())}")
        if root_count is None:
            raise InputError(
                "`root_count` (None): the tracker follows N paths; where N is out of reach use "
                "the engine multistart"
            )
        self.problem = problem
        self.root_count = root_count
        self.form = form
        self.timeout = timeout
        self._process = process or PhcpyProcess()
        self._start_core: tuple[list[Terms], np.ndarray] | None = None
        if form == "lifted":
            self.chain = make_chain(problem.allocation, problem.support)
            self.systems = LiftedSystems(self.chain)
            start = _start(self.chain, root_count, seed)
            self._start_system = self.systems.system(start.parameters)
            self._start_roots = self.systems.lift(start.parameters, start.roots)
        elif root_count > 1:
            self._start_core = _start_core(problem, root_count, seed, timeout)

    def __enter__(self) -> PhcpyTracker:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.close()

    def count_many(self, instances: Sequence[Instance]) -> list[InstanceCount]:
        """All solutions of several instances, in their order."""
        return [self.count(instance) for instance in instances]

    def count(self, instance: Instance) -> InstanceCount:
        """All solutions of one instance, or those that the paths reached."""
        began = time.perf_counter()
        best = InstanceCount(instance.index, None, None, UNDETERMINED)
        follow = self._lifted if self.form == "lifted" else self._core
        for attempt in range(_ATTEMPTS):
            try:
                found = follow(instance, attempt)
            except PhcpyCrashed as error:
                note = f"phcpy: {error}"
                return InstanceCount(
                    instance.index, None, None, UNDETERMINED, note, reason=Reason.LOST
                )
            except (PhcpyError, InputError) as error:
                return InstanceCount(instance.index, None, None, UNDETERMINED, f"phcpy: {error}")
            found = replace(found, retried=attempt, seconds=time.perf_counter() - began)
            if (found.complex or 0) >= (best.complex or 0):
                best = found
            if found.status == COMPLETE:
                break
        return best

    def _lifted(self, instance: Instance, attempt: int) -> InstanceCount:
        result = self._process.track(
            self.systems.system(self.chain.parameters(instance)),
            self._start_system,
            self._start_roots,
            timeout=self.timeout,
            seed=instance.index + 7919 * attempt,
            scale=False,
        )
        r = self.chain.unknowns
        return audited_count(instance, result, lambda root: root[:r], self.root_count)

    def _core(self, instance: Instance, attempt: int) -> InstanceCount:
        core = exact_core(instance)
        settled = settled_by_elimination(core, instance.index)
        if settled is not None:
            return settled
        if self._start_core is None or not core.is_square:
            note = "this instance has no square core of several solutions"
            return InstanceCount(instance.index, None, None, UNDETERMINED, note)
        rounded = FloatingCore(core)
        start, roots = self._start_core
        if len(rounded.terms) != len(start):
            note = "the core has another shape than that of the start instance"
            return InstanceCount(instance.index, None, None, UNDETERMINED, note)
        result = self._process.track(
            rounded.terms,
            start,
            roots,
            timeout=self.timeout,
            seed=instance.index + 7919 * attempt,
        )
        return audited_count(instance, result, rounded.weights, self.root_count)


def complex_points(points: Parametrization, digits: int = 60) -> np.ndarray:
    """All complex points of a parametrization, rounded to doubles; (points)×(coordinates)."""
    before = ctx.dps
    ctx.dps = digits
    try:
        out = []
        denominator = points.denominator * points.scale
        found: Any = points.w.complex_roots()  # pairs (root, multiplicity)
        for t, _ in found:
            below = denominator(t)
            out.append([complex(x(t) / below) for x in points.numerators])
        return np.array(out, complex).reshape(len(out), len(points.numerators))
    finally:
        ctx.dps = before


def _start(chain: Chain, root_count: int, seed: int) -> StartSystem:
    start = load_start(chain, seed, root_count)
    if start is None:
        start = find_start(chain, root_count, seed)
        if start.root_count == root_count:
            save_start(chain, seed, start)
    if start.root_count != root_count:
        raise InputError(
            f"only {start.root_count} of {root_count} start solutions were found; try another "
            "`seed`"
        )
    return start


def _start_core(
    problem: Problem, root_count: int, seed: int, timeout: float
) -> tuple[list[Terms], np.ndarray]:
    """The core of a random real instance and all its complex roots, found by msolve."""
    for attempt in range(8):
        core = exact_core(draw_instance(problem, seed, 1_000_000 + attempt))
        if not core.equations or not core.is_square:
            continue
        found = real_roots(core.equations, timeout=max(1, round(timeout)))
        if found.complex == root_count and found.parametrization is not None:
            return FloatingCore(core).terms, complex_points(found.parametrization)
    raise InputError(
        f"no start system: 8 random instances have other than {root_count} solutions in their cores"
    )


def _check(resources: Resources) -> None:
    resources.get(PhcpyProcess).start()


def _maker(form: str) -> Any:
    def make(task: Assignment) -> InstanceEngine:
        return PhcpyTracker(
            task.problem,
            task.plan.root_count,
            form=form,
            timeout=task.timeout,
            process=task.resources.get(PhcpyProcess),
        )

    return make


def register_trackers() -> None:
    """Register both engines.

    Importing the file does not: pytest may import it under two names.
    """
    for name, form in ENGINES.items():
        info = EngineInfo(
            name,
            {"linear"},
            complete=True,
            needs=("phcpy",),
            summary=f"PHCpack's tracker from our start solutions, on the {form} system",
        )
        engine(info, check=_check)(_maker(form))
