"""Problems to start from: the first paper's allocations, a circuit, activations."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from algebra.networks.recurrent import LinearRNN
from algebra.networks.rnn import RNN
from algebra.problems.files import problem_from_dict
from algebra.problems.problem import Problem

# Cells of W, by the names that the papers' example net has for its allocations.
_SIX = {
    "diagonal": (0, 3), "off-diagonal": (1, 2), "row 0": (0, 1), "row 1": (2, 3),
    "column 0": (0, 2), "column 1": (1, 3),
}  # fmt: skip
_CIRCUIT = ("S1", "S2", "S3", "I1", "I2", "I3", "I4", "M1", "M2", "M3")


def _allocation(cells: tuple[int, int]) -> Problem:
    mask = [[int(2 * i + j in cells) for j in range(2)] for i in range(2)]
    return Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": mask})


def _circuit() -> Problem:
    """Ten named neurons with a third of all synapses; those onto interneurons learn."""
    n, draw = len(_CIRCUIT), random.Random("page/circuit")
    exists = [[int(i != j and draw.random() < 0.35) for j in range(n)] for i in range(n)]
    learns = [
        [s * int(name.startswith("I")) for s in row]
        for name, row in zip(_CIRCUIT, exists, strict=True)
    ]
    names = {"neurons": _CIRCUIT, "inputs": ["light", "touch"], "outputs": ["left", "right"]}
    net = LinearRNN(n=n, T=3, b=2, d=2, m=4)
    return Problem(net, {"W": learns}, support={"W": exists}, names=names)


def _tanh() -> Problem:
    """Four units with tanh and biases; the biases and a ring of W learn."""
    ring = [[int(j == (i + 1) % 4) for j in range(4)] for i in range(4)]
    net = RNN(n=4, T=3, b=2, d=2, m=4, activation="tanh", biases=True)
    return Problem(net, {"W": ring, "c": [[1]] * 4})


def _low_rank() -> Problem:
    """W of six units moves by a matrix of rank 1."""
    network = {"kind": "lrnn", "n": 6, "T": 3, "b": 2, "d": 2, "m": 4}
    return problem_from_dict({"network": network, "learnable": {"W": {"lora": 1}}})


def _row_and_column() -> Problem:
    """Every row and column is within its budget, and yet nothing matches."""
    net = LinearRNN(n=4, T=2, b=2, d=2, m=4)
    return Problem(net, {"W": [[1, 0, 0, 0], [1, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]]})


EXAMPLES: dict[str, Callable[[], Problem]] = {
    **{f"paper 1: {name}": partial(_allocation, cells) for name, cells in _SIX.items()},
    "too many weights in a row and a column": _row_and_column,
    "a circuit of ten neurons": _circuit,
    "a network with tanh": _tanh,
    "an update of low rank (LoRA)": _low_rank,
}
