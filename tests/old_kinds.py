"""Kinds of networks as programs: certificates of programs are compared with the kinds' own."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from algebra.networks.activated import ActivatedNetwork
from algebra.networks.base import Network
from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.networks.recurrent import LinearRNN, SequenceRNN
from algebra.networks.rnn import RNN
from algebra.plugins.models.network import ProgramNetwork
from algebra.plugins.models.onnx import Read
from algebra.plugins.normalization.network import NormNet
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.programs.program import Builder, Program, Value
from algebra.ranks.jacobian import all_cells

ACTIVATIONS = ("tanh", "sigmoid", "softplus", {"polynomial": [0, 1, 1]}, {"polynomial": [1, 0, 2]})


@dataclass(frozen=True)
class Traced:
    """A matrix of weights, or one sample's column, as a value under construction."""

    build: Builder
    value: Value

    def _made(self, value: Value) -> Traced:
        return Traced(self.build, value)

    @property
    def column(self) -> Value:
        """A vector, also from a matrix of one column."""
        shape = self.value.shape
        return self.value if len(shape) == 1 else self.build.reshaped(self.value, shape[:1])

    def __matmul__(self, other: Traced) -> Traced:
        letters = "ij,jk->ik" if len(other.value.shape) == 2 else "ij,j->i"
        return self._made(self.build.contract(letters, self.value, other.value))

    def __add__(self, other: Traced) -> Traced:
        return self._made(self.build.add(self.column, other.column))

    def __getitem__(self, rows: slice) -> Traced:
        return self._made(self.build.index(np.arange(self.value.shape[0])[rows], self.value))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        assert function is np.concatenate
        return self._made(self.build.joined([part.value for part in args[0]]))


def program_of(network: Network) -> Program:
    """The program that computes one sample's labels: a chain's by its forward map, traced."""
    build = Builder()
    if isinstance(network, ActivatedNetwork):
        return _copied(network, build)
    if network.chain() is None:
        return network.program()
    weights = {n: Traced(build, build.weight(n, s)) for n, s in network.shapes.items()}
    X = Traced(build, build.sample("X", (network.input_shape[0],)))
    return build.program(network.forward(weights, X).value)


def _copied(network: ActivatedNetwork, build: Builder) -> Program:
    """The kind's program with expanded polynomials."""
    made: list[Value] = []
    program = network.program()
    for node in program.nodes:
        inputs = [made[k] for k in node.inputs]
        if node.op == "apply" and network.activation.is_polynomial:
            made.append(_polynomial(build, network.activation.coefficients, inputs[0]))
        else:
            made.append(build.copied(node, inputs))
    return build.program(made[program.output])


def _polynomial(build: Builder, coefficients: Any, a: Value) -> Value:
    ones = build.constant(np.ones(a.shape, np.int64))
    terms = [
        build.scale(build.power(a, k) if k else ones, c) for k, c in enumerate(coefficients) if c
    ]
    return build.add(*terms)


def as_program(problem: Problem) -> Problem:
    """The same problem on the network as a program."""
    network = problem.network
    read = Read(program_of(network), {}, frozenset(), {}, {})
    made = ProgramNetwork.of(read, network.m, network.kind)
    return Problem(made, problem.learnable, problem.support, problem.distribution)


def random_network(rng: random.Random) -> Network:
    """A small network of a kind whose teacher is of its own kind."""

    def small(most: int) -> int:
        return rng.randint(1, most)

    activation, biases = rng.choice(ACTIVATIONS), rng.random() < 0.5
    match rng.choice(("linear", "lrnn", "lffn", "sequence", "ffn", "ffn", "rnn")):
        case "linear":
            return LinearEstimator(q=small(4), d=small(3), m=small(4))
        case "lrnn":
            return LinearRNN(n=small(3), T=small(3), b=small(2), d=small(2), m=small(3))
        case "lffn":
            widths = tuple(small(3) for _ in range(small(2)))
            return LinearFeedForward(q=small(3), widths=widths, d=small(2), m=small(3))
        case "sequence":
            return SequenceRNN(n=small(3), T=small(2), b=small(2), d=small(2), m=small(2))
        case "ffn":
            widths = tuple(small(3) for _ in range(small(2)))
            return FeedForward(small(3), widths, small(2), small(3), activation, biases)
        case _:
            n, T, b, d, m = small(3), small(2), small(2), small(2), small(3)
            return RNN(n=n, T=T, b=b, d=d, m=m, activation=activation, biases=biases)


def random_problem(rng: random.Random, network: Network | None = None) -> Problem:
    """Some cells of some matrices, sometimes with structural zeros."""
    network = random_network(rng) if network is None else network
    support = {}
    if rng.random() < 0.25:
        name = rng.choice(list(network.shapes))
        zeros = [[int(rng.random() < 0.8) for _ in range(c)] for r, c in [network.shapes[name]]
                 for _ in range(r)]  # fmt: skip
        support[name] = np.array(zeros)
    names = [name for name in network.shapes if rng.random() < 0.5]
    cells = [c for c in all_cells(network, support) if c[0] in names] or all_cells(network, support)
    size = min(len(cells), max(1, network.outputs + rng.choice((-2, -1, 0, 0, 0, 1, 2, 4))))
    return Problem.of(Allocation.from_cells(network, rng.sample(cells, size)), support=support)


def random_normnet(rng: random.Random) -> NormNet:
    """A small linear normalization network."""
    widths = tuple(rng.randint(1, 3) for _ in range(rng.randint(2, 3)))
    hidden = tuple(rng.randint(1, 4) for _ in widths[1:])
    return NormNet(widths, hidden, rng.randint(1, 3), "linear")
