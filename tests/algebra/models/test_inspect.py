"""Structure reports of programs."""

from __future__ import annotations

from algebra.models.inspect import inspect_program, program_equations
from algebra.networks.program import ProgramNetwork
from algebra.problems.problem import Problem
from tests.onnx_models import save


def test_the_ranks_and_what_they_are(tmp_path):
    """Ranks of the allocation and of the network, and why they are exact; no equations."""
    net = ProgramNetwork(str(save("mlp_tanh", tmp_path)), 6)
    found = inspect_program(Problem(net, {"*.bias": "all"}).allocation, {})
    assert (found.rank, found.equations) == (10, 12)
    assert "Ax" in found.skipped[1]
    assert program_equations(found, {}) is None


def test_on_one_piece(tmp_path):
    """A ReLU network has ranks on a pattern, and the report says so."""
    net = ProgramNetwork(str(save("mlp_relu", tmp_path)), 6)
    found = inspect_program(Problem(net, {"*.bias": "all"}).allocation, {})
    assert "pattern" in found.skipped[0]
    assert found.rank <= found.equations <= 12
