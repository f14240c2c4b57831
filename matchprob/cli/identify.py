"""Verbs about what data determine: identify."""

from __future__ import annotations

import shlex

from matchprob.cli.options import ProblemFile, Seed, Shown, Timeout


def identify(
    problem: ProblemFile,
    *,
    shown: Shown,
    seed: Seed = 0,
    timeout: Timeout = 60.0,
) -> None:
    """Say which learnable weights the data determine."""
    from matchprob.api import identify as api
    from matchprob.api.question import as_problem
    from matchprob.explain.identification import explain_identification
    from matchprob.io import files

    files.check_outputs([problem], plot=shown.plot)
    question = as_problem(problem)
    found = api.identify(question, seed=seed, timeout=timeout)
    why = explain_identification(found, shlex.quote(str(problem)), timeout)
    shown.tell(found, why, question.names, seed=seed)
