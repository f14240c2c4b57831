"""Forged certificates of linear networks: each is refused, and the place is named."""

import copy

import pytest

from algebra.certificates.tools import Tools
from algebra.families.verify import verify
from algebra.systems.root_count import RootCountError
from matchprob import Allocation, LinearEstimator, LinearFeedForward, LinearRNN, Problem
from tests.algebra.systems.counters import by_trace
from tests.plain_data import changed, data_of, value_at, without
from tests.refusals import refuses
from tests.samples import DIAGONAL, NET, SEVEN


def refused(data, place, **options):
    """The first failure, which must be at this place."""
    result = verify(data, **options)
    failed = [check for check in result.checks if check.status == "failed"]
    assert not result.holds, str(result)
    assert failed[0].place.startswith(place), str(result)
    return failed[0]


@pytest.fixture(scope="module")
def between(msolve):
    """A genuine "intermediate" whose core has several unknowns: N = 6 or so, none real."""
    net = LinearRNN(n=4, T=2, b=1, d=2, m=2)
    for shift in range(4):
        problem = Problem.of(
            Allocation.from_cells(net, [("W", i, (i + shift) % 4) for i in range(4)])
        )
        data = data_of(problem, search=20.0)
        if "parametrization" in data["evidence"].get("no_real_root", {}):
            assert verify(data).holds
            return data
    return pytest.fail("no allocation with a parametrized witness")


def test_a_changed_parametrization_fails(between):
    """Changing one coefficient of a parametrization is found by exact division."""
    place = ("evidence", "no_real_root", "parametrization", "w", 0)
    result = verify(changed(between, place, str(int(value_at(between, place)) + 1)))
    assert not result.holds
    assert "parametrization" in result.checks[-1].place


@pytest.fixture(scope="module")
def genuine():
    return {
        "minimal": data_of(SEVEN),
        "few": data_of(Problem(NET, {"W": [[1, 0], [0, 0]]})),
        "maximal": data_of(Problem(NET, {"W": [[1, 1], [0, 0]]})),
        "part": data_of(Problem(NET, {"W": [[1, 1], [1, 0]]})),
        "between": data_of(DIAGONAL),
        "reached": data_of(
            Problem(
                LinearRNN(n=2, T=3, b=1, d=2, m=3),
                {"D": [[1, 1], [1, 1]], "W": [[1, 0], [0, 1]]},
                support={"W": [[1, 0], [0, 1]]},
            )
        ),
        "rebased": data_of(
            Problem(
                LinearRNN(n=2, T=3, b=2, d=2, m=3),
                {"D": [[1, 0], [1, 0]], "W": [[1, 1], [1, 1]], "B": [[1, 1], [1, 1]]},
            )
        ),
    }


def test_the_genuine_ones_hold(genuine):
    """Each file is the one that its name describes."""
    assert [d["verdict"] for d in genuine.values()] == [
        "minimal", "minimal", "maximal", "maximal", "intermediate", "maximal", "maximal",
    ]  # fmt: skip
    assert "sub_allocation" in genuine["part"]["evidence"]
    assert "teacher_reached" in genuine["reached"]["evidence"]
    assert "dual_bases" in genuine["rebased"]["evidence"]
    for data in genuine.values():
        assert verify(data).holds, str(verify(data))


# -- witnesses ------------------------------------------------------------------------


def teacher_twice(N):
    """N "points" over a w without real roots that are all one point: the student's own."""
    return {
        "w": ["1", *["0"] * (N - 1), "1"],
        "denominator": ["1"],
        "scale": "1",
    }


def test_one_point_twice(between):
    """Forgery 1: w = tᴺ + 1 and constant numerators, the known real solution N times."""
    data = copy.deepcopy(between)
    witness = data["evidence"]["no_real_root"]
    N = witness["complex"]
    # The student is the teacher: its own weights and states solve the core.
    witness["weights"] = copy.deepcopy(witness["teacher"])
    from fractions import Fraction

    import numpy as np

    weights = {
        n: np.array([[Fraction(v) for v in row] for row in w], dtype=object)
        for n, w in witness["teacher"].items()
    }
    W, step, steps = weights["W"], weights["B" if witness["form"] == "B" else "D"], []
    for _ in range(2):
        step = W @ step if witness["form"] == "B" else step @ W
        steps.append(step)
    F = np.concatenate(steps[::-1], axis=1)
    values = {f"W_{i}_{j}": W[i, j] for i in range(4) for j in range(4)}
    values |= {f"F_{i}_{j}": v for (i, j), v in np.ndenumerate(F)}
    scale = 8**4
    witness["parametrization"] = teacher_twice(N) | {
        "scale": str(scale),
        "numerators": [[str(int(values[u] * scale))] for u in witness["unknowns"]],
    }
    failure = refused(data, "evidence.no_real_root.parametrization")
    assert "not distinct" in failure.text


