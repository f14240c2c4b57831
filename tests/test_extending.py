"""The worked examples of docs/extending.md run, and the names in them exist."""

import ast
import re
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from matplotlib.axes import Axes

import matchprob as mp
from algebra.families import verify as family_verify
from algebra.networks.activation import FUNCTIONS, Analytic, register_activation
from algebra.networks.chain import ChainNetwork
from algebra.networks.chain_layout import ChainLayout
from algebra.networks.kinds import KINDS
from algebra.plugins.models.aten.call import AtenCall
from algebra.plugins.models.network import ProgramNetwork
from algebra.plugins.models.onnx import OPERATORS, Read, read_onnx
from algebra.plugins.models.onnx.scope import Call, Operator
from algebra.plugins.models.onnx.values import BATCH, Item, Moves
from algebra.plugins.models.onnx.weights import Weights
from algebra.problems.files import load_problem
from algebra.programs.program import Builder, Value
from algebra.programs.rewriting import rewritten
from matchprob.plugins.papers.figures import FIGURES, Run
from numeric.engines.base import engine_info, unregister
from tests.doubles import labels
from tests.onnx_models import Net, onnx

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def block(word):
    """The one example that holds a word."""
    (found,) = [text for text in BLOCKS if word in text]
    return found


def test_every_example_is_tried():
    """Every example has a test: here, and of the verb in tests/matchprob/verbs/test_verb.py."""
    assert len(BLOCKS) == 9


def test_the_kind_is_the_one_in_the_tree():
    """Class, base, names and methods of the page are those of the tree."""
    (shown,) = ast.parse(block("class SequenceRNN")).body
    source = ast.parse((ROOT / "algebra/networks/recurrent.py").read_text(encoding="utf-8"))
    (real,) = [n for n in source.body if getattr(n, "name", "") == shown.name]
    said = {ast.dump(n) for n in real.body if isinstance(n, ast.AnnAssign)}
    assert {ast.dump(n) for n in shown.body if isinstance(n, ast.AnnAssign)} <= said
    assert (shown.name, ast.dump(shown.bases[0])) == (real.name, ast.dump(real.bases[0]))
    bodies = {n.name: n.body for n in real.body if isinstance(n, ast.FunctionDef)}
    methods = {n.name: n.body for n in shown.body if isinstance(n, ast.FunctionDef)}
    assert methods.keys() == {"columns", "drive"} <= bodies.keys()
    assert ast.dump(methods["columns"][-1]) == ast.dump(bodies["columns"][-1])


def test_the_argument_is_the_one_in_the_tree():
    """The entry on the page ends its module."""
    source = ROOT / "algebra/arguments/whole_column.py"
    (shown,) = ast.parse(block("ARGUMENT = Argument")).body
    assert ast.dump(shown) == ast.dump(ast.parse(source.read_text(encoding="utf-8")).body[-1])


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("algebra.networks.kinds", "KINDS"),
        ("algebra.families.registry", "FAMILIES"),
        ("algebra.arguments.order", "ORDER"),
        ("algebra.networks.activation", "FUNCTIONS"),
        ("algebra.plugins.models.onnx.reader", "OPERATORS"),
        ("algebra.plugins.models.aten.operators", "ATEN"),
        ("matchprob.verbs.verb", "VERBS"),
    ],
)
def test_the_registries_are_where_the_page_says(module, names):
    """Each table of the page exists in its module, with entries."""
    # The verbs of the project.
    import_module("matchprob.cli")
    assert f"`{names}`, `{module.replace('.', '/')}.py`" in PAGE
    assert len(getattr(import_module(module), names))


@pytest.fixture
def backwards():
    """A linear kind that is added here: two layers that read their inputs backwards."""

    @dataclass(frozen=True)
    class BackwardsNetwork(ChainNetwork):
        kind: ClassVar[str] = "backwards"
        title: ClassVar[str] = "linear network of reversed inputs"
        drive_letter: ClassVar[str] = "U"
        q: int
        n: int
        d: int
        m: int

        @property
        def shapes(self):
            return {"D": (self.d, self.n), "W": (self.n, self.q)}

        def chain(self):
            return ChainLayout(None, ("W",), "D", "last")

        def drive(self, X):
            return X[::-1]

    try:
        yield BackwardsNetwork
    finally:
        del KINDS["backwards"]


