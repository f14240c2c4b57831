"""Instances given by the user: read exactly, counted, inspected and decided over Q."""

import json
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

import matchprob as mp
from tests.refusals import refuses

NET = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
DIAGONAL = mp.Problem(NET, {"W": [[1, 0], [0, 1]]})
OWN = """
[weights]
W = [["1/2", 0.25],
     [-1, 0]]
B = [[1], [1]]
D = [[1, "3/2"]]

[samples]
X = [[1, 0], ["2/3", 1]]
"""
LABELS = OWN + "\n[labels]\nY = [[1, 2]]\n"
TEACHER = OWN + "\n[teacher]\nW = [[1, 2], [3, 4]]\nB = [[1], [0.1]]\nD = [[1, -1]]\n"
RELU = mp.Problem(mp.ShallowReLU(q=2, n=2, d=1, m=2), {"W1": [[1, 1], [0, 0]]})


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.toml").write_text(DIAGONAL.to_toml())
    (tmp_path / "own.toml").write_text(LABELS)
    (tmp_path / "teacher.toml").write_text(TEACHER)
    return tmp_path


def test_numbers_are_read_as_exact_rationals(files):
    """0.1 is read as 1/10 and "1/2" as a half; a teacher's labels are computed over Q."""
    own = mp.load_instance("teacher.toml", DIAGONAL)
    assert own.weights["W"][0, 0] == fmpq(1, 2)
    assert own.teacher is not None
    assert own.teacher["B"][1, 0] == fmpq(1, 10)
    assert own.has_teacher
    assert (NET.forward(own.teacher, own.X) == own.Y).all()
    assert not mp.load_instance("own.toml", DIAGONAL).has_teacher


def test_count_agrees_with_the_quadratic(files):
    """The instance leads to 40 w² − 114 w + 97, without real roots; with other labels to two."""
    assert mp.eliminate(DIAGONAL, instance="own.toml").to_dict()["equations"] == [
        "40*W_0_0**2 - 114*W_0_0 + 97"
    ]
    found = mp.count(DIAGONAL, instance="own.toml")
    assert (found.instances[0].real, found.instances[0].complex) == (0, 2)
    text = LABELS.replace("Y = [[1, 2]]", "Y = [[9, 2]]")
    (files / "own.toml").write_text(text)
    found = mp.count(DIAGONAL, instance="own.toml")
    assert found.instances[0].real == 2
    numbers = mp.load_instance("own.toml", DIAGONAL)
    for box in (one.box for (own,) in [mp.enclosures(found)] for one in own):
        student = {name: value.copy() for name, value in numbers.weights.items()}
        for (name, i, j), (low, high) in zip(DIAGONAL.allocation.cells, box, strict=True):
            middle = (low + high) / 2
            student[name][i, j] = fmpq(middle.numerator, middle.denominator)
        error = NET.forward(student, numbers.X) - numbers.Y
        assert all(abs(Fraction(int(e.p), int(e.q))) < Fraction(1, 10**12) for e in error.flat)


def test_the_command_lines(files, answer, printed):
    """`count` and `inspect` with `--instance` print the source of the labels and the core."""
    data = answer("count net.toml --instance own.toml --solutions")
    assert data["labels"] == "given"
    assert data["instances"][0]["status"] == "complete"
    assert any("is not about MP" in text for text in data["explanation"])
    data = answer("count net.toml --instance teacher.toml")
    assert data["labels"] == "the teacher's"
    data = answer("inspect net.toml --instance own.toml --core --equations")
    assert data["labels"] == "given"
    assert data["core"]["equations"] == ["40*W_0_0**2 - 114*W_0_0 + 97"]
    assert data["equations"]["weights"] == ["W_0_0", "W_1_1"]
    text = printed("inspect net.toml --instance own.toml --core --equations")
    assert "[W_0_0]" in text
    assert "40*W_0_0**2" in text
    assert "[W_1_1] = (13 - 4*W_0_0)/6" in text


def test_the_core_is_printed_without_an_instance(files, printed):
    """Few data appear as symbols; for many an example in numbers is printed and named so."""
    text = printed("inspect net.toml --core")
    assert "symbols for all data" in text
    assert "X_0_0*X_0_1*X_1_1*Y_0_0" in text
    big = mp.LinearRNN(n=3, T=2, b=1, d=2, m=2)
    mask = [[1, 0, 1], [0, 0, 1], [0, 1, 0]]
    (files / "big.toml").write_text(mp.Problem(big, {"W": mask}).to_toml())
    text = printed("inspect big.toml --core")
    assert "of an example: a random instance in eighths" in text
    assert "by linear equations, once these are known: W_0_0, W_0_2" in text


def test_contradictory_labels_have_no_solution():
    """Labels that no teacher produces (more samples than inputs) have no solution, even complex."""
    net = mp.LinearEstimator(q=1, d=1, m=2)
    problem = mp.Problem(net, {"W": [[1]]})
    tables = {"samples": {"X": [[1, 2]]}, "weights": {}, "labels": {"Y": [[1, 3]]}}
    found = mp.count(problem, instance=tables)
    assert (found.instances[0].real, found.instances[0].complex) == (0, 0)
    assert "no solution, not even complex" in found.explanation[0]
    report = mp.inspect(problem, instance=tables)
    assert not report.forms[0].consistent
    assert "1 = 0" in report.explanation[0]
    tables["labels"] = {"Y": [["1/3", "2/3"]]}
    (own,) = mp.enclosures(mp.count(problem, instance=tables))
    assert own[0].box == ((Fraction(1, 3), Fraction(1, 3)),)


