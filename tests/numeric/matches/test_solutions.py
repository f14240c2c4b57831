"""Costs of matches, compared with the definitions, and on the command line."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from matchprob import FeedForward, Problem, ShallowReLU, count, draw_instance, estimate
from matchprob.cli import app, run_command
from numeric.matches.solutions import solution_costs
from numeric.trials.counts import Solutions
from tests.refusals import refuses
from tests.samples import DIAGONAL


def test_costs_are_their_definitions():
    """Sizes, changes and signs of each solution; residuals shrink with the format's digits."""
    found = count(DIAGONAL, 8)
    assert sum(c.real for c in found) > 0
    for c in found:
        instance = draw_instance(DIAGONAL, 0, c.index)
        own = solution_costs(instance, c.solutions)
        assert len(own) == c.real
        v = np.diag(instance.weights["W"])
        for w, cost in zip(np.array(c.solutions), own, strict=True):
            assert cost.size == max(abs(w))
            assert cost.change == max(abs(w - v))
            assert cost.distance == pytest.approx(np.linalg.norm(w - v), rel=1e-12)
            assert cost.signs_kept == sum(w * v > 0)
            assert cost.condition.low <= cost.condition.high
            relative = np.linalg.norm(instance.labels) / np.linalg.norm(w)
            assert cost.condition.high == pytest.approx(relative / cost.smallest_singular.low)
            assert cost.to_dict()["condition"] == [cost.condition.low, cost.condition.high]
            r = cost.residuals
            assert r["float64"] < 1e-9
            assert r["float64"] < r["float32"] < r["float16"]
            # An independent evaluation of the same error in doubles.
            half = instance.with_weights(w.astype("float16").astype(float))
            assert r["float16"] == pytest.approx(instance.residual(half), rel=1e-6, abs=1e-12)


def test_solutions_form_a_table(tmp_path):
    """Rows by number, columns by cell, a data frame; through a process and through a store."""
    found = next(c for c in count(DIAGONAL, 8) if c.real)
    table = found.solutions
    assert table.cells == DIAGONAL.allocation.cells
    assert table.column("W", 1, 1) == tuple(row[1] for row in table)
    frame = table.to_frame()
    assert list(frame.columns) == ["W[0,0]", "W[1,1]"]
    assert len(frame) == found.real
    again = pickle.loads(pickle.dumps(table))
    assert (again, again.cells) == (table, table.cells)
    refuses("is not among the 2 learnable weights", table.column, "W", 0, 1)
    refuses("as many", Solutions, [(1.0,)], table.cells)
    assert list(Solutions([(1.0, 2.0)]).columns()) == ["w[0]", "w[1]"]
    for _ in range(2):
        kept = estimate(DIAGONAL, 8, store=tmp_path / "s.sqlite")
        assert kept.counts[found.index].solutions == table
        assert kept.counts[found.index].solutions.cells == table.cells


def test_a_weight_beyond_a_format_has_an_infinite_residual():
    """A weight above 65504 has no float16: the residual is infinite, null in JSON."""
    instance = draw_instance(DIAGONAL, 0, 0)
    [cost] = solution_costs(instance, [(1e6, 1.0)])
    assert cost.residuals["float16"] == float("inf")
    assert cost.to_dict()["residuals"]["float16"] is None
    refuses("1 weights, the allocation has 2", solution_costs, instance, [(1.0,)])


def test_relu_solutions_have_costs():
    """The exact witnesses of ReLU nets, rounded to doubles, miss the labels by rounding only."""
    problem = Problem(ShallowReLU(q=2, n=3, d=1, m=2), {"W1": [[1, 1], [0, 0], [0, 0]]})
    found = count(problem, 10)
    silent = 0
    for c in found:
        instance = draw_instance(problem, 0, c.index)
        labels = instance.labels
        for cost in solution_costs(instance, c.solutions):
            residual = cost.residuals["float64"]
            # Relative to a largest label of 0 an error is 0 or infinite.
            assert residual < 1e-8 if labels.any() else residual in (0.0, float("inf"))
            silent += not labels.any()
    assert 0 < silent < sum(c.real or 0 for c in found)


def test_solutions_on_the_command_line(capsys, file):
    """`count --solutions` shows a line, or a JSON object, for each real solution."""
    path = file(DIAGONAL.to_toml(), "P.toml")
    words = ["count", str(path), "--instances", "5", "--solutions"]
    assert run_command(lambda: app([*words, "--json"], standalone_mode=False)) == 0
    instances = json.loads(capsys.readouterr().out)["instances"]
    assert all(len(c["solutions"]) == c["real"] for c in instances)
    assert any(c["solutions"] for c in instances)
    assert run_command(lambda: app(words, standalone_mode=False)) == 0
    assert "float16" in capsys.readouterr().out


def test_analytic_solutions_have_residuals_of_the_rounded_weights():
    """The teacher's own weights: no error in doubles, that of the format in shorter ones."""
    net = FeedForward(2, (2,), 1, 2, activation="tanh")
    problem = Problem(net, {"W1": [[1, 0], [1, 0]]})
    instance = draw_instance(problem, 0, 0)
    own = [float(instance.weights[name][i, j]) for name, i, j in problem.allocation.cells]
    [cost] = solution_costs(replace(instance, teacher=instance.weights), [own])
    assert cost.residuals["float64"] < 1e-100
    exact = net.forward(instance.weights, instance.X)
    for name in ("float32", "float16"):
        rounded = np.array(own).astype(name).astype(float)
        error = net.forward(instance.with_weights(rounded), instance.X) - exact
        relative = np.abs(error).max() / np.abs(exact).max()
        assert cost.residuals[name] == pytest.approx(relative, rel=1e-6)
