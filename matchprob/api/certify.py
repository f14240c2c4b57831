"""The exact verbs: inspect, certify, decide, verify."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from algebra import families
from algebra.certificates.certificate import INTERMEDIATE, MINIMAL, Certificate
from algebra.certificates.checks import Verification
from algebra.certificates.family import NonRealInstance
from algebra.certificates.reading import MOST_CHARACTERS, as_text
from algebra.errors import InputError, whole_number
from algebra.linear.inspect import inspect_numbers
from algebra.problems.problem import Problem
from algebra.time_limits import limited, positive_seconds
from matchprob.api.given import Given, as_instance
from matchprob.api.proofs.checker import CHECKER
from matchprob.api.proofs.models import with_model
from matchprob.api.question import Question, as_problem
from matchprob.api.tools import root_counter
from numeric.instances import draw_instance

if TYPE_CHECKING:
    from algebra.systems.inspection import Inspection
    from numeric.relu.decision import ReluDecision


def inspect(
    question: Question,
    *,
    seed: int = 0,
    all_forms: bool = False,
    instance: Given | None = None,
    timeout: float = math.inf,
) -> Inspection:
    """Structure of the equations an allocation leads to.

    Parameters
    ----------
    question : Problem, str or Path
        A random allocation is drawn as for trial 0 of the seed.
    seed : int, optional
    all_forms : bool, optional
        Eliminate every form, not only the one with the smaller core.
    instance : GivenNumbers, mapping, str or Path, optional
        One's own instance: its equations, over Q, instead of a generic one's.
    timeout : float, optional
        Seconds for the whole call.

    Returns
    -------
    Inspection

    Raises
    ------
    LimitReached

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> report = mp.inspect(mp.Problem(net, {"W": [[1, 0], [0, 1]]}))
    >>> report.forms[0].core_unknowns, report.forms[0].bezout
    (1, 2)
    """
    problem = as_problem(question)
    with limited(positive_seconds(timeout, "timeout")):
        if instance is not None:
            numbers = as_instance(instance, problem).numbers
            return inspect_numbers(numbers, seed=seed, all_forms=all_forms)
        if problem.updates:
            return families.inspect_updates(problem, seed=seed)
        allocation = draw_instance(problem, seed, 0).allocation
        return families.inspect_allocation(
            allocation, problem.student(allocation), seed=seed, all_forms=all_forms
        )


def certify(
    question: Question, *, seed: int = 0, timeout: float = 120.0, search: float = 2.0
) -> Certificate:
    """Verdict on an allocation, with evidence.

    Parameters
    ----------
    question : Problem, str or Path
        With a fixed allocation.
    seed : int, optional
        Random points and instances follow from it.
    timeout : float, optional
        Seconds for the whole call; the verdict is "undecided" where they are not enough.
    search : float, optional
        Of these, seconds to look for an instance without real solutions.

    Returns
    -------
    Certificate
        See `algebra.certificates.certificate` and `algebra.families`.
    """
    asked = as_problem(question)
    seed, timeout = whole_number(seed, "seed", 0), positive_seconds(timeout, "timeout")
    # A verdict is about any real weights; so is its evidence, which must not name constraints.
    problem = asked.without_constraints()

    # Compiled kernels are loaded only where counting and algebra leave something open.
    def guess(solved: Problem, root_count: int) -> Iterator[NonRealInstance]:
        from numeric.engines.witness_search import rootless_instances

        yield from rootless_instances(solved, root_count, seed, search)

    def refuted() -> Mapping[str, Any] | None:
        from numeric.relu.evidence import refuted_instance

        return refuted_instance(problem, seed, search)

    found = families.certify(
        problem,
        seed=seed,
        timeout=timeout,
        search=search,
        candidates=guess,
        fallback=root_counter(timeout / 2),
        refuted=refuted,
    )
    if asked.constraints:
        found = replace(found, notes=(*found.notes, under_constraints(found.verdict)))
    return found


def under_constraints(verdict: str) -> str:
    """What a verdict about any real weights says of matches that obey constraints."""
    if verdict == MINIMAL:
        return "the problem has constraints: minimal without them, so minimal with them too"
    if verdict == INTERMEDIATE:
        return "the problem has constraints: with them MP is below 1, too, and may be 0"
    return (
        "the problem has constraints, and this verdict is about matches without them: it settles "
        "nothing about matches that obey them (ask `estimate`)"
    )


def decide(
    question: Question,
    index: int = 0,
    *,
    seed: int = 0,
    instance: Given | None = None,
    certify: bool = True,
    timeout: float = math.inf,
) -> ReluDecision:
    """Whether some weights match one trial of a shallow ReLU net.

    Parameters
    ----------
    question : Problem, str or Path
    index, seed : int, optional
        Of the trial.
    instance : GivenNumbers, mapping, str or Path, optional
        One's own instance instead of a trial.
    certify : bool, optional
        Refute every leaf of "no match" over Q; otherwise only those that rounding leaves in
        doubt.
    timeout : float, optional
        Seconds for the whole call; then the trial is undetermined.

    Returns
    -------
    ReluDecision
        Its ``certificate()`` is the content of a file that `verify` checks.  Where the problem has
        constraints, matches are those that obey them.
    """
    from numeric.relu.decide import decide as decide_relu

    problem = as_problem(question)
    with limited(positive_seconds(timeout, "timeout")):
        if instance is not None:
            return decide_relu(as_instance(instance, problem), certify=certify)
        return decide_relu(draw_instance(problem, seed, index), certify=certify)


def verify(
    certificate: Certificate | Mapping[str, Any] | str | Path,
    *,
    model: str | Path | None = None,
    seed: int = 1,
    timeout: float = 60.0,
) -> Verification:
    """Check a certificate, a ReLU decision or the proof of a design from scratch.

    Parameters
    ----------
    certificate : Certificate, mapping, str or Path
        The object, the content of a proof file, or the file.
    model : str or Path, optional
        The ONNX file that the proof is about, where it is too large to be held in it; by default
        the file that it names, beside it.
    seed : int, optional
        New points and primes follow from it.
    timeout : float, optional
        Seconds for the whole check.

    Returns
    -------
    Verification
        Where something could not be found again it does not hold, and
        `Verification.is_unfinished` says that nothing is known of it.

    Raises
    ------
    InputError
        Where there is no such file, or it is no proof of a known format.

    Notes
    -----
    The check runs in a process of its own, which may take 1 GiB of memory beyond what it starts
    with and is killed when `timeout` is over (`matchprob.api.proofs.checker`).
    """
    whole_number(seed, "seed", 0)
    positive_seconds(timeout, "timeout")
    if isinstance(certificate, (str, Path)):
        text = _proof_file(Path(certificate))
    elif isinstance(certificate, Certificate):
        text = certificate.to_json()
    else:
        text = as_text(certificate)
    folder = Path(certificate).parent if isinstance(certificate, (str, Path)) else None
    text = with_model(text, folder, model)
    try:
        return CHECKER.check(text, seed=seed, timeout=timeout)
    except InputError as error:
        if isinstance(certificate, (str, Path)):
            raise InputError(f"{certificate}: {error}") from None
        raise


def _proof_file(path: Path) -> str:
    # Of a pipe that nobody writes to the end never comes; the shell's own are below these names.
    if path.is_fifo() and not str(path).startswith(("/dev/", "/proc/")):
        raise InputError(f"{path} is a pipe: name a file")
    try:
        with path.open(encoding="utf-8-sig") as file:
            # One more than is read shows that it is too long, and ends with a device that does not.
            return file.read(MOST_CHARACTERS + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise InputError(f"{path}: cannot be read: {reason}") from None
