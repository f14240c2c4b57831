"""The engine `relu-exact`: by verdict, by exact decision (one hidden layer), by construction."""

import matchprob as mp
from matchprob import NormNet, Problem, draw_instance
from numeric.engines.base import default_engine
from numeric.engines.counter import InstanceCounter
from numeric.plugins.normalization.realize import realize_instance
from tests.refusals import refuses

EVERYTHING = {"g1": "all", "g2": "all", "b1": "all", "b2": "all"}


def draws(problem, count=6, seed=0):
    """The first instances of a problem."""
    return [draw_instance(problem, seed, k) for k in range(count)]


def test_the_engine_of_relu_networks():
    """ReLU normalization networks are solved unreduced, by this engine only."""
    relu = Problem(NormNet.square(2, 1, 3, 3), EVERYTHING)
    assert InstanceCounter(relu).problem is relu
    assert default_engine(relu.network) == "relu-exact"
    refuses("use one of relu-exact", InstanceCounter, relu, "homotopy")


def test_relu_construction_agrees_with_the_verdict():
    """Every instance of a maximal ReLU allocation is realized, and counted as matched."""
    problem = Problem(NormNet((2, 2, 2), (3, 4), 3), {
        **{f"g{k}": "all" for k in (1, 2, 3)}, **{f"b{k}": "all" for k in (1, 2, 3, 4)},
    })  # fmt: skip
    for instance in draws(problem, 5):
        student, note = realize_instance(instance)
        assert student is not None, note
    with InstanceCounter(problem) as counter:
        assert {c.outcome for c in counter.count_many(draws(problem, 3))} == {"matched"}
    with InstanceCounter(problem, certify=False) as counter:
        assert {c.certified for c in counter.count_many(draws(problem, 3))} == {1}


def test_relu_blocks_of_several_layers_are_realized():
    """One wide hidden layer of a block suffices if all shifts learn; other units stay on."""
    learn = {f"b{k}": "all" for k in (1, 2, 3, 4, 5)}
    problem = Problem(NormNet((2, 2, 2), ((2, 4), 4), 3), {**learn, "g2": "all", "g4": "all"})
    found = mp.certify(problem)
    assert mp.verify(found).holds
    assert found.verdict == "maximal"
    for instance in draws(problem, 4):
        student, note = realize_instance(instance)
        assert student is not None, note
    narrow = problem.with_allocation(
        Problem(problem.network, {"g1": "all", "b5": "all"}).allocation
    )
    assert mp.certify(narrow).verdict == "intermediate"
    forged = found.to_dict()
    forged["problem"]["network"]["hidden"] = [[2, 3], 4]
    assert not mp.verify(forged).holds


def test_relu_exact_decides_one_hidden_layer():
    """Instances of an intermediate allocation are decided exactly; without time undetermined."""
    few = Problem(NormNet.square(3, 1, 4, 4), {"g1": "all", "g2": "all"})
    with InstanceCounter(few) as counter:
        assert {c.outcome for c in counter.count_many(draws(few, 2))} == {"unmatched"}
    between = Problem(NormNet.square(2, 1, 3, 3), {"g1": "all", "b1": "all", "b2": "all"})
    with InstanceCounter(between) as counter:
        found = counter.count_many(draws(between, 4))
    assert {c.outcome for c in found} == {"matched", "unmatched"}
    assert {c.status for c in found if not c.real} == {"complete"}
    with InstanceCounter(between, timeout=1e-9) as counter:
        assert counter.count(draws(between, 1)[0]).outcome == "undetermined"


def test_relu_exact_leaves_instances_undetermined():
    """Two hidden layers below the width, or weights in both layers: the note gives the reason."""
    names = ("g1", "b1", "b2", "g3", "b3", "b4")
    deep = Problem(NormNet.square(2, 2, 3, 3), dict.fromkeys(names, "all"))
    both = Problem(NormNet.square(2, 1, 3, 3), {"W1": "all", "W2": "all"})
    for problem, words in ((deep, "proves nothing"), (both, "to learn")):
        with InstanceCounter(problem) as counter:
            found = counter.count_many(draws(problem, 2))
        assert {c.outcome for c in found} == {"undetermined"}
        assert words in found[0].note


def test_silent_samples_are_realized():
    """If the target's units are off on some samples the construction still matches."""
    problem = Problem(NormNet((1, 1, 1), (1, 1), 2), {f"{x}{k}": "all" for x in "gb"
                                                    for k in (1, 2, 3, 4)})  # fmt: skip
    seen = set()
    for instance in draws(problem, 12):
        hidden = instance.teacher["T1"] @ instance.X + instance.teacher["t1"]
        seen.add(int((hidden > 0).sum()))
        assert realize_instance(instance)[0] is not None
    assert seen == {0, 1, 2}
