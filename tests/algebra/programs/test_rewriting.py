"""Rewritten programs: the same labels, and equations that the program's own values solve."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.linalg.residues import random_residues
from algebra.networks.recurrent import LinearRNN
from algebra.programs.arrays import placed
from algebra.programs.evaluate import evaluate
from algebra.programs.program import Builder
from algebra.programs.residues import ModularArithmetic
from algebra.programs.rewriting import gathered, lifted, transposed
from tests.refusals import refuses
from tests.samples import P, many

ARITHMETIC = ModularArithmetic(P)


def labels(program, blocks):
    """The program's labels."""
    return evaluate(program, ARITHMETIC, blocks)[program.output]


def drawn(program, rng, batch=3):
    """Random weights and samples."""
    weights = {n: random_residues(s, P, rng) for n, s in program.weights.items()}
    samples = {n: random_residues((*s, batch), P, rng) for n, s in program.samples.items()}
    return placed(program, weights, samples)


def linear_program(rng):
    """A random program that is affine in its samples: products, sums, scales, constants."""
    build = Builder()
    pool = [build.name("first", build.sample("X", (2, 3)))]
    for k in range(rng.randint(1, 6)):
        a = rng.choice(pool)
        rows, columns = a.shape
        size = rng.randint(1, 3)
        match rng.choice(["left", "right", "add", "scale", "entries", "diagonal"]):
            case "left":
                new = build.contract("ij,jk->ik", build.weight(f"L{k}", (size, rows)), a)
            case "right":
                new = build.contract("ij,jk->ik", a, build.weight(f"R{k}", (columns, size)))
            case "add":
                same = [b for b in pool if b.shape == a.shape]
                new = build.add(a, build.weight(f"A{k}", a.shape), rng.choice(same))
            case "scale":
                new = build.scale(a, rng.choice([-1, 2, 3]))
            case "entries":
                new = build.multiply(a, build.weight(f"E{k}", a.shape))
            case _:
                new = build.contract("ij,i->ij", a, build.weight(f"D{k}", (rows,)))
        pool.append(build.name(f"value {k}", new))
    return build.program(pool[-1])


def between(program):
    """Named nodes that the labels depend on and that depend on the samples."""
    needed = program.needed({program.output})
    # Equal values are one node, perhaps of several names.
    names = {k: n for n, k in program.named.items() if k in needed}
    return {n: k for k, n in names.items()}


@settings(max_examples=many(60), deadline=None)
@given(st.integers(0, 10**6))
def test_the_labels_are_the_same(seed):
    """Multiplied from either end, and with values in the place of blocks that stand for them."""
    rng = random.Random(seed)
    program = linear_program(rng)
    blocks = drawn(program, rng)
    expected = labels(program, blocks)
    assert (labels(transposed(program), blocks) == expected).all()
    start = program.named["first"]
    assert (labels(gathered(program, [start], program.output), blocks) == expected).all()
    at = between(program)
    chosen = {f"F {name}": at[name] for name in rng.sample(sorted(at), rng.randint(1, len(at)))}
    new = lifted(program, chosen)
    values = evaluate(program, ARITHMETIC, blocks, set(chosen.values()))
    given = blocks | {name: values[number] for name, number in chosen.items()}
    assert set(new.named) == set(chosen)
    found = evaluate(new, ARITHMETIC, given, {new.output, *new.named.values()})
    assert (found[new.output] == expected).all()
    assert all((found[new.named[name]] == given[name]).all() for name in chosen)


@settings(max_examples=many(30), deadline=None)
@given(st.integers(0, 10**6))
def test_the_matrices_are_those_by_which_values_enter_the_labels(seed):
    """Another value moves the labels by its matrix times the change."""
    rng = random.Random(seed)
    program = linear_program(rng)
    blocks = drawn(program, rng)
    backwards = transposed(program)
    for name, number in between(program).items():
        if name not in backwards.named:
            continue  # the labels themselves, whose matrix is the identity
        new = lifted(program, {"F": number})
        own = evaluate(program, ARITHMETIC, blocks, {number})[number]
        step = random_residues(own.shape, P, rng)
        moved = labels(new, blocks | {"F": (own + step) % P}) - labels(new, blocks | {"F": own})
        node = backwards.named[name]
        matrix = evaluate(backwards, ARITHMETIC, blocks, {node})[node]
        rows = moved.shape[0] * moved.shape[1]
        flat = matrix.reshape(rows, -1).astype(object) @ step.reshape(-1, 3).astype(object)
        # What else depends on the value through another path is in its matrix, too.
        assert ((flat - moved.reshape(rows, 3)) % P == 0).all()


def test_powers_of_the_recurrent_matrix_are_made_once():
    """Gathered from the samples, W B is one node whatever the step it is made at."""
    net = LinearRNN(n=3, T=5, b=2, d=1, m=2)
    program = net.program()
    inputs = [program.named[f"inputs {t}"] for t in range(5)]
    new = gathered(program, inputs, program.named["read"])
    products = [n for n in new.nodes if n.op == "contract" and not n.batched]
    assert len(products) == 5
    assert len(set(new.named.values())) == 5


def test_what_is_not_linear_is_refused():
    """Products of two values and powers are no matrix times a value, and moves are not known."""
    build = Builder()
    x = build.sample("X", (2,))
    for value in (build.multiply(x, x), build.power(x, 2), build.index([1, 0], x)):
        program = build.program(value)
        refuses("not a linear function", transposed, program, error=ValueError)
        with pytest.raises(ValueError, match="not a linear function"):
            gathered(program, [x.number], program.output)


def test_names_are_checked():
    """A new block needs a new name, and a node stands for one block."""
    net = LinearRNN(n=1, T=2, b=1, d=1, m=1)
    program = net.program()
    read = program.named["read"]
    for at in ({"W": read}, {"F": read, "G": read}):
        refuses("lifted", lifted, program, at, error=ValueError)


def test_an_unneeded_source_is_refused():
    """A value that does not depend on the sources is no sum of matrices times them."""
    build = Builder()
    W, x, z = build.weight("W", (1, 1)), build.sample("X", (1,)), build.sample("Z", (1,))
    program = build.program(build.contract("ij,j->i", W, x))
    refuses("does not depend", gathered, program, [z.number], program.output, error=ValueError)
