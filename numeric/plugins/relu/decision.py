"""The decision of one ReLU instance and its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from algebra.certificates.trial_costs import SUGGESTED
from algebra.documents import Document, Explanation, Step, step
from algebra.errors import InputError
from algebra.plugins.relu.decision import decision_data
from algebra.plugins.relu.equations import ReluSystem
from algebra.plugins.relu.leaves import Leaf
from algebra.results import Result
from algebra.words import plural
from numeric.trials.instances import to_rational

MATCH, NONE, UNDETERMINED = "match", "no match", "undetermined"
# Nodes after which an instance is abandoned.
MOST_NODES = 2_000_000


@dataclass(frozen=True, repr=False)
class ReluDecision(Result):
    """The decision of one instance.

    Attributes
    ----------
    verdict : str
        "match", "no match" or "undetermined".
    witness : tuple of fmpq or None
        Values of the learnable cells in the allocation's order, verified over Q.
    leaves : tuple of Leaf or None
        The verified refutation, if it was requested.
    system : ReluSystem or None
        The exact equations, if they were needed.
    nodes, leaf_count, doubtful : int
        Size of the tree, and number of leaves that rounding left in doubt.
    note : str
    seconds : float
    teacher : mapping of str to ndarray, or None
        The teacher of the instance, whose labels are to be matched.
    """

    verdict: str
    witness: tuple[Any, ...] | None = None
    leaves: tuple[Leaf, ...] | None = None
    system: ReluSystem | None = None
    nodes: int = 0
    leaf_count: int = 0
    doubtful: int = 0
    note: str = ""
    seconds: float = 0.0
    teacher: Mapping[str, np.ndarray] | None = field(default=None, compare=False, repr=False)

    @property
    def is_certified(self) -> bool:
        """Whether there is a witness or a verified refutation."""
        return self.witness is not None or self.leaves is not None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        return {
            "verdict": self.verdict,
            "witness": None if self.witness is None else [str(v) for v in self.witness],
            "certified": self.is_certified,
            "nodes": self.nodes,
            "leaves": self.leaf_count,
            "note": self.note,
            "seconds": self.seconds,
        }

    def certificate(self) -> dict[str, Any]:
        """The content of a decision file, which ``matchprob verify`` re-checks.

        Raises
        ------
        InputError
            If there is no evidence: undetermined, or decided without requesting it.
        """
        if self.system is None or (self.witness is None and self.leaves is None):
            raise InputError(f"there is no certificate of this decision ({self.verdict})")
        witness = None if self.witness is None else list(self.witness)
        teacher = self.teacher and {n: to_rational(value) for n, value in self.teacher.items()}
        return decision_data(self.system, witness, self.leaves, teacher)

    def document(self) -> Document:
        """The verdict, its evidence, and the size of the tree."""
        evidence = "certified over Q" if self.is_certified else "not certified"
        facts = {
            "verdict": self.verdict,
            "certified": self.is_certified,
            "nodes": self.nodes,
            "leaves": self.leaf_count,
            "note": self.note or None,
        }
        return Document(f"{self.verdict} ({evidence})", facts, (), self._why(), tone="strong")

    def _why(self) -> Explanation:
        """The explanation: the evidence of the verdict, or the reason why there is none."""
        leaves = "1 leaf" if self.leaf_count == 1 else f"{self.leaf_count} leaves"
        one = "This is about this instance only."
        evidence = Step(
            "decide", "the evidence, checked by code that is independent of the search",
            {"out": "decision.json"}, then=step("verify", subject="decision.json"),
        )  # fmt: skip
        estimate = step("estimate", "how often instances have a match", trials=SUGGESTED.most)
        if self.verdict == MATCH:
            known = (
                "A match exists: rational weights that reproduce every label exactly, checked by "
                "evaluating the whole network over Q.",
                one,
            )
            return Explanation(known, steps=(evidence, estimate))
        if self.verdict == NONE and self.is_certified:
            known = (
                f"There is no match: the activation patterns are divided into {leaves}, and in "
                "each the linear equations and inequalities contradict each other (a Farkas vector "
                "over Q).",
                one,
            )
            return Explanation(known, steps=(evidence, estimate))
        if self.verdict == NONE:
            text = (
                f"No match was found in any of {leaves}; this is far beyond rounding errors, but "
                "not a proof."
            )
            proof = step("decide", "the same with a proof over Q")
            return Explanation((text,), "a proof", "each leaf refuted over Q", (proof,))
        text = f"Neither a match nor a proof that there is none: {self.note or 'no reason given'}."
        return Explanation(
            (text,),
            f"the instance: after {plural(self.nodes, f'{self.nodes} node')} the search had "
            "neither a witness that holds over Q nor a refutation of every activation pattern",
            "fewer learnable weights or samples (the patterns grow exponentially with units times "
            "samples), or a search for a match of the same instance",
            (
                step("count", "a search on trial 0", engine="levenberg-marquardt", instances=1),
                estimate,
            ),
        )
