"""The exact verbs: inspect, certify, decide, verify."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from algebra import families
from algebra.certificates.certificate import Certificate
from algebra.certificates.checks import Verification
from algebra.design import proof as design_proof
from algebra.design.verify import verify_design
from algebra.errors import InputError
from algebra.normalization.lowering import solvable
from algebra.relu import decision as relu_certificate
from algebra.systems.inspection import Inspection
from matchprob.api.question import Question, as_problem
from numeric.engines.witness_search import rootless_instances
from numeric.instances import draw_instance
from numeric.relu.decide import ReluDecision
from numeric.relu.decide import decide as decide_relu
from numeric.relu.evidence import refuted_instance
from numeric.tracking.root_count import monodromy_root_count


def inspect(question: Question, *, seed: int = 0, all_forms: bool = False) -> Inspection:
    """Structure of the equations an allocation leads to.

    Parameters
    ----------
    question : Problem, str or Path
        A random allocation is drawn as for trial 0 of the seed.
    seed : int, optional
    all_forms : bool, optional
        Eliminate every form, not only the one with the smaller core.

    Returns
    -------
    Inspection

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> report = mp.inspect(mp.Problem(net, {"W": [[1, 0], [0, 1]]}))
    >>> report.forms[0].core_unknowns, report.forms[0].bezout
    (1, 2)
    """
    problem = as_problem(question)
    allocation = draw_instance(problem, seed, 0).allocation
    return families.inspect_allocation(allocation, problem.support, seed=seed, all_forms=all_forms)


def certify(
    question: Question, *, seed: int = 0, timeout: float = 60.0, search: float = 2.0
) -> Certificate:
    """Verdict on an allocation, with evidence.

    Parameters
    ----------
    question : Problem, str or Path
        With a fixed allocation.
    seed : int, optional
        Random points and instances follow from it.
    timeout : float, optional
        Seconds for one Gröbner basis.
    search : float, optional
        Seconds for the search of an instance without real solutions.

    Returns
    -------
    Certificate
        See `algebra.certificates.certificate` and `algebra.families`.
    """
    problem = as_problem(question)

    def guess(root_count: int) -> Iterator[int]:
        return rootless_instances(solvable(problem), root_count, seed, search)

    return families.certify(
        problem,
        seed=seed,
        timeout=timeout,
        search=search,
        candidates=guess,
        fallback=partial(monodromy_root_count, timeout=timeout),
        refuted=partial(refuted_instance, problem, seed, search),
    )


def decide(
    question: Question, index: int = 0, *, seed: int = 0, certify: bool = True
) -> ReluDecision:
    """Whether some weights match one trial of a shallow ReLU net.

    Parameters
    ----------
    question : Problem, str or Path
    index, seed : int, optional
        Of the trial.
    certify : bool, optional
        Refute every leaf of "no match" over Q; otherwise only those that rounding leaves in
        doubt.

    Returns
    -------
    ReluDecision
        Its ``certificate()`` is the content of a file that `verify` checks.
    """
    return decide_relu(draw_instance(as_problem(question), seed, index), certify=certify)


def verify(
    certificate: Certificate | Mapping[str, Any] | str | Path,
    *,
    seed: int = 1,
    timeout: float = 60.0,
) -> Verification:
    """Check a certificate from scratch.

    Parameters
    ----------
    certificate : Certificate, mapping, str or Path
        The object, the content of ``cert.json``, or the file; also the proof of a design.
    seed : int, optional
        New points and primes follow from it.
    timeout : float, optional
        Seconds for one Gröbner basis.

    Returns
    -------
    Verification
    """
    if isinstance(certificate, Certificate):
        certificate = json.loads(certificate.to_json())
    elif isinstance(certificate, (str, Path)):
        path = Path(certificate)
        try:
            certificate = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(f"{path}: no such file") from None
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{path}: not a certificate: {error}") from None
    assert not isinstance(certificate, (Certificate, str, Path))
    if isinstance(certificate, Mapping) and certificate.get("format") == relu_certificate.FORMAT:
        return relu_certificate.verify_decision(certificate)
    if isinstance(certificate, Mapping) and certificate.get("format") == design_proof.FORMAT:
        return verify_design(
            certificate, seed=seed, timeout=timeout,
            fallback=partial(monodromy_root_count, timeout=timeout),
        )  # fmt: skip
    return families.verify(
        certificate,
        seed=seed,
        timeout=timeout,
        fallback=partial(monodromy_root_count, timeout=timeout),
    )
