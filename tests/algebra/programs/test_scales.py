"""Scales of programs: their number against the common kernel of derivatives at many points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.memory_limits import limited_memory
from algebra.programs.program import Builder
from algebra.programs.scales import scales
from tests.doubles import jacobian
from tests.samples import many, more


def kernel(program, names, points=16, samples=20, seed=0):
    """The dimension of all λ with Σ λ_e w_e ∂f/∂w_e = 0 at random weights."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(points):
        weights = {name: rng.standard_normal(shape) for name, shape in program.weights.items()}
        X = {name: rng.standard_normal((*s, samples)) for name, s in program.samples.items()}
        masks = {name: np.ones(program.weights[name], bool) for name in names}
        J = jacobian(program, weights, X, masks)
        rows.append(J * np.concatenate([weights[name].ravel() for name in names]))
    J = np.concatenate(rows)
    return J.shape[1] - int(np.linalg.matrix_rank(J, tol=1e-9 * np.linalg.norm(J, 2)))


@st.composite
def nets(draw):
    """A residual net of dense layers with units of several kinds, perhaps with a norm, biases."""
    build = Builder()
    n = draw(st.integers(1, 3))
    x = build.sample("x", (n,))
    for k in range(draw(st.integers(1, 3))):
        y = build.contract("ij,j->i", build.weight(f"W{k}", (n, n)), x)
        if draw(st.booleans()):
            y = build.add(y, build.weight(f"b{k}", (n,)))
        kind = draw(st.sampled_from(["relu", "leaky", "abs", "square", "tanh", "max", "norm", ""]))
        if kind == "relu":
            y = build.rectified(y)
        elif kind == "leaky":
            y = build.choose(y, y, build.scale(y, draw(st.sampled_from([-1, 3]))))
        elif kind == "abs":
            y = build.choose(y, y, build.scale(y, -1))
        elif kind == "square":
            y = build.power(y, 2)
        elif kind == "tanh":
            y = build.apply("tanh", y)
        elif kind == "max":
            z = build.index(np.roll(np.arange(n), 1), y)
            y = build.choose(build.subtract(y, z), y, z)
        elif kind == "norm":
            square = build.add(build.contract("i,i->", y, y), build.constant(1))
            y = build.contract("i,->i", y, build.invert(build.root(square)))
        x = build.add(x, y) if draw(st.booleans()) else y
    return build.program(build.contract("ij,j->i", build.weight("V", (2, n)), x))


@given(nets(), st.data())
@settings(max_examples=many(30), deadline=None)
def test_their_number_is_that_of_the_common_kernel(program, data):
    """For all weights, and for some of them."""
    names = list(program.weights)
    assert scales(program) == kernel(program, names)
    some = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    assert scales(program, some) == kernel(program, some)


def test_shared_weights_have_one_scale():
    """A linear recurrence: diagonal changes of basis; with squares, two inputs, the same."""
    build = Builder()
    W, B, D = (build.weight(k, s) for k, s in (("W", (3, 3)), ("B", (3, 2)), ("D", (1, 3))))
    state = None
    for t in range(4):
        own = build.contract("ij,j->i", B, build.sample(f"x{t}", (2,)))
        state = own if state is None else build.add(build.contract("ij,j->i", W, state), own)
    program = build.program(build.contract("ij,j->i", D, state))
    assert scales(program) == 3
    assert scales(program, ["W", "B"]) == 0


def test_before_a_norm_a_matrix_has_a_scale():
    """A norm without ε divides it out; a constant that is added keeps it."""
    for constant, number in ((0, 1), (1, 0)):
        build = Builder()
        y = build.contract("ij,j->i", build.weight("W", (3, 2)), build.sample("x", (2,)))
        square = build.add(build.contract("i,i->", y, y), build.constant(constant))
        y = build.contract("i,->i", y, build.invert(build.root(square)))
        assert scales(build.program(y)) == number


def test_weights_without_effect_are_scales():
    """Rows that are never read, and parameters before a factor 0."""
    build = Builder()
    x = build.sample("x", (2,))
    hidden = build.contract("ij,j->i", build.weight("W", (3, 2)), x)
    read = build.index([0, 1], hidden)
    lost = build.scale(build.weight("c", (2,)), 0)
    program = build.program(build.add(read, lost))
    assert scales(program) == 2 + 2


def test_weights_that_do_not_exist_have_none():
    """A unit of which only the output weights exist has no scale; those have no effect."""
    build = Builder()
    x = build.sample("x", (2,))
    hidden = build.rectified(build.contract("ij,j->i", build.weight("U", (3, 2)), x))
    program = build.program(build.contract("ij,j->i", build.weight("V", (1, 3)), hidden))
    support = {"U": np.array([[1, 1], [1, 0], [0, 0]], bool)}
    assert scales(program, support=support) == 2 + 1


@pytest.mark.parametrize("size", more(180, 300))
def test_a_large_network(size):
    """One scale for each of the hidden units of a network with hundreds of thousands of weights."""
    build = Builder()
    x = build.sample("x", (size,))
    for k in range(3):
        x = build.rectified(build.contract("ij,j->i", build.weight(f"W{k}", (size, size)), x))
    program = build.program(build.contract("ij,j->i", build.weight("V", (10, size)), x))
    assert scales(program) == 3 * size


def test_what_takes_too_much_memory_is_not_known():
    """Patches of an image are a table here: no scales are counted in a limit of 1 MB."""
    build = Builder()
    windows = (np.arange(9)[:, None] + np.arange(5000)) % 5000
    patches = build.patches(1, 5000, windows, (9, 5000), build.sample("x", (5000,)))
    hidden = build.rectified(build.contract("ck,kp->cp", build.weight("K", (2, 9)), patches))
    net = build.program(build.contract("c,cp->p", build.weight("v", (2,)), hidden))
    assert scales(net) == 2
    with limited_memory(1_000_000):
        assert scales(net) is None
