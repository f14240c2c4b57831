"""The linear recurrent network: its recursion, and that the labels do not know the basis."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.families.certify import certify
from algebra.families.verify import verify
from algebra.networks.recurrent import LinearRNN, SequenceRNN
from algebra.problems.symmetry import SymmetryGroup
from algebra.ranks.budgets.cover import rank_bound
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells
from algebra.systems.instances import modular_core
from algebra.systems.root_count import generic_root_count
from matchprob import Allocation, Problem
from tests.samples import many

SIZES = st.builds(
    LinearRNN, n=st.integers(1, 3), T=st.integers(1, 3), b=st.integers(1, 2), d=st.integers(1, 2),
    m=st.integers(1, 3),
)  # fmt: skip


def drawn(net, seed):
    """Rational weights and samples, as lists of rows."""
    rng = np.random.default_rng(seed)

    def rows(shape):
        return [[Fraction(int(v), 3) for v in row] for row in rng.integers(-6, 7, shape)]

    return {name: rows(shape) for name, shape in net.shapes.items()}, rows(net.input_shape)


def times(A, v):
    """A matrix times a vector."""
    return [sum(a * x for a, x in zip(row, v, strict=True)) for row in A]


def arrays(weights):
    """As arrays of fractions."""
    return {name: np.array(rows, object) for name, rows in weights.items()}


@given(SIZES, st.integers(0, 10**6))
def test_the_recursion_one_sample_at_a_time(net, seed):
    """h_t = W h_{t-1} + B x_t from h_0 = 0; y = D W h_T."""
    weights, X = drawn(net, seed)
    Y = net.forward(arrays(weights), np.array(X, object))
    every = SequenceRNN(**net.sizes).forward(arrays(weights), np.array(X, object))
    for sample in range(net.m):
        h = [Fraction(0)] * net.n
        for t in range(net.T):
            x = [X[t * net.b + k][sample] for k in range(net.b)]
            pairs = zip(times(weights["W"], h), times(weights["B"], x), strict=True)
            h = [a + c for a, c in pairs]
            y = times(weights["D"], times(weights["W"], h))
            assert list(every[:, t * net.m + sample]) == y
        assert list(Y[:, sample]) == y


@given(SIZES, st.integers(0, 10**6))
def test_the_basis_of_the_hidden_units_does_not_matter(net, seed):
    """D P⁻¹, P W P⁻¹, P B give the same labels, here with P of an elementary operation."""
    weights, X = drawn(net, seed)
    own = arrays(weights)
    P = np.array([[Fraction(int(i == j)) for j in range(net.n)] for i in range(net.n)], object)
    back = P.copy()
    P[0, -1] += 3
    if net.n > 1:
        back[0, -1] -= 3
    else:
        back[0, 0] = 1 / P[0, 0]
    moved = {"D": own["D"] @ back, "W": P @ own["W"] @ back, "B": P @ own["B"]}
    X = np.array(X, object)
    assert (net.forward(moved, X) == net.forward(own, X)).all()


@pytest.mark.parametrize("T", [1, 2, 4])
def test_impulses_show_powers(T):
    """With unit vectors as samples the labels are D W^{T-t+1} B."""
    net = LinearRNN(n=2, T=T, b=1, d=1, m=T)
    weights = {"D": [[1, 2]], "W": [[1, 1], [3, 0]], "B": [[1], [4]]}
    weights = {name: np.array(value, object) for name, value in weights.items()}
    Y = net.forward(weights, np.eye(T, dtype=int).astype(object))
    for t in range(T):
        power = weights["B"]
        for _ in range(T - t):
            power = weights["W"] @ power
        assert Y[0, t] == (weights["D"] @ power)[0, 0]


sizes = st.tuples(*(st.integers(1, 3) for _ in range(5)))


def small_numbers(network, seed=0, low=-4, high=5):
    rng = np.random.default_rng(seed)
    weights = {k: rng.integers(low, high, shape) for k, shape in network.shapes.items()}
    return weights, rng.integers(low, high, network.input_shape)


@given(sizes, st.integers(0, 99))
@settings(max_examples=many(40), deadline=None)
def test_labels_are_the_outputs_of_all_steps(size, seed):
    """Y is D W h_t for t = 1, …, T; as a chain it is D (W^T B | … | W B) U."""
    net = SequenceRNN(*size)
    weights, X = small_numbers(net, seed)
    D, W, B = weights["D"], weights["W"], weights["B"]
    h, outputs = np.zeros((net.n, net.m), int), []
    for t in range(net.T):
        h = W @ h + B @ X[t * net.b : (t + 1) * net.b]
        outputs.append(D @ W @ h)
    Y = net.forward(weights, X)
    assert Y.shape == (net.d, net.columns)
    assert np.array_equal(Y, np.hstack(outputs))
    powers = [D @ np.linalg.matrix_power(W, k) @ B for k in range(net.T, 0, -1)]
    assert np.array_equal(Y, np.hstack(powers) @ net.drive(X))
    assert np.array_equal(Y, D @ net.states(weights, X)[-1])


@given(sizes)
@settings(max_examples=30, deadline=None)
def test_drive_has_its_rank(size):
    """The chain's inputs have rank T·min(b, m) for generic samples."""
    net = SequenceRNN(*size)
    X = np.random.default_rng(1).standard_normal(net.input_shape)
    assert np.linalg.matrix_rank(net.drive(X)) == net.independent_columns


