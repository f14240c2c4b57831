"""The equations of an instance for other programs: from msolve to SageMath."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq

from algebra.documents import Document, Paragraph
from algebra.errors import InputError, shown, whole_number
from algebra.given import known_name
from algebra.polynomials.rings import RationalField
from algebra.problems.instance_files import GivenNumbers
from algebra.problems.problem import Problem
from algebra.results import Result
from algebra.systems.core import CoreSystem
from algebra.systems.forms import CORE, preferred_form
from algebra.systems.instances import rational_core
from algebra.systems.system import PolynomialSystem, build_system
from algebra.words import plural
from matchprob.api.given import Given, as_instance
from matchprob.api.question import as_problem
from matchprob.io.languages import LANGUAGES, spoken, write_system
from matchprob.verbs.parameters import Question
from numeric.engines.phcpy.floating_core import FloatingCore
from numeric.trials.instances import Instance, draw_instance, lowered_instance

if TYPE_CHECKING:
    from algebra.systems.symbolic import Elimination


@dataclass(frozen=True, repr=False)
class Export(Result):
    """A system of polynomials as another program reads it.

    Attributes
    ----------
    to : str
        The language.
    form : str
        "core", or a form of the equations.
    text : str
    names : dict of str to str
        Name of each unknown in the text, with its meaning: "W[0,1]" a weight, "F[2,0]" an
        auxiliary unknown.
    seed, index : int
        The trial: `count` and `estimate` have the same instance for these numbers.
    is_own : bool
        Whether it is a given instance; seed and index then have no meaning.
    system : CoreSystem or PolynomialSystem
        The equations over the rationals.
    integers : bool
        Whether all numbers of the instance are small integers, drawn for this seed and trial.
    """

    to: str
    form: str
    text: str
    names: Mapping[str, str]
    seed: int
    index: int
    is_own: bool
    system: CoreSystem | PolynomialSystem = field(compare=False)
    integers: bool = False

    @property
    def program(self) -> str:
        """The program that reads it."""
        return LANGUAGES[self.to].title

    def _facts(self) -> dict[str, Any]:
        equations, unknowns = len(self.system.equations), len(self.system.unknowns)
        what = {"to": self.to, "form": self.form, "equations": equations, "unknowns": unknowns}
        trial: dict[str, Any] = {"seed": self.seed, "index": self.index}
        if self.integers:
            trial["integers"] = True
        return {**what, **({"instance": "own"} if self.is_own else trial)}

    def document(self) -> Document:
        """The written equations, and the name of each unknown."""
        equations, unknowns = len(self.system.equations), len(self.names)
        title = (
            f"{self.form} of {self.source} for {self.program}: "
            f"{plural(equations, f'{equations} equation')} in "
            f"{plural(unknowns, f'{unknowns} unknown')}"
        )
        names = ", ".join(f"{name} = {what}" for name, what in self.names.items())
        return Document(title, self._facts(), (Paragraph(f"  {names}"),), tone="strong")

    @property
    def source(self) -> str:
        """A description of the instance that was written."""
        if self.is_own:
            return "a given instance"
        return _source(self.seed, self.index, self.integers)

    def of(self, core: Elimination) -> Elimination:
        """The core of the instance that was written, if its core was; else the given one."""
        if not isinstance(self.system, CoreSystem):
            return core
        source = f"of the instance that is written: {self.source}"
        return replace(core, core=self.system, parameters=(), source=source)

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Each unknown: its name in the text, and what it is."""
        return {"name": list(self.names), "unknown": list(self.names.values())}

    def to_dict(self) -> dict[str, Any]:
        """The facts, the names and the text."""
        return {**self._facts(), "names": dict(self.names), "text": self.text}

    def weights(self, solution: Sequence[complex]) -> np.ndarray:
        """The learnable weights of a solution found by another program.

        Parameters
        ----------
        solution : sequence of complex
            Values of the unknowns, in the order of `names`.

        Returns
        -------
        ndarray
            Complex, in double precision, in the order of the allocation that is solved: the
            problem's own, or that of the linear network it is lowered to.

        Raises
        ------
        InputError
            If there are more or fewer values than unknowns, or they give no weights (the core of a
            minimal allocation may have such roots).
        """
        if len(solution) != len(self.names):
            raise InputError(
                f"`solution` has {len(solution)} values; the system has {len(self.names)} unknowns"
            )
        if isinstance(self.system, PolynomialSystem):
            return np.asarray(solution, complex)[: self.system.weights]
        found = FloatingCore(self.system).weights(np.asarray(solution, complex))
        if found is None:
            raise InputError("`solution` leads to no weights: a linear block is singular there")
        return found

    def __str__(self) -> str:
        return self.text


