"""The generic root count without Gröbner bases: monodromy, then a trace test.

For cases where msolve is missing or too slow.  Solutions of a random complex instance are
collected by monodromy (`numeric.tracking.monodromy`) until a trace test
(`numeric.tracking.trace_test`) indicates that none is missing.  The result is numerical evidence,
not a proof, and marked as such.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from algebra.declarations import TRACE
from algebra.errors import InputError
from algebra.problems.allocation import Allocation
from algebra.ranks.root_count_error import by_trace
from algebra.systems.forms import preferred_form
from algebra.systems.root_count import (
    RootCount,
    RootCountError,
    TraceEvidence,
)
from algebra.time_limits import phase
from algebra.work import end_of_part, seconds_until, share
from numeric.equations.program_system import make_system
from numeric.equations.system import ParameterSystem
from numeric.tracking.monodromy import INCOMPLETE, find_start
from numeric.tracking.trace_test import FAILED, TOLERANCE, TraceTest, trace_test

# Edges without a new root before the trace test, which finds missing solutions itself.
_PATIENCE = 4
_MOST_ROOTS = 1_000
# Instances tried, as offsets of the seed.
_INSTANCES = (0, 1_000_003, 2_000_003)


def complete_solutions(
    system: ParameterSystem,
    seed: int = 0,
    *,
    timeout: float = 120.0,
    most_roots: int = _MOST_ROOTS,
    most_points: int = 1_500,
) -> TraceTest:
    """All solutions of a random complex instance, by monodromy and a trace test that passed.

    Parameters
    ----------
    system : ParameterSystem
    seed : int, optional
        Seed of the random instance, line and sections.
    timeout : float, optional
        Seconds for the trace tests, all together.
    most_roots, most_points : int, optional
        The search stops beyond these numbers of solutions, and of points of the section.

    Raises
    ------
    RootCountError
        If the trace test did not pass; a number of solutions alone proves nothing.
    """
    end = end_of_part(timeout)
    for instance in _INSTANCES:
        with phase("generic root count by monodromy"):
            start = find_start(
                system, None, seed + instance, patience=_PATIENCE, most_roots=most_roots,
                trace_seconds=0, timeout=seconds_until(end),
            )  # fmt: skip
        if start.root_count > most_roots:
            raise RootCountError(
                f"no trace test: more than {most_roots} solutions", start.root_count
            )
        if start.source == INCOMPLETE:
            raise RootCountError(
                f"no trace test: monodromy still found new solutions ({start.root_count}) when "
                f"{share()} was over",
                start.root_count,
            )
        with phase(f"trace test of {start.root_count} solutions"):
            test = trace_test(
                system, start.parameters, start.roots, seed=seed, most_points=most_points,
                timeout=seconds_until(end),
            )  # fmt: skip
        # In some instances hardly any loop reaches a certain point: another one is tried.
        if test.status != FAILED:
            break
    if not test.passed:
        raise RootCountError(str(test), test.root_count)
    return test


def monodromy_root_count(
    allocation: Allocation,
    support: Mapping[str, np.ndarray] | None = None,
    seed: int = 0,
    *,
    timeout: float = 120.0,
    most_points: int = 1_500,
) -> RootCount:
    """N of an allocation, numerically.

    Parameters
    ----------
    allocation : Allocation
        Of a linear network, or one with a polynomial activation.  Its number of cells and its rank
        are the network's generic rank.
    support : mapping of str to mask, optional
    seed : int, optional
        Seed of the random instance, line and sections.
    timeout : float, optional
        Seconds for the trace tests, all together.
    most_points : int, optional
        The search stops beyond this number of points of the section.

    Returns
    -------
    RootCount
        Rule "trace test", with its residual.

    Raises
    ------
    RootCountError
        If the trace test did not pass; a number of solutions alone proves nothing.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> diagonal = Allocation.from_cells(net, [("W", 0, 0), ("W", 1, 1)])
    >>> monodromy_root_count(diagonal).value
    2
    """
    try:
        system = make_system(allocation, support)
    except InputError as error:
        raise RootCountError(f"no trace test: {error}") from None
    test = complete_solutions(system, seed, timeout=timeout, most_points=most_points)
    residual, tolerance, share = f"{test.residual:.1e}", f"{TOLERANCE:.0e}", f"{test.share:.1e}"
    return RootCount(
        value=test.root_count,
        rule=TRACE,
        form=preferred_form(allocation),
        blocks=(),
        primes=(),
        seed=seed,
        trace=TraceEvidence(
            points=test.points, residual=residual, tolerance=tolerance, share=share
        ),
        certainty=by_trace(residual, tolerance, share),
    )
