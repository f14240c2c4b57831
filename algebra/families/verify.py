"""Certificates verified: by the check's own map where linear algebra is enough, or by the family.

In the first case the modules of networks, problems and families are not loaded
(`algebra.checker.linear`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from algebra.checker.checks import Checked, CheckEffort, Checklist
from algebra.checker.claim import Claim
from algebra.checker.formats import ProofFormat
from algebra.checker.rank_claims import may_be_linear_algebra
from algebra.checker.verdicts import FORMAT, VERSION


def _verify(data: Mapping[str, Any], effort: CheckEffort) -> Checked:
    if may_be_linear_algebra(data):
        # Loaded here, as below: a file is checked by one of both.
        from algebra.checker.linear import linear_problem, verify_linear

        problem = linear_problem(data)
        if problem is not None:
            return verify_linear(data, problem, effort)
    from algebra.families.registry import verify_claimed

    return verify_claimed(data, effort)


def _check(data: Mapping[str, Any], checklist: Checklist, effort: CheckEffort) -> None:
    checklist.checks += _verify(data, effort).checks


CERTIFICATE = ProofFormat(
    FORMAT, (VERSION,), "a certificate", Claim, _check, lambda data: str(data.get("verdict"))
)
verify = CERTIFICATE.verify
