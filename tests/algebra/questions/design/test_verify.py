"""Proofs of designs hold, are read from files, and fail after any relevant change."""

import json
from fractions import Fraction

import numpy as np
import pytest

from algebra.polynomials.msolve.process import MsolveTimeout
from algebra.questions.design.cheapest import cheapest
from algebra.questions.design.demand import checked_demand
from algebra.questions.design.goals import GOALS, SearchOptions
from algebra.questions.design.proof import proof_of
from algebra.questions.design.spread import most_spread
from algebra.questions.design.verify import DESIGN
from algebra.ranks.jacobian import all_cells
from algebra.systems.root_count import RootCountError
from matchprob import InputError, LinearEstimator, LinearRNN
from numeric.questions.design.cap_relaxation import linear_relaxation
from tests.plain_data import changed, failures, value_at, without
from tests.refusals import refuses

NET = LinearRNN(n=5, T=2, b=1, d=2, m=2)
CELLS = [c for c in all_cells(NET) if c[0] == "W"]
SMALL = LinearRNN(n=3, T=2, b=1, d=1, m=2)


def demand(**options):
    rng = np.random.default_rng(4)
    costs = {cell: Fraction(int(rng.integers(1, 40)), 3) for cell in CELLS}
    return checked_demand(NET, allowed=CELLS, costs=costs, **options)


def small(**options):
    rng = np.random.default_rng(6)
    cells = [c for c in all_cells(SMALL) if c[0] == "W"]
    costs = {cell: Fraction(int(rng.integers(1, 40)), 3) for cell in cells}
    # The cheapest three are the diagonal, whose pairs have even root counts.
    costs.update({("W", i, i): Fraction(1, 7 + i) for i in range(3)})
    return checked_demand(SMALL, allowed=cells, costs=costs, **options)


def written(question, found):
    """A proof as it is read back from a file."""
    return json.loads(json.dumps(proof_of(question, found).to_dict()))


def proof(question, goal, line="row"):
    options = SearchOptions(line=line, relaxation=linear_relaxation, timeout=20.0)
    return written(question, GOALS[goal].search(question, options))


def refused(data, place):
    """Whether a proof fails at a place, and only there."""
    found = DESIGN.verify(data)
    assert failures(found) == [place], str(found)


DEMANDS = [
    {},
    {"caps": {"row": 1}},
    {"caps": {"row": 1, "column": 1}},
    {"must": [("W", 2, 2)], "caps": {"column": 2}},
    {"budget": 6, "caps": {"row": 2, "column": 2}},
]


@pytest.mark.parametrize("options", DEMANDS, ids=str)
def test_proofs_hold_and_changes_are_noticed(options):
    """A proof read back from JSON holds; dearer designs and other dual solutions do not."""
    data = proof(demand(**options), "cheapest")
    assert DESIGN.verify(data).holds
    assert DESIGN.verify(data, seed=7).holds
    refused({**data, "cost": "1"}, "cost")
    refused({**data, "design": data["design"][1:]}, "design")
    prices = [str(Fraction(t) * (1 + k % 2)) for k, t in enumerate(data["prices"])]
    total = str(sum(Fraction(prices[CELLS.index(tuple(c))]) for c in data["design"]))
    sums = dict.fromkeys(("cost", "value", "cost_bound"), total)
    refused({**data, "prices": prices, **sums}, "evidence")
    dual = data["evidence"]["cost"]
    if dual["kind"] == "tree":
        wrong = {"leaves": [[[0], [], lines] for _, _, lines in dual["leaves"]]}
    else:
        wrong = {"first": [10**6] + [0] * (len(dual["first"]) - 1)}
    refused(changed(data, ("evidence", "cost"), dual | wrong), "evidence")


@pytest.mark.parametrize("goal", ["spread", "neurons"])
@pytest.mark.parametrize("line", ["row", "column"])
def test_lines(goal, line):
    """Both kinds of lines, with other caps, with weights that must learn; smaller values fail."""
    other = "column" if line == "row" else "row"
    demands = [{}, {"caps": {other: 2}}, {"must": [("W", 1, 1), ("W", 1, 2), ("W", 3, 1)]}]
    if goal == "neurons":
        demands.append({"caps": {line: 2}})
    for options in demands:
        data = proof(demand(**options), goal, line)
        assert DESIGN.verify(data).holds
        refused({**data, "value": str(int(data["value"]) - 1)}, "value")
        refused({**data, "cost_bound": str(Fraction(data["cost"]) + 1)}, "cost_bound")


