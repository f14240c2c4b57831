"""Activation patterns at drawn points."""

from algebra.programs.onnx import read_onnx
from numeric.equations.programs.patterns import drawn_patterns
from tests.onnx_models import save


def test_patterns_follow_from_the_seed(tmp_path):
    """Each node `choose` gets a sign for every sample; the same seed gives the same signs."""
    program = read_onnx(save("convnet", tmp_path)).program
    choosing = {k for k, node in enumerate(program.nodes) if node.op == "choose"}
    first, again = (drawn_patterns(program, seed=3)(5) for _ in range(2))
    assert set(first) == choosing
    assert all((first[k] == again[k]).all() for k in choosing)
    assert {a.shape[-1] for a in first.values()} == {5}
    other = drawn_patterns(program, seed=4)(5)
    assert any((first[k] != other[k]).any() for k in choosing)
