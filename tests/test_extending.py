"""The worked examples of docs/extending.md run, and name what is there."""

import ast
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

from algebra.problems.files import load_problem
from algebra.programs.aten.call import AtenCall
from algebra.programs.onnx import OPERATORS, read_onnx
from algebra.programs.onnx.scope import Call
from algebra.programs.onnx.values import BATCH, Item, Moves
from algebra.programs.onnx.weights import Weights
from algebra.programs.program import Builder
from matchprob.figures import FIGURES, Run
from numeric.engines.base import engine_info, unregister
from numeric.programs.doubles import labels
from tests.onnx_models import Net, onnx

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def block(word):
    """The one example that holds a word."""
    (found,) = [text for text in BLOCKS if word in text]
    return found


def test_every_example_is_tried():
    """No example without a test: here, and of the verb in tests/matchprob/verbs/test_verb.py."""
    assert len(BLOCKS) == 6


def test_the_kind_is_the_one_in_the_tree():
    """Class, base, names and methods of the page are those of `sequence.py`."""
    (shown,) = ast.parse(block("class SequenceRNN")).body
    source = ast.parse((ROOT / "algebra/networks/sequence.py").read_text(encoding="utf-8"))
    (real,) = [n for n in source.body if isinstance(n, ast.ClassDef)]
    said = {ast.dump(n) for n in real.body if isinstance(n, ast.AnnAssign)}
    assert {ast.dump(n) for n in shown.body if isinstance(n, ast.AnnAssign)} <= said
    assert (shown.name, ast.dump(shown.bases[0])) == (real.name, ast.dump(real.bases[0]))
    bodies = {n.name: n.body for n in real.body if isinstance(n, ast.FunctionDef)}
    methods = {n.name: n.body for n in shown.body if isinstance(n, ast.FunctionDef)}
    assert methods.keys() == {"columns", "drive"} <= bodies.keys()
    assert ast.dump(methods["columns"][-1]) == ast.dump(bodies["columns"][-1])


def test_the_engine_registers_itself():
    """The example is known by its name and family."""
    try:
        exec(compile(block("class _Teacher"), "docs/extending.md", "exec"), {"__name__": "outside"})
        info = engine_info("teacher")
        assert (info.complete, set(info.families)) == (False, {"linear"})
    finally:
        unregister("teacher")


def test_the_operator_computes(tmp_path, monkeypatch):
    """The example, entered in the table, gives x/(1 + |x|), as ONNX's reference does."""
    names = {"np": np, "Call": Call, "Item": Item}
    exec(compile(block("def _softsign"), "docs/extending.md", "exec"), names)
    monkeypatch.setitem(OPERATORS, "Softsign", names["_softsign"])
    net = Net()
    path = tmp_path / "softsign.onnx"
    onnx.save(net.model(net("Softsign", net.input("x", 3))), str(path))
    X = np.random.default_rng(0).standard_normal((3, 4))
    [expected] = onnx.reference.ReferenceEvaluator(str(path)).run(None, {"x": X.T})
    assert np.allclose(labels(read_onnx(path).program, {}, {"x": X}), expected.T)


def test_the_operator_of_torch_computes():
    """The example gives x tanh x."""
    names = {"AtenCall": AtenCall, "Any": Any}
    exec(compile(block("def _tanh_gate"), "docs/extending.md", "exec"), names)
    moves = Moves(Builder(), BATCH)
    x = Item(moves.build.reshaped(moves.build.sample("x", (3,)), (1, 3)), 0)
    found = names["_tanh_gate"](AtenCall(moves, {"self": x}, Weights(moves), {}))
    X = np.random.default_rng(0).standard_normal((3, 4))
    program = moves.build.program(found.value)
    assert np.allclose(labels(program, {}, {"x": X}), (X * np.tanh(X))[None])


def test_the_figure_registers_itself(tmp_path):
    """The example is two functions; it computes, and draws what it computed."""
    names = {
        name: getattr(import_module(f"matchprob.{module}"), name)
        for module, some in {
            "figures": ("Numbers", "Run", "register_figure"),
            "figures.curves": ("draw_curves",),
            "figures.panels": ("FigureLayout",),
            "figures.points": ("CurvePoint", "measure"),
            "figures.tables": ("Tables", "groups", "markdown_table"),
            "report.drawing.style": ("tidy",),
        }.items()
        for name in some
    }
    names |= {"Axes": Axes, "load_problem": lambda path: load_problem(ROOT / path)}
    try:
        exec(compile(block("register_figure"), "docs/extending.md", "exec"), names)
        figure = FIGURES["name"]
        assert (figure.title, figure.trials) == ("what it shows", 200)
        run = Run(2, 0, tmp_path / "s.sqlite", 1, 0, lambda text: None)
        numbers = figure.compute(run)
        assert [row["matched"] for row in numbers.rows] == [2]
        assert figure.pictures[0].draw(numbers.tables).axes[0].has_data()
    finally:
        FIGURES.pop("name", None)


@pytest.mark.parametrize("page", ["extending", "architecture"])
def test_the_files_named_are_there(page):
    """Every path in backticks that looks like one of the tree's exists."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:algebra|numeric|matchprob|tests|benchmarks)/[\w./]+)`", text)
    assert paths
    missing = [path for path in paths if "NAME" not in path and not (ROOT / path).exists()]
    assert missing == []