def test_a_dearer_design_of_as_few_neurons_is_noticed():
    """The same neurons with a more expensive weight: the leaves do not prove this bound."""
    question = demand()
    data = proof(question, "neurons")
    rows = {row for _, row, _ in data["design"]}
    for new in question.cells:
        if new[1] in rows and list(new) not in data["design"]:
            wrong = {**data, "design": [*data["design"][:-1], list(new)]}
            wrong["cost"] = str(question.cost([tuple(c) for c in wrong["design"]]))
            wrong["cost_bound"] = wrong["cost"]
            assert not DESIGN.verify(wrong).holds


def test_leaves_of_neurons():
    """Leaves are missing, or ban a required weight, or name neurons that do not exist."""
    data = proof(demand(must=[("W", 2, 2)]), "neurons")
    leaves = data["evidence"]["leaves"]
    assert len(leaves) > 1
    for k in range(len(leaves)):
        refused({**data, "evidence": {"leaves": leaves[:k] + leaves[k + 1 :]}}, "evidence")
    for wrong in ([[99], [], None], [[], [99], None]):
        refused({**data, "evidence": {"leaves": [*leaves, wrong]}}, "evidence")
    refused({**data, "evidence": {"leaves": [*leaves, [[], [2], None]]}}, "evidence")


def test_maximal():
    """The design's odd count and the even ones of all cheaper designs; none can be dropped."""
    data = proof(small(), "maximal")
    found = DESIGN.verify(data)
    assert found.holds
    assert [c.status for c in found.checks[1:]] == ["probable", "probable"]
    cheaper = data["evidence"]["cheaper"]
    assert cheaper
    for k in range(len(cheaper)):
        refused(without(data, ("evidence", "cheaper", k)), "evidence.cheaper")
        for change in (1, 2):
            place = ("evidence", "cheaper", k, "parts", 0, 1)
            refused(changed(data, place, value_at(data, place) + change), f"evidence.cheaper[{k}]")
    for change in (1, 2):
        place = ("evidence", "design", "parts", 0, 1)
        refused(changed(data, place, value_at(data, place) + change), "evidence.design")
    refused(changed(data, ("evidence", "design"), cheaper[0]), "evidence.design")


def test_maximal_with_more_weights_than_equations():
    """A part has the odd count; of cheaper designs every part is counted."""
    data = proof(small(budget=3), "maximal")
    found = DESIGN.verify(data)
    assert found.holds
    assert found.checks[1].status == "probable"


def test_all_parts_of_what_is_cheaper_are_counted():
    """A design that costs nothing has an odd part; a file that lists only its even ones fails, and
    so does one that lists a design that is not cheaper, or a weight that both must and may not
    learn.
    """
    free = [("W", 0, 0), ("W", 0, 1), ("W", 1, 1)]
    cells = [cell for cell in all_cells(SMALL) if cell[0] == "W"]
    costs = {cell: Fraction(int(cell not in free)) for cell in cells}
    data = proof(checked_demand(SMALL, allowed=cells, costs=costs, budget=3), "maximal")
    assert data["cost"] == "0"
    assert DESIGN.verify(data).holds
    row = [["W", 0, 0], ["W", 0, 1], ["W", 0, 2]]
    cheaper = {"cells": [list(c) for c in free], "parts": [[[["W", 0, 0], ["W", 1, 1]], 2]]}
    forged = {"design": row, "cost": "1", "value": "1", "cost_bound": "1"}
    forged["evidence"] = {"design": {"cells": row, "parts": [[row[:2], 1]]}, "cheaper": [cheaper]}
    refused({**data, **forged}, "evidence.cheaper[0]")
    more = [*data["evidence"]["cheaper"], cheaper]
    refused(changed(data, ("evidence", "cheaper"), more), "evidence.cheaper[0]")
    refused({**data, "must": [["B", 0, 0]]}, "must")


def test_no_time_is_said(monkeypatch):
    """If a root count is not repeated, the check is unfinished and says so."""

    def silent(allocation, support, seed):
        raise RootCountError("no trace test")

    data = proof(small(), "maximal")
    monkeypatch.setattr("algebra.arguments.large_recount.quotient_degree", _no_time)
    monkeypatch.setattr("algebra.arguments.recount.quotient_dimension", lambda given: None)
    monkeypatch.setattr("algebra.arguments.large_recount.count_by_minors", _no_time)
    found = DESIGN.verify(data, fallback=silent)
    assert not found.holds
    assert found.is_unfinished
    assert [c.status for c in found.checks if c.place == "evidence.cheaper"] == ["unfinished"]


def _no_time(*given, **options):
    raise MsolveTimeout("no time")


def test_each_goal_claims_something_else():
    """A proof of one goal does not prove another goal."""
    for goal, what in GOALS.items():
        data = proof(small(cost_budget=30 if what.needs_cost_budget else None), goal)
        assert DESIGN.verify(data).holds
        for other in (*GOALS, "probable", "", 1, None):
            if other != goal:
                assert not DESIGN.verify({**data, "goal": other}).holds
                assert not DESIGN.verify({**data, "goal": other, "line": "row"}).holds
                assert not DESIGN.verify({**data, "goal": other, "line": ""}).holds


