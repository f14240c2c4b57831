"""Arguments about linear networks, checked as `verify` checks them."""

from algebra.arguments.argument import Claimed
from algebra.checker.checks import CheckEffort
from algebra.checker.root_evidence import RootEvidence
from algebra.declarations import DEGREE
from algebra.systems.forms import DIRECT


def checked(argument, problem, evidence, *, equations=None, roots=None, seed=1, verdict=None):
    """Status, and places, statuses and texts of the check; `CheckFailed` is raised.

    `equations` is the number of weights by default, `roots` a claimed N.
    """
    said = []
    count = roots and RootEvidence(roots, DEGREE, DIRECT.name, (roots,), (), 0)
    size = problem.allocation.size if equations is None else equations
    claimed = Claimed(
        verdict or next(iter(argument.why)), size, count, CheckEffort(seed, 40.0),
        lambda *words: said.append(words),
    )  # fmt: skip
    return argument.check(problem, evidence, claimed), said