def export(
    question: Question,
    form: str = CORE,
    *,
    to: str,
    instance: Given | None = None,
    seed: int = 0,
    index: int = 0,
    integers: bool = False,
) -> Export:
    """The equations of one instance, written for another program.

    Parameters
    ----------
    question : Problem, str or Path
        A linear network, one that is solved as a linear one (linear normalization nets), or one
        with a polynomial activation.
    form : str, optional
        "core", what exact elimination leaves of the form with the smaller core; or a whole form:
        "B", "D" (recurrent), "forward", "backward" (layers), "sums" (polynomial activations),
        "direct".
    to : {"msolve", "phcpack", "julia", "macaulay2", "singular", "magma", "sage", "sympy", "latex"}
    instance : GivenNumbers, mapping, str or Path, optional
        A given instance, in place of a trial.
    seed, index : int, optional
        The trial. Its instance is that of `count` and `estimate`: doubles are rational numbers, and
        the labels are computed without rounding.
    integers : bool, optional
        Small integers in place of the trial's numbers, drawn for this seed and trial: short
        equations for people. They are an instance too, but another one.

    Returns
    -------
    Export

    Raises
    ------
    InputError
        If the language or form is unknown, the network's equations are not polynomials, nothing
        remains to be solved, or the instance does not fit the problem.

    Notes
    -----
    Texts are exact except for PHCpack and HomotopyContinuation.jl, which compute with doubles:
    coefficients are rounded to doubles after each equation is scaled.

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> found = mp.export(mp.Problem(net, {"W": [[1, 0], [0, 1]]}), to="sympy")
    >>> found
    Export(to='sympy', form='core', equations=1, unknowns=1, seed=0, index=0)
    >>> dict(found.names)
    {'W_0_0': 'W[0,0]'}
    """
    known_name(to, "to", LANGUAGES)
    problem = as_problem(question)
    if problem.constraints:
        raise InputError(
            "`export` writes equations, and [constraints] are inequalities: remove them from the "
            "problem, and check the solutions against them afterwards"
        )
    if instance is not None and index:
        raise InputError(
            f"`index` ({shown(index)}) is the number of a random trial, and `instance` is given as "
            "well: give only one of them"
        )
    if integers and instance is not None:
        raise InputError("`integers` draws an instance, and `instance` is given: give one of them")
    drawn: Instance
    if integers:
        drawn = as_instance(_small(problem, seed, index), problem)
    elif instance is None:
        drawn = draw_instance(problem, seed, index)
    else:
        drawn = as_instance(instance, problem)
    drawn = lowered_instance(drawn)
    allocation, (weights, X, Y) = drawn.allocation, drawn.exact
    system: CoreSystem | PolynomialSystem
    if form == CORE:
        system = rational_core(allocation, weights, X, Y)
        _need_equations(system, preferred_form(allocation))
    else:
        system = build_system(allocation, weights, X, Y, RationalField(), form)
    context = RationalField().context(system.unknowns)
    equations = [e if hasattr(e, "monoms") else context.constant(e) for e in system.equations]
    source = _source(seed, index, integers) if instance is None else "a given instance"
    heading = f"{form}, {problem.network}; learnable {allocation}; {source}"
    kept = [e for e in equations if len(e)]
    text, names = write_system(to, system.unknowns, kept, heading)
    return Export(
        to=to,
        form=form,
        text=text,
        names=dict(zip(names, map(spoken, system.unknowns), strict=True)),
        seed=seed,
        index=index,
        is_own=instance is not None,
        system=system,
        integers=integers,
    )


def _source(seed: int, index: int, integers: bool) -> str:
    return f"seed {seed}, trial {index}" + (", small integers" if integers else "")


def _small(problem: Problem, seed: int, index: int) -> GivenNumbers:
    """An instance of integers from 1 to 9 and their negatives, 0 outside the support."""
    stream = random.Random(f"small integers {whole_number(seed, 'seed', 0)} {index}")

    def matrix(shape: Sequence[int]) -> np.ndarray:
        found = np.empty(shape, dtype=object)
        for at in np.ndindex(*shape):
            found[at] = fmpq(stream.choice((-1, 1)) * stream.randint(1, 9))
        return found

    def weights() -> dict[str, np.ndarray]:
        made = {name: matrix(shape) for name, shape in problem.network.shapes.items()}
        for name, mask in problem.support.items():
            made[name][np.asarray(mask) == 0] = fmpq(0)
        return made

    return GivenNumbers(problem, weights(), matrix(problem.network.input_shape), weights())


def _need_equations(core: CoreSystem, form: str) -> None:
    if not core.consistent:
        why = "elimination meets the equation 1 = 0: no solution, not even complex"
    elif core.is_linear:
        why = "the system is linear, and elimination solves it: no equation is left"
    elif not core.equations:
        why = "no equation is left: infinitely many solutions"
    else:
        return
    raise InputError(f"the core is empty ({why}); form {form!r} writes the equations themselves")
