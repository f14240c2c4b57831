"""Arbitrary labels: verdicts against ranks by SVD, trials against least squares and formulas."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import least_squares

import matchprob as mp
from algebra.families.certify import certify
from algebra.networks.base import Network
from algebra.problems.laws.distribution import Distribution
from numeric.trials.instances import draw_instance
from tests.old_kinds import random_network
from tests.refusals import refuses
from tests.samples import many

LONG_RUN = pytest.mark.long
ARBITRARY = Distribution(labels="normal")


def some_problems(count: int, most: int = 6, seed: int = 0) -> Iterator[mp.Problem]:
    """Random allocations of small linear networks, some with more samples than inputs."""
    rng = np.random.default_rng(seed)
    while count:
        n, T, b, d = (int(k) for k in rng.integers(1, [4, 4, 3, 3]))
        m = int(rng.integers(1, T * b + 2))
        nets = (
            mp.LinearRNN(n=n, T=T, b=b, d=d, m=m),
            mp.LinearFeedForward(q=n + 1, widths=(n, T), d=d, m=m),
            mp.LinearEstimator(q=n, d=d, m=m),
        )
        net = nets[int(rng.integers(3))]
        every = [(k, i, j) for k, (r, c) in net.shapes.items() for i in range(r) for j in range(c)]
        size = min(net.outputs + int(rng.integers(-1, 2)), len(every), most)
        if size < 1 or net.outputs > most:
            continue
        chosen = rng.choice(len(every), size, replace=False)
        allocation = mp.Allocation.from_cells(net, [every[k] for k in chosen])
        yield mp.Problem.of(allocation, distribution=ARBITRARY)
        count -= 1


def rank_by_differences(problem: mp.Problem, seed: int) -> int:
    """Rank of the Jacobian at a random instance, by complex steps and SVD."""
    instance = draw_instance(problem, seed, 0)
    w, step = instance.before, 1e-30
    columns = [
        problem.network.forward(instance.with_weights(w + 1j * step * e), instance.X).imag.ravel()
        for e in np.eye(len(w))
    ]
    return int(np.linalg.matrix_rank(np.array(columns).T / step, tol=1e-9))


def test_minimal_iff_rank_is_below_the_number_of_labels() -> None:
    """For random allocations "minimal" is that an SVD shows a rank below dm."""
    found = set()
    for k, problem in enumerate(some_problems(many(200))):
        rank = max(rank_by_differences(problem, s) for s in (k, k + 1))
        certificate = certify(problem, search=0.0, subsets=0)
        assert (certificate.verdict == "minimal") == (rank < problem.network.outputs), problem
        assert certificate.equations == problem.network.outputs
        found.add(certificate.verdict)
    assert found >= {"minimal", "maximal"}


def has_match(problem: mp.Problem, index: int, starts: int = 80) -> bool:
    """Whether least squares from random starts finds a match of a trial."""
    instance = draw_instance(problem, 0, index)
    rng = np.random.default_rng(index)

    def error(w: np.ndarray) -> np.ndarray:
        labels = problem.network.forward(instance.with_weights(w), instance.X)
        return np.asarray(labels - instance.labels).ravel()

    for _ in range(starts):
        start = rng.standard_normal(len(instance.before)) * 4 ** rng.uniform(-1, 2)
        end = least_squares(error, start, xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=300)
        if np.abs(end.fun).max() < 1e-8:
            return True
    return False


@pytest.mark.parametrize(("count", "seed"), [(3, 3), pytest.param(200, 4, marks=pytest.mark.long)])
def test_trials_are_those_of_least_squares(count: int, seed: int) -> None:
    """A trial in which least squares finds a match is matched; few other trials are matched."""
    missed = total = 0
    for problem in some_problems(count, most=4, seed=seed):
        for outcome in mp.estimate(problem, trials=2).counts:
            if outcome.outcome != "undetermined":
                found, matched = has_match(problem, outcome.index), outcome.outcome == "matched"
                assert matched or not found, (problem, outcome.index)
                # Large weights are out of reach of the starts.
                missed, total = missed + (matched and not found), total + matched
    assert missed <= 0.05 * total


def test_a_diagonal_matches_where_its_quadratic_has_real_roots() -> None:
    """n = 2, T = 2, one sample for each input: a quadratic equation decides each trial."""
    net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    eye = [[1, 0], [0, 1]]
    problem = mp.Problem(net, {"W": eye}, {"W": eye}, distribution=ARBITRARY)
    for count in mp.estimate(problem, trials=60).counts:
        instance = draw_instance(problem, 0, count.index)
        # The labels of the unit impulses: D W² B, D W B.
        second, first = (instance.labels @ np.linalg.inv(instance.X))[0]
        a, c = instance.weights["D"][0] * instance.weights["B"][:, 0]
        # a x + c y = first, a x² + c y² = second.
        roots = np.roots([a + a * a / c, -2 * a * first / c, first**2 / c - second])
        assert (count.outcome == "matched") == bool(np.isreal(roots).all())


NETS = {
    "lrnn": (mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]}, "intermediate"),
    "wide": (mp.LinearRNN(n=2, T=2, b=1, d=1, m=3), {"W": [[1, 1], [1, 1]]}, "minimal"),
    "odd": (mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 1], [0, 0]]}, "maximal"),
    "whole": (
        mp.LinearRNN(n=1, T=2, b=1, d=1, m=1),
        {"W": [[1]]},
        "intermediate",
    ),
    "few": (mp.ShallowReLU(q=2, n=2, d=1, m=3), {"W2": [[1, 1]]}, "minimal"),
    "relu": (mp.ShallowReLU(q=2, n=2, d=1, m=2), {"W2": [[1, 1]]}, "undecided"),
    "update": (mp.LinearEstimator(q=3, d=3, m=3), {"W": {"lora": 1}}, "minimal"),
    "tanh": (
        mp.FeedForward(q=2, widths=(2,), d=1, m=2, activation="tanh"),
        {"W2": [[1, 1]]},
        "maximal",
    ),
    "tanh, few": (
        mp.FeedForward(q=2, widths=(2,), d=1, m=3, activation="tanh"),
        {"W2": [[1, 1]]},
        "minimal",
    ),
    "tanh, stuck": (
        mp.FeedForward(q=2, widths=(2,), d=1, m=2, activation="tanh"),
        {"W1": [[1, 0], [0, 1]]},
        "intermediate",
    ),
    "norm": (
        mp.NormNet.square(2, 1, 3, 2, "linear"),
        {"g1": [[1], [0], [1]]},
        "minimal",
    ),
}


@pytest.mark.parametrize("name", NETS)
def test_certified_and_verified(name: str) -> None:
    """Each verdict is the expected one, and is verified from its file alone."""
    net, masks, verdict = NETS[name]
    found = mp.certify(mp.Problem(net, masks, distribution=ARBITRARY))
    assert found.verdict == verdict
    data = json.loads(json.dumps(found.to_dict()))
    assert data["problem"]["distribution"]["labels"] == "normal"
    checked = mp.verify(data)
    assert checked.verdict == verdict
    assert checked.holds or verdict == "undecided"


@pytest.mark.parametrize("name", ["odd", "tanh", "tanh, stuck", "relu"])
def test_a_file_that_hides_its_labels_is_refused(name: str) -> None:
    """A certificate about arbitrary labels does not verify as one about a teacher's, or back."""
    net, masks, _ = NETS[name]
    for law, other in ((ARBITRARY, {}), (Distribution(), {"labels": "normal"})):
        found = mp.certify(mp.Problem(net, masks, distribution=law))
        data = json.loads(json.dumps(found.to_dict()))
        data["problem"]["distribution"] = other
        if found.verdict != "undecided":
            assert not mp.verify(data).holds


