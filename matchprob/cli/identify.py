"""Verbs about what data determine: identify."""

from __future__ import annotations

import shlex

from matchprob.cli.options import Json, Picture, ProblemFile, Seed, Timeout, answer


def identify(
    problem: ProblemFile,
    *,
    picture: Picture,
    seed: Seed = 0,
    timeout: Timeout = 60.0,
    as_json: Json = False,
) -> None:
    """Say which learnable weights the data determine."""
    from matchprob.api import identify as api
    from matchprob.api.question import as_problem
    from matchprob.explain.identification import explain_identification
    from matchprob.io import files

    files.check_outputs([problem], plot=picture.plot)
    question = as_problem(problem)
    found = api.identify(question, seed=seed, timeout=timeout)
    why = explain_identification(found, shlex.quote(str(problem)), timeout)
    data = {**found.to_dict(), "seed": seed}
    answer(data, why, question.names, lambda page: page.print(str(found)), as_json=as_json)
    picture.draw(found)
