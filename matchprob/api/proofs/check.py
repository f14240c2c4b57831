"""A proof file checked in this process: which format it has, and its check.

`matchprob.api.proofs.checker` does this in a separate process, whose memory and time are limited.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from algebra.certificates.checks import FAILED, Check, CheckFailed, Verification, unfinished
from algebra.certificates.maker import without_maker
from algebra.certificates.reading import network_size_within, read_json
from algebra.errors import InputError, Unfinished, one_line
from algebra.time_limits import OutOfTime, within

if TYPE_CHECKING:
    from algebra.networks.base import Support
    from algebra.problems.allocation import Allocation
    from algebra.systems.root_count import RootCount


def check_proof(text: str, *, seed: int = 1, timeout: float = 60.0) -> Verification:
    """Check the text of a proof: a certificate, ReLU decision, design, recording or dimension.

    Parameters
    ----------
    text : str
        JSON.
    seed : int, optional
        New points and primes follow from it.
    timeout : float, optional
        Seconds; checked in loops.

    Returns
    -------
    Verification
        If a limit was reached, its last check is "unfinished" and names the limit.

    Raises
    ------
    InputError
        If the text is not a proof of a known format.
    """
    verdict = ""
    try:
        with within(timeout):
            data = read_json(text)
            if not isinstance(data, Mapping):
                raise InputError("this is not a proof: a proof is a table with a `format`")
            verdict = one_line(data.get("verdict", data.get("goal", "")))
            problem = data.get("problem")
            network = problem.get("network") if isinstance(problem, Mapping) else None
            network_size_within(network, len(text))
            network_size_within(data.get("network"), len(text), "network")
            try:
                data, maker = without_maker(data)
            except CheckFailed as failure:
                return Verification(verdict, (Check(failure.place, FAILED, str(failure)),))
            found = _check(data, seed, timeout)
            return replace(found, checks=(*found.checks, *maker))
    except (OutOfTime, Unfinished) as limit:
        return unfinished(verdict, str(limit))


def _check(data: Mapping[str, object], seed: int, timeout: float) -> Verification:
    """The check of a format; its modules are loaded when a file has it."""

    def counter(allocation: Allocation, support: Support, own_seed: int) -> RootCount:
        from numeric.tracking.root_count import monodromy_root_count

        return monodromy_root_count(allocation, support, own_seed, timeout=timeout)

    match data.get("format"):
        case "matchprob relu decision":
            from algebra.families.relu.decision import verify_decision

            return verify_decision(data)
        case "matchprob-recording":
            from algebra.questions.record.verify import verify_recording

            return verify_recording(data, seed=seed)
        case "matchprob-dimension":
            from algebra.questions.identify.verify_dimension import verify_dimension

            return verify_dimension(data, seed=seed)
        case "matchprob-design":
            from algebra.questions.design.verify import verify_design

            return verify_design(data, seed=seed, timeout=timeout, fallback=counter)
    from algebra.families import registry

    return registry.verify(data, seed=seed, timeout=timeout, fallback=counter)