def test_an_instance_with_a_family_of_solutions_is_undetermined():
    """A special instance with infinitely many solutions is not counted as a generic one."""
    tables = {
        "weights": {"W": [[0, 0], [0, 0]], "B": [[1], [0]], "D": [[0, 0]]},
        "samples": {"X": [[1, 0], [0, 1]]},
        "labels": {"Y": [[0, 0]]},
    }
    count = mp.count(DIAGONAL, instance=tables).instances[0]
    assert count.status == "undetermined"
    assert count.outcome != "unmatched"


def test_relu_instances_are_decided_and_verified(files, printed):
    """Labels of a teacher with the student's weights match; decisions of both kinds verify."""
    weights = {"W1": [[1, 2], ["1/3", -1]], "W2": [[1, "-1/7"]]}
    tables = {"weights": weights, "samples": {"X": [[1, "0.1"], [2, 1]]}, "teacher": weights}
    found = mp.decide(RELU, instance=tables)
    assert found.verdict == "match"
    assert mp.verify(found.certificate()).holds
    labels = {**tables, "labels": {"Y": [[-1000, 5]]}}
    del labels["teacher"]
    none = mp.decide(RELU, instance=labels)
    assert none.is_certified
    assert mp.verify(none.certificate()).holds
    assert "teacher" not in none.certificate()
    counted = mp.count(RELU, instance=labels).instances[0]
    assert (counted.outcome == "matched") == (none.verdict == "match")
    (files / "relu.toml").write_text(RELU.to_toml())
    (files / "relu-own.toml").write_text(
        '[weights]\nW1 = [[1, 2], ["1/3", -1]]\nW2 = [[1, "-1/7"]]\n'
        '[samples]\nX = [[1, 0.1], [2, 1]]\n[teacher]\nW1 = [[1, 2], ["1/3", -1]]\n'
        'W2 = [[1, "-1/7"]]\n'
    )
    line = "decide relu.toml --instance relu-own.toml --json --out decision.json"
    data = json.loads(printed(line))
    assert data["verdict"] == "match"
    assert data["explanation"]
    assert mp.verify("decision.json").holds


def test_a_trial_given_as_rationals_has_the_same_count():
    """The doubles of a random instance, given as rationals, lead to the count of the trial."""
    for index in range(4):
        drawn = mp.draw_instance(DIAGONAL, 0, index)

        def exact(array):
            return [[Fraction(float(x)) for x in row] for row in np.asarray(array)]

        tables = {
            "weights": {name: exact(value) for name, value in drawn.weights.items()},
            "samples": {"X": exact(drawn.X)},
            "teacher": {name: exact(value) for name, value in drawn.teacher.items()},
        }
        own = mp.count(DIAGONAL, instance=tables).instances[0]
        trial = mp.count(DIAGONAL, index + 1, engine="exact").instances[index]
        assert (own.real, own.complex) == (trial.real, trial.complex)
        assert np.allclose(own.solutions, trial.solutions, rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (OWN, r"give \[teacher\]"),
        (LABELS + "\n[teacher]\n", "not both"),
        (LABELS.replace("0.25", '"a"'), r"weights.W\[0\]\[1\]: 'a' is no number"),
        (LABELS.replace("0.25", "inf"), r"weights.W\[0\]\[1\]: 'inf' is no number"),
        (LABELS.replace("0.25", "1e999999999"), "more than 1000 digits"),
        (LABELS.replace("0.25", '"1/0"'), "divides by 0"),
        (LABELS.replace("D = [[1", "D = [[1, 2"), "`weights.D` is 1×3; it must be 1×2"),
        (LABELS.replace("D = ", "E = "), r"\[weights\] names `E`"),
        (LABELS.replace("B = [[1], [1]]", ""), r"\[weights\] lacks `B`, a 2×1 matrix"),
        (LABELS.replace("X = ", "Z = "), r"\[samples\] has an unknown key `Z`; known are X"),
        (LABELS.replace("[labels]", "[answers]"), "unknown table `answers`; known are labels"),
        ("weights = 3", "must be a table"),
        ("[weights", "not valid TOML"),
    ],
)
def test_bad_files_are_refused(text, reason, file):
    """The message names the place in the file and what is wrong there."""
    path = file(text, "own.toml")
    refuses(reason, mp.count, DIAGONAL, instance=path)


def test_unusable_combinations_with_an_instance_are_refused(files):
    """Rounding engines, random cells, constraints, weights off the support, other networks."""
    refuses("rounds", mp.count, DIAGONAL, instance="own.toml", engine="homotopy")
    refuses("no such file", mp.inspect, DIAGONAL, instance="none.toml")
    refuses("`instance`", mp.inspect, DIAGONAL, instance=3)
    random = mp.Problem(NET, {"W": mp.RandomCells(budget=2)})
    refuses("fixed allocation", mp.count, random, instance="own.toml")
    bounded = mp.Problem(NET, {"W": [[1, 0], [0, 1]]}, constraints=mp.Constraints(max_abs=1.0))
    refuses("constraints", mp.count, bounded, instance="own.toml")
    sparse = mp.Problem(NET, {"W": [[1, 0], [0, 1]]}, {"W": [[1, 1], [0, 1]]})
    refuses(r"weights.W\[1\]\[0\] is -1, but support", mp.count, sparse, instance="own.toml")
    refuses("another network", mp.count, RELU, instance=mp.load_instance("own.toml", DIAGONAL))
