"""Operators: what is not read is refused by its name; labels and ranks are the reference's."""

import zlib

import numpy as np
import pytest

from algebra.linalg.ranks import modular_rank
from algebra.plugins.models.onnx import OPERATORS, read_onnx
from algebra.plugins.models.onnx.scope import Call
from algebra.plugins.models.onnx.values import BATCH, Item, Moves
from algebra.plugins.models.onnx.weights import Weights
from algebra.programs.evaluate import evaluate
from algebra.programs.formal import Formal, FormalArithmetic
from algebra.programs.jacobian import program_jacobian
from algebra.programs.program import Builder
from tests.doubles import Doubles, labels
from tests.onnx_models import differences, onnx
from tests.onnx_operators import NETWORKS
from tests.refusals import refuses


def call_of(op, inputs, attributes):
    """The node of an operator whose inputs are samples."""
    moves = Moves(Builder(), BATCH)
    block = moves.build.reshaped(moves.build.sample("x", (3,)), (1, 3))
    return Call(moves, op, 25, [Item(block, 0)] * inputs, attributes, Weights(moves), 1)


@pytest.mark.parametrize("op", OPERATORS)
def test_an_attribute_that_is_not_declared_is_refused(op):
    """By its name, whatever else the node has."""
    words = "its attribute `tuning` is not read; read are"
    refuses(words, OPERATORS[op], call_of(op, 1, {"tuning": 3}))


@pytest.mark.parametrize("op", [op for op, known in OPERATORS.items() if known.inputs[-1] != "*"])
def test_an_input_that_is_not_declared_is_refused(op):
    """By its number, and its name if the standard has one."""
    count = len(OPERATORS[op].inputs.split())
    refuses(f"its input {count}.* is not read; read are", OPERATORS[op], call_of(op, count + 1, {}))


def test_what_was_passed_by_is_refused():
    """An attribute or input that is declared, but that was not looked at, is not ignored."""
    known = OPERATORS["Relu"]
    lazy = type(known)(known.read, "X Y", "slope", "seed")
    refuses("its attribute `slope` is not read beside", lazy, call_of("Relu", 1, {"slope": 1}))
    refuses(r"its input 1 \(Y\) is not read beside", lazy, call_of("Relu", 2, {}))
    assert isinstance(lazy(call_of("Relu", 1, {"seed": 1})), Item)


def test_what_is_read_must_be_declared():
    """An operator that reads an attribute without declaring it fails in every test of it."""
    hasty = type(OPERATORS["Relu"])(lambda call: call.option("alpha"))
    with pytest.raises(AssertionError, match="Relu reads the attribute alpha"):
        hasty(call_of("Relu", 1, {}))


@pytest.mark.parametrize("op", OPERATORS)
def test_names_are_those_of_the_standard(op):
    """Declared inputs and attributes occur in a version of the operator's schema."""
    versions = [
        s for s in onnx.defs.get_all_schemas_with_history() if (s.domain, s.name) == ("", op)
    ]
    attributes = {name for s in versions for name in s.attributes}
    inputs = {i.name.lower() for s in versions for i in s.inputs} | {"data*", "inputs*"}
    known = OPERATORS[op]
    idle = {name for name in known.idle.split() if name.lower() not in inputs}
    # An instance norm is read as a group norm; in-place computation was an attribute of some.
    assert set(known.attributes.split()) <= attributes | {"num_groups"}
    assert idle <= attributes | {"consumed_inputs"}
    assert len(known.inputs.split()) <= max(len(s.inputs) for s in versions)
    assert {name.lower() for name in known.inputs.split()} - {"x"} <= inputs


class Pattern(Doubles):
    """Doubles that record the signs by which the program chooses."""

    def __init__(self, program):
        self.numbers = {id(node): k for k, node in enumerate(program.nodes)}
        self.signs = {}

    def choose(self, node, sign, positive, other):
        """As in `Doubles`."""
        self.signs[self.numbers[id(node)]] = sign > 0
        return super().choose(node, sign, positive, other)


# A guarded logarithm has no number where it is not chosen, and NumPy says so.
@pytest.mark.filterwarnings("ignore:invalid value encountered in log:RuntimeWarning")
# Of what a mask leaves out the reference takes the logarithm of 0.
@pytest.mark.filterwarnings("ignore:divide by zero encountered in log:RuntimeWarning")
@pytest.mark.parametrize("name", NETWORKS)
def test_labels_and_ranks_are_those_of_the_reference(name):
    """Labels at the weights of the file, and the rank of the Jacobian on the pattern there."""
    (make, make_twin), m = NETWORKS[name], 14
    read, model = read_onnx("x.onnx", data=make().SerializeToString()), make_twin()
    program, rng = read.program, np.random.default_rng(zlib.crc32(name.encode()))
    x = rng.standard_normal((m, 3))
    values = {
        key: np.array([int(v) / d for v in table.ravel().tolist()]).reshape(table.shape)
        for key, (table, d) in read.values.items()
    }
    [expected] = onnx.reference.ReferenceEvaluator(model).run(None, {"x": x})
    ours = labels(program, values, {"x": x.T})
    assert np.allclose(ours.T.reshape(expected.shape), expected, rtol=1e-5, atol=1e-6)

    numeric = np.hstack([differences(model, key, {"x": x}) for key in read.parameters])
    sizes = np.linalg.svd(numeric, compute_uv=False)
    pattern = Pattern(program)
    evaluate(program, pattern, {k: v[..., None] for k, v in values.items()} | {"x": x.T})
    p = 2**61 - 1
    drawn = np.random.default_rng(1)
    blocks = {key: drawn.integers(1, p, (*shape, 1)) for key, shape in program.weights.items()}
    blocks["x"] = drawn.integers(1, p, (3, m))
    cells = [(key, *at) for key, shape in read.parameters.items() for at in np.ndindex(*shape)]
    arithmetic = FormalArithmetic(Formal(p, 7, pattern.signs), program)
    exact = modular_rank(program_jacobian(program, arithmetic, blocks, cells), p)
    assert exact == int((sizes > 1e-7 * sizes[0]).sum())
