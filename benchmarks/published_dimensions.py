r"""Published dimensions of sets of functions, computed again.

Each row is a network, its dimension by a theorem or a table, and the source.  Formulas are in this
file; the dimension is computed as the generic rank of the Jacobian (`matchprob.dimension`).

AH   J. Alexander, A. Hirschowitz, "Polynomial interpolation in several variables", J. Algebraic
     Geom. 4 (1995): sums of k powers of linear forms
CC   E. Carlini, J. Chipalkatti, "On Waring's problem for several algebraic forms", Comment. Math.
     Helv. 78 (2003): pairs of quadrics
O    G. Ottaviani, "An invariant regarding Waring's problem for cubic polynomials", Nagoya Math. J.
     193 (2009): three quadrics in four variables, of rank 5
KTB  J. Kileel, M. Trager, J. Bruna, NeurIPS 2019: examples with a defect
F    B. Finkel, J. I. Rodriguez, C. Wu, T. Yahl, Algebraic Statistics 16 (2025): all widths equal
D    matrices of bounded rank: linear networks
K    K. Kohn, T. Merkh, G. Montúfar, M. Trager, "Geometry of linear convolutional networks", SIAM J.
     Appl. Algebra Geom. 6 (2022)
S    V. Shahverdi, G. Marchetti, K. Kohn, AISTATS 2025: convolutions with powers between them
H    N. Henry, G. Marchetti, K. Kohn, ICLR 2025: attention; of several layers with softmax it is
     their conjecture
Su   H. Sussmann, Neural Networks 5 (1992): one hidden layer of tanh
Fe   C. Fefferman, Rev. Mat. Iberoamericana 10 (1994): deep tanh networks
G    J. E. Grigsby, K. Lindsey, R. Meyerhoff, C. Wu, "Functional dimension of feedforward ReLU
     neural networks" (2022), and J. E. Grigsby, K. Lindsey, D. Rolnick, ICML 2023: the largest, of
     networks with no layer narrower than the inputs

    python benchmarks/published_dimensions.py      # the table as CSV; status 1 if a row differs
"""

from __future__ import annotations

import csv
import itertools
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.plugins.models.capacity import whole_rank
from algebra.plugins.models.dimension import dimension_of
from algebra.programs.generic import Model
from algebra.programs.program import Builder, Program, Value
from numeric.programs.patterns import drawn_patterns


@dataclass(frozen=True)
class Row:
    """A published dimension.

    Attributes
    ----------
    source : str
    what : str
    published : int
    find : callable
        Computes it.
    """

    source: str
    what: str
    published: int
    find: Callable[[], int]


def power_network(sizes: tuple[int, ...], r: int) -> FeedForward:
    """Widths with inputs and outputs, activation x^r, no biases."""
    activation = {"polynomial": [0] * r + [1]}
    return FeedForward(q=sizes[0], widths=sizes[1:-1], d=sizes[-1], m=1, activation=activation)


def _power(source: str, sizes: tuple[int, ...], r: int, published: int) -> Row:
    return Row(
        source, f"x^{r}, widths {sizes}", published,
        lambda: dimension_of(power_network(sizes, r)).dimension,
    )  # fmt: skip


# Defective powers above squares: (n, k, r) to the dimension.
EXCEPTIONS = {(3, 5, 4): 14, (4, 9, 4): 34, (5, 14, 4): 69, (5, 7, 3): 34}


def sums_of_powers(n: int, k: int, r: int) -> int:
    """Dimension of the sums of k r-th powers of linear forms in n variables."""
    if r == 2:
        rank = min(n, k)
        return n * rank - math.comb(rank, 2)
    return EXCEPTIONS.get((n, k, r), min(n * k, math.comb(n + r - 1, r)))


