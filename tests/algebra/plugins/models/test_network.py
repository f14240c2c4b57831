"""The kind `program`: a file's parameters as matrices, ranks, messages of one line."""

import base64

import numpy as np
import pytest

from algebra.linalg.ranks import modular_rank
from algebra.plugins.models.network import ProgramNetwork
from algebra.plugins.models.onnx import read_onnx
from algebra.problems.files import problem_from_dict
from algebra.ranks.derivatives import dual_derivative
from algebra.ranks.generic_rank import network_rank
from algebra.ranks.jacobian import all_cells, columns_at, jacobian, random_point, tangent_factors
from matchprob import FeedForward, InputError, Problem
from tests.onnx_models import save
from tests.refusals import refuses


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("program")
    for name in ("mlp_tanh", "mlp_relu", "convnet", "embedding", "transformer"):
        save(name, path)
    return path


def tables(folder, **more):
    return {"network": {"kind": "program", "file": "mlp_tanh.onnx", "m": 4, **more}}


def test_parameters_are_matrices_by_their_first_axis(folder):
    """Vectors are columns; kernels of convolutions have a row for each output channel."""
    net = ProgramNetwork(str(folder / "convnet.onnx"), 2)
    assert net.shapes["c1.weight"] == (4, 18)
    assert net.shapes["c1.bias"] == (4, 1)
    assert not {"n1.mean", "n1.var"} & set(net.shapes)
    assert net.place(("c1.weight", 2, 13)) == ("c1.weight", 2, 1, 1, 1)


def test_the_jacobian_is_that_of_forward_derivatives(folder):
    """Columns by the backward pass agree with dual numbers, and with factors of single matrices."""
    net = ProgramNetwork(str(folder / "transformer.onnx"), 2)
    cells = [cell for cell in all_cells(net) if cell[0] in ("q.weight", "k.bias", "n1.weight")]
    p = 2305843009213693951
    point = random_point(net, p, 5)
    J = columns_at(net, point, cells)
    step = np.arange(1, len(cells) + 1)
    moved = dual_derivative(net, point, cells, step).ravel()
    expected = [sum(int(a) * int(b) for a, b in zip(row, step, strict=True)) % p for row in J]
    assert moved.tolist() == expected
    factors = tangent_factors(net, point, ["q.weight"])
    L, R = factors["q.weight"]
    own = [k for k, cell in enumerate(cells) if cell[0] == "q.weight"]
    again = jacobian({"q.weight": (L, R)}, [cells[k] for k in own], p)
    assert (again == J[:, own]).all()


def test_the_ranks_are_those_of_the_old_kind(folder):
    """A tanh network from a file and the same network of kind ffn."""
    net = ProgramNetwork(str(folder / "mlp_tanh.onnx"), 12)
    other = FeedForward(3, (4, 4), 2, 12, activation="tanh", biases=True)
    assert net.ranks_are_exact({})
    assert network_rank(net).rank == network_rank(other).rank == 24
    assert net.parameters == other.parameters == 46


def test_a_problem_reads_back_without_its_file(folder):
    """A written problem contains the file itself, and its digest is checked."""
    problem = problem_from_dict({**tables(folder), "learnable": {"*.bias": "all"}}, folder)
    assert list(problem.learnable) == ["l1.bias", "l2.bias", "l3.bias"]
    data = problem.to_dict()
    assert problem_from_dict(data) == problem
    other = base64.b64encode((folder / "mlp_relu.onnx").read_bytes()).decode()
    with pytest.raises(InputError, match="another content"):
        problem_from_dict({**data, "network": {**data["network"], "model": other}})


def test_patterns_give_way_to_names(folder):
    """An entry by name overrides one by pattern; one that fits no parameter is refused."""
    problem = problem_from_dict(
        {**tables(folder), "learnable": {"*.weight": "all", "l2.weight": {"lora": 2}}}, folder
    )
    assert problem.learning.size == 12 + 8 + 2 * (4 + 4)
    with pytest.raises(InputError, match=r"names `\*.gain`"):
        problem_from_dict({**tables(folder), "learnable": {"*.gain": "all"}}, folder)


def test_roles_name_parameters(folder):
    """Biases, norms, the last layer: as for capacity; a pattern comes first, others are listed."""
    given = {"biases": "all", "last layer": "all"}
    problem = problem_from_dict({**tables(folder), "learnable": given}, folder)
    assert list(problem.learnable) == ["l1.bias", "l2.bias", "l3.bias", "l3.weight"]
    with pytest.raises(InputError, match=r"names `norms`.*roles biases, matrices, last layer"):
        problem_from_dict({**tables(folder), "learnable": {"norms": "all"}}, folder)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"file": "nothing.onnx"}, "No such file"),
        ({"m": 0}, "`m`"),
        ({"weights": "old"}, "generic"),
        ({"digest": "0" * 64}, "another content"),
        ({"model": "§"}, "base 64"),
        ({"output": "y"}, "there is no output `y`"),
        ({"constants": "l1.*"}, "list of names"),
        ({"size": 4}, "must map names to numbers"),
        ({"size": {"seq": 4}}, "names 'seq'"),
        ({"layers": 2}, "unknown key"),
    ],
)
def test_wrong_tables_are_refused_in_one_line(folder, change, words):
    """The message names the key, or the file and its error."""
    with pytest.raises(InputError, match=words) as caught:
        problem_from_dict({**tables(folder, **change), "learnable": {"*": "all"}}, folder)
    assert "\n" not in str(caught.value)


def test_programs_that_choose_have_ranks_on_a_pattern_only(folder):
    """No program has random instances."""
    net = ProgramNetwork(str(folder / "mlp_relu.onnx"), 3)
    assert net.is_piecewise
    assert not net.rank_decides
    refuses("signs", network_rank, net)
    assert not net.has_instances
    refuses("one activation pattern", net.need_ranks, "robust", {})


def test_tokens_are_drawn_with_the_point(folder):
    """The same for the same point; samples given as numbers are not drawn."""
    net = ProgramNetwork(str(folder / "embedding.onnx"), 3)
    assert net.input_shape == (0, 3)
    point = random_point(net, 2305843009213693951, 3)
    first, again = (net.modular_blocks(point) for _ in range(2))
    assert all((first[name] == again[name]).all() for name in first)


def test_a_program_at_hand_needs_no_file(folder):
    """Its ranks are those of the file; equal programs are equal networks."""
    read = read_onnx(folder / "mlp_tanh.onnx")
    net = ProgramNetwork.of(read, 3, "mlp")
    assert net == ProgramNetwork.of(read, 3)
    J = columns_at(net, random_point(net, 2305843009213693951, 1), all_cells(net))
    assert modular_rank(J, 2305843009213693951) == 6
    assert Problem(net, {"l3.*": "all"}).learning.size == 10


def test_structural_zeros_may_make_arguments_dependent(folder):
    """A unit that no sample reaches: its argument is a weight, which the theorem does not cover."""
    net = ProgramNetwork(str(folder / "mlp_tanh.onnx"), 3)
    mask = np.ones((4, 4), int)
    assert net.ranks_are_exact({"l2.weight": mask})
    mask[:, 1] = 0
    assert not net.ranks_are_exact({"l2.weight": mask})
    refuses("dependent arguments", net.need_ranks, "robust", {"l2.weight": mask})
