"""Recordings compared with all sets of elements on small nets; properties of all results."""

import random
import time
from fractions import Fraction
from itertools import chain, combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.errors import Unfinished
from algebra.linalg.primes import random_prime
from algebra.linalg.ranks import modular_rank
from algebra.matroids import groups as groups_module
from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.networks.recurrent import LinearRNN, SequenceRNN
from algebra.networks.rnn import RNN
from algebra.plugins.circuits import blocks
from algebra.plugins.circuits import question as question_module
from algebra.plugins.circuits import recording as recording_module
from algebra.plugins.circuits.elements import available_kinds
from algebra.plugins.circuits.question import recording_question
from algebra.plugins.circuits.recording import NoRecording, record
from algebra.plugins.circuits.verify import RECORDING
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import all_cells
from algebra.time_limits import Interrupted, OutOfTime, check_time
from tests.refusals import refuses
from tests.samples import LONG, many

SQUARE = {"polynomial": [0, 1, 1]}


def nets(n):
    """Networks of every kind with n units."""
    return [
        LinearEstimator(q=n, d=2, m=2),
        LinearRNN(n=n, T=2, b=1, d=1, m=2),
        LinearRNN(n=n, T=2, b=1, d=2, m=1),
        SequenceRNN(n=n, T=2, b=1, d=1, m=1),
        LinearFeedForward(q=2, widths=(n,), d=2, m=2),
        RNN(n=n, T=2, b=1, d=1, m=2, activation="tanh"),
        RNN(n=n, T=2, b=1, d=2, m=1, activation=SQUARE, biases=True),
        FeedForward(q=1, widths=(n,), d=2, m=2, activation="tanh", biases=True),
    ]


def masks_of(network, cells):
    """A mask for each matrix."""
    masks = {name: np.zeros(shape, int) for name, shape in network.shapes.items()}
    for name, i, j in cells:
        masks[name][i, j] = 1
    return {name: mask for name, mask in masks.items() if mask.any()}


def brute_force(question):
    """The least cost over all sets of elements with the rank of all, modulo one large prime."""
    p, number = next(iter(question.points()))
    table, owner = question.rows(question.point(p, number))
    whole = modular_rank(table, p)
    best = None
    for size in range(len(question.free) + 1):
        for more in combinations(question.free, size):
            chosen = {*more, *question.must}
            cost = question.cost(frozenset(chosen))
            if best is not None and cost >= best:
                continue
            counts = [
                [sum(of[k] == key for k in chosen) for key in set(of)]
                for of in (question.classes(kind) for kind, _ in question.caps)
            ]
            if any(
                max(count) > number
                for count, (_, number) in zip(counts, question.caps, strict=True)
            ):
                continue
            if modular_rank(table[np.isin(owner, sorted(chosen))], p) == whole:
                best = cost
    return best


def check(problem, what, **options):
    """A recording is optimal, and its fields are correct."""
    question = recording_question(problem, what, **options)
    best = brute_force(question)
    if best is None:
        refuses("at most", record, problem, what, **options, error=NoRecording)
        return
    found = record(problem, what, **options)
    assert found.cost == found.bound == best
    assert found.is_optimal
    p = random_prime(random.Random(7))
    table, owner = question.rows(question.point(p, 3))
    chosen = [k for k, element in enumerate(question.elements) if element in set(found.recorded)]
    assert (
        modular_rank(table[np.isin(owner, chosen)], p) == modular_rank(table, p) == found.rank.rank
    )
    assert question.must <= set(chosen)
    assert not question.forbidden & set(chosen)
    assert found.is_unique == (found.rank.rank == problem.allocation.size)
    # Without a free weight the rank is the same, without another one it is smaller.
    cells = problem.allocation.cells
    for k, cell in enumerate(cells):
        less = modular_rank(np.delete(table, k, axis=1), p)
        assert (cell in found.free) == (less == found.rank.rank)


def sample(n, count):
    """Random allocations of every kind and size."""
    rng = np.random.default_rng(n)
    for network in nets(n):
        cells = all_cells(network)
        for _ in range(count):
            size = int(rng.integers(1, min(len(cells), 8) + 1))
            chosen = [cells[k] for k in rng.permutation(len(cells))[:size]]
            yield Problem(network, masks_of(network, chosen)), rng


