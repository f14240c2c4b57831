"""Random programs with every operation that has a value over GF(p)."""

import random
import zlib

import numpy as np

from algebra.linalg.residues import random_residues
from algebra.networks.activation import Activation
from algebra.programs.arrays import placed
from algebra.programs.program import Builder
from algebra.programs.residues import ModularArithmetic

SMALL_PRIME = 1073741827
LONG_PRIME = 2305843009213693921


def random_program(seed, operations=8, *, powers=True, rational=True, functions=True):
    """A program of some random operations on weights and samples of few entries."""
    rng, build = random.Random(f"program/{seed}"), Builder()
    sizes = [rng.randint(1, 3) for _ in range(3)]

    def shape():
        return tuple(rng.choice(sizes) for _ in range(rng.randint(0, 2)))

    values = [build.weight("U", (sizes[0], sizes[1])), build.weight("V", shape())]
    values += [build.sample("X", (sizes[1],)), build.sample("Z", shape())]
    values.append(
        build.constant([[rng.randint(-3, 3) for _ in range(sizes[1])]], rng.randint(1, 3))
    )

    def like(value):
        same = [other for other in values if other.shape == value.shape]
        return rng.choice(same)

    def contraction():
        parts = [rng.choice(values) for _ in range(rng.randint(1, 3))]
        by_size, groups, used = {}, [], []
        for part in parts:
            group = ""
            for size in part.shape:
                known = by_size.setdefault(size, [])
                if not known or rng.random() < 0.4:
                    known.append("abcdefghijkl"[len(used)])
                    used.append(known[-1])
                group += rng.choice(known)
            groups.append(group)
        kept = [letter for letter in used if letter in "".join(groups) and rng.random() < 0.5][:2]
        rng.shuffle(kept)
        return build.contract(f"{','.join(groups)}->{''.join(kept)}", *parts)

    def index():
        parts = [rng.choice(values) for _ in range(rng.randint(1, 2))]
        total = sum(int(np.prod(part.shape)) for part in parts)
        target = shape()
        count = int(np.prod(target))
        where = [rng.randrange(-1, total) for _ in range(count)]
        return build.index(np.array(where, np.int64).reshape(target), *parts)

    kinds = ["contract"] * 4 + ["add", "multiply", "scale", "index", "index"]
    kinds += ["power"] * powers + ["invert"] * rational + ["apply"] * functions
    for _ in range(operations):
        a = rng.choice(values)
        match rng.choice(kinds):
            case "contract":
                values.append(contraction())
            case "add":
                values.append(build.add(a, like(a), like(a)))
            case "multiply":
                values.append(build.multiply(a, like(a)))
            case "scale":
                values.append(build.scale(a, rng.choice((-1, 2))))
            case "index":
                values.append(index())
            case "power":
                values.append(build.power(a, rng.randint(0, 3)))
            case "invert":
                # A constant is added, so that it is nowhere 0 for all weights.
                one = build.constant(np.ones(a.shape, np.int64) * 5)
                values.append(build.invert(build.add(build.multiply(a, a), one)))
            case "apply":
                values.append(build.apply(rng.choice(("tanh", "softplus")), a))
    flat = [build.reshaped(value, (int(np.prod(value.shape)),)) for value in values[-4:]]
    return build.program(build.joined([build.reshaped(x, x.shape) for x in flat]))


def formal_functions(p, seed):
    """Values and slopes of functions by name: exact for a polynomial, otherwise formal.

    Equal arguments of one function have equal values wherever they occur in the program; all others
    are independent (see the module).
    """

    def phi(node, a):
        which = zlib.crc32(node.name.encode())
        values, slopes = Activation.read(node.name).modular(a.reshape(1, -1), which, p, seed)
        return values.reshape(a.shape), slopes.reshape(a.shape)

    return phi


def residues(p, seed=0):
    """Residues with formal values of functions."""
    return ModularArithmetic(p, formal_functions(p, seed))


def point(program, p, seed, samples=3):
    """An arithmetic and random blocks."""
    rng = random.Random(f"point/{seed}")
    weights = {name: random_residues(shape, p, rng) for name, shape in program.weights.items()}
    inputs = {
        name: random_residues((*shape, samples), p, rng) for name, shape in program.samples.items()
    }
    return residues(p, seed), placed(program, weights, inputs)


def all_cells(program):
    """Every entry of every weight."""
    return [
        (name, *(int(k) for k in place))
        for name, shape in program.weights.items()
        for place in np.ndindex(shape)
    ]
