"""`capacity(check=True)`: what has an effect here, anywhere, or never moves."""

import numpy as np
import pytest

import matchprob as mp
from algebra.programs.program import Builder
from algebra.time_limits import OutOfTime
from tests.matchprob.plugins.models.test_frozen import DIAGONAL, drawn, gated
from tests.onnx_models import Net, onnx


def rows(found):
    """Sizes by name, place and whether gradients never move them."""
    return {(one.name, one.where, one.is_stuck): one.size for one in found.without_effect}


def test_frozen_units_of_zero():
    """Behind a frozen diag(1, 0, 0) two of three read-outs have no effect, whatever they are."""
    found = mp.capacity(gated(DIAGONAL), "V", check=True)
    assert (found.trainable, found.effective) == (3, 1)
    assert rows(found) == {("V", "anywhere", True): 2}
    assert found.unused == ("V",)


def test_a_frozen_gate():
    """What is behind a frozen 0 never learns; with the gate it starts without a gradient only."""
    net = gated({"W": drawn(4, 4), "b": drawn(4), "V": drawn(2, 4), "g": np.zeros(())})
    found = mp.capacity(net, "W,b", check=True)
    assert (found.trainable, found.effective) == (20, 0)
    found = mp.capacity(net, "W,b,g", check=True)
    assert (found.trainable, found.effective, found.unused) == (21, 21, ())
    assert rows(found) == {("W", "here", False): 16, ("b", "here", False): 4}
    assert found.document().title.endswith("have an effect, 20 of them after others have moved")
    assert "until others have moved" in found.without_effect[0].reason


def test_units_that_are_off():
    """Biases of −100: two of 17 learn from here; at other weights all have an effect."""
    weights = {"W": drawn(3, 2), "b": np.full(3, -100.0), "V": drawn(2, 3)}
    found = mp.capacity(gated(weights, "relu"), "*", check=True, data=drawn(20, 2))
    assert (found.trainable, found.effective) == (15, 0)
    assert {place for _, place, _ in rows(found)} == {"here"}
    assert found.to_dict()["without_effect"][0]["where"] == "here"
    one = weights | {"b": np.array([-100.0, 0, 0])}
    found = mp.capacity(gated(one, "relu"), "*", check=True, data=drawn(20, 2))
    assert rows(found) == {("W", "here", True): 2, ("b", "here", True): 1, ("V", "here", True): 2}


def test_units_exactly_at_their_kink():
    """A backward pass takes the slope of a ReLU at 0 as 0: a pruned unit never learns, nor does a
    net that begins at 0.  The other choices at 0 have slopes."""
    weights = {"W": drawn(3, 2), "b": np.zeros(3), "V": drawn(2, 3)}
    weights["W"][0] = 0
    found = mp.capacity(gated(weights, "relu"), "*", check=True, data=drawn(20, 2))
    assert rows(found) == {("W", "here", True): 2, ("b", "here", True): 1, ("V", "here", True): 2}
    zero = {name: np.zeros_like(own) for name, own in weights.items()}
    found = mp.capacity(gated(zero, "relu"), "*", check=True, data=drawn(20, 2))
    assert (found.trainable, found.effective) == (15, 0)
    found = mp.capacity(gated(weights, "abs"), "*", check=True, data=drawn(20, 2))
    assert (found.effective, rows(found)) == (15, {("V", "here", False): 2})
    # The slopes of a leaky unit are those of negative values, and not 0.
    found = mp.capacity(gated(weights, "leaky"), "*", check=True, data=drawn(20, 2))
    assert (found.effective, rows(found)) == (15, {("V", "here", False): 2})


def test_updates_that_begin_at_zero():
    """W + U Vᵀ with U = 0: V begins without a gradient.  With U = V = 0 neither ever has one."""

    def net(U, V):
        build = Builder()
        x = build.sample("x", (3,))
        blocks = [build.weight("W", (2, 3)), build.weight("V", (2, 1)), build.weight("b", (3, 1))]
        W, left, right = blocks
        both = build.add(W, build.contract("ik,jk->ij", left, right))
        program = build.program(build.contract("ij,j->i", both, x))
        read = gated(DIAGONAL)
        values = {"W": np.ones((2, 3)), "V": U, "b": V}
        tables = {name: (np.asarray(v * 64, np.int64), 64) for name, v in values.items()}
        return type(read)(program, tables, frozenset(), {}, dict.fromkeys(tables, "matrix"))

    start = mp.capacity(net(np.zeros((2, 1)), np.ones((3, 1))), "V,b", check=True)
    assert (start.effective, rows(start)) == (5, {("b", "here", False): 3})
    never = mp.capacity(net(np.zeros((2, 1)), np.zeros((3, 1))), "V,b", check=True)
    assert (never.effective, sorted(rows(never))) == (0, [("V", "here", True), ("b", "here", True)])


