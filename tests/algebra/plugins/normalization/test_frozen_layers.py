"""Several frozen layers for one layer of the target (docs/normalization.md, Theorem 15)."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

import matchprob as mp
from algebra.families.equations import written_form
from algebra.plugins.normalization.certify import theorem_1
from algebra.plugins.normalization.inspect import lemma_equations, lemma_systems
from algebra.problems.files import problem_from_dict
from benchmarks.bench_frozen_depth import discriminant, frozen_layers, problem
from tests.refusals import refuses

DATA = Path(__file__).parents[3] / "data"


def integers(seed: int, count: int) -> list[np.ndarray]:
    """Invertible 2 × 2 matrices without zeros, of fractions."""
    rng = np.random.default_rng(seed)
    found: list[np.ndarray] = []
    while len(found) < count:
        M = rng.integers(1, 10, (2, 2)) * rng.choice([-1, 1], (2, 2))
        if M[0, 0] * M[1, 1] != M[0, 1] * M[1, 0]:
            found.append(np.array([[Fraction(int(x)) for x in row] for row in M]))
    return found


def diagonal(a: Fraction, b: Fraction) -> np.ndarray:
    return np.array([[a, Fraction(0)], [Fraction(0), b]])


def solved(A: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """The solution of two linear equations."""
    (a, b), (c, d) = A
    e, f = right
    return [(e * d - b * f) / (a * d - b * c), (a * f - e * c) / (a * d - b * c)]


def inverse(M: np.ndarray) -> np.ndarray:
    (a, b), (c, d) = M
    return np.array([[d, -b], [-c, a]]) / (a * d - b * c)


@pytest.mark.parametrize(
    ("frozen", "rank"), [(2, 2), (3, 3), (4, 4), pytest.param(5, 4, marks=pytest.mark.long)]
)
def test_up_to_three_layers_are_minimal(frozen, rank):
    """Scales up to factors that cancel: one for each layer more."""
    found = mp.certify(problem(2, 2, frozen), timeout=2)
    assert found.rank == rank
    assert (found.verdict == "minimal") == (frozen < 4)


@pytest.mark.parametrize(("seed", "real"), [(0, 2), (1, 2), (2, 2), (21, 0), (35, 0), (36, 0)])
def test_four_layers_realize_some_targets_and_not_others(seed, real):
    """SymPy's real solutions, two scales fixed, are those that the discriminant says."""
    *frozen, target = integers(seed, 5)
    a, b, c, d = sp.symbols("a b c d")
    W1, W2, W3, W4, goal = (sp.Matrix(2, 2, [sp.Rational(x) for x in M.ravel()])
                            for M in (*frozen, target))  # fmt: skip
    made = W4 * sp.diag(1, c) * W3 * sp.diag(a, b) * W2 * sp.diag(1, d) * W1
    basis = sp.groebner(list(made - goal), a, b, c, d, order="lex")
    assert basis.is_zero_dimensional
    last = sp.Poly(basis.exprs[-1], d)
    assert last.degree() == 2
    value = discriminant(np.array(frozen, float), np.array(target, float))
    assert last.count_roots() == real == (2 if value > 0 else 0)


@pytest.mark.parametrize("seed", range(20))
def test_five_layers_realize_every_target_by_rational_scales(seed):
    """The theorem's formulas, multiplied out over the rationals."""
    W1, W2, W3, W4, W5, target = integers(seed, 6)
    P = inverse(W5) @ target @ inverse(W1)
    r = -W4[0, 0] * W3[0, 0] / (W4[0, 1] * W3[1, 0])
    B = W4 @ diagonal(Fraction(1), r) @ W3
    assert B[0, 0] == 0
    v1, v2 = W2
    t, second = solved([[Fraction(0), B[0, 1] * v2[0]], [-P[0, 1], B[0, 1] * v2[1]]],
                       [P[0, 0], Fraction(0)])  # fmt: skip
    s, first = solved([[P[1, k] * (1, t)[k], -B[1, 0] * v1[k]] for k in range(2)],
                      [B[1, 1] * second * v2[k] for k in range(2)])  # fmt: skip
    made = (W5 @ diagonal(Fraction(1), 1 / s) @ W4 @ diagonal(Fraction(1), r) @ W3
            @ diagonal(first, second) @ W2 @ diagonal(Fraction(1), 1 / t) @ W1)  # fmt: skip
    assert (made == target).all()


@pytest.mark.parametrize(
    ("d", "w", "frozen"),
    [
        *((2, 2, 2), (2, 2, 3), (2, 4, 3), (3, 3, 3), (3, 4, 3)),
        *(
            pytest.param(*cell, marks=pytest.mark.long)
            for cell in ((2, 2, 5), (2, 3, 3), (3, 6, 3))
        ),
    ],
)
def test_the_problem_file_has_the_verdicts_of_diagonal_matrices(d, w, frozen):
    """Kind normnet with a list of hidden widths: the verdict of the linear network, verified."""
    found, other = mp.certify(frozen_layers(d, w, frozen)), mp.certify(problem(d, w, frozen))
    assert found.verdict == other.verdict != "undecided"
    # The d shifts of the target, which the last shifts realize, are not in the other network.
    assert (found.rank - d, found.equations - d) == (other.rank, d * d)
    assert mp.verify(found).holds