def test_the_teacher_as_a_student_is_no_argument() -> None:
    """If everything learns the teacher is a student; arbitrary labels need not be reached."""
    net = mp.FeedForward(q=1, widths=(1,), d=1, m=2, activation="tanh")
    everything = {"W1": [[1]], "W2": [[1]]}
    assert mp.certify(mp.Problem(net, everything)).verdict == "maximal"
    arbitrary = mp.Problem(net, everything, distribution=ARBITRARY)
    assert mp.certify(arbitrary).verdict == "undecided"
    data = json.loads(json.dumps(mp.certify(mp.Problem(net, everything)).to_dict()))
    data["problem"]["distribution"] = {"labels": "normal"}
    assert not mp.verify(data).holds


TOP = Path(__file__).parents[3]
PIECES = mp.ProgramNetwork(TOP / "examples/data/perceptron.onnx", m=3)
HEAD = {"head.weight": np.ones((12, 3), int), "head.bias": np.ones((3, 1), int)}


def test_labels_on_pieces_are_not_minimal_where_one_pattern_shows_it() -> None:
    """A pattern of full rank, in the file; a head that learns is linear on one pattern only."""
    problem = mp.Problem(PIECES, HEAD, distribution=ARBITRARY)
    found = mp.certify(problem)
    assert (found.verdict, found.rank, found.equations) == ("undecided", 9, 9)
    assert "not minimal" in str(found)
    data = json.loads(json.dumps(found.to_dict()))
    assert mp.verify(data).holds
    assert not mp.verify({**data, "rank": 8}).holds
    few = mp.Problem(PIECES, {"head.bias": HEAD["head.bias"]}, distribution=ARBITRARY)
    assert mp.certify(few).verdict == "minimal"


