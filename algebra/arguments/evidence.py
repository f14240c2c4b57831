"""Evidence as it is read from a file: ranks, N, and one argument.

The forms that several arguments use are here; an argument's own is in its module
(`algebra.arguments`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import numpy as np

from algebra.arguments.order import BY_KEY, ROOT_COUNT, argument
from algebra.checker.arrays import matrices, matrix
from algebra.checker.checks import CheckFailed
from algebra.checker.claim import Claim
from algebra.checker.network_ranks import (
    ArguedEvidence,
    Matrices,
    context_of,
    need_numbers,
    need_support,
    rational,
)
from algebra.checker.rank_claims import EvidenceOnRanks
from algebra.checker.records import rational_of, read_form
from algebra.networks.base import Cell
from algebra.problems.laws.pinned import pins
from algebra.problems.problem import Problem

if TYPE_CHECKING:
    pass

# The names of `algebra.arguments.formal_ranks.FormalEvidence`.
FORMAL = "regular_minor", "pattern", "upper_bounds"
# A weight or sample, of at most 64 characters; those of certification have at most four.
Entry = rational_of(64)
Weights = Annotated[Matrices, matrices(Entry)]
Samples = Annotated[np.ndarray, matrix(lambda context: context["network"].input_shape, Entry)]


def read_argued(claim: Claim) -> ArguedEvidence:
    """The evidence of a claim: what is common, and that of at most one argument besides N.

    Raises
    ------
    CheckFailed
        If something cannot be read, or is not for this verdict; the message gives its place.
    """
    given, context = claim.evidence, context_of(claim.problem)
    names = [name for name in given if name in BY_KEY and name != ROOT_COUNT]
    formal = {name: given[name] for name in FORMAL if name in given}
    common = {n: value for n, value in given.items() if n not in names and n not in formal}
    ranks = EvidenceOnRanks.from_dict(common, "evidence", context)
    minor, pattern, upper_bounds = None, None, False
    if formal:
        # Loaded here: polynomials need none of it.
        from algebra.arguments.formal_ranks import FormalEvidence

        found = FormalEvidence.from_dict(formal, "evidence", context)
        minor, pattern = found.regular_minor, found.pattern
        upper_bounds = bool(found.upper_bounds)
    for name in names:
        if ranks.labels_vanish or claim.verdict not in argument(BY_KEY[name]).why:
            text = f"has no place in the certificate of a {claim.verdict} allocation"
            raise CheckFailed(f"evidence.{name}", text)
    if len(names) > 1:
        raise CheckFailed(f"evidence.{names[1]}", f"does not belong beside {names[0]}")
    if not names:
        return ArguedEvidence(ranks, minor, pattern, upper_bounds, None, None)
    own = argument(BY_KEY[names[0]])
    value = read_form(own.form, given[own.key], f"evidence.{own.key}", context)
    return ArguedEvidence(ranks, minor, pattern, upper_bounds, own, value)


def need_drawn(
    problem: Problem,
    weights: Mapping[str, np.ndarray],
    teacher: Mapping[str, np.ndarray],
    where: str,
) -> None:
    """An instance and its neighbours must be drawable: structural zeros, signs, exact numbers.

    Parameters
    ----------
    problem : Problem
    weights, teacher : mapping of str to ndarray of fmpq
    where : str
        The place of the instance in the file.

    Raises
    ------
    CheckFailed
    """
    for name, given in (("weights", weights), ("teacher", teacher)):
        place = f"{where}.{name}"
        need_support(given, problem, place)
        # A match does not depend on the values before learning; exact numbers are not drawn.
        free: set[Cell] = set()
        if name == "weights":
            free = {*problem.allocation.cells, *pins(problem.student())}
        for own, i, j in problem.distribution.against(given, problem.support, free):
            text = f"{given[own][i, j]} does not have the sign that it is drawn with"
            raise CheckFailed(f"{place}.{own}[{i}][{j}]", text)
    numbers = {cell: rational(value) for cell, value in pins(problem.student()).items()}
    need_numbers(weights, numbers, f"{where}.weights")
