"""Formal ranks are generic ranks: compared with singular values in 60 digits and with SymPy."""

import random
from itertools import groupby

import mpmath
import numpy as np
import pytest
import sympy
from flint import arb, ctx

from algebra.checker.network_ranks import why_generic
from algebra.families.certify import certify
from algebra.families.verify import verify
from algebra.networks.activated import SUMS, ActivatedNetwork
from algebra.networks.activation import ANALYTIC, AX
from algebra.networks.base import POLYNOMIAL_LABELS, Point
from algebra.programs.arrays import placed
from algebra.programs.evaluate import evaluate
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells
from matchprob import RNN, Allocation, FeedForward, Problem
from tests.samples import LONG, filled, many, more

_BITS = 220
SQUARE = {"polynomial": [0, 0, 1]}


def _network(rng: random.Random, activation) -> ActivatedNetwork:
    size, biases = lambda: rng.randint(1, 3), rng.random() < 0.5
    if rng.random() < 0.5:
        widths = tuple(size() for _ in range(rng.randint(1, 2)))
        return FeedForward(size(), widths, size(), size(), activation=activation, biases=biases)
    return RNN(size(), size(), size(), size(), size(), activation=activation, biases=biases)


def _support(net, rng):
    """Structural zeros of some matrices: units without input, without effect, without outputs."""
    masks = {}
    for name, shape in net.shapes.items():
        if rng.random() < 0.4:
            masks[name] = np.array(
                [[int(rng.random() < 0.6) for _ in range(shape[1])] for _ in range(shape[0])]
            )
    return masks


def _singular_values(net, support, cells, rng):
    """Singular values of the Jacobian at a random point, in 60 digits and more."""
    before, ctx.prec = ctx.prec, _BITS

    def drawn(shape):
        return filled(shape, lambda: arb(rng.getrandbits(200) + 1) / 2**199 - 1)

    try:
        weights = {name: drawn(shape) for name, shape in net.shapes.items()}
        for name, mask in support.items():
            weights[name][mask == 0] = arb(0)

        columns = net.jacobian(weights, drawn(net.input_shape), cells).T
        with mpmath.workdps(60):
            J = mpmath.matrix(net.outputs, len(cells))
            for k, column in enumerate(columns):
                for row, value in enumerate(column):
                    J[row, k] = mpmath.mpf(arb(value).mid().str(65, radius=False))
            return mpmath.svd_r(J, compute_uv=False)
    finally:
        ctx.prec = before


def sums_in(net, arithmetic, weights, X):
    """Pre-activations of all stages."""
    program, nodes = net.recorded(SUMS)
    found = evaluate(program, arithmetic, placed(program, weights, {"X": X}), nodes)
    return [found[k] for k in nodes]


@pytest.mark.parametrize("seeds", more(range(60), range(1000, 2000)))
def test_ranks_agree_with_singular_values(seeds):
    """Random allocations of all analytic activations, half with structural zeros."""
    for seed in seeds:
        rng = random.Random(f"formal/{seed}")
        net = _network(rng, rng.choice(tuple(ANALYTIC)))
        support = _support(net, rng) if rng.random() < 0.5 else {}
        cells = all_cells(net, support)
        if not cells:
            continue
        chosen = sorted(rng.sample(cells, rng.randint(1, min(len(cells), net.outputs + 1))))
        found = allocation_rank(Allocation.from_cells(net, chosen), support).rank
        values = _singular_values(net, support, chosen, rng)
        with mpmath.workdps(60):
            large = [v for v in values if v > mpmath.mpf(10) ** -25]
            unclear = [v for v in values if mpmath.mpf(10) ** -45 < v <= mpmath.mpf(10) ** -25]
        assert not unclear, (net, chosen)
        assert found == len(large), (net, support, chosen)


@pytest.mark.parametrize("seed", range(6))
def test_polynomial_ranks_agree_with_sympy(seed):
    """The Jacobian differentiated by SymPy, its rank at a random rational point."""
    rng = random.Random(f"sympy/{seed}")
    activation = rng.choice([{"polynomial": [0, 0, 1]}, {"polynomial": [1, "1/2", 0, 1]}])
    net = FeedForward(2, (2,), 2, rng.randint(1, 3), activation=activation, biases=seed % 2 == 0)
    if seed > 3:
        net = RNN(2, 2, 1, 1, 2, activation={"polynomial": [0, "1/2", 1]}, biases=seed % 2 == 0)
    names = {}
    for name, shape in {**net.shapes, "X": net.input_shape}.items():
        names[name] = np.array(
            [[sympy.Symbol(f"{name}_{i}_{j}") for j in range(shape[1])] for i in range(shape[0])],
            dtype=object,
        )
    labels = net.forward({k: v for k, v in names.items() if k != "X"}, names["X"])
    cells = all_cells(net)
    chosen = sorted(rng.sample(cells, rng.randint(1, min(len(cells), net.outputs))))
    J = sympy.Matrix(
        [[sympy.diff(y, names[name][i, j]) for name, i, j in chosen] for y in labels.ravel()]
    )
    point = {s: sympy.Rational(rng.randint(-99, 99), 50) for v in names.values() for s in v.flat}
    assert J.subs(point).rank() == allocation_rank(Allocation.from_cells(net, chosen)).rank