def test_what_is_not_decided_in_time(monkeypatch):
    """At a limit the parameters that are shown to have an effect count; the rest is open."""

    def late(*_):
        raise OutOfTime("the time limit is over")

    monkeypatch.setattr("algebra.plugins.models.capacity.effects.check_time", late)
    found = mp.capacity(gated(DIAGONAL), "V", check=True)
    assert found.open == ("V",)
    assert (found.effective, found.undecided) == (0, found.trainable)
    assert found.without_effect == ()
    assert "Not decided" in str(found.document().why)


def test_many_labels_cost_no_more():
    """The labels of a sample are added with random numbers: one of a thousand shows an effect."""
    build = Builder()
    x, w = build.sample("x", (3,)), build.weight("w", (1000, 3))
    program = build.program(build.contract("ij,j->i", w, x))
    read = gated(DIAGONAL)
    values = {"w": (np.ones((1000, 3), np.int64), 1)}
    net = type(read)(program, values, frozenset(), {}, {"w": "matrix"})
    found = mp.capacity(net, check=True)
    assert (found.trainable, found.effective) == (3000, 3000)


def test_an_assertion_for_tests():
    """It fails with a line for each parameter; a start that others move away from passes."""
    lines = str(refuses_to_pass(gated(DIAGONAL), learn="V,missing")).splitlines()
    assert lines[0] == "1 of 3 learnable parameters have an effect"
    assert lines[1].startswith("  V: 2 without effect anywhere")
    assert lines[2] == "  missing: no parameter matches"
    net = gated({"W": drawn(4, 4), "b": drawn(4), "V": drawn(2, 4), "g": np.zeros(())})
    assert mp.assert_trainable(net, learn="W,b,g") is None


def refuses_to_pass(*given, **more):
    """The assertion's error."""
    with pytest.raises(AssertionError) as caught:
        mp.assert_trainable(*given, **more)
    return caught.value


def around(folder, operator, wide, seed=3):
    """The file of two linear layers around an operator."""
    net = Net(seed=seed)
    h = operator(net, net.linear("in", net.input("x", 3), 3, 4))
    path = folder / "net.onnx"
    onnx.save(net.model(net.linear("out", h, wide, 2)), str(path))
    return path


def test_what_only_chooses_is_said_to(tmp_path):
    """Parameters on which places of largest entries depend, and nothing else, are not *off*."""

    def row(net, h):
        return net("Gather", net.weight("table", 4, 3), net("ArgMax", h, axis=1, keepdims=0))

    found = mp.capacity(around(tmp_path, row, 3), "in.*", check=True)
    assert found.unused == ("in.weight", "in.bias")
    assert {one.reason for one in found.without_effect} == {
        "only choices depend on them, and these do not move with small changes "
        "(on 6 activation patterns)"
    }


def test_the_power_0_is_no_normalization(tmp_path):
    """x^0 = 1: no label depends on what is raised."""

    def raised(net, h):
        return net("Add", net("Pow", h, net.tensor(0.0)), net.weight("shift", 4))

    path = around(tmp_path, lambda net, h: net("Mul", raised(net, h), net.input("y", 4)), 4)
    found = mp.capacity(path, "in.*", check=True)
    assert [one.reason for one in found.without_effect] == ["no label depends on it"] * 2


@pytest.mark.parametrize("seed", range(6))
def test_the_smaller_of_two_values_may_become_the_larger_one(seed, tmp_path):
    """Units that are never the largest here are, after the others have moved: no fault."""

    def largest(net, h):
        return net("ReduceMax", h, net.tensor(np.array([1])))

    assert mp.capacity(around(tmp_path, largest, 1, seed), check=True).unused == ()


@pytest.mark.parametrize("op", ["Less", "Greater", "LessOrEqual", "GreaterOrEqual"])
def test_comparisons_of_equal_values(op, tmp_path):
    """Of equal ones neither is larger: what is chosen then has the gradient."""

    def compared(net, h):
        moved = net("Add", h, net.tensor(np.zeros(4), "w"))
        return net("Where", net(op, h, moved), net("Tanh", h), moved)

    found = mp.capacity(around(tmp_path, compared, 4), "w", check=True)
    assert found.effective == (0 if op.endswith("Equal") else 4)