@given(sizes, st.data())
@settings(max_examples=many(40), deadline=None)
def test_budgets_bound_the_rank(size, data):
    """No allocation has a higher rank than its budgets permit, nor does the network."""
    net = SequenceRNN(*size)
    cells = data.draw(st.lists(st.sampled_from(all_cells(net)), min_size=1, unique=True))
    allocation = Allocation.from_cells(net, sorted(cells))
    whole = network_rank(net)
    assert whole.rank <= net.label_dimension_bound
    assert allocation_rank(allocation).rank <= rank_bound(allocation)


def test_row_limit_is_met():
    """A row of W takes part in min(Tb, Tm) equations: with one sample of two inputs T."""
    net = SequenceRNN(n=5, T=2, b=2, d=3, m=1)
    row = Allocation.rows(net, "W", [0])
    assert net.limits()["W"].row == (2, "Tm = 2 equations")
    assert allocation_rank(row).rank == rank_bound(row) == 2


@pytest.mark.parametrize("seed", range(many(15)))
def test_enough_samples_is_the_last_output_of_many(seed):
    """With m ≥ b: rank, root count and verdict are those of the linear RNN with Tb samples."""
    rng = random.Random(f"sequence/{seed}")
    n, T, b, d = rng.choice([(2, 2, 1, 1), (3, 2, 1, 1), (3, 3, 1, 1), (4, 2, 1, 2), (4, 2, 2, 1)])
    net, last = SequenceRNN(n, T, b, d, b + rng.randint(0, 1)), LinearRNN(n, T, b, d, T * b)
    cells = sorted(rng.sample(all_cells(net), d * T * b))
    one, other = Allocation.from_cells(net, cells), Allocation.from_cells(last, cells)
    rank = allocation_rank(one).rank
    assert rank == allocation_rank(other).rank
    if rank == d * T * b:
        assert generic_root_count(one).value == generic_root_count(other).value
    verdicts = {certify(Problem.of(a)).verdict for a in (one, other)}
    assert len(verdicts - {"undecided"}) <= 1


@pytest.mark.parametrize("form", ["B", "D", "direct"])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_forms_have_the_known_solution(form, m):
    """The lifted forms hold at the student that made the labels, for all m and b."""
    net = SequenceRNN(n=3, T=2, b=2, d=1, m=m)
    allocation = Allocation.from_cells(
        net, [("W", 0, 0), ("W", 0, 1), ("W", 1, 2), ("W", 2, 0)][: 2 * min(m, 2)]
    )
    p = 1_073_741_827
    core, root = modular_core(allocation, p, 0, form)
    assert all(equation(*root) == 0 for equation in core.equations)


def test_root_counts_agree_over_the_forms():
    """Both lifted forms of an instance with fewer samples than inputs have N solutions."""
    net = SequenceRNN(n=4, T=2, b=2, d=2, m=1)
    cells = [("W", 0, 0), ("W", 0, 1), ("W", 1, 2), ("W", 2, 1)]
    allocation = Allocation.from_cells(net, cells)
    found = generic_root_count(allocation)
    turned = Allocation.from_cells(net, [(name, (i + 1) % 4, (j + 1) % 4) for name, i, j in cells])
    assert found.value == generic_root_count(turned).value == 2


def test_symmetries():
    """Renamed hidden units keep the rank; transposition is a symmetry where m ≥ b = d."""
    net = SequenceRNN(n=3, T=2, b=2, d=2, m=2)
    group = SymmetryGroup(net, ["W"], transposition=True)
    rng = random.Random("sequence symmetries")
    for _ in range(5):
        allocation = Allocation.from_cells(net, sorted(rng.sample(group.cells, 6)))
        image = group.canonical(allocation)
        assert allocation_rank(image).rank == allocation_rank(allocation).rank
    assert SequenceRNN(n=3, T=2, b=2, d=2, m=1).transposed() == {}
    assert SequenceRNN(n=3, T=2, b=2, d=1, m=2).transposed() == {}


@pytest.mark.parametrize(
    "cells",
    [
        [("W", 0, 0), ("W", 0, 1)],
        [("W", 0, 0), ("W", 1, 1)],
        [("D", 0, 0), ("D", 0, 1), ("W", 1, 1)],
        [("D", 0, 0)],
    ],
)
def test_certificates_verify(cells):
    """Maximal, intermediate, with surplus weights, minimal: each verdict's evidence holds."""
    net = SequenceRNN(n=3, T=2, b=1, d=1, m=1)
    certificate = certify(Problem.of(Allocation.from_cells(net, cells)))
    assert certificate.verdict != "undecided"
    assert verify(certificate.to_dict()).holds