@pytest.mark.parametrize("name", ["weights", "teacher", "X"])
def test_degenerate_instances(between, name):
    """Forgery 2: zeros for weights or samples leave equations that any points solve."""
    data = copy.deepcopy(between)
    witness = data["evidence"]["no_real_root"]
    for part in {name, "X"}:
        matrices = [witness[part]] if part == "X" else witness[part].values()
        for matrix in matrices:
            matrix[:] = [["0"] * len(row) for row in matrix]
    refused(data, "evidence.no_real_root")


def test_degenerate_instance_with_points_of_its_own():
    """All zero: the core has unknowns and no equation."""
    data = data_of(DIAGONAL)
    witness = data["evidence"]["no_real_root"]
    for matrix in (*witness["weights"].values(), *witness["teacher"].values(), witness["X"]):
        matrix[:] = [["0"] * len(row) for row in matrix]
    witness["unknowns"] = ["W_0_0", "W_1_1"]
    witness["parametrization"] = teacher_twice(2) | {"numerators": [["0", "1"], ["0", "-1"]]}
    assert "degenerate" in refused(data, "evidence.no_real_root").text


def test_intermediate_for_an_over_complete_allocation(genuine, between):
    """Forgery 3: N of a part, the witness for the whole."""
    place, cells = ("evidence", "sub_allocation"), [["W", 0, 0], ["W", 1, 1]]
    refused(changed(genuine["between"], place, cells), "evidence.sub_allocation")
    witness = genuine["between"]["evidence"]["no_real_root"]
    part = changed(
        genuine["part"], ("verdict",), "intermediate", ("evidence", "no_real_root"), witness
    )
    refused(part, "evidence.sub_allocation")
    part["generic_root_count"] = part["evidence"]["root_count"]["value"]
    refused(without(part, place), "learnable")


# -- root counts ----------------------------------------------------------------------


CYCLE = Problem.of(
    Allocation.from_cells(LinearRNN(n=4, T=3, b=1, d=2, m=2), [("W", i, i) for i in range(4)])
)


@pytest.mark.usefixtures("no_msolve")
def test_a_false_root_count_against_what_was_found():
    """Forgery 6: N = 1 is refused if 24 solutions were found; with N unknown it is not."""

    def unfinished(allocation, support, seed):
        raise RootCountError("trace test unfinished: 24 solutions", at_least=24)

    def silent(allocation, support, seed):
        raise RootCountError("no trace test")

    data = data_of(CYCLE, tools=Tools(root_counter=by_trace(37)))
    assert data["verdict"] == "maximal"
    alone = verify(data, fallback=silent)
    assert [c.status for c in alone.checks if c.place == "verdict"] == ["unfinished"]
    assert alone.is_unfinished
    assert not alone.holds
    data["generic_root_count"] = data["evidence"]["root_count"]["value"] = 1
    failure = refused(data, "evidence.root_count", fallback=unfinished)
    assert "at least 24" in failure.text


@pytest.mark.parametrize("name", ["minimal", "few", "part", "reached"])
@pytest.mark.parametrize("value", [1, 10**400])
def test_root_counts_that_nothing_gives(genuine, name, value):
    """Forgery 7: no count if no evidence counts."""
    data = genuine[name]
    if data["generic_root_count"] is None:
        refused(changed(data, ("generic_root_count",), value), "generic_root_count")


def test_undecided_counts_are_checked(genuine):
    """An undecided certificate may claim N; then it is counted again."""
    data = without(genuine["between"], ("evidence", "no_real_root")) | {"verdict": "undecided"}
    assert verify(data).holds
    for value in (4, 10**400):
        forged = changed(data, ("generic_root_count",), value)
        refused(forged, "generic_root_count")
        forged["evidence"]["root_count"] |= {"value": value, "blocks": [value]}
        refused(forged, "evidence.root_count")
    refused(without(data, ("evidence", "root_count")), "generic_root_count")


# -- other claims ---------------------------------------------------------------------


