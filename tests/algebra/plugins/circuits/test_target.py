"""Targets of recordings: rows, names, proofs, refusals; `test_subsets` has all small cases."""

import random
from itertools import combinations

import numpy as np
import pytest

from algebra.errors import Unfinished
from algebra.linalg.modular import matmul
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import random_residues
from algebra.matroids.containing import ContainingProblem
from algebra.matroids.pairs import PairedProblem
from algebra.networks.ffn import FeedForward
from algebra.networks.rnn import RNN
from algebra.plugins.circuits import blocks as blocks_module
from algebra.plugins.circuits import recording as recording_module
from algebra.plugins.circuits import target as target_module
from algebra.plugins.circuits.blocks import direction_of
from algebra.plugins.circuits.question import recording_question
from algebra.plugins.circuits.recording import record
from algebra.plugins.circuits.verify import RECORDING
from algebra.problems.problem import Problem
from algebra.time_limits import OutOfTime
from matchprob import identify
from tests.algebra.plugins.circuits.subsets import cases
from tests.refusals import refuses
from tests.samples import LONG

SQUARE = {"polynomial": [0, 1, 1]}


def free_by_ranks(question, chosen, point):
    """Free directions of the whole target, and of each element, by ranks of stacked rows."""
    table, owner = question.rows(point)
    rows = table[np.isin(owner, sorted(chosen))]
    about = question.about_target
    target, of = about.rows(point)
    before = modular_rank(rows, point.p)

    def free(part):
        return modular_rank(np.concatenate([rows, part]), point.p) - before

    return free(target), [free(target[of == k]) for k in range(len(about.elements))]


def check(problem, what, target, **options):
    """The result is the cheapest of all subsets with as few free directions as all elements."""
    question = recording_question(problem, what, target=target, **options)
    point = question.point(2**31 - 1, 5)
    least, parts = free_by_ranks(question, question.allowed, point)
    costs = [
        question.cost(frozenset(chosen) | question.must)
        for size in range(len(question.free) + 1)
        for chosen in combinations(question.free, size)
        if free_by_ranks(question, {*chosen, *question.must}, point)[0] == least
    ]
    found = record(problem, what, target=target, **options)
    assert found.cost == found.bound == min(costs)
    assert [state.free for state in found.target] == parts
    chosen = {k for k, e in enumerate(question.elements) if e in set(found.recorded)}
    assert free_by_ranks(question, chosen, point)[0] == least
    return found


def test_rows_of_a_target_are_derivatives():
    """The rows of targets of each kind agree with dual numbers along a random direction."""
    network = RNN(n=4, T=3, b=1, d=2, m=2, activation="tanh", biases=True)
    problem = Problem(network, {"W": np.ones((4, 4), int), "c": np.ones((4, 1), int)})
    for target in ("units", "outputs", "times=1:3", "samples=new", "unit 2"):
        about = recording_question(problem, "units", target=target).about_target
        point = about.point(2**31 - 1, 1)
        rows, owner = about.rows(point)
        step = random_residues((about.allocation.size, 1), point.p, random.Random(3))
        along, owners = direction_of(about, point, step[:, 0])
        kept = owners < len(about.elements)
        assert np.array_equal(along[kept], matmul(rows, step, point.p)[:, 0])
        assert np.array_equal(owners[kept], owner)


def chain(n=5):
    """A chain of units: unit 0 is driven, each unit drives the next, the last is read."""
    W = np.diag(np.ones(n - 1, int), -1)
    support = {"W": W, "B": np.eye(n, 1, dtype=int), "D": np.eye(1, n, n - 1, dtype=int)}
    network = RNN(n=n, T=n, b=1, d=1, m=2, activation="tanh", leak=1)
    return Problem(network, {"W": W}, support)


def test_a_chain_is_determined_from_its_end():
    """The last unit of a chain determines all; without it two samples of the output are free."""
    found = record(chain(), "units", target="units")
    assert found.names == ("unit 4",)
    assert all(state.is_determined for state in found.target)
    states = record(chain(), "units", target="outputs", forbidden=["unit 4", "unit 3"]).target
    assert [state.free for state in states] == [2]


def test_a_target_with_a_name_is_not_recorded():
    """A unit that is a target by its name is predicted from others."""
    found = record(chain(), "units", target="unit 2")
    assert "unit 2" not in found.names
    assert found.names == ("unit 3",) or found.names == ("unit 4",)


