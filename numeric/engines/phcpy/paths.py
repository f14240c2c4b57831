r"""PHCpack's path tracker from known solutions, for nets with a form in free inputs.

PHCpack varies *coefficients* on straight lines, ``γ (1 - t)² start + t² target``.  This is a
parameter homotopy only if all coefficients are free in the family of systems; in the core system
they are not, so most lines leave the family, and a third to a half of the N paths go to infinity.
In the free inputs (`numeric.equations.inputs`) the equations are

    Σ_{j in A_i} w_ij F_{k-1,j}(u) + G_{k,i}(u) = 0,    G_{k,i} = Σ_{j not in A_i} W_ij F_{k-1,j} -
    F_{k,i},

F and G affine in u.  The coefficients of all F_{k,j}, j in some A_i, are parameters.  If row i
itself is in no A_j, those of G_{k,i} are free by its F_{k,i}.  Else they are free by fixed weights
W_ij of that row: by a column j that is in no A and belongs to no learning row, one for each such
row i, all but the coefficient of u_{k-1}, which W_ij V_j adds to for the e or more learning rows j
outside A_i, V_j being the coefficient of u_k in F_{k,j}.  `has_free_coefficients` decides this.
Dividing by ``γ (1 - t)² + t²`` shows that all coefficients move on one complex line.

The ends are polished and certified by Krawczyk's test for the exact instance, and a count is
complete only if N different ones are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from algebra.errors import InputError
from algebra.problems.problem import Problem
from algebra.time_limits import check_time, time_left
from numeric.certification.krawczyk import RootPool
from numeric.certification.krawczyk_pairs import InputsTarget
from numeric.engines.phcpy.process import PhcpyProcess
from numeric.equations.chain import Chain, make_chain
from numeric.equations.inputs import InputsForm
from numeric.tracking.monodromy import INCOMPLETE, StartSystem, find_start
from numeric.tracking.start_cache import load_start, save_start
from numeric.trials.counts import COMPLETE, UNDETERMINED, InstanceCount
from numeric.trials.instances import Instance

# Calls of PHCpack, each with another random number γ.
_ATTEMPTS = 3


def has_free_coefficients(form: InputsForm) -> bool:
    """Whether the coefficients of the equations in the free inputs move freely."""
    n, _, _, e = form.shape
    used, learning = set(form.cells[:, 1].tolist()), set(form.learning.tolist())
    bound = [place for place, row in enumerate(form.rows.tolist()) if row in used]
    for place in bound:
        own = set(form.cells[form.cells[:, 0] == place, 1].tolist())
        if len(learning - own) < e:
            return False
    return len(set(range(n)) - used - learning) >= len(bound)


def inputs_terms(form: InputsForm, vector: np.ndarray) -> list[dict[tuple[int, ...], complex]]:
    """The equations in the free inputs for a vector of parameters: exponents to coefficients.

    Equal monomials are in the same place for every vector.
    """
    n, T, b, e = form.shape
    at, weights = (T + 1) * n * b, len(form.cells)
    alpha = vector[:at].reshape(T + 1, n, b)
    beta = vector[at : at + T * n * e].reshape(T, n, e)
    fixed = vector[at + T * n * e :].reshape(-1, n)
    cells = {(i, j): v for v, (i, j) in enumerate(form.cells.tolist())}
    out = []
    for place, k, x in np.ndindex(len(form.rows), T, b):
        terms: dict[tuple[int, ...], complex] = {}

        def add(value: complex, k: int, i: int, x: int, *weight: int, to: dict = terms) -> None:  # type: ignore[type-arg]
            """Add a multiple of F_{k,i}, perhaps times a weight."""
            inputs = (
                ((m - 1) * e + g, beta[k - m, i, g]) for m in range(1, k + 1) for g in range(e)
            )
            parts = [((), alpha[k, i, x]), *(((weights + p * b + x,), c) for p, c in inputs)]
            for unknowns, c in parts:
                key = [0] * form.unknowns
                for v in (*weight, *unknowns):
                    key[v] += 1
                to[tuple(key)] = to.get(tuple(key), 0) + complex(value * c)

        add(-1, k + 1, int(form.rows[place]), x)
        for j in range(n):
            cell = cells.get((place, j))
            if cell is None:
                add(fixed[place, j], k, j, x)
            else:
                add(1, k, j, x, cell)
        out.append(terms)
    return out


@dataclass
class PhcpyPaths:
    """Counts by N paths of PHCpack.

    Attributes
    ----------
    form : InputsForm
    start : StartSystem
    process : PhcpyProcess
    timeout : float
        Seconds for one call of PHCpack.
    """

    chain: Chain
    form: InputsForm
    start: StartSystem
    process: PhcpyProcess
    timeout: float

    @classmethod
    def of(
        cls, problem: Problem, root_count: int, process: PhcpyProcess, timeout: float
    ) -> PhcpyPaths | None:
        """The paths of a problem; None if it has no form whose coefficients are free."""
        if problem.network.chain() is None:
            return None
        try:
            chain = make_chain(problem.allocation, problem.support)
        except InputError:
            # More equations than weights, or a singular system.
            return None
        form = chain.free_inputs()
        if form is None or not has_free_coefficients(form):
            return None
        start = load_start(chain, 0, root_count)
        if start is None:
            start = find_start(chain, root_count, 0)
            if start.source != INCOMPLETE:
                save_start(chain, 0, start)
        return None if start.source == INCOMPLETE else cls(chain, form, start, process, timeout)

    def count(self, instance: Instance) -> InstanceCount:
        """All solutions of one instance."""
        form, begin = self.form, self.form.reduce(self.start.parameters)
        at = form.reduce(self.chain.parameters(instance))
        target = InputsTarget(form, instance, at)
        roots = form.unknowns_of(begin, self.start.roots)
        unit = _powers_of_two(np.exp(np.log(np.abs(roots) + 1e-8).mean(axis=0)))
        goal, known = _scaled(inputs_terms(form, at.vector), inputs_terms(form, begin.vector), unit)
        pool, paths = RootPool(self.chain), 0
        for attempt in range(_ATTEMPTS):
            check_time()
            result = self.process.track(
                goal,
                known,
                roots / unit,
                timeout=time_left(self.timeout) or 1e-3,
                seed=instance.index + 7919 * attempt,
                scale=False,
            )
            ends = np.array([end.values for end in result.solutions], complex) * unit
            paths += len(ends)
            inputs = ends[:, len(form.numbers) :]
            pool.add(target.certify(form.weights_of(at, ends), inputs))
            if len(pool) >= len(roots):
                break
        complete = len(pool) == len(roots)
        return InstanceCount(
            instance.index,
            pool.real,
            len(pool),
            COMPLETE if complete else UNDETERMINED,
            "" if complete else f"{len(pool)} of {len(roots)} solutions found",
            solutions=tuple(map(tuple, pool.roots[pool.is_real].real.tolist())),
            paths=paths,
            certified=len(pool),
            retried=attempt,
        )


def _powers_of_two(sizes: np.ndarray) -> np.ndarray:
    return 2.0 ** np.round(np.log2(sizes))


def _scaled(
    target: Sequence[dict[tuple[int, ...], complex]],
    start: Sequence[dict[tuple[int, ...], complex]],
    unit: np.ndarray,
) -> list[list[dict[tuple[int, ...], complex]]]:
    """Two systems in units of the unknowns, each equation of both by one power of two."""
    out: list[list[dict[tuple[int, ...], complex]]] = [[], []]
    for both in zip(target, start, strict=True):
        scaled = [{m: c * np.prod(unit ** np.array(m)) for m, c in eq.items()} for eq in both]
        size = max(abs(c) for equation in scaled for c in equation.values())
        factor = _powers_of_two(np.array(1.0 / size))
        for to, equation in zip(out, scaled, strict=True):
            to.append({m: complex(c * factor) for m, c in equation.items() if c != 0})
    return out
