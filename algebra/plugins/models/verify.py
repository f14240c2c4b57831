"""Verification of verdicts on models, by the arguments or as those of a feed-forward network.

Which network a model is follows from the model in the file.
"""

from __future__ import annotations

from algebra.arguments.verify import check_claim, verify_by_arguments
from algebra.checker.checks import Checked, CheckEffort, Checklist, nested
from algebra.checker.claim import Claim, Conclusion, verified
from algebra.networks.activation import RELU
from algebra.plugins.relu.verify import verify_relu
from algebra.problems.as_layers import AsLayers, decided_as_layers

# What only the evidence on layers with ReLU has.
ACTIVE_RANK = "active_rank"


def verify_program(data: object, effort: CheckEffort) -> Checked:
    """Verify a certificate of a model at points of the effort's seed."""

    def check(claim: Claim, checklist: Checklist) -> Conclusion:
        reduction = decided_as_layers(claim.problem)
        rectified = reduction is not None and reduction.function == RELU
        if reduction is None or (rectified and ACTIVE_RANK not in claim.evidence):
            return check_claim(claim, checklist, effort)
        assert isinstance(data, dict)
        own = reduction.problem
        again = verify_relu if rectified else verify_by_arguments
        found = again({**data, "problem": own.to_dict()}, effort)
        status = nested(found, checklist.say, "")
        return Conclusion(status, AsLayers.theorem(claim.verdict))

    return verified(data, check)