def test_a_false_rank_below_the_equations(genuine):
    """Forgery 7: a rank that is attained at a bad point and is not the generic one."""
    data = copy.deepcopy(genuine["few"]) | {"rank": 0}
    point = data["evidence"]["allocation_rank"]
    point |= {"rank": 0, "proved": False}
    point["witness_point"]["X"] = [[0, 0], [0, 0]]
    refused(data, "rank")
    point |= {"proved": True, "upper_bound": 0}
    refused(data, "evidence.allocation_rank.upper_bound")


@pytest.mark.parametrize(
    ("name", "path", "value", "place"),
    [
        ("maximal", ("notes",), ["the law is discrete: this is a statement about generic "
                                 "instances, not about MP"], "notes"),
        ("maximal", ("problem", "distribution"), {"weights": "rademacher"}, "notes"),
        ("minimal", ("error_bound",), 0, "error_bound"),
        ("minimal", ("error_bound",), 0.5, "error_bound"),
        ("minimal", ("error_bound",), "0", "error_bound"),
        ("minimal", ("error_bound",), 10**400, "error_bound"),
        ("minimal", ("error_bound",), float("nan"), "error_bound"),
        ("minimal", ("equations",), 7.0, "equations"),
        ("maximal", ("rule",), 3, "rule"),
        ("maximal", ("reasons",), "all", "reasons"),
        ("maximal", ("seed",), None, "seed"),
        ("maximal", ("claims",), "more", "claims"),
        ("maximal", ("evidence", "more"), {}, "evidence.more"),
        ("maximal", ("evidence", "root_count", "blocks"), [3], "evidence.root_count"),
        ("maximal", ("evidence", "network_rank", "upper_bound"), 1, "evidence.network_rank"),
        ("minimal", ("evidence", "allocation_rank", "proved"), True, "evidence.allocation_rank"),
        ("maximal", ("learnable",), True, "learnable"),
        ("maximal", ("problem", "network", "n"), 2.0, "problem.network.n"),
        ("maximal", ("problem", "network", "n"), True, "problem.network.n"),
        ("maximal", ("problem", "learnable", "W"), "all", "problem.learnable.W"),
        ("maximal", ("problem", "learnable", "W"), "mask.csv", "problem.learnable.W"),
        ("maximal", ("problem", "learnable", "W"), [[[1, 1]], [[0, 0]]], "problem.learnable.W"),
        ("maximal", ("problem", "learnable", "W"), [1, 1, 0, 0], "problem.learnable.W"),
        ("maximal", ("problem", "learnable", "W"), [[1, 1, 0, 0]], "problem.learnable.W"),
        ("maximal", ("problem", "learnable", "W"), [[True, 1], [0, 0]], "problem.learnable.W"),
        ("maximal", ("problem", "learnable", "W"), [[1.0, 1], [0, 0]], "problem.learnable.W"),
        ("maximal", ("problem", "learnable", "W"), {"random": {"budget": 2}},
         "problem.learnable.W"),
        ("maximal", ("problem", "support"), {"W": "mask.npy"}, "problem.support.W"),
        ("maximal", ("evidence", "allocation_rank", "witness_point", "X", 0, 0), 0.5,
         "evidence.allocation_rank.witness_point.X"),
        ("maximal", ("evidence", "allocation_rank", "witness_point", "X", 0, 0), True,
         "evidence.allocation_rank.witness_point.X"),
        ("maximal", ("evidence", "allocation_rank", "witness_point", "X", 0, 0), 10**400,
         "evidence.allocation_rank.witness_point.X"),
        ("between", ("evidence", "no_real_root", "X", 0, 0), "1/0",
         "evidence.no_real_root.X"),
        ("between", ("evidence", "no_real_root", "X", 0, 0), "1e9", "evidence.no_real_root.X"),
        ("between", ("evidence", "no_real_root", "X", 0, 0), "9" * 400,
         "evidence.no_real_root.X"),
        ("between", ("evidence", "no_real_root", "X", 0, 0), 0.5, "evidence.no_real_root.X"),
        ("between", ("evidence", "no_real_root", "weights", "V"), [["0"]],
         "evidence.no_real_root.weights"),
        ("between", ("evidence", "no_real_root", "complex"), 2.0,
         "evidence.no_real_root.complex"),
        ("reached", ("evidence", "teacher_reached", "blocks"), [[[0], [0]]],
         "evidence.teacher_reached"),
        ("reached", ("evidence", "teacher_reached", "blocks"), [[[0, 1]]],
         "evidence.teacher_reached"),
        ("reached", ("evidence", "teacher_reached", "blocks"), [], "evidence.teacher_reached"),
        ("reached", ("problem", "learnable", "D"), [[1, 1], [1, 0]], ""),
        # The columns of Q first: its second one is determined by D, the rows of P then by duality.
        ("rebased", ("evidence", "dual_bases"), [], "evidence.dual_bases"),
        ("rebased", ("evidence", "dual_bases", 0), [1, 0], "evidence.dual_bases"),
        ("rebased", ("evidence", "dual_bases", 0), [2, 0, 1], "evidence.dual_bases"),
        ("rebased", ("evidence", "dual_bases", 0), [1, 0, 0], "evidence.dual_bases"),
        ("rebased", ("evidence", "dual_bases", 0), [1, 1, 1], "evidence.dual_bases"),
        ("rebased", ("evidence", "dual_bases"), [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]],
         "evidence.dual_bases"),
        ("rebased", ("problem", "learnable", "W"), [[1, 1], [1, 0]], ""),
        ("rebased", ("problem", "learnable", "B"), [[1, 1], [0, 0]], ""),
    ],
)  # fmt: skip
def test_false_or_unreadable_claims(genuine, name, path, value, place):
    """Forgeries 7 and 8, and more: the file is refused, and the message names the false field."""
    failure = refused(changed(genuine[name], path, value), place)
    assert "Error" not in failure.text