def test_forged_numbers():
    """Numbers that overflow, are rounded or divide by zero prove nothing."""
    data = proof(demand(caps={"row": 1}), "cheapest")
    first = data["evidence"]["cost"]["first"]

    def dual(**change):
        return {**data, "evidence": {"cost": {**data["evidence"]["cost"], **change}}}

    place = "evidence.cost.scale"
    for scale in (0, -1, 1.0, True, "1", None):
        refused(dual(scale=scale), place)
    for value in (1.5, 1e19, True, "1", None, float("nan"), [1]):
        refused(dual(first=[value, *first[1:]]), "evidence.cost.first[0]")
    refused(dual(first=[10**2000, *first[1:]]), "evidence")
    refused(dual(first=first[1:]), "evidence")
    # Sums beyond 64 bits: a true bound, far below.
    refused(dual(first=[(1 << 63) * (-1) ** k for k in range(len(first))]), "evidence")
    crossed = proof(demand(caps={"row": 1, "column": 1}), "cheapest")
    leaves = crossed["evidence"]["cost"]["leaves"]
    for value in (1.4e19, -1, True, 0.5, "1"):
        place = ("evidence", "cost", "leaves", 0, 2, 0, 0)
        found = DESIGN.verify(changed(crossed, place, value))
        assert found.checks[-1].place.startswith("evidence.cost.leaves[0]")
        assert not found.holds
    huge = [[i, o, [[1 << 64] * len(line) for line in lines]] for i, o, lines in leaves]
    refused(changed(crossed, ("evidence", "cost", "leaves"), huge), "evidence")


def test_forms_that_are_refused():
    """Versions, fields, masks and prices of other types; prices too long to expand."""
    data = proof(small(), "cheapest")
    for version in (1.0, True, 2.0, 3, "2", None):
        refuses("version", DESIGN.verify, {**data, "version": version})
    for other in ({}, {"format": "matchprob-certificate"}, [], None):
        refuses("not the proof of a design", DESIGN.verify, other)
    for place in data:
        if place not in ("format", "version"):
            assert not DESIGN.verify({k: v for k, v in data.items() if k != place}).holds
            for value in (None, 1.5, "x", [], {}, [[]], -1, True):
                same = data[place] == value
                assert same or not DESIGN.verify({**data, place: value}).holds
    refused({**data, "more": 1}, "more")
    refused({**data, "size": True}, "size")
    refused({**data, "prices": ["1e1000000000", *data["prices"][1:]]}, "prices[0]")
    refused({**data, "cost": "1e1000000000"}, "cost")
    refused({**data, "caps": {"row": 1.0}}, "caps.row")
    refused({**data, "caps": {"diagonal": 1}}, "caps")
    refused({**data, "design": [data["design"][0]] * 2}, "design")
    tables = data["problem"]
    for mask in (
        "W.csv",
        [[[1, 1], [1, 1]]],
        [1, 1],
        [[1.0] * 3] * 3,
        [[2] * 3] * 3,
        {"random": {}},
    ):
        assert not DESIGN.verify({**data, "problem": {**tables, "learnable": {"W": mask}}}).holds
    law = {**tables, "distribution": {"weights": "rademacher"}}
    refused({**data, "problem": law}, "problem.distribution")


def test_caps_and_must_are_checked():
    """A design that exceeds a cap, or lacks a required weight, does not meet the demand."""
    data = proof(demand(), "cheapest")
    refused({**data, "caps": {"matrix": 3}}, "caps")
    lacking = next(c for c in CELLS if list(c) not in data["design"])
    assert not DESIGN.verify({**data, "must": [list(lacking)]}).holds


def test_a_spread_that_is_none():
    """With one neuron less a design exists: no evidence shows the contrary."""
    question = demand()
    tight = written(question, most_spread(question))
    wide = cheapest(demand(caps={"row": 3}))
    claim = written(demand(caps={"row": 3}), wide)
    claim.update(goal="spread", line="row", value="3", evidence={
        "cost": claim["evidence"]["cost"], "one_less": tight["evidence"]["one_less"]
    })  # fmt: skip
    found = DESIGN.verify(claim)
    assert not found.holds


def test_what_has_no_proof():
    """A design of another goal, or one that is not proved optimal, is not written."""
    question = checked_demand(LinearEstimator(q=3, d=2, m=2))
    found = cheapest(question)
    with pytest.raises(InputError, match="has no proof; the goals that have one: cheapest"):
        proof_of(question, cheapest(question, goal="repair"))
    object.__setattr__(found, "bound", Fraction(1))
    refuses("allow the search more time", proof_of, question, found)