def test_without_a_proper_target_the_question_is_the_old_one():
    """All units as target of a recording of units: the same cost, bound and kind of proof."""
    problem = chain()
    plain, aimed = record(problem, "units"), record(problem, "units", target="units")
    assert (plain.cost, plain.bound) == (aimed.cost, aimed.bound)
    assert type(plain.evidence) is type(aimed.evidence)


def test_new_samples_are_determined_with_all_weights():
    """Where all weights are determined so are the outputs for every input."""
    network = RNN(n=3, T=2, b=1, d=1, m=6, activation="tanh")
    problem = Problem(network, {"W": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]})
    assert identify(problem, target="samples=new").target[0].is_determined
    few = Problem(network.with_samples(1), problem.learnable)
    assert identify(few, target="samples=new").target[0].free == 1


def test_steps_of_a_target_have_no_rows_where_gains_learn():
    """With gains, steps whose numbers belong to the target are left out, and the others decide."""
    network = RNN(n=3, T=3, b=2, d=1, m=2, activation="tanh", read="all")
    problem = Problem(network, {"W": {"gain": "rows"}}, {"W": [[1, 1, 0], [0, 1, 1], [1, 0, 1]]})
    for what in ("times", "entries"):
        found = check(problem, what, "times=2")
        assert found.target[0].is_determined


def test_identify_says_what_is_free_in_a_target_although_alternatives_take_all_the_time():
    """The target comes first: a root count that takes all the time does not hide it."""
    network = RNN(n=5, T=3, b=2, d=2, m=3, activation=SQUARE, leak="1/2", biases=True, read="all")
    W = [[0, 0, 0, 1, 0], [0, 0, 0, 1, 1], [0, 0, 0, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 1, 1]]
    found = identify(Problem(network, {"W": W}), target="units", timeout=0.8)
    assert all(state.is_determined for state in found.target)


def test_entries_at_the_steps_of_a_target_are_not_recorded():
    """Single entries of earlier steps are chosen for a target of the last one, with a proof."""
    network = RNN(n=3, T=3, b=1, d=1, m=2, activation="tanh", read="all")
    problem = Problem(network, {"W": [[1, 0, 0], [0, 0, 0], [0, 0, 0]]})
    found = check(problem, "entries", "times=2")
    assert not any("step 2" in name for name in found.names)
    assert RECORDING.verify(found.proof_file()).holds


def proofs():
    """Proof files with cuts, and others."""
    for case in cases(12, seed=4):
        if case.what != "entries":
            yield record(case.problem(), case.what, target=case.words).proof_file()


def test_proofs_hold_and_forged_ones_do_not():
    """Proof files hold; with other free directions, costs, cuts or fewer elements they do not."""
    with_cuts = 0
    for data in proofs():
        assert RECORDING.verify(data).holds, data
        forged = [{**data, "free": [n + 1 for n in data["free"]]}]
        if data["recorded"] and int(data["bound"]) > 0:
            forged.append({**data, "bound": data["bound"] + "0"})
            fewer = data["recorded"][1:]
            cost = str(int(data["cost"]) - 1)
            low = str(min(int(data["bound"]), int(cost)))
            forged.append({**data, "recorded": fewer, "cost": cost, "bound": low})
        if data["evidence"].get("cuts"):
            with_cuts += 1
            # Groups outside a smaller set contain those outside the cut, and more.
            forged.append({**data, "evidence": {**data["evidence"], "cuts": [[]]}})
        for one in forged:
            assert not RECORDING.verify(one).holds
    assert with_cuts


def test_wrong_targets_are_refused():
    """Targets that do not exist, or are recorded, are refused in one line that names them."""
    problem = chain()
    refuses("times=4:9", record, problem, "units", target="times=4:9")
    refuses("times", record, problem, "units", target=["times=1:2", "units"])
    refuses("unit 9", record, problem, "units", target="unit 9")
    refuses("output 0", identify, problem, target="outputs")
    refuses("unit 1", record, problem, "units", target="unit 1", must=["unit 1"])
    refuses("belongs to it", record, problem, "outputs", target="times=4")
    flat = Problem(
        FeedForward(q=2, widths=(2,), d=1, m=2, activation="tanh"), {"W1": [[1, 1], [0, 1]]}
    )
    refuses("no steps", record, flat, "units", target="times=0")