def test_trials_of_four_layers_match_where_the_discriminant_is_not_negative():
    """d = w = 2, drawn instances: fixed scales do not change its sign."""
    case = frozen_layers(2, 2, 4)
    found = mp.count(case, instances=40)
    wanted = []
    for index in range(40):
        drawn = mp.draw_instance(case, 0, index)
        W = np.array([drawn.weights[f"W{k}"] for k in range(1, 5)])
        target = drawn.teacher["T1"] / drawn.weights["g4"]
        wanted.append(2 if discriminant(W, target) > 0 else 0)
    assert [count.real for count in found.instances] == wanted
    assert set(wanted) == {0, 2}


def test_a_given_instance_has_exact_scales():
    """`count --instance` encloses the scales and proves their polynomials; the product is W*."""
    W1, W2, W3, W4, target = integers(0, 5)
    names = [f"{letter}{k}" for k in (1, 2, 3, 4) for letter in "gb"]
    weights = {name: [[1], [1]] if name[0] == "g" else [[0], [0]] for name in names}
    frozen = {
        f"W{k}": [[str(x) for x in row] for row in W] for k, W in enumerate((W1, W2, W3, W4), 1)
    }
    own = {
        "weights": weights | frozen,
        "samples": {"X": [[1, 0, 0, 1], [0, 1, 0, 1]]},
        "teacher": {"T1": [[str(x) for x in row] for row in target], "t1": [[0], [0]]},
    }
    case = frozen_layers(2, 2, 4)
    case = mp.Problem(mp.NormNet((2, 2), ((2, 2, 2),), 4, "linear"), case.allocation.masks)
    found = mp.count(case, instance=own)
    (count,) = found.instances
    assert (count.real, count.complex, count.status) == (2, 2, "complete")
    cells = [f"{name}[{i}]" for name, i, _ in case.allocation.cells]
    for box, polynomials in zip(count.boxes, mp.minimal_polynomials(found)[0], strict=True):
        values = dict(zip(cells, box, strict=True))
        for polynomial, (low, high) in zip(polynomials, box, strict=True):
            ends = [polynomial(fmpq(x.numerator, x.denominator)) for x in (low, high)]
            assert ends == [0, 0] or ends[0] * ends[1] < 0
        middle = {name: (low + high) / 2 for name, (low, high) in values.items()}
        made = (W4 @ diagonal(middle["g3[0]"], middle["g3[1]"]) @ W3
                @ diagonal(Fraction(1), middle["g2[1]"]) @ W2
                @ diagonal(Fraction(1), middle["g1[1]"]) @ W1)  # fmt: skip
        assert np.abs(made - target).max() < Fraction(1, 10**6)


def test_the_product_is_written_and_counted():
    """Equations of a block of three layers are entries of its product; Theorem 1 says nothing."""
    net = mp.NormNet((1, 2), ((2, 1),), 1)
    W1, W2, W3 = (sp.Matrix(r, c, lambda i, j, k=k: sp.Symbol(f"W{k}_{i}_{j}"))
                  for k, r, c in ((1, 2, 1), (2, 1, 2), (3, 2, 1)))  # fmt: skip
    wanted = W3 * sp.Symbol("g2_0") * W2 * sp.diag(*sp.symbols("g1_:2")) * W1
    found = lemma_equations(net)
    assert all(
        sp.expand(a + sp.Symbol(f"T1_{k}_0") - b) == 0
        for k, ((_, a), b) in enumerate(zip(found, wanted, strict=True))
    )
    case = mp.Problem(net, {"g1": "all", "b3": "all"})
    (system,) = lemma_systems(case.allocation)
    assert "W3 G2 W2 G1 W1 = T1: 2 equations in 3 scales, 2 learnable" in str(system)
    assert theorem_1(case) == "silent"
    long = mp.Problem(mp.NormNet((3, 3), ((40, 40, 40),), 4), {"g1": "all"})
    refuses("lemma form.*too many", written_form, long.allocation, "lemma")


def test_construct_says_what_there_is_for_more_layers():
    """A frozen network of four layers for a target of one is refused, with the remedy."""
    frozen = [W.astype(float) for W in integers(0, 4)]
    refuses("4 layers.*needs 2.*count --instance", mp.construct, [np.eye(2)], frozen)
    refuses("4 layers.*needs 2.*rank", mp.construct, [np.eye(2)], frozen, exact=True)


@pytest.mark.long
def test_a_section_by_a_shift_has_an_odd_number_of_points():
    """d = 3, w = 4, L = 4: parts without one scale are even, without one shift odd: MP = 1."""
    case = frozen_layers(3, 4, 4)
    found = mp.certify(case)
    assert found.verdict == "maximal"
    assert mp.verify(found).holds
    counts = {}
    for name in ("g3", "b4"):
        masks = {n: m.copy() for n, m in case.allocation.masks.items()}
        masks[name][0] = 0
        counts[name] = mp.certify(mp.Problem(case.network, masks), search=0).generic_root_count
    assert counts["g3"] % 2 == 0
    assert counts["b4"] == 87


@pytest.mark.parametrize(("case", "cell"), [(frozen_layers, (3, 5, 3)), (problem, (3, 3, 5))])
def test_a_stored_instance_has_no_match(case, cell):
    """20 and 18 complex solutions, none real; another target is not that instance."""
    name = "frozen_layers_{}_{}_{}.json.gz".format(*cell)
    stored = json.loads(gzip.decompress((DATA / name).read_bytes()))
    found = mp.verify(stored)
    assert (found.holds, found.verdict) == (True, "intermediate")
    assert problem_from_dict(stored["problem"]) == case(*cell)
    evidence = stored["evidence"]
    evidence = evidence["lowered"]["evidence"] if "lowered" in evidence else evidence
    evidence["enclosed_solutions"]["teacher"]["W6"][0][0] = "1"
    assert not mp.verify(stored).holds
