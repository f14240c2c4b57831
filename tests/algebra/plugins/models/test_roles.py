"""Parameters of a model by their use."""

from pathlib import Path

import pytest

from algebra.plugins.models.onnx import read_onnx
from algebra.plugins.models.onnx.written import read_program, write_program
from algebra.plugins.models.roles import LEARNING, ROLES, of_role

BLOCK = Path(__file__).parents[4] / "examples" / "data" / "block.onnx"


@pytest.mark.parametrize(
    ("word", "number"),
    [("biases", 9), ("norms", 4), ("matrices", 7), ("all", 18), (LEARNING, 0), ("shapes", 0)],
)
def test_roles_of_a_transformer_block(word, number):
    """Roles follow from operations; what a norm adds is a bias, too; no file requires gradients."""
    found = read_onnx(BLOCK)
    names = of_role(found, word)
    assert len(names) == number
    assert names == [name for name in found.parameters if name in names]


def test_every_role_is_a_word():
    """One number, two forms of the word; the last layer is the head."""
    found = read_onnx(BLOCK)
    assert of_role(found, "last layer") == ["head.weight", "head.bias"]
    assert of_role(found, "bias") == of_role(found, "biases")
    assert of_role(found, "norm") == of_role(found, "norms")
    assert all(isinstance(of_role(found, word), list) for word in ROLES)


def test_a_stored_program_has_no_roles():
    """A program in a certificate holds operations only: then no parameter has a use."""
    found = read_program(write_program(read_onnx(BLOCK)))
    assert of_role(found, "biases") == of_role(found, "last layer") == []
    assert len(of_role(found, "all")) == 18
