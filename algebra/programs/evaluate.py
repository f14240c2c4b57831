"""The values of a program in an arithmetic.

An arithmetic is a class with one method for each operation; it does not depend on the program.  Its
values may have any type (arrays of residues, dual numbers, balls, polynomials, degrees, sets).
Values that no later node needs are released, so that memory is about that of the network itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np

from algebra.programs.patches import Patches
from algebra.programs.program import Node, Program
from algebra.time_limits import check_time

V = TypeVar("V")
# Numbers of nodes, the nodes, and those whose values no later node needs.
Order = list[tuple[int, Node, list[int]]]


class Arithmetic(Protocol[V]):
    """Evaluates the operations of a program.

    Batched values have the batch axis last.  An arithmetic aligns a value that is not batched with
    one that is: its shape is that of the node without the last axis.
    """

    def constant(self, table: np.ndarray, denominator: int) -> V:
        """Rational numbers: integers over one denominator."""
        ...

    def add(self, node: Node, *terms: V) -> V:
        """The sum of values of one shape, some of which may be batched."""
        ...

    def multiply(self, node: Node, a: V, b: V) -> V:
        """The entrywise product."""
        ...

    def scale(self, node: Node, a: V, factor: Fraction) -> V:
        """A value times a rational number."""
        ...

    def contract(self, node: Node, letters: str, *factors: V) -> V:
        """The Einstein sum; letters are those of one sample."""
        ...

    def index(self, node: Node, where: np.ndarray, *parts: V) -> V:
        """Entries gathered from the parts; −1 denotes 0."""
        ...

    def power(self, node: Node, a: V, exponent: int) -> V:
        """Entrywise."""
        ...

    def invert(self, node: Node, a: V) -> V:
        """Entrywise."""
        ...

    def root(self, node: Node, a: V) -> V:
        """Entrywise."""
        ...

    def apply(self, node: Node, name: str, a: V) -> V:
        """The function of this name, entrywise."""
        ...

    def choose(self, node: Node, sign: V, positive: V, other: V) -> V:
        """Choice by the sign of the first value."""
        ...


def evaluate(
    program: Program,
    arithmetic: Arithmetic[V],
    blocks: Mapping[str, V],
    wanted: Collection[int] | None = None,
) -> dict[int, V]:
    """The values of some nodes.

    Parameters
    ----------
    program : Program
    arithmetic : Arithmetic
    blocks : mapping of str to values
        A value for each block that is needed.
    wanted : collection of int, optional
        The requested nodes; by default only the program's output.

    Returns
    -------
    dict of int to values
        One entry for each wanted node.

    Raises
    ------
    KeyError
        If a needed block has no value.
    """
    order = evaluation_order(program, [program.output] if wanted is None else wanted)
    return evaluate_in(order, arithmetic, blocks)


def evaluation_order(program: Program, wanted: Collection[int], with_signs: bool = True) -> Order:
    """The steps to the values of some nodes: for programs that are evaluated many times.

    For an arithmetic that knows all signs they are not computed: such steps are left out.
    """
    kept = set(wanted)
    needed = program.needed(kept, with_signs)
    last = program.last_uses(needed, with_signs)
    steps = []
    for number in sorted(needed):
        node = program.nodes[number]
        done = [k for k in set(node.used(with_signs)) if last[k] == number and k not in kept]
        steps.append((number, node, done))
    return steps


def evaluate_in(order: Order, arithmetic: Arithmetic[V], blocks: Mapping[str, V]) -> dict[int, V]:
    """`evaluate` in the order of `evaluation_order`."""
    values: dict[int, V] = {}
    for number, node, done in order:
        check_time()
        values[number] = value_of(node, arithmetic, blocks, [values.get(k) for k in node.inputs])
        for k in done:
            del values[k]
    return values


def value_of(
    node: Node, arithmetic: Arithmetic[V], blocks: Mapping[str, V], inputs: list[Any]
) -> V:
    """The value of one node, given those of its inputs."""
    number = node.number
    match node.op:
        case "block":
            return blocks[node.name]
        case "constant":
            assert node.table is not None
            assert number is not None
            return arithmetic.constant(node.table, int(number))
        case "add":
            return arithmetic.add(node, *inputs)
        case "multiply":
            return arithmetic.multiply(node, *inputs)
        case "scale":
            assert number is not None
            return arithmetic.scale(node, inputs[0], number)
        case "contract":
            return arithmetic.contract(node, node.letters, *inputs)
        case "index":
            if isinstance(node.places, Patches) and getattr(arithmetic, "forms_patches", False):
                return arithmetic.patches(node.places, *inputs)  # type: ignore[attr-defined]
            where = node.where
            assert where is not None
            return arithmetic.index(node, where, *inputs)
        case "power":
            assert number is not None
            return arithmetic.power(node, inputs[0], int(number))
        case "invert":
            return arithmetic.invert(node, *inputs)
        case "root":
            return arithmetic.root(node, *inputs)
        case "apply":
            return arithmetic.apply(node, node.name, *inputs)
        case "choose":
            return arithmetic.choose(node, *inputs)
    raise AssertionError(f"no operation {node.op!r}")