def _waring() -> Iterator[Row]:
    for r, n in itertools.product(range(2, 7), range(2, 6)):
        fills = -(-math.comb(n + r - 1, r) // n) + 1
        for k in range(1, min(fills, 17) + 1):
            yield _power("AH", (n, k, 1), r, sums_of_powers(n, k, r))
    for n, k in itertools.product(range(1, 6), range(1, 8)):
        yield _power("CC", (n, k, 2), 2, min(k * (n + 1), n * (n + 1)))
    yield _power("O", (4, 5, 3), 2, 29)


def _deep_powers() -> Iterator[Row]:
    for sizes, published in {(5, 5, 3, 1): 32, (4, 5, 5, 3, 1): 47, (5, 4, 3, 1): 25}.items():
        yield _power("KTB", sizes, 2, published)
    for d, layers, r in itertools.product(range(2, 6), range(2, 5), range(2, 5)):
        if d * layers <= 12:
            degree = r ** (layers - 1)
            ambient = d * math.comb(d + degree - 1, degree)
            published = min(layers * d * d - (layers - 1) * d, ambient)
            yield _power("F", (d,) * (layers + 1), r, published)


def _matrices() -> Iterator[Row]:
    for q, n, d in itertools.product(range(1, 6), repeat=3):
        rank = min(q, n, d)
        yield Row(
            "D", f"linear, widths {(q, n, d)}", rank * (q + d - rank),
            lambda q=q, n=n, d=d: dimension_of(
                LinearFeedForward(q=q, widths=(n,), d=d, m=1)
            ).dimension,
        )  # fmt: skip


def convolutions(filters: tuple[int, ...], r: int) -> Program:
    """One channel, stride 1, inputs for exactly one label; x^r between the layers."""
    build = Builder()
    size = 1 + sum(k - 1 for k in filters)
    value = build.sample("x", (size,))
    for layer, k in enumerate(filters):
        size -= k - 1
        patches = build.index(np.arange(size)[:, None] + np.arange(k), value)
        value = build.contract("ik,k->i", patches, build.weight(f"w{layer}", (k,)))
        if layer < len(filters) - 1:
            value = build.power(value, r)
    return build.program(value)


def attention(layers: int, d: int, a: int, softmax: bool, t: int = 3) -> Program:
    """Single-headed self-attention without a residual, t steps of d features; keys of size a."""
    build = Builder()
    x = build.sample("x", (t, d))
    for layer in range(layers):
        q, k = (build.weight(f"{name}{layer}", (a, d)) for name in "QK")
        v = build.weight(f"V{layer}", (d, d))
        scores = build.contract("ae,se,ad,td->st", q, x, k, x)
        if softmax:
            scores = _shares(build, scores, t)
        x = build.contract("st,de,te->sd", scores, v, x)
    return build.program(build.reshaped(x, (t * d,)))


def _shares(build: Builder, scores: Value, t: int) -> Value:
    powers = build.apply("exp", scores)
    total = build.invert(build.contract("st->s", powers))
    return build.multiply(powers, build.repeated(build.reshaped(total, (t, 1)), (t, t)))


def attention_dimension(layers: int, d: int, a: int, softmax: bool) -> int:
    """The formula of Henry, Marchetti and Kohn for layers of one width.

    V and KᵀQ of a layer without softmax share a scale, c·V and KᵀQ/c: one less for each layer.
    A matrix between the layers is shared by the two: V of one, and K, Q, V of the next.
    """
    each = a * (2 * d - a) + d * d - (0 if softmax else 1)
    return layers * each - (layers - 1) * d * d


def rank_of(program: Program, seed: int = 0) -> int:
    """The generic rank of a program's Jacobian, with samples added while the rank increases."""
    return whole_rank(Model(program), tuple(program.weights), seed)[0]


def _programs() -> Iterator[Row]:
    shapes = [f for count in (2, 3) for f in itertools.product(range(2, 5), repeat=count)]
    shapes += list(itertools.product((2, 3), repeat=4))
    for filters, r in itertools.product(shapes, (1, 2, 3)):
        if r ** (len(filters) - 1) <= 9:
            yield Row(
                "K" if r == 1 else "S", f"convolutions, x^{r}, filters {filters}",
                sum(filters) - len(filters) + 1,
                lambda f=filters, r=r: rank_of(convolutions(f, r)),
            )  # fmt: skip
    for layers, d in ((1, 2), (1, 3), (1, 4), (1, 5), (2, 2), (2, 3)):
        for a, softmax in itertools.product(range(1, d + 1), (False, True)):
            yield Row(
                "H", f"{'softmax' if softmax else 'lightning'} attention, {layers} layers, "
                f"d = {d}, a = {a}", attention_dimension(layers, d, a, softmax),
                lambda v=(layers, d, a, softmax): rank_of(attention(*v)),
            )  # fmt: skip


def relu_network(sizes: tuple[int, ...]) -> Program:
    """Widths with inputs and outputs, biases."""
    build = Builder()
    x = build.sample("x", (sizes[0],))
    for layer, (q, n) in enumerate(itertools.pairwise(sizes), 1):
        x = build.contract("ij,j->i", build.weight(f"W{layer}", (n, q)), x)
        x = build.add(x, build.weight(f"b{layer}", (n,)))
        if layer < len(sizes) - 1:
            x = build.choose(x, x, build.scale(x, 0))
    return build.program(x)


def relu_rank(sizes: tuple[int, ...], bound: int, draws: int = 400) -> int:
    """The largest rank on drawn activation patterns."""
    program, best = relu_network(sizes), 0
    for seed in range(draws):
        model = Model(program, patterns=drawn_patterns(program, seed=seed))
        best = max(best, whole_rank(model, tuple(program.weights), seed)[0])
        if best == bound:
            break
    return best


def _analytic() -> Iterator[Row]:
    for q, n, d in itertools.product(range(1, 5), range(1, 6), range(1, 4)):
        yield _tanh("Su", (q, n, d))
    for sizes in ((2, 3, 2, 1), (1, 2, 3, 1), (3, 4, 4, 2), (2, 2, 2, 2, 1)):
        yield _tanh("Fe", sizes)
    shallow = itertools.product(range(1, 4), range(1, 6), range(1, 3))
    deep = ((2, 3, 3, 1), (3, 3, 3, 2), (1, 2, 2, 1), (2, 2, 2, 2, 1))
    for sizes in (*(s for s in shallow if s[0] <= s[1]), *deep):
        weights = sum((q + 1) * n for q, n in itertools.pairwise(sizes))
        bound = weights - sum(sizes[1:-1])
        yield Row("G", f"ReLU, widths {sizes}", bound,
                  lambda s=sizes, b=bound: relu_rank(s, b))  # fmt: skip


def _tanh(source: str, sizes: tuple[int, ...]) -> Row:
    net = FeedForward(q=sizes[0], widths=sizes[1:-1], d=sizes[-1], m=1, activation="tanh",
                      biases=True)  # fmt: skip
    return Row(source, f"tanh, widths {sizes}", net.parameters, lambda: dimension_of(net).dimension)


def rows() -> list[Row]:
    """All rows."""
    parts = (_waring, _deep_powers, _matrices, _programs, _analytic)
    return [row for part in parts for row in part()]


def main() -> int:
    """Write the table; status 1 if a row differs."""
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["source", "network", "published", "found"])
    wrong, count, start = 0, 0, time.process_time()
    for row in rows():
        found = row.find()
        out.writerow([row.source, row.what, row.published, found])
        wrong += found != row.published
        count += 1
    spent = time.process_time() - start
    print(f"{count} dimensions, {wrong} differ, {spent:.0f} s of CPU", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
