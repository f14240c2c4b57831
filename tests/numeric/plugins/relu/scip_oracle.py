"""ReLU instances decided by SCIP: an oracle for `numeric.plugins.relu.decide`.

The equations are those of `algebra.plugins.relu.equations`; the weights are free variables, and
each pair (u, v) is a special ordered set of type 1.  SCIP works in floating point with tolerance
1e-9 and returns no certificate of infeasibility.  A match is reported only with a rational witness
verified over Q.
"""

from __future__ import annotations

import numpy as np
import pytest

from algebra.linalg.numbers import nearest_double
from algebra.plugins.relu.equations import relu_system
from algebra.problems.intervals import Interval
from numeric.plugins.relu.decision import MATCH, NONE, UNDETERMINED
from numeric.trials.instances import Instance, to_double

scip = pytest.importorskip("pyscipopt")


def scip_verdict(instance: Instance, *, timeout: float = 600.0) -> tuple[str, str]:
    """SCIP's verdict on one instance.

    Parameters
    ----------
    instance : Instance
    timeout : float, optional
        Seconds.

    Returns
    -------
    (verdict, note)
        "match", "no match" or "undetermined".
    """
    exact = relu_system(instance.allocation, *instance.exact, instance.box)
    k, m = exact.pairs
    d = len(exact.G)
    model = scip.Model()
    model.hideOutput()
    model.setParam("limits/time", timeout)
    model.setParam("numerics/feastol", 1e-9)
    outer, c, G = (to_double(np.array(a, dtype=object)) for a in (exact.outer, exact.c, exact.G))
    if exact.is_empty:
        return NONE, "an interval of the constraints is empty"
    # lb=None: no bound.  Weights of true witnesses are as large as 1e4.
    w = {cell: model.addVar(**_ends(exact.interval(cell))) for cell in exact.cells}
    known = {cell: to_double(z) for own in exact.terms for cell, z in own}
    known |= {cell: to_double(z) for _, cell, z in exact.read}
    u = {(i, s): model.addVar() for i in range(k) for s in range(m)}
    v = {pair: model.addVar() for pair in u}
    for i, s in u:
        inner = scip.quicksum(w[cell] * known[cell][s] for cell, _ in exact.terms[i])
        inner += scip.quicksum(
            nearest_double(weight) * u[j, s] for (to, j), weight in exact.inner.items() if to == i
        )
        model.addCons(u[i, s] - v[i, s] - inner == c[i, s])
        model.addConsSOS1([u[i, s], v[i, s]])
    for s in range(m):
        for o in range(d):
            terms = [outer[o, i] * u[i, s] for i in range(k)]
            terms += [w[cell] * known[cell][s] for o2, cell, _ in exact.read if o2 == o]
            if terms:
                model.addCons(scip.quicksum(terms) == G[o, s])
            elif G[o, s] != 0:
                return NONE, "a label that no learnable weight affects is missed"
    try:
        model.optimize()
    except Exception as error:
        # PySCIPOpt raises no more specific error if SCIP has numerical problems.
        return UNDETERMINED, f"{error}"
    status = model.getStatus()
    if status == "infeasible":
        return NONE, "SCIP: infeasible"
    if not model.getNSols():
        return UNDETERMINED, f"SCIP: {status}"
    best = model.getBestSol()
    value = np.zeros((k, m)), np.zeros((k, m))
    for i, s in u:
        value[0][i, s], value[1][i, s] = best[u[i, s]], best[v[i, s]]
    active = value[0] > value[1]
    for zero in (np.zeros((k, m), bool), np.maximum(*value) < 1e-7):
        if exact.solve_pattern(active, zero) is not None:
            return MATCH, "SCIP: a solution, its exact witness verified"
    return UNDETERMINED, "SCIP: a solution within tolerance, no exact witness near it"


def _ends(interval: Interval) -> dict[str, float | None]:
    """Bounds of a variable."""
    ends = {"lb": interval.low, "ub": interval.high}
    return {key: None if e is None else nearest_double(e) for key, e in ends.items()}