def test_every_field_is_needed(genuine):
    """A missing field is named; texts may be empty, not absent."""
    for data in genuine.values():
        for key in data:
            if key in ("format", "version"):
                continue
            less = {k: v for k, v in data.items() if k != key}
            assert not verify(less).holds, key


@pytest.mark.parametrize("version", [1.0, True, "1", 2, None])
def test_versions_are_whole_numbers(genuine, version):
    """Forgery 8: 1.0 and true are not versions."""
    refuses("version", verify, changed(genuine["maximal"], ("version",), version))


def test_words_are_said_to_be_unchecked(genuine):
    """Another rule, other reasons: the file holds, and the line says that they are texts."""
    data = changed(genuine["minimal"], ("rule",), "because I say so")
    result = verify(data)
    assert result.holds
    line = next(check for check in result.checks if check.place == "words")
    assert line.status == "unchecked"
    assert "rule" in line.text
    assert "reasons" in line.text


def test_another_problem_for_a_reached_teacher(genuine):
    """The blocks of one problem do not prove another one."""
    reached = {"teacher_reached": {"blocks": [[[0, 1]]]}}
    data = copy.deepcopy(genuine["between"])
    data["verdict"] = "maximal"
    del data["evidence"]["no_real_root"]
    data["evidence"] |= reached
    refused(data, "evidence.teacher_reached")
    data["evidence"]["teacher_reached"] = {"blocks": [[[0], [1]]]}
    refused(data, "evidence.teacher_reached")


def test_a_smooth_variety_of_labels_or_trust():
    """If the labels fill the matrices of low rank, the witness proves MP < 1; otherwise the check
    states its assumption."""
    net = LinearFeedForward(q=2, widths=(1,), d=2, m=2)
    data = data_of(Problem(net, {"W1": [[1, 1]], "W2": [[1], [0]]}))
    assert data["verdict"] == "maximal"
    estimator = data_of(Problem(LinearEstimator(q=3, d=2, m=2), {"W": [[1, 1, 0], [1, 0, 1]]}))
    statuses = {c.place: c.status for c in verify(estimator).checks}
    assert statuses["evidence.root_count"] == "proved"
    assert statuses["verdict"] == "proved"


@pytest.fixture(scope="module")
def by_labels(msolve):
    """A genuine "maximal" whose N = 57 was counted by labels in the weights alone."""
    cells = [("W", 0, 6), ("W", 1, 2), ("W", 2, 4), ("W", 4, 4)]
    net = LinearRNN(n=8, T=4, b=1, d=2, m=2)
    data = data_of(Problem.of(Allocation.from_cells(net, cells)))
    assert data["evidence"]["root_count"]["form"] == "direct"
    assert verify(data).holds
    return data


@pytest.mark.parametrize("value", [1, 55, 58, 59])
def test_another_number_of_zeros_of_the_labels(by_labels, value):
    """A false N of labels in the weights alone is counted again and refused."""
    data = changed(by_labels, ("generic_root_count",), value)
    data["evidence"]["root_count"] |= {"value": value, "blocks": [value]}
    result = verify(data)
    assert not result.holds
    assert any(check.status == "failed" for check in result.checks)