@pytest.mark.parametrize(("net", "masks"), [NETS["relu"][:2], (PIECES, HEAD)])
def test_a_forged_verdict_fails(net: Network, masks: dict) -> None:
    """As many labels as parameters cannot be "undecided" turned into "maximal"."""
    data = mp.certify(mp.Problem(net, masks, distribution=ARBITRARY)).to_dict()
    for verdict in ("maximal", "minimal", "intermediate"):
        assert not mp.verify({**data, "verdict": verdict, "tried": []}).holds
        assert not mp.verify({**data, "verdict": verdict, "tried": [], "evidence": {}}).holds


def updated(rng: random.Random) -> mp.Problem:
    """A small network of any kind, of which matrices learn by updates, others by random cells."""
    while True:
        net, learn = random_network(rng), dict[str, object]()
        for name, (rows, columns) in net.shapes.items():
            cells = [[int(rng.random() < 0.6) for _ in range(columns)] for _ in range(rows)]
            if rng.random() < 0.6:
                ways = [{"lora": 1}, {"gain": "rows"}, {"gain": "columns"}, cells]
                learn[name] = rng.choice(ways)
        if any(isinstance(value, dict) for value in learn.values()):
            return mp.Problem(net, learn, distribution=ARBITRARY)


@pytest.mark.parametrize(("first", "count"), [(0, 16), pytest.param(16, 200, marks=LONG_RUN)])
def test_updates_under_arbitrary_labels(first: int, count: int) -> None:
    """Verdicts are verified; no trial of a minimal one is matched, all of a maximal one are."""
    found = set()
    for seed in range(first, first + count):
        problem = updated(random.Random(f"updated/{seed}"))
        certificate = mp.certify(problem, search=0.3)
        assert mp.verify(json.loads(certificate.to_json())).holds
        found.add(certificate.verdict)
        if certificate.verdict in ("minimal", "maximal"):
            counted = mp.estimate(problem, trials=12, seed=seed)
            decided = counted.trials - counted.undetermined
            assert counted.matched == (0 if certificate.verdict == "minimal" else decided), problem
    assert found >= {"minimal", "maximal"}


def test_factors_scale_student_and_teacher() -> None:
    """`scale` multiplies the drawn matrices, and the same instance otherwise; verdicts stay."""
    net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    masks = {"W": [[1, 0], [0, 1]]}
    plain = mp.Problem(net, masks)
    scaled = mp.Problem(net, masks, distribution=Distribution(scale={"W": 1.5}))
    one, other = (draw_instance(p, 0, 3) for p in (plain, scaled))
    for name, factor in {"W": 1.5, "B": 1, "D": 1}.items():
        assert np.allclose(other.weights[name], factor * one.weights[name], rtol=1e-15)
        assert np.allclose(other.teacher[name], factor * one.teacher[name], rtol=1e-15)
    assert (other.X == one.X).all()
    # A common factor of student and teacher cancels: w ↦ 1.5 w maps matches to matches.
    assert mp.estimate(scaled, trials=30).matched == mp.estimate(plain, trials=30).matched
    found = mp.certify(scaled)
    assert mp.verify(json.loads(json.dumps(found.to_dict()))).holds
    assert found.to_dict()["problem"]["distribution"]["scale"] == {"W": "3/2"}
    assert mp.Problem(net, masks, distribution=Distribution(scale={"W": 1})) == plain


