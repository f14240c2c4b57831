"""The exact verbs: inspect, certify, verify."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from algebra.errors import InputError, Unfinished, shown, whole_number
from algebra.time_limits import OutOfTime, limited, positive_seconds, within
from algebra.work import SHARES, Limits, limit_until, moment_after
from matchprob.api.question import problem_or_model
from matchprob.verbs import parameters as common
from matchprob.verbs.verb import Arguments, LineArgument, LineOption, ResultFile, verb

if TYPE_CHECKING:
    import numpy as np

    from algebra.certificates.certificate import Certificate
    from algebra.certificates.tools import NonRealInstance
    from algebra.certificates.verification import Verification
    from algebra.checker.records import Record
    from algebra.problems.allocation import Allocation
    from algebra.problems.instance_files import GivenNumbers
    from algebra.problems.problem import Problem
    from algebra.systems.inspection import Inspection
    from algebra.systems.root_count import RootCount, RootCounter
    from algebra.systems.symbolic import Elimination

_MODEL = ("learn", "m", "sizes", "constants", "output")


def _read_question(path: Path, arguments: Arguments) -> Problem:
    reading = {name: arguments[name] for name in _MODEL if name in arguments}
    return common.warned(problem_or_model(path, **reading))


def _own_numbers(path: Path, arguments: Arguments) -> GivenNumbers:
    from matchprob.api.given import as_instance

    return as_instance(path, arguments["question"]).numbers


# For the file of a model other parameters say what learns.
ModelQuestion = Annotated[
    "Problem | str | Path",
    LineArgument(
        "Problem file (TOML), or a model (ONNX) with `learn` and `m`.  Or a `Problem`.",
        kind="Problem, str or Path", name="problem", word=Path, read=_read_question, uses=_MODEL,
    ),
]  # fmt: skip


@verb(is_drawn=True)
def inspect(
    question: ModelQuestion,
    *,
    learn: common.Learning = (),
    m: common.ModelSamples = None,
    sizes: common.Sizes = None,
    constants: common.Constants = (),
    output: common.OutputName = "",
    seed: common.Seed = 0,
    all_forms: bool = False,
    equations: bool = False,
    core: bool = False,
    form: Annotated[str | None, LineOption(metavar="NAME")] = None,
    instance: Annotated[
        GivenNumbers | Mapping[str, Any] | str | Path | None,
        replace(common.OWN_INSTANCE, read=_own_numbers),
    ] = None,
    timeout: common.Timeout = math.inf,
) -> Inspection:
    """Show the equations an allocation leads to, and their structure.

    A random allocation is drawn as for trial 0 of the seed.

    Parameters
    ----------
    all_forms : bool, optional
        Eliminate every form of the system.  Not only the one with the smaller core.
    equations : bool, optional
        Print the equations, learnable weights in [].  In the form with the smaller core
        (`Inspection.written`).
    core : bool, optional
        Print the core: the equations that remain after elimination.  It is `Inspection.core`.
    form : str, optional
        Print (with --export: write) the equations in this form: core, B, D, forward, backward,
        sums, lemma, direct.  "B" and "D" are of recurrent nets (Lemmas 3.3 and B.7), "forward" and
        "backward" of layers (Eqs. 4.1–4.3), "sums" of other kinds (the arguments of functions are
        unknowns; of ReLU on one activation pattern, with its sign conditions), "lemma" of
        normalization; "direct" are the labels themselves.

    Returns
    -------
    Inspection

    Raises
    ------
    LimitReached
    InputError
        If the form has another name.

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> report = mp.inspect(mp.Problem(net, {"W": [[1, 0], [0, 1]]}), form="D")
    >>> report.forms[0].core_unknowns, report.forms[0].bezout
    (1, 2)
    >>> report.written.labels[0], sorted(map(str, report.written.equations[0].free_symbols))
    ('g_D(F) W = F [0, 0]', ['F_0_0', 'F_0_2', 'F_0_3', 'W_0_0', 'W_1_0'])
    """
    from algebra.families.equations import written_form
    from algebra.plugins.papers.structure import predictions
    from algebra.systems.forms import CORE, TooLong, forms, known_forms
    from matchprob.api.given import as_instance

    problem = problem_or_model(question, learn, m, sizes, constants, output)
    with limited(positive_seconds(timeout, "timeout")):
        numbers = None if instance is None else as_instance(instance, problem).numbers
        if numbers is not None and not forms(problem.network, numbers.problem.allocation):
            # Equations that are no polynomials can be written, and are not eliminated.
            if not (equations or form not in (None, CORE)):
                known_forms(numbers.problem.allocation)
            found = _inspected(problem, None, seed, all_forms)
        else:
            found = _inspected(problem, numbers, seed, all_forms)
        if equations or form not in (None, CORE):
            try:
                written = written_form(
                    found.allocation, None if form == CORE else form, problem.support,
                    numbers=numbers, seed=seed,
                )  # fmt: skip
                found = replace(found, written=written)
            except TooLong as why:
                found = replace(found, skipped=(*found.skipped, str(why)))
        if core or form == CORE:
            found = replace(found, core=_core(problem, found, numbers, seed))
    if numbers is None and not found.updates:
        found = replace(found, principles=predictions(found))
    return replace(found, names=problem.names, constrained=bool(problem.constraints))


def _inspected(
    problem: Problem, numbers: GivenNumbers | None, seed: int, all_forms: bool
) -> Inspection:
    from algebra.families.equations import inspect_allocation
    from algebra.families.linear.inspect import inspect_numbers
    from algebra.families.updates.inspect import inspect_updates
    from numeric.trials.instances import draw_instance

    if numbers is not None:
        return inspect_numbers(numbers, seed=seed, all_forms=all_forms)
    if problem.updates:
        return inspect_updates(problem, seed)
    # Only random cells are drawn.
    is_random = problem.is_random
    allocation = draw_instance(problem, seed, 0).allocation if is_random else problem.allocation
    return inspect_allocation(
        allocation, problem.student(allocation), seed=seed, all_forms=all_forms
    )


def _core(
    problem: Problem, found: Inspection, numbers: GivenNumbers | None, seed: int
) -> Elimination | None:
    # Loaded here: SymPy takes longer than most inspections.
    from matchprob.api.equations.symbolic import shown_core

    return shown_core(problem, found, numbers, seed)


@verb(
    files=(
        ResultFile(
            "--out",
            "Write the certificate (JSON).",
            lambda found, *_: found.to_dict(),
            indent=1,
        ),
    ),
    is_drawn=True,
)  # fmt: skip
def certify(
    question: ModelQuestion,
    *,
    learn: common.Learning = (),
    m: common.ModelSamples = None,
    sizes: common.Sizes = None,
    constants: common.Constants = (),
    output: common.OutputName = "",
    seed: common.Seed = 0,
    timeout: common.Timeout = 120.0,
    search: float = 2.0,
    effort: float = 1.0,
) -> Certificate:
    """Decide whether an allocation is maximal, minimal or in between.

    The certificate contains evidence that `verify` checks.

    Parameters
    ----------
    timeout : float, optional
        Seconds for the whole call, which only end it: what is known by then is reported. The
        verdict is "undecided" if the time does not suffice.
    search : float, optional
        Work of the search for an instance without real solutions, in seconds of a quiet machine.
    effort : float, optional
        Factor of the work of all searches and counts. Work is measured by what is computed, so the
        verdict is the same on every machine that has the time.

    Returns
    -------
    Certificate
        See `algebra.certificates.certificate` and `algebra.families.certify`.
    """
    from algebra.certificates.tools import Tools
    from algebra.families.certify import certify as decided

    whole = problem_or_model(question, learn, m, sizes, constants, output)
    seed, timeout = whole_number(seed, "seed", 0), positive_seconds(timeout, "timeout")
    limits = Limits(timeout, search, effort=effort)
    # A verdict and its evidence are about any real weights, without the constraints.
    problem = whole.without_constraints()

    # Compiled kernels are loaded only where counting and algebra leave something open.
    def guess(solved: Problem, root_count: int) -> Iterator[NonRealInstance]:
        from numeric.engines.witness_search import rootless_instances

        yield from rootless_instances(solved, root_count, seed, search * effort)

    def refuted(solved: Problem) -> Mapping[str, Any] | None:
        from numeric.plugins.relu.evidence import refuted_instance

        return refuted_instance(solved, seed, search * effort)

    def definite(solved: Problem) -> Record | None:
        from numeric.arguments.definite_search import definite_form

        return definite_form(solved, seed)

    def growths(solved: Problem, equations: int) -> Iterator[tuple[int, ...]]:
        from numeric.arguments.growths import tracked_growths

        yield from tracked_growths(solved, equations, seed)

    found = decided(
        problem,
        seed=seed,
        timeout=timeout,
        search=search,
        effort=effort,
        tools=Tools(
            guess, root_counter(limits.work / SHARES.root_count), refuted, definite, growths
        ),
    )
    if whole.constraints:
        note = under_constraints(found.verdict)
        found = replace(found, notes=(*found.notes, note), constrained=True)
    return found


def under_constraints(verdict: str) -> str:
    """The consequence of a verdict about any real weights for a problem with constraints."""
    from algebra.checker.verdicts import INTERMEDIATE, MINIMAL

    if verdict == MINIMAL:
        return "the problem has constraints: minimal without them, so minimal with them too"
    if verdict == INTERMEDIATE:
        return "the problem has constraints: with them MP is below 1 as well, and may be 0"
    return (
        "the problem has constraints, and this verdict is about matches that need not satisfy "
        "them: it does not decide the problem with constraints (`estimate` does take them into "
        "account)"
    )


def _fault(found: Verification, arguments: Arguments) -> str:
    if found.holds:
        return ""
    status = "unfinished" if found.is_unfinished else "failed"
    check = next(check for check in found.checks if check.status == status)
    if found.is_unfinished:
        return f"{arguments['certificate']}: not finished, so it is undecided: {check.text}"
    return f"{arguments['certificate']}: does not hold at {check.place}: {check.text}"


@verb(unfinished=_fault)
def verify(
    certificate: Annotated[Certificate | Mapping[str, Any] | str | Path, LineArgument(word=Path)],
    *,
    model: Annotated[str | Path | None, LineOption(metavar="FILE", word=Path)] = None,
    seed: Annotated[int, LineOption(least=0)] = 1,
    timeout: common.Timeout = 60.0,
) -> Verification:
    """Check a proof from its file alone; status 3 if it does not hold or a limit was reached.

    Parameters
    ----------
    certificate : Certificate, mapping, str or Path
        Certificate or other proof (JSON).  A ReLU decision, the proof of a design, …; or the
        object, or the content of a file.
    model : str or Path, optional
        The ONNX file of a proof whose model is too large to be part of it. By default the file that
        the proof names, in its folder.
    seed : int, optional
        New points and primes follow from it.

    Returns
    -------
    Verification
        If something could not be computed again, it does not hold and `Verification.is_unfinished`
        is true: the proof is undecided.

    Raises
    ------
    InputError
        If there is no such file, or it is not a proof of a known format.

    Notes
    -----
    The check runs in a separate process, which may use 1 GiB of memory more than at its start and
    is killed when `timeout` is over (`matchprob.api.proofs.checker`).
    """
    from algebra.certificates.verification import Verification
    from algebra.checker.checks import unfinished
    from algebra.checker.reading import as_text
    from algebra.files.opening import path_text
    from matchprob.api.proofs.checker import CHECKER
    from matchprob.api.proofs.models import proof_text, with_model

    whole_number(seed, "seed", 0)
    positive_seconds(timeout, "timeout")
    end = moment_after(timeout)
    try:
        # Reading counts: the file may be long, or a pipe.
        with within(timeout):
            if isinstance(certificate, (str, Path)):
                text = proof_text(Path(certificate))
            elif isinstance(certificate, Mapping):
                text = as_text(certificate)
            else:
                text = as_certificate(certificate).to_json()
            folder = Path(certificate).parent if isinstance(certificate, (str, Path)) else None
            text = with_model(text, folder, model)
        left = limit_until(end)
        found = CHECKER.check(text, seed=seed, timeout=timeout if left > timeout / 2 else left)
    except (OutOfTime, Unfinished) as limit:
        found = unfinished("", str(limit))
    except InputError as error:
        if isinstance(certificate, (str, Path)):
            raise InputError(f"{path_text(Path(certificate))}: {error}") from None
        raise
    return Verification(found.verdict, found.checks)


def as_certificate(given: Certificate) -> Certificate:
    """A certificate; any other object is refused."""
    from algebra.certificates.certificate import Certificate

    if not isinstance(given, Certificate):
        raise InputError(
            f"`certificate` ({shown(given)}) must be a certificate, the content of a file, or its "
            "path"
        )
    return given


def root_counter(timeout: float) -> RootCounter:
    """Monodromy with a trace test, whose compiled kernels are loaded when it is called.

    Parameters
    ----------
    timeout : float
        Seconds for one count.
    """

    def count(allocation: Allocation, support: Mapping[str, np.ndarray], seed: int) -> RootCount:
        from numeric.tracking.root_count import monodromy_root_count

        return monodromy_root_count(allocation, support, seed, timeout=timeout)

    return count


def relaxation(*arguments: Any, **options: Any) -> Any:
    """The linear relaxation of caps, whose solver is loaded when it is called."""
    from numeric.questions.design.cap_relaxation import linear_relaxation

    return linear_relaxation(*arguments, **options)
