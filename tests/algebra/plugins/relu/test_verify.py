"""Verdicts on ReLU nets: an instance without a match, and the instances near it."""

import json

import numpy as np
import pytest

from algebra.checker.checks import CheckFailed
from algebra.families import verify as family_verify
from algebra.plugins.relu.decision import read_decision
from algebra.plugins.relu.verify import check_relu, persists
from matchprob import Instance, Problem, ShallowReLU, certify, draw_instance, verify
from numeric.plugins.relu.decide import decide
from numeric.plugins.relu.decision import NONE
from numeric.plugins.relu.evidence import refuted_instance
from tests.numeric.plugins.relu.cases import problem
from tests.plain_data import changed, failures
from tests.refusals import refuses

CASE = problem(3, 4, 2, 3, W1=[[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]])


def _checked(case: Problem, data) -> list[tuple[str, str, str]]:
    said: list[tuple[str, str, str]] = []
    check_relu(case, data, data["rank"], lambda *words: said.append(words))
    return said


def test_certified_and_verified():
    """MP is strictly between 0 and 1, and the file proves it."""
    certificate = certify(CASE)
    assert certificate.verdict == "intermediate"
    assert verify(certificate).holds


def test_no_rank_above_that_of_the_labels():
    """More weights than equations: `rank` is at most `equations`, and the check uses that."""
    certificate = certify(problem(3, 4, 1, 2, W1=np.ones((4, 3), int).tolist()))
    assert certificate.rank == certificate.equations < certificate.learnable
    assert verify(certificate).holds
    wrong = json.loads(certificate.to_json()) | {"rank": certificate.learnable}
    assert not verify(wrong).holds


def test_an_instance_without_a_match_in_a_box_proves_nothing():
    """A refuted instance whose problem has a box proves no verdict on all weights."""
    data = json.loads(certify(CASE).to_json())
    instance = data["evidence"]["no_match"]
    instance["box"] = [["-1", "1"]] * len(instance["cells"])
    found = verify(data)
    assert not found.holds
    assert any("in a box" in c.text for c in found.checks)


@pytest.mark.parametrize("seed", range(3))
def test_instances_near_have_no_match_either(seed):
    """The claim about a neighbourhood, on random instances of it."""
    evidence = refuted_instance(CASE, seed, 1.0)
    assert evidence is not None
    index = next(
        i
        for i in range(50)
        if [[str(v) for v in row] for row in draw_instance(CASE, seed, i).exact[1]] == evidence["X"]
    )
    centre = draw_instance(CASE, seed, index)
    rng = np.random.default_rng(seed)
    for _ in range(10):
        moved = [
            {n: v + 1e-9 * rng.normal(size=v.shape) for n, v in side.items()}
            for side in (centre.weights, centre.teacher)
        ]
        X = centre.X + 1e-9 * rng.normal(size=centre.X.shape)
        near = Instance(CASE, centre.allocation, seed, index, moved[0], moved[1], X)
        assert decide(near).verdict == NONE


def _data():
    certificate = certify(CASE)
    return json.loads(certificate.to_json())


DATA = _data()


def test_all_is_proved():
    """Each claim of the evidence is verified."""
    assert {status for _, status, _ in _checked(CASE, DATA)} == {"proved"}


OTHER = [["W1", i, j] for i, j in ((0, 0), (0, 1), (1, 1), (1, 2), (2, 0), (2, 1))]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("verdict",), "maximal", "a weight that exists does not learn|does not belong"),
        (("evidence", "no_match", "Y"), [["1"] * 3] * 2, "labels"),
        (("evidence", "no_match", "leaves"), [], "near"),
        (("evidence", "no_match", "version"), 1.0, "not one of 1"),
        (("evidence", "no_match", "verdict"), "match", "missing"),
        (("evidence", "no_match", "teacher"), None, "null"),
        (("evidence", "no_match", "cells"), OTHER, "another allocation"),
    ],
)
def test_tampering_is_found(path, value, words):
    """A changed certificate fails, and the message names the place."""
    refuses(words, _checked, CASE, changed(DATA, path, value), error=CheckFailed)


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (("equations",), 5, "equations"),
        (("prime",), 4, "prime"),
        (("rank",), 1, "rank"),
        (("evidence", "active_rank", "rank"), 1, "evidence.active_rank"),
        (("evidence", "active_rank", "witness"), [4, 0], "evidence.active_rank"),
    ],
)
def test_ranks_are_found_again(path, value, place):
    """A wrong rank, prime or point fails at its place."""
    (failed,) = failures(family_verify.verify(changed(DATA, path, value)))
    assert failed.startswith(place)


def test_support_is_respected():
    """An instance with weights at structural zeros is refused."""
    support = {"W1": [[1, 1, 0], [1, 1, 1], [1, 1, 1], [1, 1, 1]]}
    narrow = Problem(CASE.network, CASE.learnable, support=support)
    refuses("outside the support", _checked, narrow, DATA, error=CheckFailed)


def test_refuted_without_slack_does_not_persist():
    """μ = 0 on a leaf refutes no instance nearby."""
    evidence = changed(DATA["evidence"]["no_match"], ("leaves", 0, "mu"), [["0"] * 3] * 2)
    assert not persists(CASE, read_decision(evidence))


def test_central_arrangements_need_whole_rows():
    """If whole rows learn, hyperplanes meet in one point for every instance."""
    whole = problem(2, 3, 2, 3, W1=[[1, 1], [1, 1], [1, 1]])
    found = refuted_instance(whole, 0, 2.0)
    assert found is not None
    assert persists(whole, read_decision(found))


def test_idle_units_persist_by_structural_zeros_only():
    """A unit may be left out if the support separates it from the outputs; a drawn 0 may not."""
    mask = [[1, 0, 1, 1], [1, 0, 1, 1]]
    narrow = Problem(CASE.network, CASE.learnable, support={"W2": mask})
    found = refuted_instance(narrow, 0, 2.0)
    assert found is not None
    decision = read_decision(found)
    assert decision.system.idle
    assert persists(narrow, decision)
    assert not persists(CASE, decision)


@pytest.mark.parametrize("zeros", [{}, {"W1": [[1, 0], [1, 1], [0, 1]]}])
def test_where_everything_learns_the_teacher_is_a_student(zeros):
    """Maximal, if no weight that exists is fixed; a forgery with a fixed one fails."""
    net = ShallowReLU(q=2, n=3, d=2, m=4)
    every = {name: zeros.get(name, np.ones(shape, int)) for name, shape in net.shapes.items()}
    found = certify(Problem(net, every, zeros))
    assert found.verdict == "maximal"
    data = found.to_dict()
    assert verify(data).holds
    fixed = np.array(every["W1"])
    fixed[0, 0] = 0
    other = certify(Problem(net, {**every, "W1": fixed}, zeros))
    assert other.verdict != "maximal"
    forged = {**data, "problem": other.to_dict()["problem"], "learnable": data["learnable"] - 1}
    assert not verify(forged).holds
    assert not verify({**data, "verdict": "undecided"}).holds