@pytest.mark.parametrize("n", [1, 2, 3])
def test_brute_force_on_a_sample(n):
    """All kinds of networks and of elements; costs with ties, requirements, caps."""
    for problem, rng in sample(n, many(5)):
        for what in available_kinds(problem.network):
            names = [element.name for element in recording_question(problem, what).elements]
            if len(names) > 8:
                continue
            costs = {name: Fraction(int(rng.integers(0, 4)), 2) for name in names}
            check(problem, what)
            check(
                problem, what, costs=costs, must=names[-1:], caps={"matrix": max(1, len(names) - 1)}
            )
        kinds = [kind for kind in ("outputs", "units") if kind in available_kinds(problem.network)]
        check(problem, kinds, caps={"matrix": 1})


def first_of_orbit(network, name, mask):
    """The least mask among the renamings of hidden units of this one."""
    axes = [axis for axis in network.axes() if axis.name.startswith("hidden")]
    if not axes:
        return mask.tolist()
    sides = {side for matrix, side in axes[0].places if matrix == name}
    found = []
    for order in permutations(range(axes[0].size)):
        rows = mask[list(order)] if 0 in sides else mask
        found.append((rows[:, list(order)] if 1 in sides else rows).tolist())
    return min(found)


@pytest.mark.long
@pytest.mark.parametrize("n", [1, 2, 3])
def test_brute_force_on_all_nets(n):
    """Every allocation of W (or of the first layer) with n ≤ 3 units, every kind of element.

    Up to renaming of hidden units, which renames the result.
    """
    for network in nets(n):
        name = "W" if "W" in network.shapes else "W1"
        rows, columns = network.shapes[name]
        for bits in product((0, 1), repeat=rows * columns):
            mask = np.reshape(bits, (rows, columns))
            if not any(bits) or mask.tolist() != first_of_orbit(network, name, mask):
                continue
            problem = Problem(network, {name: mask})
            for what in available_kinds(network):
                if len(recording_question(problem, what).elements) <= 8:
                    check(problem, what)


def test_entries_under_two_caps():
    """Rows and columns of labels are capped at once: a tree of multipliers."""
    net = LinearRNN(n=3, T=2, b=2, d=2, m=3)
    problem = Problem(net, {"W": [[1, 0, 1], [0, 1, 0], [1, 0, 0]]})
    for row, column in ((2, 1), (3, 1), (2, 2), (1, 2)):
        check(problem, "entries", caps={"row": row, "column": column})
    check(problem, "entries", caps={"column": 1}, must=["entry 1,1"], forbidden=["entry 0,0"])


NET = RNN(n=4, T=2, b=1, d=1, m=2, activation="tanh")
MASK = st.lists(st.integers(0, 1), min_size=16, max_size=16).filter(any)
COSTS = st.lists(st.integers(1, 60), min_size=4, max_size=4)


def units(mask, costs):
    """The cheapest units, with a cost each."""
    problem = Problem(NET, {"W": np.reshape(mask, (4, 4))})
    return record(problem, "units", costs={f"unit {k}": c for k, c in enumerate(costs)})


@settings(max_examples=25, deadline=None)
@given(MASK, COSTS, COSTS)
def test_monotone_in_costs(mask, first, more):
    """Higher prices give no lower cost, and at most the cost of the old result at new prices."""
    cheap = units(mask, first)
    dear = units(mask, [a + b for a, b in zip(first, more, strict=True)])
    added = sum(more[element.unit] for element in cheap.recorded)
    assert cheap.cost <= dear.cost <= cheap.cost + added


@settings(max_examples=25, deadline=None)
@given(MASK, COSTS, st.permutations(range(4)))
def test_permuted_units_permute_the_answer(mask, costs, order):
    """Renaming hidden units renames the result; the cost is the same."""
    table = np.reshape(mask, (4, 4))
    # Sums of these distinguish sets, so that the cheapest one is unique.
    prices = [64 * c + 2**k for k, c in enumerate(costs)]
    here = units(table, prices)
    there = units(table[np.ix_(order, order)], [prices[k] for k in order])
    assert here.cost == there.cost
    assert {t.unit for t in here.recorded} == {order[t.unit] for t in there.recorded}


