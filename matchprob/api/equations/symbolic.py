"""The equations with symbols for the data, their core, and its discriminant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from algebra.families.equations import written_form
from algebra.problems.allocation import Allocation
from algebra.problems.instance_files import GivenNumbers
from algebra.problems.problem import Problem
from algebra.systems.discriminant import Discriminant, discriminant_of
from algebra.systems.forms import form_of, preferred_form
from algebra.systems.inspection import Inspection
from algebra.systems.instances import rational_instance
from algebra.systems.root_count import generic_root_count
from algebra.systems.symbolic import Elimination, eliminated
from algebra.systems.written import SymbolicSystem
from matchprob.api.given import Given, as_instance
from matchprob.api.question import as_problem
from matchprob.verbs.parameters import Question

# Largest number of symbols for which a core is shown with symbols.
_FEW_SYMBOLS = 14


def symbolic_system(
    question: Question | Allocation,
    form: str | None = None,
    support: Mapping[str, np.ndarray] | None = None,
    *,
    seed: int = 0,
) -> SymbolicSystem:
    """The equations of an allocation with a SymPy symbol for every weight, sample and label.

    Parameters
    ----------
    question : Problem, str, Path or Allocation
    form : str, optional
        A form as for `inspect`, except "core" (`eliminate`); by default the one with the smaller
        core.
    support : mapping of str to mask, optional
        Structural zeros; by default the problem's.
    seed : int, optional
        Determines the activation pattern, if the network has one.

    Returns
    -------
    SymbolicSystem
        ``equations`` that must vanish, each with its label in ``labels``; ``unknowns`` are the
        learnable weights first; ``conditions`` of one activation pattern.

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.LinearEstimator(q=2, d=1, m=1)
    >>> system = mp.symbolic_system(mp.Problem(net, {"W": [[1, 0]]}))
    >>> system.unknowns, system.equations[0].expand()
    (('W_0_0',), W_0_0*X_0_0 + W_0_1*X_1_0 - Y_0_0)
    """
    if isinstance(question, Allocation):
        allocation = question
    else:
        problem = as_problem(question)
        allocation, support = problem.allocation, problem.support if support is None else support
    return written_form(allocation, form, support, seed=seed)


def _form(allocation: Allocation, form: str | None) -> str:
    if form is None:
        return preferred_form(allocation)
    return form_of(allocation, form).name


def eliminate(
    question: Question,
    *,
    instance: Given | None = None,
    symbols: Iterable[str] | None = None,
    form: str | None = None,
) -> Elimination:
    """The core: the equations that remain after exact elimination of the linear ones.

    Parameters
    ----------
    question : Problem, str or Path
        With a fixed allocation, of a network whose equations are polynomials.
    instance : GivenNumbers, mapping, str or Path, optional
        A given instance; without one all data are symbols (64 at most).
    symbols : iterable of str, optional
        With an instance: matrices whose entries stay symbols, such as ``["Y"]``.
    form : str, optional
        By default the one with the smaller core.

    Returns
    -------
    Elimination
        ``equations`` in ``unknowns``, without denominators, and ``weights`` as functions of them.

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.LinearEstimator(q=1, d=1, m=1)
    >>> mp.eliminate(mp.Problem(net, {"W": [[1]]})).weights
    {'W_0_0': Y_0_0/X_0_0}
    """
    problem = as_problem(question)
    chosen = _form(problem.allocation, form)
    numbers = None if instance is None else as_instance(instance, problem).numbers
    return eliminated(problem, numbers=numbers, symbols=symbols, form=chosen)


def discriminant(
    question: Question,
    *,
    instance: Given | None = None,
    symbols: Iterable[str] | None = None,
    form: str | None = None,
) -> Discriminant:
    """The polynomial in the data whose sign determines the number of real solutions.

    For a small core.

    Parameters
    ----------
    question, instance, symbols, form
        As for `eliminate`; with an instance the labels stay symbols by default.

    Returns
    -------
    Discriminant

    Raises
    ------
    InputError
        If the core has no unknown, or more than two.

    Examples
    --------
    The two diagonal weights of the paper's smallest net match exactly where Δ is not negative:

    >>> import matchprob as mp
    >>> net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> diagonal = mp.Problem(net, {"W": [[1, 0], [0, 1]]})
    >>> own = {
    ...     "weights": {"W": [[0, 1], [-1, 0]], "B": [[1], [1]], "D": [[1, 1]]},
    ...     "samples": {"X": [[1, 0], [0, 1]]},
    ...     "labels": {"Y": [[1, 2]]},
    ... }
    >>> delta = mp.discriminant(diagonal, instance=own)
    >>> delta.degree, delta.value
    (2, 2*Y_0_0 - Y_0_1**2 + 4)
    >>> delta.sign(Y_0_0=1, Y_0_1=2), mp.count(diagonal, instance=own).instances[0].real
    (1, 2)
    """
    if symbols is None and instance is not None:
        symbols = ("Y",)
    left = eliminate(question, instance=instance, symbols=symbols, form=form)
    roots = None
    if len(left.unknowns) == 2:
        problem = left.problem
        roots = generic_root_count(problem.allocation, problem.support).value
    return discriminant_of(left, roots)


def shown_core(
    problem: Problem, found: Inspection, numbers: GivenNumbers | None, seed: int
) -> Elimination | None:
    """The core that an inspection prints: of a given instance, with symbols, or of an example.

    None if the report has no form.
    """
    if not found.forms:
        return None
    form = found.forms[0].form
    if numbers is not None:
        return eliminated(problem, numbers=numbers, form=form)
    problem = problem.with_allocation(found.allocation)
    network = problem.network
    symbols = network.parameters - problem.allocation.size
    symbols += network.input_shape[0] * network.input_shape[1] + network.outputs
    if symbols <= _FEW_SYMBOLS:
        return eliminated(problem, form=form)
    student, teacher, X = rational_instance(problem, seed, 0)
    example = GivenNumbers(problem, student, X, teacher)
    made = eliminated(problem, numbers=example, form=form)
    return replace(made, source=f"of an example: a random instance in eighths, seed {seed}")
