"""Teachers of another size, activation or kind: verdicts, their files, trials by other methods."""

import json
from dataclasses import replace

import numpy as np
import pytest

import matchprob as mp
from algebra.families.other_teacher import teacher_rank
from algebra.problems.files import load_problem, problem_from_dict
from algebra.problems.laws.distribution import Distribution
from algebra.problems.premises import Feature
from numeric.trials.instances import draw_instance, to_double
from tests.refusals import refuses

NET = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
EYE = {"W": [[1, 0], [0, 1]]}
ROW = {"W": [[1, 1], [0, 0]]}
WIDE = mp.LinearRNN(n=3, T=2, b=1, d=1, m=2)
SQUARE = mp.LinearEstimator(q=2, d=2, m=2)
NARROW = mp.LinearFeedForward(q=2, widths=(1,), d=2, m=2)


def taught(net, masks, by, **more):
    """The problem with labels of another network."""
    return mp.Problem(net, masks, teacher=mp.Problem(by, {}, **more))


CASES = {
    "same": (taught(NET, EYE, NET), "intermediate"),
    "wider": (taught(NET, EYE, WIDE), "intermediate"),
    "bounded": (taught(NET, EYE, WIDE, distribution=Distribution(teacher="uniform")), "undecided"),
    "narrower": (taught(NET, ROW, mp.LinearRNN(n=1, T=2, b=1, d=1, m=2)), "maximal"),
    "another activation": (
        taught(NET, ROW, mp.RNN(n=2, T=2, b=1, d=1, m=2, activation="tanh")),
        "maximal",
    ),
    "another kind": (taught(NET, EYE, mp.LinearEstimator(q=2, d=1, m=2)), "undecided"),
    "too few": (taught(NET, {"W": [[1, 0], [0, 0]]}, WIDE), "minimal"),
    "low rank taught": (taught(SQUARE, {"W": [[1, 1], [1, 1]]}, NARROW), "undecided"),
    "low rank student": (
        taught(NARROW, {"W1": [[1, 1]], "W2": [[1], [1]]}, SQUARE),
        "minimal",
    ),
    "relu": (
        taught(SQUARE, {"W": [[1, 1], [1, 1]]}, mp.ShallowReLU(q=2, n=2, d=2, m=2)),
        "undecided",
    ),
    "relu student": (
        taught(mp.ShallowReLU(q=2, n=2, d=1, m=2), {"W2": [[1, 0]]}, WIDE),
        "minimal",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_verdicts_are_verified_from_their_files(name):
    """Each verdict is the expected one, and its file carries the teacher and verifies alone."""
    problem, verdict = CASES[name]
    found = mp.certify(problem)
    assert found.verdict == verdict
    data = json.loads(json.dumps(found.to_dict()))
    assert data["problem"]["teacher"]["network"] == problem.teacher.network.to_dict()
    checked = mp.verify(data)
    assert checked.verdict == verdict
    assert checked.holds or verdict == "undecided"


def test_a_teacher_of_the_same_network_gives_the_same_trials():
    """With the own network as the teacher labels and outcomes are those without [teacher]."""
    for masks in (EYE, ROW):
        plain, other = mp.Problem(NET, masks), taught(NET, masks, NET)
        one, two = (draw_instance(p, 0, 4) for p in (plain, other))
        assert np.allclose(one.labels, two.labels, rtol=1e-14)
        outcomes = [[c.outcome for c in mp.estimate(p, trials=30).counts] for p in (plain, other)]
        assert outcomes[0] == outcomes[1]


def test_trials_of_low_rank_are_decided_over_the_rationals():
    """If all of a matrix learns a teacher of low rank is matched; a narrow student misses it."""
    whole = mp.estimate(CASES["low rank taught"][0], trials=10)
    assert (whole.matched, whole.undetermined) == (10, 0)
    # Both have rank 1, and a student with a fixed row direction has another one.
    fixed = taught(NARROW, {"W2": [[1], [1]]}, NARROW)
    assert mp.estimate(fixed, trials=10).unmatched == 10


def test_an_odd_count_settles_nothing_where_labels_have_no_density():
    """Labels of a smaller variety are not generic: no trial is settled by N, and none is wrong."""
    problem, _ = CASES["low rank taught"]
    assert all("certified maximal" not in c.note for c in mp.estimate(problem, trials=5).counts)


@pytest.mark.parametrize("name", ["wider", "narrower", "too few", "low rank student"])
def test_forged_files_fail(name):
    """Another teacher, another verdict, another problem inside: none of these verifies."""
    data = json.loads(json.dumps(mp.certify(CASES[name][0]).to_dict()))
    others = {"minimal", "maximal", "intermediate"} - {data["verdict"]}
    for verdict in sorted(others):
        assert not mp.verify({**data, "verdict": verdict}).holds
    inside = json.loads(json.dumps(data))
    del inside["evidence"]["arbitrary"]["problem"]["distribution"]
    assert not mp.verify(inside).holds
    plain = json.loads(json.dumps(data))
    del plain["problem"]["teacher"]
    assert not mp.verify(plain).holds
    less = json.loads(json.dumps(data))
    less["equations"] -= 1
    assert not mp.verify(less).holds


def test_a_relu_teacher_does_not_verify_as_a_linear_one():
    """The verdict "maximal" of a linear teacher fails with a ReLU teacher of the same sizes."""
    data = json.loads(json.dumps(mp.certify(CASES["narrower"][0]).to_dict()))
    net = mp.ShallowReLU(q=2, n=2, d=1, m=2).to_dict()
    data["problem"]["teacher"] = {"network": net}
    assert not mp.verify(data).holds


def test_files(tmp_path):
    """`file` reads another problem file; plain data and TOML have the tables instead."""
    (tmp_path / "other.toml").write_text(mp.Problem(WIDE, {}).to_toml() + "")
    text = mp.Problem(NET, EYE).to_toml() + '\n[teacher]\nfile = "other.toml"\n'
    (tmp_path / "p.toml").write_text(text)
    problem = load_problem(tmp_path / "p.toml")
    assert problem == CASES["wider"][0]
    assert problem_from_dict(problem.to_dict()) == problem
    (tmp_path / "q.toml").write_text(problem.to_toml())
    assert load_problem(tmp_path / "q.toml") == problem
    assert problem.digest != mp.Problem(NET, EYE).digest
    for bad, says in {
        'file = "missing.toml"': "missing.toml",
        "": "must have either",
        'file = "other.toml"\nnetwork = { kind = "lrnn" }': "must have either",
        "file = 3": "teacher.file",
        'file = "p.toml"': "a teacher has no",
        'fle = "other.toml"': "fle",
    }.items():
        (tmp_path / "r.toml").write_text(mp.Problem(NET, EYE).to_toml() + f"\n[teacher]\n{bad}\n")
        refuses(says, load_problem, tmp_path / "r.toml")


def test_refused():
    """Other sizes of samples or labels, and a second source of labels, are refused."""
    refuses("both must have the same", taught, NET, EYE, mp.LinearRNN(n=2, T=2, b=2, d=1, m=2))
    refuses("both must have the same", taught, NET, EYE, mp.LinearRNN(n=2, T=2, b=1, d=1, m=3))
    one = CASES["wider"][0]
    for laws in ({"labels": "normal"}, {"teacher": "uniform"}):
        refuses(
            "the labels are those of",
            lambda laws=laws: replace(one, distribution=Distribution(**laws)),
        )
    refuses("must be a Problem", mp.Problem, NET, EYE, teacher=3)
    refuses("same network", mp.identify, one)
    refuses("differ in", mp.compare, one, mp.Problem(NET, EYE), trials=2)


def test_labels_are_those_of_the_other_network():
    """The drawn labels are the other network's at its own draws, for each kind of teacher."""
    for name in ("wider", "another activation", "relu", "low rank taught"):
        problem = CASES[name][0]
        instance = draw_instance(problem, 3, 1)
        own = draw_instance(problem.teacher, 3, 1)
        labels = problem.teacher.network.forward(own.teacher, instance.X)
        assert np.allclose(to_double(instance.drawn_labels), labels, rtol=1e-12)


def _with_n(kind, **sizes):
    return kind(**{"T": 2, "b": 1, "d": 2, "m": 3, **sizes})


@pytest.mark.parametrize(
    "network",
    [
        NARROW,
        SQUARE,
        _with_n(mp.LinearRNN, n=3),
        _with_n(mp.RNN, n=2, activation="tanh", biases=True),
        mp.FeedForward(q=2, widths=(1,), d=2, m=4, activation="softplus"),
    ],
    ids=str,
)
def test_the_dimension_of_a_teachers_labels_is_a_rank_of_differences(network):
    """`teacher_rank`, which search and check share, is the rank of differences in doubles."""
    rng = np.random.default_rng(0)
    sizes = [rows * columns for rows, columns in network.shapes.values()]
    X = rng.standard_normal(network.input_shape)

    def labels(w):
        parts = np.split(w, np.cumsum(sizes)[:-1])
        weights = {
            name: part.reshape(shape)
            for (name, shape), part in zip(network.shapes.items(), parts, strict=True)
        }
        return network.forward(weights, X).ravel()

    w, h = rng.standard_normal(sum(sizes)), 1e-5
    J = [(labels(w + h * e) - labels(w - h * e)) / (2 * h) for e in np.eye(w.size)]
    assert teacher_rank(taught(network, {}, network), 0).rank == np.linalg.matrix_rank(J, tol=1e-6)


@pytest.mark.parametrize(
    ("inner", "outer", "contained"),
    [
        (NET, WIDE, True),
        (WIDE, NET, False),
        (NARROW, mp.LinearFeedForward(q=2, widths=(3,), d=2, m=2), True),
        (NARROW, mp.LinearFeedForward(q=2, widths=(3, 2), d=2, m=2), False),
        (NET, mp.RNN(n=3, T=2, b=1, d=1, m=2), False),
        (_with_n(mp.RNN, n=1), _with_n(mp.RNN, n=3), True),
        (_with_n(mp.RNN, n=2), _with_n(mp.RNN, n=3, activation="sigmoid"), False),
    ],
    ids=str,
)
def test_a_network_is_contained_if_units_without_weights_may_be_added(inner, outer, contained):
    """The feature, which search and check share, says what zeros around the weights show."""
    assert (Feature.NOT_CONTAINED in taught(inner, {}, outer).features) is not contained
    if not contained:
        return
    rng = np.random.default_rng(0)
    small = {name: rng.standard_normal(shape) for name, shape in inner.shapes.items()}
    large = {name: np.zeros(shape) for name, shape in outer.shapes.items()}
    for name, (rows, columns) in inner.shapes.items():
        large[name][:rows, :columns] = small[name]
    X = rng.standard_normal(inner.input_shape)
    assert np.allclose(inner.forward(small, X), outer.forward(large, X))


@pytest.mark.parametrize(
    "change",
    [
        {"support": {"W": [[1, 1, 1], [1, 1, 1], [1, 1, 0]]}},
        {"distribution": Distribution(signs=[1, -1, 1])},
        {"distribution": Distribution(weights="uniform", teacher="uniform")},
    ],
)
def test_a_teacher_that_may_not_have_all_weights_contains_none(change):
    """Structural zeros, signs and bounded laws leave out weights of the student."""
    assert Feature.NOT_CONTAINED in taught(NET, {}, WIDE, **change).features
