"""The decision of one instance of a network with activations, and its evidence."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import fmpq

from algebra.certificates.trial_costs import SUGGESTED
from algebra.documents import Document, Explanation, Step, step
from algebra.errors import InputError
from algebra.families.activations.charts import charts
from algebra.families.activations.decision import (
    FORMAT,
    LEAF,
    MATCH,
    NO_MATCH,
    VERSION,
    BoxedDecision,
)
from algebra.families.activations.reach import LabelReach, SeparatedLabels
from algebra.problems.problem import Problem
from algebra.results import Result
from numeric.families.activations.boxes import BoxSearch, is_decidable
from numeric.families.activations.newton import certified_solutions
from numeric.families.activations.reach import separated_labels
from numeric.trials.instances import Instance, to_rational

UNDETERMINED = "undetermined"
# Random starts before branch and bound.
_STARTS = 8


@dataclass(frozen=True, repr=False)
class ActivatedDecision(Result):
    """The decision of one instance.

    Attributes
    ----------
    verdict : str
        "match", "no match" or "undetermined".
    witness : tuple of float or None
        Approximations of the learnable weights of a match, which is certified in balls.
    boxes : int
        Boxes that were evaluated.
    parts : tuple of str or None
        How the boxes of all charts are divided, if no part has a solution.
    separated : SeparatedLabels or None
        Labels that are out of reach.
    note : str
    seconds : float
    instance : Instance
    """

    verdict: str
    witness: tuple[float, ...] | None = None
    boxes: int = 0
    parts: tuple[str, ...] | None = None
    separated: SeparatedLabels | None = None
    note: str = ""
    seconds: float = 0.0
    instance: Instance | None = field(default=None, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        return {
            "verdict": self.verdict,
            "witness": None if self.witness is None else list(self.witness),
            "certified": self.verdict != UNDETERMINED,
            "nodes": self.boxes,
            "leaves": sum(text.count(LEAF) for text in self.parts or ()),
            "note": self.note,
            "seconds": self.seconds,
        }

    def certificate(self) -> Mapping[str, Any]:
        """The content of a decision file, which ``matchprob verify`` re-checks.

        Raises
        ------
        InputError
            If the instance is undetermined.
        """
        instance = self.instance
        if self.verdict == UNDETERMINED or instance is None:
            raise InputError(f"there is no certificate of this decision ({self.verdict})")
        plain, labels = instance.problem, instance.drawn_labels
        near = None if self.witness is None else tuple(_rational(w) for w in self.witness)
        return BoxedDecision(
            format=FORMAT, version=VERSION,
            problem=Problem(plain.network, plain.learnable, plain.support),
            weights={name: to_rational(value) for name, value in instance.weights.items()},
            X=to_rational(instance.X), verdict=MATCH if near else NO_MATCH,
            teacher=None if labels is not None
            else {name: to_rational(value) for name, value in instance.teacher.items()},
            Y=None if labels is None else to_rational(np.asarray(labels)),
            near=near, parts=self.parts, separated=self.separated,
        ).to_dict()  # fmt: skip

    def document(self) -> Document:
        """The verdict and the size of the search."""
        facts = {
            "verdict": self.verdict,
            "certified": self.verdict != UNDETERMINED,
            "boxes": self.boxes,
            "note": self.note or None,
        }
        certified = "not certified" if self.verdict == UNDETERMINED else "certified in balls"
        return Document(f"{self.verdict} ({certified})", facts, (), self._why(), tone="strong")

    def _why(self) -> Explanation:
        one = "This is about this instance only."
        estimate = step("estimate", "how often instances have a match", trials=SUGGESTED.most)
        if self.verdict == UNDETERMINED:
            text = f"Neither a match nor a proof that there is none: {self.note}."
            return Explanation(
                (text,),
                "the instance: some limits at infinity may satisfy its equations",
                "",
                (estimate,),
            )
        evidence = Step(
            "decide", "the evidence, checked by code that is independent of the search",
            {"out": "decision.json"}, then=step("verify", subject="decision.json"),
        )  # fmt: skip
        if self.verdict == MATCH:
            known = "A match exists: Krawczyk's test proves a real solution of all equations."
        elif self.separated is not None:
            known = (
                f"There is no match: the labels of sample {self.separated.sample} are out of reach "
                "of all learnable weights, since the outputs read bounded values."
            )
        else:
            known = (
                "There is no match: all real weights are covered by boxes, and in each part of "
                "them some combination of the labels misses the wanted ones."
            )
        return Explanation((known, one), steps=(evidence, estimate))


def decide_activated(instance: Instance) -> ActivatedDecision:
    """Decide whether an instance of a network with activations has a match.

    Raises
    ------
    InputError
        If it has more weights than branch and bound divides, and outputs that read no bounded
        values or learn; or if it has constraints.
    """
    began = time.perf_counter()
    problem, r = instance.problem, instance.allocation.size
    divides = is_decidable(instance)
    reach = LabelReach.of(problem.with_allocation(instance.allocation))
    if not divides and reach is None:
        raise InputError(
            f"`decide` needs at most {problem.network.divided_unknowns} learnable weights, as many "
            f"as labels, for a {problem.network.title} network; these are {r} for "
            f"{problem.network.outputs}"
        )
    if problem.constraints:
        raise InputError("`decide` knows no [constraints] of networks with activations")
    separated = None if reach is None else separated_labels(reach, instance)
    if separated is not None:
        note, seconds = "labels out of reach", time.perf_counter() - began
        return ActivatedDecision(
            NO_MATCH, separated=separated, note=note, seconds=seconds, instance=instance
        )
    square = r == problem.network.outputs
    found = certified_solutions(instance, _STARTS, enough=1)[0] if square else ()
    boxes, verdict, witness, parts = 0, UNDETERMINED, None, None
    note = "labels may be within reach, and so many weights are not divided"
    if divides and not found:
        search = BoxSearch(instance)
        search.run(enough=1)
        found, boxes = search.solutions, search.boxes
        note = f"{boxes} boxes are not enough"
    if found:
        verdict, note = MATCH, "certified by Krawczyk's test; other solutions not counted"
        witness = tuple(found[0].middle.tolist())
    elif divides and search.is_over:
        verdict, parts = NO_MATCH, parts_of(search)
        note = f"parts without a solution: {sum(text.count(LEAF) for text in parts)}"
    seconds = time.perf_counter() - began
    return ActivatedDecision(
        verdict, witness, boxes, parts, note=note, seconds=seconds, instance=instance
    )


def parts_of(search: BoxSearch) -> tuple[str, ...]:
    """How the box of each chart was halved, as in a decision file."""
    texts, r = [], len(search.equations.cells)
    for root, chart in enumerate(charts(search.groups)):
        letters, left = [], [root]
        while left:
            node = left.pop()
            if node not in search.splits:
                letters.append(LEAF)
                continue
            column, first = search.splits[node]
            largest = chart[column - r] if column >= r else None
            letters.append(str(column if largest is None else largest[0]))
            left += [first + 1, first]
        texts.append("".join(letters))
    return tuple(texts)


def _rational(x: float) -> fmpq:
    return fmpq(*x.as_integer_ratio())