def test_minimal_in_the_linear_net_is_not_minimal_with_tanh():
    """Of random allocations at n = 4, T = 2 some are minimal in the linear net, none with tanh."""
    rng = random.Random(0)
    cells = [("W", i, j) for i in range(4) for j in range(4)]
    nets = {name: RNN(4, 2, 2, 2, 4, activation=name) for name in ("linear", *ANALYTIC)}
    assert {network_rank(net).rank for net in nets.values()} == {8}
    short = dict.fromkeys(nets, 0)
    for _ in range(many(150, 37)):
        chosen = rng.sample(cells, 8)
        for name, net in nets.items():
            short[name] += allocation_rank(Allocation.from_cells(net, chosen)).rank < 8
    assert short["linear"] > 0
    assert [short[name] for name in ANALYTIC] == [0] * len(ANALYTIC)


def test_large_networks_are_ranked_at_once():
    """n = 256, r = 256: proved, not probable."""
    rng = random.Random(0)
    net = RNN(256, 6, 4, 16, 16, activation="tanh")
    chosen = {("W", rng.randrange(256), rng.randrange(256)) for _ in range(400)}
    found = allocation_rank(Allocation.from_cells(net, sorted(chosen)[:256]))
    assert found.rank == 256
    assert found.is_proved


def test_which_ranks_rest_on_the_theorem():
    """Polynomials need no theorem on values; for erf formal ranks are upper bounds."""
    for activation, why in (("tanh", AX), ("erf", ""), (SQUARE, POLYNOMIAL_LABELS)):
        net = RNN(n=2, T=2, b=1, d=1, m=2, activation=activation)
        assert net.why_exact({}) == why
        assert net.ranks_are_exact({}) == bool(why)


def test_given_numbers_leave_upper_bounds():
    """At exact numbers values need not be independent; polynomials are."""
    for activation, why in (("tanh", ""), (SQUARE, POLYNOMIAL_LABELS)):
        net = RNN(n=2, T=2, b=1, d=1, m=2, activation=activation)
        given = Problem(net, {"W": [[1, 0], [0, 0]]}, values={"B": [["1/2"], [""]]})
        assert why_generic(given, False, 0) == why
        assert why_generic(given, True, 0) == net.why_exact({}) != ""


def _structured(rng):
    """Rings, paths and sparse graphs; few biases, few driven units, units that receive nothing."""
    activation, biases = rng.choice(["tanh", "sigmoid", "softplus"]), rng.random() < 0.7
    n, m, d = rng.randint(1, 4), rng.randint(1, 4), rng.randint(1, 3)
    if rng.random() < 0.3:
        widths = tuple(rng.randint(1, 3) for _ in range(rng.randint(2, 3)))
        net = FeedForward(rng.randint(1, 2), widths, d, m, activation=activation, biases=biases)
        return net, _support(net, rng)
    b = rng.randint(1, 2)
    net = RNN(n, rng.randint(2, 5), b, d, m, activation=activation, biases=biases)
    W = np.zeros((n, n), int)
    style = rng.randrange(3)
    for i in range(n):
        if style < 2 and (style == 0 or i + 1 < n):
            W[(i + 1) % n, i] = 1
        elif style == 2:
            W[i] = [int(rng.random() < 0.4) for _ in range(n)]
    support = {"W": W, "B": np.zeros((n, b), int)}
    if rng.random() < 0.7:
        support["B"][rng.randrange(n)] = 1
    if biases:
        support["c"] = np.zeros((n, 1), int)
        for _ in range(rng.randint(0, 2)):
            support["c"][rng.randrange(n)] = 1
    return net, support


