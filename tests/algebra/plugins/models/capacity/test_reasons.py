"""Reasons of redundancy: only those that are checked by moving along the relations."""

import math

import numpy as np

from algebra.plugins.models.capacity.ranks import capacities
from algebra.plugins.models.capacity.reasons import bottleneck, reasons_of
from algebra.plugins.models.capacity.result import Subset
from algebra.programs.generic import Model
from algebra.programs.program import Builder


def reasons(build, output, names, m=None):
    """The reasons of one subset, as (names, rank, reason)."""
    program = build.program(build.reshaped(output, (math.prod(output.shape),)))
    [found] = capacities(Model(program), [Subset("some", tuple(names))], m=m).subsets
    return [(reason.names, reason.rank, reason.reason) for reason in found.reasons]


def two_layers(activation):
    """Two layers with biases and an activation or "" between them."""
    build = Builder()
    x = build.sample("x", (3,))
    hidden = build.contract("ij,j->i", build.weight("W", (4, 3)), x)
    hidden = build.add(hidden, build.weight("b", (4,)))
    if activation:
        hidden = build.apply(activation, hidden)
    V, c = build.weight("V", (2, 4)), build.weight("c", (2,))
    return build, build.add(build.contract("ij,j->i", V, hidden), c)


def test_shifts_that_others_compensate():
    """Without an activation b is a shift that c makes too: moving along it changes nothing."""
    assert reasons(*two_layers(""), ["b", "c"]) == [
        (("b", "c"), 2, "they enter the labels linearly, through common sums")
    ]
    build = Builder()
    x = build.contract("ij,j->i", build.weight("W", (3, 2)), build.sample("x", (2,)))
    x = build.add(x, build.weight("b", (3,)), build.weight("c", (3,)))
    assert reasons(build, build.apply("tanh", x), ["b", "c"]) == [
        (("b", "c"), 3, "changes of one that the others compensate")
    ]


def test_scales():
    """Two matrices in a row whose inner size is 1: a factor of one divides the other."""
    build = Builder()
    x = build.contract("ij,j->i", build.weight("U", (1, 2)), build.sample("x", (2,)))
    x = build.contract("ij,j->i", build.weight("V", (2, 1)), x)
    assert reasons(build, x, ["U", "V"]) == [
        (("U", "V"), 3, "scales: factors of one that others divide out")
    ]


def test_relations_without_a_checked_reason():
    """A product of two square matrices: only two of its four relations are scales."""
    build = Builder()
    x = build.contract("ij,j->i", build.weight("U", (2, 2)), build.sample("x", (2,)))
    x = build.contract("ij,j->i", build.weight("V", (2, 2)), x)
    assert reasons(build, x, ["U", "V"]) == [(("U", "V"), 4, "")]


def test_few_labels_are_the_reason():
    """With as many labels as were requested nothing is said of the parameters."""
    assert reasons(*two_layers("tanh"), ["b", "c"], m=1) == [
        (("b", "c"), 2, "only 2 labels were asked")
    ]


def test_parameters_that_do_not_reach_the_labels():
    """They are said not to, and no norm or softmax is made up for them."""
    build, output = two_layers("tanh")
    build.contract("ij,j->i", build.weight("other", (2, 4)), build.weight("z", (4,)))
    program = build.program(output)
    model = Model(program)
    [lost] = reasons_of(model, Subset("s", ("b", "other", "z")), 9, 4, True, 0)
    assert (lost.names, lost.learnable, lost.rank) == (("other", "z"), 12, 0)
    assert lost.reason == "they do not reach these labels"


def test_parameters_without_effect():
    """A shift before a softmax; before a norm without its mean."""
    build = Builder()
    x = build.contract("ij,j->i", build.weight("W", (3, 2)), build.sample("x", (2,)))
    x = build.add(x, build.index([0, 0, 0], build.weight("b", (1,))))
    powers = build.apply("exp", x)
    share = build.contract("i,->i", powers, build.invert(build.contract("i->", powers)))
    [(names, size, reason)] = reasons(build, share, ["b"])
    assert (names, size) == (("b",), 0)
    assert "softmax" in reason


def test_a_bottleneck_is_the_reason_of_capacity_0():
    """9 labels from 4 features: no sample can be fitted by what is below the last layer."""
    build = Builder()
    x = build.contract("ij,j->i", build.weight("W", (4, 3)), build.sample("x", (3,)))
    x = build.contract("ij,j->i", build.weight("V", (9, 4)), build.apply("tanh", x))
    program = build.program(x)
    [found] = capacities(Model(program), [Subset("W", ("W",))]).subsets
    assert (found.capacity, found.bottleneck) == (0, 4)
    assert bottleneck(program, ["V"]) == bottleneck(program, ["V", "W"]) == 0


def test_only_entries_that_are_used_count_as_a_bottleneck():
    """7 labels of the last of three positions with 4 features; of a sum of two positions, 8."""
    build = Builder()
    x = build.contract("ij,tj->ti", build.weight("W", (4, 3)), build.sample("x", (3, 3)))
    hidden = build.apply("tanh", x)
    whole = build.contract("kj,tj->tk", build.weight("V", (7, 4)), hidden)
    last, first = (build.index(np.arange(7) + 7 * t, whole) for t in (2, 0))
    assert bottleneck(build.program(last), ["W"]) == 4
    both = build.index(np.arange(14) // 7 * 14 + np.arange(14) % 7, whole)
    assert bottleneck(build.program(both), ["W"]) == 8
    assert bottleneck(build.program(build.add(last, first)), ["W"]) == 0
    square = build.contract("ti,si->ts", hidden, hidden)
    assert bottleneck(build.program(build.index(np.arange(9).repeat(2), square)), ["W"]) == 9
    one = build.index(np.zeros(5, int), square)
    assert bottleneck(build.program(one), ["W"]) == 1
