"""Programs that are chains of matrix products: what is recognized, and that the map is the same."""

import numpy as np
import pytest

from algebra.networks.kinds import KINDS
from algebra.networks.named_chain import NamedChain, chain_of
from algebra.programs.program import Builder
from matchprob import LinearFeedForward, LinearRNN, Problem, certify, verify
from tests.old_kinds import as_program, program_of


def product(build, matrix, vector, letters="ij,j->i"):
    return build.contract(letters, matrix, vector)


@pytest.mark.parametrize(
    "network",
    [LinearFeedForward(2, (3, 2), 2, 3), LinearRNN(3, 4, 2, 2, 3), LinearRNN(1, 2, 1, 1, 1)],
    ids=str,
)
def test_a_kinds_program_is_the_kind(network):
    """The same matrices and labels; a program with another operation is none."""
    program = program_of(network)
    found = chain_of(program, network.m)
    assert found is not None
    assert found.chain() == network.chain()
    assert found.shapes == network.shapes
    assert found.input_shape == network.input_shape
    rng = np.random.default_rng(0)
    weights = {name: rng.integers(-9, 9, shape) for name, shape in network.shapes.items()}
    X = rng.integers(-9, 9, network.input_shape)
    labels = as_program(Problem(network, {})).network.forward(weights, X)
    assert (found.forward(weights, X) == labels).all()


def broken():
    """Programs of linear maps that are no chains, by their difference."""
    for name in (
        "bias",
        "twice",
        "transposed",
        "reversed",
        "part",
        "power 0",
        "two words",
        "scaled",
    ):
        build = Builder()
        a, b = build.weight("a", (2, 2)), build.weight("b", (2, 2))
        x = build.sample("X", (2,))
        match name:
            case "bias":
                y = build.add(product(build, a, x), build.weight("c", (2,)))
            case "twice":
                y = product(build, a, product(build, a, x))
            case "transposed":
                y = product(build, a, x, "ij,i->j")
            case "reversed":
                y = product(build, a, build.index(np.array([1, 0]), x))
            case "part":
                y = product(build, build.weight("d", (2, 1)), build.index(np.array([1]), x))
            case "power 0":
                # D B x_2 + D W B x_1: a recurrence that is read without its last step.
                d, e = build.weight("d", (1, 2)), build.weight("e", (2, 1))
                first = product(build, e, build.index(np.array([0]), x))
                last = product(build, e, build.index(np.array([1]), x))
                y = product(build, d, build.add(product(build, a, first), last))
            case "two words":
                y = build.add(product(build, a, x), product(build, b, x))
            case _:
                y = build.scale(product(build, a, x), 2)
        yield pytest.param(build.program(y), id=name)


@pytest.mark.parametrize("program", list(broken()))
def test_other_linear_maps_are_none(program):
    """Biases, repeated, transposed or scaled matrices, other entries of the sample."""
    assert chain_of(program, 1) is None


def test_a_chain_is_no_kind_of_problem_files():
    """It is made from programs only."""
    assert NamedChain not in {KINDS[kind] for kind in KINDS}


def test_products_of_matrices_first():
    """(b a) x is the chain b, a; also where the Einstein sum names the vector first."""
    build = Builder()
    a, b = build.weight("a", (3, 2)), build.weight("b", (2, 3))
    both = build.contract("jk,ij->ik", a, b)
    found = chain_of(build.program(build.contract("j,ij->i", build.sample("X", (2,)), both)), 5)
    assert found is not None
    assert found.chain().names == ("b", "a")
    assert (found.d, found.m) == (2, 5)


def test_arguments_about_chains_decide_a_program():
    """A change of basis makes the teacher a student: of the program too, and it is verified."""
    eye = [[1, 0], [0, 1]]
    net = LinearRNN(n=2, T=3, b=1, d=2, m=3)
    ours = Problem(net, {"D": [[1, 1], [1, 1]], "W": eye}, support={"W": eye})
    kind, program = certify(ours), certify(as_program(ours))
    assert kind.theorem.name == program.theorem.name == "teacher_reached"
    assert program.why == kind.why
    assert verify(program.to_dict()).holds
