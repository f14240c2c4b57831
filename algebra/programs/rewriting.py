r"""Programs rewritten: weights as values, values as unknowns, products of matrices from either end.

**Rewritten.**  `rewritten` puts a value of new blocks in the place of a weight: W + U V for W; in
the place of a product W x, W x + U (V x).

**Lifted.**  `lifted` puts new blocks in the place of some values.  The labels are then functions of
weights, samples and these blocks, and the labels of the program itself where each block is equal to
the value that it stands for: one equation each.  This is how a system of low degree is made of
labels of high degree.

**Matrices.**  Where labels are linear in some of a program's values v (states, or inputs), they are
:math:`y = \sum_v M_v v` with matrices that follow from weights alone.  The products in M can be
formed from either end, and lifting the partial products gives two different systems:

- `gathered`: from the samples' end.  The matrices by which some values enter another one,
  :math:`W(W(W B))`;
- `transposed`: from the labels' end, :math:`((D W) W) W`; each node passes the matrix by which it
  enters the labels to its inputs, as in reverse differentiation.

In both, equal products are made once (`Builder`), so that W B at one step is W B at the next.

Examples
--------
>>> build = Builder()
>>> W, D = build.weight("W", (3, 2)), build.weight("D", (1, 3))
>>> hidden = build.name("hidden", build.contract("ij,j->i", W, build.sample("X", (2,))))
>>> program = build.program(build.contract("ij,j->i", D, hidden))
>>> print(lifted(program, {"F": program.named["hidden"]}))
0  W       weight                       3×2
1  D       weight                       1×3
2  X       sample                       2 per sample
3  contract ij,j->i (0, 2)              3 per sample
4  F       sample                       3 per sample
5  contract ij,j->i (1, 4)              1 per sample
>>> print(transposed(program))
0  W       weight                       3×2
1  D       weight                       1×3
2  X       sample                       2 per sample
3  contract ij,j->i (0, 2)              3 per sample
4  contract ij,j->i (1, 3)              1 per sample
5  contract ai,ij->aj (1, 0)            1×2
6  contract ab,b->a (5, 2)              1 per sample
"""

from __future__ import annotations

import string
from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod

import numpy as np

from algebra.programs.program import Builder, Node, Program, Shape, Value

# The matrix by which a value enters another; None for the identity.
_Matrix = Value | None
# What stands in the place of a weight, or of its product with a value.
Rule = Callable[[Builder, Value, Value | None], Value]
# Letters of the product of a matrix and a value.
_PRODUCT = "ij,j->i"


def rewritten(program: Program, rules: Mapping[str, Rule]) -> Program:
    """A program in which some weights are values of other ones.

    Parameters
    ----------
    program : Program
    rules : mapping of str to callable
        What makes, from a builder, a weight's value and a value x that it multiplies as a matrix,
        the value in the place of the product; with None for x that in the place of the weight.

    Examples
    --------
    >>> build = Builder()
    >>> W, x = build.weight("W", (1, 2)), build.sample("X", (2,))
    >>> program = build.program(build.contract("ij,j->i", W, x))
    >>> def scaled(build, W, x):
    ...     return build.multiply(build.weight("g", (1,)), build.contract("ij,j->i", W, x))
    >>> print(rewritten(program, {"W": scaled}))
    0  W       weight                       1×2
    1  X       sample                       2 per sample
    2  g       weight                       1
    3  contract ij,j->i (0, 1)              1 per sample
    4  multiply (2, 3)                      1 per sample
    """
    build, values, ruled = Builder(), list[Value](), dict[int, Rule]()
    for number, node in enumerate(program.nodes):
        inputs = [values[k] for k in node.inputs]
        if node.letters == _PRODUCT and node.inputs[0] in ruled:
            value = ruled[node.inputs[0]](build, *inputs)
        else:
            learned = [
                ruled[k](build, own, None) if k in ruled else own
                for k, own in zip(node.inputs, inputs, strict=True)
            ]
            value = build.copied(node, learned)
        if node.op == "block" and not node.batched and node.name in rules:
            ruled[number] = rules[node.name]
        values.append(value)
    for name, number in program.named.items():
        build.name(name, values[number])
    return build.program(values[program.output])