@pytest.mark.parametrize("seeds", more(range(30), range(1000, 3000)))
def test_structured_nets_agree_with_singular_values(seeds):
    """T up to 5, n or d = 1, more samples than weights, sums that none reaches; deficits abound."""
    deficient = 0
    for seed in seeds:
        rng = random.Random(f"structured/{seed}")
        net, support = _structured(rng)
        cells = all_cells(net, support)
        if not cells:
            continue
        some = sorted(rng.sample(cells, rng.randint(1, min(len(cells), net.outputs + 2))))
        for chosen in (cells, some):
            found = allocation_rank(Allocation.from_cells(net, chosen), support).rank
            with mpmath.workdps(60):
                values = _singular_values(net, support, chosen, rng)
                large = sum(v > mpmath.mpf(10) ** -30 for v in values)
                assert sum(v > mpmath.mpf(10) ** -48 for v in values) == large
            assert found == large, (net, support, chosen)
            deficient += large < min(len(chosen), net.outputs)
    assert deficient > len(seeds) / 2


@pytest.mark.parametrize("activation", ["tanh", "sigmoid", "softplus"])
def test_a_unit_may_stay_the_same_and_change_again(activation):
    """A ring of three with one bias: its unit depends on itself at every third stage.

    With tanh the sums are c, c, c, then another; with φ(0) ≠ 0 they change until every unit depends
    on a stage 0.
    """
    net = RNN(3, 7, 1, 1, 1, activation=activation, biases=True)
    p, rng = 2147483629, random.Random(0)
    weights = {name: np.zeros(shape, np.int64) for name, shape in net.shapes.items()}
    for i in range(3):
        weights["W"][(i + 1) % 3, i] = rng.randrange(1, p)
    weights["c"][0, 0] = rng.randrange(1, p)
    X = np.array([[rng.randrange(p)] for _ in range(7)])
    ring = net.modular(Point(p, 0, weights, X), net.program())
    sums = [int(a[0, 0]) for a in sums_in(net, ring, weights, X)]
    groups = [len(list(group)) for _, group in groupby(sums)]
    assert len(set(sums)) == len(groups)
    assert groups == ([3, 3, 1] if activation == "tanh" else [1] * 7)


def test_no_sum_is_opposite_to_another():
    """Opposite weights would make tanh(−a) = −tanh(a) matter: a special point, of smaller rank.

    The rank of a generic point is that of independent values; at the special one the columns of
    two units coincide.
    """
    net = FeedForward(1, (2,), 1, 2, activation="tanh")
    allocation = Allocation.from_cells(net, [("W2", 0, 0), ("W2", 0, 1)])
    assert allocation_rank(allocation).rank == 2
    X = np.array([[0.3, -1.1]])
    at = {"W1": np.array([[0.7], [-0.7]]), "W2": np.array([[1.0, 2.0]])}
    J = net.jacobian(at, X, allocation.cells)
    assert np.linalg.matrix_rank(J) == 1


def test_sums_meet_no_more_often_than_the_bound_says():
    """The frequency with which different sums of a unit are equal or 0, modulo a small prime."""
    net, p, met = RNN(2, 2, 1, 1, 2, activation="tanh"), 499, 0
    runs = 3000 if LONG else 1000
    rng = np.random.default_rng(0)
    for seed in range(runs):
        weights = {name: rng.integers(0, p, shape) for name, shape in net.shapes.items()}
        X = rng.integers(0, p, net.input_shape)
        ring = net.modular(Point(p, seed, weights, X), net.program())
        sums = np.concatenate(sums_in(net, ring, weights, X), axis=1)
        met += any(len(set(row) - {0}) < 4 for row in sums.tolist())
    assert 0.2 * net.formal_collisions / p < met / runs < net.formal_collisions / p


@pytest.fixture(scope="module")
def minimal():
    """A certificate that rests on ranks alone."""
    net = RNN(3, 2, 1, 1, 3, activation="tanh")
    found = certify(Problem(net, {"W": [[1, 1, 0], [0, 0, 0], [0, 0, 0]]}), timeout=20)
    return found.to_dict()


@pytest.mark.parametrize(
    ("evidence", "verdict", "place"),
    [
        ({"stuck_output": 0}, "minimal", "evidence.stuck_output"),
        ({"everything_learns": True}, "minimal", "evidence.everything_learns"),
        ({"everything_learns": True}, "maximal", "evidence.everything_learns"),
        ({"everything_learns": False}, "minimal", "evidence.everything_learns"),
        ({"labels_vanish": True}, "minimal", "evidence.network_rank"),
        ({"pattern": 0}, "minimal", "evidence.pattern"),
        ({"upper_bounds": True}, "minimal", "evidence.upper_bounds"),
    ],
)
def test_evidence_without_a_place(minimal, evidence, verdict, place):
    """It is refused, even if the certificate holds without it."""
    evidence = minimal["evidence"] | evidence
    found = verify(minimal | {"evidence": evidence, "verdict": verdict})
    assert [check.place for check in found.checks if check.status == "failed"] == [place]
    assert not found.holds