def test_a_linear_kind_is_one_class(backwards, tmp_path):
    """From a problem file to a verified certificate; the order of inputs changes no rank."""
    (tmp_path / "net.toml").write_text(
        "[network]\nkind = 'backwards'\nq = 2\nn = 2\nd = 2\nm = 2\n"
        "[learnable]\nW = [[1, 0], [0, 1]]\nD = [[1, 0], [0, 1]]\n"
    )
    problem = load_problem(tmp_path / "net.toml")
    assert isinstance(problem.network, backwards)
    plain = mp.LinearFeedForward(q=2, widths=(2,), d=2, m=2)
    masks = {"W1": np.eye(2, dtype=int), "W2": np.eye(2, dtype=int)}
    instance = mp.draw_instance(problem, 0, 0)
    W, D, X = instance.weights["W"], instance.weights["D"], instance.X
    expected = D @ W @ X[::-1]
    assert np.allclose(problem.network.forward(instance.weights, X), expected)
    found, other = mp.certify(problem), mp.certify(mp.Problem(plain, masks))
    kept = ("verdict", "rank", "equations", "generic_root_count")
    assert [getattr(found, name) for name in kept] == [getattr(other, name) for name in kept]
    assert family_verify.verify(found.to_dict()).holds
    written = mp.inspect(problem, form="backward").written
    assert written.labels[-1] == "G1 U = Y [1, 1]"


def test_an_activation_is_one_record(tmp_path):
    """The example's values and slopes; a problem file with it is certified, and verified."""
    names = {
        "np": np, "Fraction": Fraction, "Analytic": Analytic,
        "register_activation": register_activation,
    }  # fmt: skip
    try:
        exec(compile(block("register_activation"), "docs/extending.md", "exec"), names)
        with pytest.raises(ValueError, match="two activations"):
            register_activation(FUNCTIONS["silu"])
        (tmp_path / "silu.toml").write_text(
            "[network]\nkind = 'ffn'\nq = 2\nwidths = [3]\nd = 1\nm = 3\nactivation = 'silu'\n"
            "[learnable]\nW1 = [[1, 0], [1, 0], [1, 0]]\n"
        )
        problem = load_problem(tmp_path / "silu.toml")
        network, rng = problem.network, np.random.default_rng(0)
        weights = {name: rng.standard_normal(shape) for name, shape in network.shapes.items()}
        X = rng.standard_normal(network.input_shape)
        a = weights["W1"] @ X
        silu = a / (1 + np.exp(-a))
        assert np.allclose(network.forward(weights, X), weights["W2"] @ silu)
        step = 1e-6
        cells = problem.allocation.cells
        J = network.jacobian(weights, X, cells)
        for k, (name, i, j) in enumerate(cells):
            moved = {n: w.copy() for n, w in weights.items()}
            moved[name][i, j] += step
            change = network.forward(moved, X) - network.forward(weights, X)
            assert np.allclose(J[:, k], change.ravel() / step, atol=1e-4)
        found = mp.certify(problem)
        assert (found.rank, found.equations) == (3, 3)
        assert family_verify.verify(found.to_dict()).holds
        assert "silu(F1_0_2)" in str(mp.inspect(problem, form="sums").written.equations[-1])
    finally:
        FUNCTIONS.pop("silu", None)


def test_a_rule_is_ten_lines():
    """Ranks of A ⊗ B, whose factors have a scale too many, are those of differences."""
    names = {
        "mp": mp, "Builder": Builder, "Value": Value, "Read": Read, "rewritten": rewritten,
        "ProgramNetwork": ProgramNetwork,
    }  # fmt: skip
    text = block("def kronecker")
    assert len([line for line in text.splitlines() if line]) <= 10
    exec(compile(text, "docs/extending.md", "exec"), names)
    found, rng = mp.certify(names["problem"]), np.random.default_rng(0)
    W1, W2, X, start = (rng.standard_normal(shape) for shape in ((4, 4), (2, 4), (4, 4), 8))

    def labels_at(theta):
        return (W2 @ np.tanh((W1 + np.kron(*theta.reshape(2, 2, 2))) @ X)).ravel()

    steps = 1e-5 * np.eye(8)
    J = [labels_at(start + step) - labels_at(start - step) for step in steps]
    sizes = np.linalg.svd(np.array(J) / 2e-5, compute_uv=False)
    assert (sizes[6] > 1e-4, sizes[7] < 1e-8) == (True, True)
    assert (found.verdict, found.rank, found.equations) == ("minimal", 7, 8)
    assert family_verify.verify(found.to_dict()).holds


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
    entered = dict[str, Operator]()
    names = {"np": np, "Call": Call, "Item": Item, "Operator": Operator, "ELEMENTWISE": entered}
    exec(compile(block("def _softsign"), "docs/extending.md", "exec"), names)
    monkeypatch.setitem(OPERATORS, "Softsign", entered["Softsign"])
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
    """The example is two functions; it computes, and draws the result."""
    names = {
        name: getattr(import_module(f"matchprob.{module}"), name)
        for module, some in {
            "plugins.papers.figures": ("Numbers", "Run", "register_figure"),
            "plugins.papers.figures.curves": ("FigureLayout", "draw_curves"),
            "plugins.papers.figures.points": ("CurvePoint", "measure"),
            "plugins.papers.figures.tables": ("Tables", "groups", "markdown_table"),
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