@pytest.mark.parametrize(
    ("laws", "says"),
    [
        ({"labels": "uniform"}, r"distribution.labels \('uniform'\) must be one of"),
        ({"labels": 3}, r"distribution.labels \(3\)"),
        ({"labels": "normal", "teacher": "uniform"}, "there is no teacher"),
        ({"scale": 2}, r"`distribution.scale` \(2\) must map"),
        ({"scale": {"V": 2}}, "a linear RNN network has B, W, D|has "),
        ({"scale": {"W": 0}}, "must be positive"),
        ({"scale": {"W": -1.5}}, "must be positive"),
        ({"scale": {"W": "1e400"}}, "distribution.scale.W"),
        ({"scale": {"W": "much"}}, "distribution.scale.W"),
    ],
)
def test_refused(laws: dict, says: str) -> None:
    """What is no law of labels or no factor is refused by its name."""
    net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    refuses(
        says, lambda: mp.Problem(net, {"W": [[1, 1], [0, 0]]}, distribution=Distribution(**laws))
    )


def test_noise_is_added_to_the_teachers_labels() -> None:
    """The same weights, samples and teacher; labels differ by σ times the numbers of the trial."""
    net = mp.RNN(n=2, T=2, b=1, d=1, m=3, activation="tanh")
    cells = {"W": [[1, 1], [1, 0]]}
    plain, some, more = (
        draw_instance(mp.Problem(net, cells, distribution=Distribution(noise=s)), 0, 5)
        for s in (0, "1/10", 1)
    )
    assert some.known_teacher is None
    assert (plain.X == some.X).all()
    assert (plain.weights["W"] == some.weights["W"]).all()
    noise = more.labels - plain.labels
    assert some.labels - plain.labels == pytest.approx(noise / 10, abs=1e-15)
    spread = [
        draw_instance(mp.Problem(net, cells, distribution=Distribution(noise=3)), 1, k).labels
        - draw_instance(mp.Problem(net, cells), 1, k).labels
        for k in range(200)
    ]
    assert np.std(spread) == pytest.approx(3, rel=0.1)


def test_verdicts_with_noise_are_those_of_arbitrary_labels() -> None:
    """Labels with noise have a density on all labels: the same verdicts, which verify."""
    for problem in some_problems(many(24), seed=9):
        noisy = mp.Problem(problem.network, problem.learnable, distribution=Distribution(noise=1))
        own, other = (certify(p, search=1.0, subsets=0) for p in (noisy, problem))
        assert own.verdict == other.verdict
        assert mp.verify(json.loads(json.dumps(own.to_dict()))).holds


def test_noise_of_size_0_is_no_noise() -> None:
    """A file that adds it to a teacher's labels does not make fewer weights than labels minimal."""
    net, cells = mp.ShallowReLU(q=2, n=3, d=1, m=3), {"W1": [[1, 1], [0, 0], [0, 0]]}
    noisy = certify(mp.Problem(net, cells, distribution=Distribution(noise=1)))
    data = json.loads(json.dumps(noisy.to_dict()))
    assert noisy.verdict == "minimal"
    assert mp.verify(data).holds
    data["problem"]["distribution"]["noise"] = "0"
    assert not mp.verify(data).holds


def test_noise_is_refused_where_it_has_no_meaning() -> None:
    """Beside arbitrary labels or another teacher, negative, no number; in verbs about teachers."""
    refuses("remove one", Distribution, noise=1, labels="normal")
    refuses("at least 0", Distribution, noise=-1)
    refuses("is no number", Distribution, noise="loud")
    net, cells = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]}
    wider = mp.Problem(mp.LinearRNN(n=3, T=2, b=1, d=1, m=2), {})
    refuses("noise", mp.Problem, net, cells, distribution=Distribution(noise=1), teacher=wider)
    refuses("noise", mp.record, mp.Problem(net, cells, distribution=Distribution(noise=1)))