def test_a_linear_activation_is_the_linear_network():
    """For weights onto units (B fixed) an rnn with the identity is the lrnn."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        mask = (rng.random((3, 3)) < 0.5).astype(int)
        if not mask.any():
            continue
        sizes = {"n": 3, "T": 2, "b": 1, "d": 1, "m": 2}
        one = Problem(RNN(**sizes, activation="linear"), {"W": mask})
        other = Problem(LinearRNN(**sizes), {"W": mask})
        for what in ("outputs", "entries", "samples", "times", "units"):
            a, b = record(one, what), record(other, what)
            assert (a.cost, a.rank.rank, a.free) == (b.cost, b.rank.rank, b.free)


def test_everything_is_the_labels_of_the_sequence():
    """Entries of a net read at every step are single numbers of its trajectory."""
    net = SequenceRNN(n=2, T=2, b=1, d=1, m=1)
    found = record(Problem(net, {"W": [[1, 0], [0, 1]]}), "entries")
    assert [element.name for element in found.recorded] == ["entry 0,0 step 0", "entry 0,0 step 1"]


def test_without_time_there_is_still_an_answer():
    """The bound is below the cost, and both hold."""
    rng = np.random.default_rng(0)
    net = RNN(n=12, T=3, b=1, d=1, m=3, activation="tanh")
    problem = Problem(net, {"W": (rng.random((12, 12)) < 0.5).astype(int)})
    costs = {f"unit {k}": int(c) for k, c in enumerate(rng.integers(5, 30, 12))}
    full = record(problem, "units", costs=costs)
    assert full.is_optimal
    short = record(problem, "units", costs=costs, seconds=1e-9)
    assert short.bound <= full.cost <= short.cost


@pytest.mark.parametrize("as_if_large", [False, True])
def test_the_greedy_choice_comes_first(monkeypatch, as_if_large):
    """The choice has its bound; without time it is the result, and its proof file says no more."""
    if as_if_large:
        monkeypatch.setattr(groups_module, "_WHOLE", 0)
        monkeypatch.setattr(blocks, "_AT_A_GLANCE", 0)
    rng = np.random.default_rng(0)
    net = RNN(n=8, T=3, b=1, d=1, m=3, activation="tanh")
    problem = Problem(net, {"W": (rng.random((8, 8)) < 0.3).astype(int)})
    costs = {f"unit {k}": int(c) for k, c in enumerate(rng.integers(5, 30, 8))}
    told = []
    short = record(problem, "units", costs=costs, seconds=0, first=told.append)
    [choice] = told
    full = record(problem, "units", costs=costs)
    assert choice.bound <= full.cost <= choice.cost
    assert (short.names, short.cost) == (choice.recorded, choice.cost)
    assert choice.bound <= short.bound < short.cost
    assert not short.is_optimal
    assert RECORDING.verify(short.proof_file()).holds
    assert not RECORDING.verify({**short.proof_file(), "bound": str(short.cost)}).holds
    assert f"costs {choice.cost}, and nothing costs less than {choice.bound}" in str(choice)


def test_contradictions_are_refused():
    """Unknown elements, required forbidden ones, negative costs, invalid caps."""
    problem = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]})
    for options, text in (
        ({"what": "unit"}, "`what` .'unit'. must be one of outputs"),
        ({"what": []}, "each once"),
        ({"what": ["units", "units"]}, "each once"),
        ({"must": ["unit 2"]}, "`must` .'unit 2'. is none of the 2 elements .* unit 0 to unit 1"),
        ({"must": "unit 1"}, "must be a list"),
        ({"must": ["unit 0"], "forbidden": ["unit 0"]}, "both must and must not"),
        ({"forbidden": ["unit 0", "unit 1"]}, "nothing is left"),
        ({"costs": {"unit 0": -1}}, "must not be negative"),
        ({"costs": {"unit 0": "x"}}, "`costs` .unit 0.: .x"),
        ({"caps": {"row": 1}}, "a cap on each row"),
        ({"caps": {"units": 1}}, "must be one of row, column, matrix"),
        ({"caps": {"matrix": -1}}, "caps.matrix"),
        ({"caps": {"matrix": 0}, "must": ["unit 0"]}, "its cap is 0"),
    ):
        refuses(text, record, problem, **{"what": "units", **options})
    with pytest.raises(NoRecording, match="at most 0 of each population"):
        record(problem, "units", caps={"matrix": 0})


def test_nothing_learns():
    """Then no element has to be recorded."""
    problem = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[0, 0], [0, 0]]})
    for what in ("units", "entries"):
        found = record(problem, what)
        assert (found.recorded, found.cost, found.is_unique) == ((), 0, True)


def test_names_of_units_are_understood():
    """A unit is given by its name, and shown with it; files have its number."""
    net = RNN(n=3, T=2, b=1, d=1, m=2, activation="tanh")
    problem = Problem(
        net, {"W": [[1, 0, 0], [0, 1, 0], [0, 0, 0]]}, names={"neurons": ["PV", "SST", "E"]}
    )
    found = record(problem, "units", must=["unit E"], forbidden=["unit 0"])
    assert "unit E" in found.names
    assert "unit 2" in found.to_dict()["recorded"]
    assert set(chain(found.names)) <= {"unit SST", "unit E"}


@pytest.mark.parametrize("kind", ["linear", "tanh"])
def test_what_is_recorded_is_ranked_by_what_it_adds(kind):
    """The gains decrease, sum up to the rank, and are differences of ranks; single ranks too."""
    net = LinearRNN(5, 3, 2, 1, 2) if kind == "linear" else RNN(5, 3, 2, 1, 2, activation=kind)
    mask = (np.random.default_rng(3).random((5, 5)) < 0.5).astype(int)
    found = record(Problem(net, {"W": mask}), "units")
    gains = [gain for _, gain in found.order]
    assert {element for element, _ in found.order} == set(found.recorded)
    assert gains == sorted(gains, reverse=True)
    assert sum(gains) == found.rank.rank
    numbers = {element: k for k, element in enumerate(found.question.elements)}
    for size in range(1, len(gains) + 1):
        first = frozenset(numbers[element] for element, _ in found.order[:size])
        assert found.question.rank_of(first).rank == sum(gains[:size])
    for k, alone in enumerate(found.alone):
        assert found.question.rank_of(frozenset({k})).rank <= alone <= found.rank.rank
    assert found.to_dict()["adds"] == [[element.name, gain] for element, gain in found.order]
    assert found.columns()["alone_at_most"] == list(found.alone)
    assert len(found.order) < 2 or "by what each adds" in str(found)


def large(n):
    """A network of n units with a quarter of its weights."""
    mask = (np.random.default_rng(1).random((n, n)) < 0.25).astype(int)
    return Problem(RNN(n=n, T=5, b=2, d=2, m=12, activation="tanh", leak="1/5"), {"W": mask})


LARGE = large(40)


@pytest.mark.parametrize(
    ("where", "end"),
    [
        # Before `cheapest_groups` is called a set of units is found, which takes seconds.
        pytest.param(where, end, marks=[pytest.mark.long] * (where == "cheapest_groups" and k > 0))
        for where in ("greedy_groups", "cheapest_groups", "groups_at")
        for k, end in enumerate((KeyboardInterrupt(), OutOfTime("late"), Interrupted()))
    ],
)
def test_the_set_so_far_is_the_answer(monkeypatch, end, where):
    """An end at any moment after the rank gives elements of that rank and a bound below."""
    module = question_module if where == "groups_at" else recording_module
    before, calls = getattr(module, where), []

    def ends(*arguments):
        calls.append(arguments)
        if where == "groups_at" and arguments[-1]:
            return before(*arguments)
        raise end

    with monkeypatch.context() as patched:
        patched.setattr(module, where, ends)
        # The elements by which the rank was found are not the cheapest.
        costs = {f"unit {k}": 2 for k in range(20)} if where == "cheapest_groups" else {}
        problem = large(28) if costs and not LONG else LARGE
        found = record(problem, "units", must=["unit 3"], costs=costs)
    assert calls
    assert "unit 3" in found.names
    assert 0 < found.bound <= found.cost < 40
    assert found.interrupted == isinstance(end, KeyboardInterrupt)
    assert RECORDING.verify(found.proof_file()).holds


def test_without_a_rank_only_everything_is_known(monkeypatch):
    """The cost of all elements is said; nothing is claimed about fewer."""
    monkeypatch.setattr(recording_module, "_FOR_RANKS", 1e-6)
    refuses("rank of all .* was known; all 40 elements together, at cost 40", record, LARGE,
            "units", seconds=0, error=Unfinished)  # fmt: skip


def test_a_time_limit_holds_inside_the_greedy_choice(monkeypatch):
    """With a choice that would take forever the result comes at once, from the known elements."""
    monkeypatch.setattr(recording_module, "_FOR_CHOICE", 0.2)

    def forever(problem):
        while True:
            check_time()

    monkeypatch.setattr(recording_module, "greedy_groups", forever)
    began = time.monotonic()
    found = record(LARGE, "units", seconds=0.3)
    assert time.monotonic() - began < 30
    assert not found.is_optimal
    assert found.bound > 0


def test_a_cap_that_the_known_elements_violate(monkeypatch):
    """They are no answer then: nothing is claimed."""

    def late(problem):
        raise OutOfTime("late")

    monkeypatch.setattr(recording_module, "greedy_groups", late)
    refuses("no recording with at most 1", record, LARGE, "units", caps={"matrix": 1},
            error=Unfinished)  # fmt: skip