def lifted(program: Program, at: Mapping[str, int]) -> Program:
    """A program in which the values of some nodes are blocks of their own.

    Parameters
    ----------
    program : Program
    at : mapping of str to int
        The new blocks' names, and the nodes whose values they stand for.

    Returns
    -------
    Program
        Its ``named`` has the nodes that give these values, by the blocks' names: each is to be
        equal to its block.
    """
    taken = {block.name for block in program.blocks} & set(at)
    names = {number: name for name, number in at.items()}
    if taken or len(names) < len(at):
        raise ValueError(f"lifted: {sorted(taken) or at} name blocks, or one node twice")
    build, values = Builder(), dict[int, Value]()
    for number in sorted(program.needed({program.output, *names})):
        node = program.nodes[number]
        value = build.copied(node, [values[k] for k in node.inputs])
        if number in names:
            build.name(names[number], value)
            block = build.sample if node.batched else build.weight
            value = block(names[number], node.shape)
        values[number] = value
    return build.program(values[program.output])


def gathered(program: Program, sources: Collection[int], sink: int) -> Program:
    """A program in which one value is a sum of matrices times some others.

    Parameters
    ----------
    program : Program
    sources : collection of int
        The nodes whose values are multiplied by matrices.
    sink : int
        The node that becomes their sum; it must be linear in them.  Values that do not depend on
        them and are added on the way are terms of it, too.

    Returns
    -------
    Program
        Its ``named`` has the matrices by which the sources enter the sink, by the sources' names.
        They are multiplied from the sources' end.
    """
    build, values = Builder(), dict[int, Value]()
    entering: dict[int, dict[int, _Matrix]] = {}
    for number in sorted(program.needed({program.output, sink})):
        node = program.nodes[number]
        value = build.copied(node, [values[k] for k in node.inputs])
        if number in sources:
            entering[number] = {number: None}
        elif sink not in values and any(k in entering for k in node.inputs):
            inputs, parts = [values[k] for k in node.inputs], dict[int, list[_Matrix]]()
            for position in _linear_in(node, entering):
                k = node.inputs[position]
                for source, M in entering.get(k, {k: None}).items():
                    moved = _moved(build, node, position, inputs, M)
                    parts.setdefault(source, []).append(moved)
            entering[number] = {k: _sum(build, node.shape, some) for k, some in parts.items()}
        if number == sink:
            if sink not in entering:
                raise ValueError("gathered: the value does not depend on the sources")
            found = entering[sink]
            value = build.add(*(_applied(build, M, values[k]) for k, M in found.items()))
            _name(build, program, found)
        values[number] = value
    return build.program(values[program.output])


def transposed(program: Program, cut: Collection[int] | None = None) -> Program:
    """The labels as a sum of matrices times some values, multiplied from the labels' end.

    Parameters
    ----------
    program : Program
        Its labels must be linear in the values.
    cut : collection of int, optional
        The nodes of the values; the samples by default.  Values that do not depend on them and are
        added on the way are terms of the labels, too.

    Returns
    -------
    Program
        Its ``named`` has the matrices by which the program's named values enter the labels, of
        those between the cut and the labels.
    """
    if cut is None:
        cut = [k for k, node in enumerate(program.nodes) if node.op == "block" and node.batched]
    build, values, depends = Builder(), dict[int, Value](), set(cut)
    for number in sorted(program.needed({program.output})):
        node = program.nodes[number]
        values[number] = build.copied(node, [values[k] for k in node.inputs])
        if depends.intersection(node.inputs):
            depends.add(number)
    parts: dict[int, list[_Matrix]] = {program.output: [None]}
    entering: dict[int, _Matrix] = {}
    while parts:
        number = max(parts)
        node, M = program.nodes[number], _sum(build, program.nodes[number].shape, parts.pop(number))
        entering[number] = M
        if number in cut or number not in depends:
            continue
        inputs = [values[k] for k in node.inputs]
        for position in _linear_in(node, depends):
            pulled = _moved(build, node, position, inputs, M, backwards=True)
            parts.setdefault(node.inputs[position], []).append(pulled)
    ends = [k for k in sorted(entering) if k in cut or k not in depends]
    labels = build.add(*(_applied(build, entering[k], values[k]) for k in ends))
    _name(build, program, entering)
    return build.program(labels)