@pytest.mark.parametrize("seed", range(16 if LONG else 2))
def test_directions_of_large_targets_are_those_of_their_rows(seed, monkeypatch):
    """Random vectors of the kernel, and spans from a few rows, show the same free directions."""
    rng = np.random.default_rng(seed)
    mask = (rng.random((5, 5)) < 0.6).astype(int)
    net = RNN(n=5, T=3, b=1, d=1, m=2, activation="tanh")
    problem = Problem(net, {"W": mask.tolist(), "B": "all"}, {"W": mask.tolist()})
    aims = ["units", "times=0:2"] if seed % 2 else [["unit 0", "unit 3"], "samples=new"]

    def found():
        results = [record(problem, "outputs", target=aim, seed=seed).to_dict() for aim in aims]
        results += [identify(problem, target=aim, seed=seed).to_dict() for aim in aims]
        return [(found["target"], found["target_free"]) for found in results]

    rows = found()
    monkeypatch.setattr(target_module, "_AT_ONCE", 1)
    monkeypatch.setattr(blocks_module, "_AT_A_GLANCE", 0)
    assert found() == rows
    assert any(entry["free"] for states, _ in rows for entry in states)


@pytest.mark.parametrize("end", [OutOfTime("late"), KeyboardInterrupt()], ids=["time", "stop"])
@pytest.mark.parametrize("where", ["target_states", "cheapest_containing"])
def test_what_is_known_of_a_target_is_said_when_time_is_up(monkeypatch, where, end):
    """Elements that determine what can be determined, as a result or in the message."""

    def ends(*_):
        raise end

    monkeypatch.setattr(recording_module, where, ends)
    net = RNN(n=4, T=2, b=1, d=1, m=2, activation="tanh")
    problem, asked = Problem(net, {"W": np.eye(4, dtype=int)}), {"target": "samples=new"}
    if where == "target_states":
        words = "unit [0-3], .* at cost [1-4], determine as much as all"
        refuses(words, record, problem, "units", **asked, error=Unfinished)
        return
    found = record(problem, "units", **asked)
    assert found.recorded
    assert found.bound < found.cost
    assert found.aim == target_module.target_states(
        found.question, frozenset(found.question.allowed), recording_module.TARGET
    )
    assert RECORDING.verify(found.proof_file()).holds


@pytest.mark.parametrize("stimulate", ["", "unit [01]"])
def test_wherever_a_search_ends_a_choice_and_a_bound_are_known(monkeypatch, stimulate):
    """After each number of steps both hold, the bound is above 0, and the proof file verifies."""
    net = RNN(n=5, T=2, b=1, d=1, m=2, activation="tanh")
    problem = Problem(net, {"W": np.eye(5, dtype=int)[::-1]})
    asked = {"target": "samples=new", "what": ["outputs", "units"], "stimulate": stimulate}
    full = record(problem, **asked)
    kind = PairedProblem if stimulate else ContainingProblem
    steps, limits, missing = [], [], kind.missing

    def counted(self, chosen):
        steps.append(chosen)
        if len(steps) > limits[-1]:
            raise OutOfTime("late")
        return missing(self, chosen)

    monkeypatch.setattr(kind, "missing", counted)
    known = []
    for most in (0, 2, 6, 11):
        steps.clear()
        limits.append(most)
        found = record(problem, **asked)
        assert 0 < found.bound <= full.cost <= found.cost
        assert [state.free for state in found.target] == [state.free for state in full.target]
        known.append((found.cost, found.proof_file()))
    costs = [cost for cost, _ in known]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > costs[-1]
    monkeypatch.undo()
    for cost, file in known:
        assert RECORDING.verify(file).holds
        assert not RECORDING.verify({**file, "bound": str(cost + 1)}).holds


@pytest.mark.parametrize("seed", range(4))
def test_labels_of_few_samples_give_the_same_target(monkeypatch, seed):
    """In a large network the span of all labels is that of some samples: the same is free."""
    support = {"W": np.random.default_rng(seed).integers(0, 2, (4, 4)).tolist()}
    net = RNN(n=4, T=2, b=1, d=1, m=5, biases=True)
    problem = Problem(net, {"W": {"gain": "rows"}, "c": "all"}, support)
    found = []
    for limit in (1 << 25, -1):
        monkeypatch.setattr("algebra.ranks.jacobian._MANY", limit)
        found += [identify(problem, target=target) for target in ("units", "samples=new")]
    assert [f.target for f in found[:2]] == [f.target for f in found[2:]]
