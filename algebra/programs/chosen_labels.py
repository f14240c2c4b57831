"""Fewer labels than all outputs of a model: the last position of a sequence, random directions.

Labels are what is to be fitted.  All outputs of a language model, at all positions, are very many
numbers; what is asked of it is often the next word, or a few functions of what it gives.

k random directions are k sums of the labels with fixed random factors.  What fits m samples in k
directions moves k chosen numbers of each sample, and leaves the others as they come; by their
choice at random these are as hard to move as any k.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from algebra.errors import InputError, shown
from algebra.programs.program import Node, Program

LAST = "last"
# Largest absolute factor of a label in a direction.
_FACTOR = 9


@dataclass(frozen=True)
class ChosenLabels:
    """A choice of labels.

    Attributes
    ----------
    is_last : bool
        Whether they are those of the last position.
    directions : int
        The number of random directions of these; 0 for the labels themselves.
    """

    is_last: bool
    directions: int = 0

    @classmethod
    def read(cls, outputs: str | int) -> ChosenLabels:
        """From "last", a number of directions, or both: "last:64".

        Raises
        ------
        InputError
        """
        words = str(outputs).split(":")
        numbers = [word for word in words if word.isdecimal() and int(word) > 0]
        if isinstance(outputs, bool) or words not in (
            [LAST], numbers[:1], [LAST, *numbers[:1]]
        ):  # fmt: skip
            raise InputError(
                f"`outputs` ({shown(outputs)}) must be last (the last position of a sequence), a "
                "number of random directions of all labels, such as 64, or both: last:64"
            )
        return cls(words[0] == LAST, int(numbers[0]) if numbers else 0)

    def of(self, program: Program, seed: int) -> tuple[Program, str]:
        """The program of these labels, and a sentence about them.

        Raises
        ------
        InputError
            If the labels are those of no sequence, or fewer than the directions.
        """
        nodes, number = list(program.nodes), program.output
        size, words = nodes[number].size, "the outputs"
        if self.is_last:
            places, count = _last_position(program)
            nodes.append(
                Node("index", (number,), places.shape, nodes[number].batched, places=places)
            )
            number, words = len(nodes) - 1, f"the outputs at the last of {count} positions"
            size = places.size
        text = f"labels are {words}, {size} numbers of a sample"
        if self.directions:
            if self.directions > size:
                raise InputError(
                    f"`outputs` ({self.directions} directions): the model has {size} labels of a "
                    "sample; take fewer"
                )
            rng = random.Random(f"directions/{seed}")
            drawn = [rng.randint(-_FACTOR, _FACTOR) for _ in range(self.directions * size)]
            table = np.array(drawn, np.int64).reshape(self.directions, size)
            nodes.append(Node("constant", (), table.shape, False, number=Fraction(1), table=table))
            shape = (self.directions,)
            nodes.append(Node("contract", (len(nodes) - 1, number), shape, nodes[number].batched,
                              letters="ij,j->i"))  # fmt: skip
            number = len(nodes) - 1
            text = f"labels are {self.directions} sums of {words} with fixed random factors"
        return replace(program, nodes=tuple(nodes), output=number), text


def _last_position(program: Program) -> tuple[np.ndarray, int]:
    """The numbers of the labels of the last position, and how many positions there are."""
    node = program.nodes[program.output]
    size = node.size
    # Labels are in one row: what was put into it has the shape that the model gives.
    while len(_axes(node.shape)) < 2 and node.op == "index" and node.is_reshape:
        node = program.nodes[node.inputs[0]]
    shape = _axes(node.shape)
    if len(shape) < 2 or node.size != size:
        raise InputError(
            f"`outputs` (last) is about models that give a row for each position of a sequence; "
            f"this one gives {size} numbers in one row: give a number of random directions"
        )
    places = np.arange(size, dtype=np.int64).reshape(shape)[..., -1, :].reshape(-1)
    return places, shape[-2]


def _axes(shape: Sequence[int]) -> list[int]:
    """Those with several places."""
    return [n for n in shape if n > 1]