def _name(build: Builder, program: Program, matrices: Mapping[int, _Matrix]) -> None:
    for name, number in program.named.items():
        M = matrices.get(number)
        if M is not None:
            build.name(name, M)


def _linear_in(node: Node, depends: Collection[int]) -> Sequence[int]:
    """The inputs of a node that it is a linear function of: those that depend on the values."""
    own = [position for position, k in enumerate(node.inputs) if k in depends]
    if node.op == "add":
        return range(len(node.inputs))
    if len(own) != 1 or node.op not in ("scale", "multiply", "contract"):
        raise ValueError(f"{node}: not a linear function of the values")
    return own


def _moved(
    build: Builder,
    node: Node,
    position: int,
    inputs: Sequence[Value],
    M: _Matrix,
    backwards: bool = False,
) -> _Matrix:
    """The matrix of a node from that of its input at a position; or, backwards, the reverse."""
    if node.op == "add":
        return M
    if node.op in ("multiply", "contract"):
        return _multiplied(build, node, position, inputs, M, backwards)
    assert node.number is not None  # scale
    return build.scale(M or _identity(build, node.shape), node.number)


def _multiplied(
    build: Builder,
    node: Node,
    position: int,
    inputs: Sequence[Value],
    M: _Matrix,
    backwards: bool,
) -> Value:
    """What a product makes of the matrix of one factor, or backwards."""
    letters, _, result = node.letters.partition("->")
    if node.op == "multiply":
        result = string.ascii_lowercase[: len(node.shape)]
        letters = f"{result},{result}"
    groups, factors = letters.split(","), list(inputs)
    own = groups[position]
    if M is None:
        others = groups[:position] + groups[position + 1 :]
        ends = result + own
        if len(set(ends)) == len(ends) and set(ends) <= set("".join(others)):
            del factors[position]
            return build.contract(f"{','.join(others)}->{ends}", *factors)
        M = _identity(build, node.shape if backwards else inputs[position].shape)
    free = [letter for letter in string.ascii_letters if letter not in letters]
    wide = "".join(free[: len(M.shape) - len(result if backwards else own)])
    if backwards:
        del groups[position], factors[position]
        groups, factors = [wide + result, *groups], [M, *factors]
        return build.contract(f"{','.join(groups)}->{wide}{own}", *factors)
    groups[position], factors[position] = own + wide, M
    return build.contract(f"{','.join(groups)}->{result}{wide}", *factors)


def _sum(build: Builder, shape: Shape, matrices: Sequence[_Matrix]) -> _Matrix:
    if len(matrices) == 1:
        return matrices[0]
    return build.add(*(M or _identity(build, shape) for M in matrices))


def _identity(build: Builder, shape: Shape) -> Value:
    return build.constant(np.eye(prod(shape), dtype=np.int64).reshape(*shape, *shape))


def _applied(build: Builder, M: _Matrix, value: Value) -> Value:
    """A matrix times a value."""
    if M is None:
        return value
    letters, rows = string.ascii_lowercase[: len(M.shape)], len(M.shape) - len(value.shape)
    return build.contract(f"{letters},{letters[rows:]}->{letters[:rows]}", M, value)
