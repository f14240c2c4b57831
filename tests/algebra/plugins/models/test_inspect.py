"""Structure reports of programs."""

from algebra.families.equations import form_names, written_form
from algebra.plugins.models.inspect import inspect_program
from matchprob import Problem, ProgramNetwork
from tests.onnx_models import save


def test_the_ranks_and_what_they_are(tmp_path):
    """Ranks of the allocation and of the network, and why they are exact."""
    net = ProgramNetwork(str(save("mlp_tanh", tmp_path)), 6)
    found = inspect_program(Problem(net, {"*.bias": "all"}).allocation, {})
    assert (found.rank, found.equations) == (10, 12)
    assert "Ax" in found.skipped[1]


def test_the_equations_are_those_of_the_file(tmp_path):
    """What each function receives is an unknown; of a ReLU network on one pattern."""
    net = ProgramNetwork(str(save("mlp_tanh", tmp_path)), 1)
    allocation = Problem(net, {"*.bias": "all"}).allocation
    assert form_names(allocation) == ("sums", "direct")
    made = written_form(allocation)
    assert any("tanh(F1_" in str(e) for e in made.equations)
    assert not made.conditions
    net = ProgramNetwork(str(save("mlp_relu", tmp_path)), 1)
    made = written_form(Problem(net, {"*.bias": "all"}).allocation)
    assert {str(e).split("_")[0] for e, _ in made.conditions} == {"F1", "F2"}
    assert len(made.conditions) == len(made.auxiliary)


def test_on_one_piece(tmp_path):
    """A ReLU network has ranks on a pattern, and the report says so."""
    net = ProgramNetwork(str(save("mlp_relu", tmp_path)), 6)
    found = inspect_program(Problem(net, {"*.bias": "all"}).allocation, {})
    assert "pattern" in found.skipped[0]
    assert found.rank <= found.equations <= 12
