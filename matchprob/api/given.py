"""Given instances: read, refused if a verb cannot use them, and counted over Q."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from algebra.errors import InputError, shown
from algebra.problems.instance_files import GivenNumbers, given_numbers, load_instance
from algebra.problems.problem import Problem
from algebra.time_limits import OutOfTime, positive_seconds, within
from numeric.engines.base import (
    Assignment,
    Resources,
    check_engine,
    engine_info,
    engines_for,
    family_name,
    make_engine,
)
from numeric.engines.counter import restored
from numeric.engines.plans import Plan
from numeric.trials.count_result import CountResult
from numeric.trials.counts import UNDETERMINED, InstanceCount, Reason
from numeric.trials.instances import GivenInstance, given_instance, lowered_instance

Given = GivenNumbers | Mapping[str, Any] | str | Path


def as_instance(given: Given, problem: Problem) -> GivenInstance:
    """A given instance of a problem.

    Parameters
    ----------
    given : GivenNumbers, mapping, str or Path
        The numbers, the tables of an instance file, or the file.
    problem : Problem
        With a fixed allocation and without constraints.

    Raises
    ------
    InputError
        If it does not fit the problem.
    """
    if problem.is_random:
        raise InputError(
            "the allocation is random, drawn for each trial: a given instance needs a fixed "
            "allocation (masks of 0 and 1)"
        )
    if problem.constraints:
        raise InputError(
            "a given instance is solved in any real weights, since it does not contain the weights "
            "before learning: remove [constraints] from the problem file, and check what `count "
            "--solutions` prints against them"
        )
    if problem.values:
        raise InputError(
            "a given instance contains all its weights: remove [values] from the problem file"
        )
    if isinstance(given, GivenNumbers):
        numbers = given
        if numbers.problem.network != problem.network:
            raise InputError("`instance` belongs to another network than the problem")
        if numbers.problem != problem:
            numbers = GivenNumbers(
                problem, numbers.weights, numbers.X, numbers.teacher, numbers.labels
            )
    elif isinstance(given, Mapping):
        numbers = given_numbers(given, problem)
    elif isinstance(given, (str, Path)):
        numbers = load_instance(given, problem)
    else:
        raise InputError(
            f"`instance` ({shown(given)}) must be the name of an instance file, or its tables"
        )
    return given_instance(numbers)


def count_given(
    instance: GivenInstance, *, engine: str | None = None, timeout: float = 600.0
) -> CountResult:
    """Count the real solutions of a given instance, over Q.

    Parameters
    ----------
    instance : GivenInstance
    engine : str, optional
        One that works in rationals; by default the one for this kind of network.
    timeout : float, optional
        Seconds.

    Raises
    ------
    InputError
        If there is no such engine for the network.
    """
    positive_seconds(timeout, "timeout")
    problem = instance.problem
    known = [name for name in engines_for(problem.network) if engine_info(name).rational]
    if not known:
        raise InputError(
            f"given instances of a {problem.network.title} network are not counted: none of its "
            "engines works in rationals"
        )
    name = engine or known[0]
    if engine is not None and engine not in known:
        engine_info(engine)
        raise InputError(
            f"engine {engine!r} rounds, and given instances are counted over Q: choose "
            + ", ".join(known)
        )
    began = time.monotonic()
    resources = Resources()
    # Neither a generic root count nor a verdict applies to it.
    solved = lowered_instance(instance)
    plan = Plan(solved.allocation, 0, 0, None, "not computed for a given instance")
    try:
        check_engine(name, resources)
        with within(timeout):
            task = Assignment(solved.problem, plan, True, False, timeout, resources)
            (found,) = make_engine(name, task).count_many([solved])
        found = found if solved is instance else restored(found, solved)
    except OutOfTime:
        note = "the time limit was reached"
        found = InstanceCount(0, None, None, UNDETERMINED, note, reason=Reason.LOST)
    finally:
        resources.close()
    return CountResult(
        engine=name,
        seed=0,
        generic_root_count=None,
        instances=(found.with_cells(problem.allocation.cells),),
        root_count_source=f"not computed: a given {family_name(problem.network)} instance",
        seconds=time.monotonic() - began,
        requested=1,
        problem=problem,
        given=instance,
    )
