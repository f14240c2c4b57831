"""Verdicts on circuits with learnable gains, biases and leaks, compared with 60-digit ranks.

Run: ``python benchmarks/bench_circuits.py [--cases 100] [--large]``.

A case is a recurrent network of 100 neurons with few synapses, with tanh, the sigmoid or softplus,
leaks (one number, one for each neuron, or weights) and labels at the last or at all steps; gains,
biases and leaks of some neurons, or of cell types, learn.  Two ranks, of the network and of its
learnable parameters, are computed modulo primes, and independently here: states and derivatives in
400 bits by a loop over steps in this file (python-flint), and the eigenvalues of J Jᵀ by mpmath, of
which those above 10^-45 of the largest count.  Both pairs decide the verdict "MP = 0".

``--large``: time and memory of one verdict of n = 300, T = 20, 60 samples, labels at all steps.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from typing import Any

import mpmath
import numpy as np
from flint import arb, arb_mat, ctx

from algebra.networks.rnn import RNN
from algebra.problems.cell_types import Types
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import network_rank
from algebra.ranks.parametrized import learning_rank
from matchprob.api.certify import certify

_BITS, _DIGITS, _SMALL = 400, 60, 45


def case(seed: int, n: int = 100) -> Problem:
    """A random circuit and its learnable parameters."""
    rng = random.Random(f"circuit/{seed}")
    leak = rng.choice(
        ["1/2", "0.3", "learnable", [rng.choice(["1/2", "1/3", 1]) for _ in range(n)]]
    )
    net = RNN(
        n=n, T=rng.randint(1, 4), b=rng.randint(1, 2), d=rng.randint(1, 2), m=rng.randint(2, 3),
        activation=rng.choice(["tanh", "sigmoid", "softplus"]), biases=True, leak=leak,
        read=rng.choice(["last", "all"]),
    )  # fmt: skip
    presynaptic, reads = rng.choice([1, 2, 5]), rng.choice([1, 2, 3])
    # Units without presynaptic units are constant if they have no input.
    isolated, driven = rng.choice([0, 0, 0.5]), rng.choice([0.02, 0.3])
    support = {name: np.zeros(net.shapes[name], np.int8) for name in ("W", "B", "D")}
    for i in range(n):
        support["W"][i, rng.sample(range(n), presynaptic)] = rng.random() >= isolated
        support["B"][i] = [rng.random() < driven for _ in range(net.b)]
    for row in support["D"]:
        row[rng.sample(range(n), reads)] = 1
    some = {name: [[int(rng.random() < 0.5)] for _ in range(n)] for name in ("c", "leak")}
    learnable: dict[str, Any] = {"W": {"gain": "rows"}, "c": some["c"], "e": [[0]] * net.d}
    if leak == "learnable":
        learnable["leak"] = some["leak"]
    if rng.random() < 0.5:
        types = Types(net, {"neurons": [rng.choice("ABCDE") for _ in range(n)]})
        plain = Problem(net, learnable, support)
        learnable = {name: types.together(name, v) for name, v in plain.learnable.items()}
    return Problem(net, learnable, support)


def ranks_in_digits(problem: Problem, seed: int) -> tuple[int, int]:
    """The ranks of the network and of its learnable parameters, at a random point in 400 bits."""
    before, ctx.prec = ctx.prec, _BITS
    try:
        return _ranks(problem, random.Random(f"digits/{seed}"))
    finally:
        ctx.prec = before


def _ranks(problem: Problem, rng: random.Random) -> tuple[int, int]:
    net = problem.network
    assert isinstance(net, RNN)
    n, m = net.n, net.m

    def drawn(shape: tuple[int, int], mask: Any = None) -> arb_mat:
        keep = np.ones(shape) if mask is None else mask
        entries = [
            arb(rng.choice((-1, 1)) * rng.randint(1, 31)) / 16 * int(keep[cell])
            for cell in np.ndindex(shape)
        ]
        return arb_mat(*shape, entries)

    w = {name: drawn(shape, problem.support.get(name)) for name, shape in net.shapes.items()}
    if "leak" in w:
        rates = [arb(rng.randint(1, 15)) / 16 for _ in range(n)]
    else:
        given = [1] if net.leak == 1 else net.leak
        rates = [arb(r.numerator) / r.denominator for r in given] * (n // len(given))
    φ = {
        "tanh": lambda a: (a.tanh(), 1 - a.tanh() ** 2),
        "sigmoid": lambda a: (1 / (1 + (-a).exp()), 1 / (2 + a.exp() + (-a).exp())),
        "softplus": lambda a: ((1 + a.exp()).log(), 1 / (1 + (-a).exp())),
    }[net.activation.name]
    steps: list[dict[str, Any]] = []
    h = arb_mat(n, m)
    for _ in range(net.T):
        x = drawn((net.b, m))
        u = h + w["B"] * x
        current = w["W"] * u
        pairs = [[φ(current[i, k] + w["c"][i, 0]) for k in range(m)] for i in range(n)]
        moved = [[pairs[i][k][0] - h[i, k] for k in range(m)] for i in range(n)]
        slopes = [[rates[i] * pairs[i][k][1] for k in range(m)] for i in range(n)]
        h = arb_mat([[h[i, k] + rates[i] * moved[i][k] for k in range(m)] for i in range(n)])
        steps.append({"x": x, "u": u, "current": current, "moved": moved, "slope": slopes, "h": h})
    own, whole = [], []
    masks = [problem.learnable.get(name) for name in ("W", "c", "leak")]
    transposed = w["W"].transpose()
    for last in range(net.T) if net.reads_all else [net.T - 1]:
        for k in range(net.d):
            left = arb_mat([[w["D"][k, i]] * m for i in range(n)])
            gains, biases, leaks = ([[arb(0)] * m for _ in range(n)] for _ in range(3))
            terms: list[tuple[Any, ...]] = []
            for t in range(last, -1, -1):
                at = steps[t]
                delta = arb_mat(
                    [[left[i, s] * at["slope"][i][s] for s in range(m)] for i in range(n)]
                )
                for i in range(n):
                    for s in range(m):
                        gains[i][s] += delta[i, s] * at["current"][i, s]
                        biases[i][s] += delta[i, s]
                        leaks[i][s] += left[i, s] * at["moved"][i][s]
                back = transposed * delta
                terms.append((delta, at["u"], back, at["x"]))
                left = arb_mat(
                    [[back[i, s] + left[i, s] * (1 - rates[i]) for s in range(m)] for i in range(n)]
                )
            for s in range(m):
                columns = [[gains[i][s] for i in range(n)], [biases[i][s] for i in range(n)]]
                columns.append([leaks[i][s] for i in range(n)])
                row = [
                    v for c, learns in zip(columns, masks, strict=True) for v in _parts(c, learns)
                ]
                own.append(row)
                whole.append((k, s, steps[last]["h"], columns, terms))
    return _rank(_gram(own)), _rank(_whole_gram(whole, problem, "leak" in w))


def _parts(values: list[Any], learns: Any) -> list[Any]:
    """Derivatives by gains, biases or leaks, summed by group."""
    if learns is None:
        return []
    if isinstance(learns, np.ndarray):
        return [v for v, on in zip(values, learns[:, 0], strict=True) if on]
    numbers = getattr(learns, "groups", None)
    if learns.keyword == "tied":
        numbers = [row[0] for row in learns.numbers]
    if numbers is None:
        return values
    kinds = sorted(set(numbers) - {0})
    return [sum((v for v, g in zip(values, numbers, strict=True) if g == kind), arb(0))
            for kind in kinds]  # fmt: skip


def _gram(rows: list[list[Any]]) -> list[list[Any]]:
    J = arb_mat(len(rows), len(rows[0]), [v for row in rows for v in row])
    product = J * J.transpose()
    return [[product[i, j] for j in range(len(rows))] for i in range(len(rows))]


def _whole_gram(rows: list[Any], problem: Problem, rates: bool) -> list[list[Any]]:
    """J Jᵀ over all weights that exist: W, B, D and c, e, with leaks that are weights."""
    net, flat = problem.network, []
    assert isinstance(net, RNN)
    exists = {name: np.argwhere(problem.support[name]).tolist() for name in ("W", "B", "D")}
    for k, s, h, columns, terms in rows:
        row = [
            sum((delta[i, s] * u[j, s] for delta, u, _, _ in terms), arb(0)) for i, j in exists["W"]
        ]
        row += [
            sum((back[i, s] * x[j, s] for _, _, back, x in terms), arb(0)) for i, j in exists["B"]
        ]
        row += [h[j, s] if i == k else arb(0) for i, j in exists["D"]]
        row += columns[1] + [arb(int(i == k)) for i in range(net.d)]
        flat.append(row + (columns[2] if rates else []))
    return _gram(flat)


def _rank(gram: list[list[Any]]) -> int:
    """The number of eigenvalues that are not 0, in 60 digits."""
    mpmath.mp.dps = _DIGITS
    size = len(gram)
    table = mpmath.matrix(size, size)
    for i in range(size):
        for j in range(size):
            table[i, j] = mpmath.mpf(gram[i][j].mid().str(_DIGITS + 20, radius=False))
    scale = [mpmath.sqrt(table[i, i]) or mpmath.mpf(1) for i in range(size)]
    for i in range(size):
        for j in range(size):
            table[i, j] /= scale[i] * scale[j]
    values = mpmath.mp.eigsy(table, eigvals_only=True)
    top = max(abs(v) for v in values)
    return sum(1 for v in values if abs(v) > top * mpmath.mpf(10) ** -_SMALL) if top else 0


def compare(seed: int, n: int = 100) -> tuple[bool, bool, tuple[int, int], tuple[int, int]]:
    """Whether ranks are exact, whether "MP = 0", and both pairs of ranks (network, learnable)."""
    problem = case(seed, n)
    whole = network_rank(problem.network, problem.support).rank
    own = learning_rank(problem.learning, whole).rank
    there = ranks_in_digits(problem, seed)[::-1]
    exact = problem.network.ranks_are_exact(problem.support)
    return exact, own < whole, (whole, own), there


def large() -> None:
    """One verdict at n = 300."""
    for leak, learns in (("0.1", ()), ("learnable", ("leak",))):
        net = RNN(n=300, T=20, b=2, d=1, m=60, biases=True, leak=leak, read="all")
        learnable: dict[str, Any] = {
            "W": {"gain": "rows"},
            "c": "all",
            **dict.fromkeys(learns, "all"),
        }
        start = time.process_time()
        found = certify(Problem(net, learnable))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"n = 300, leak {leak}: {found.verdict}, rank {found.rank} of {found.equations}, "
              f"{time.process_time() - start:.1f} s of CPU, {memory:.0f} MB so far")  # fmt: skip


def main() -> None:
    """Print the number of cases that agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    if options.large:
        large()
        return
    agree = minimal = bounds = wide = 0
    start = time.process_time()
    for seed in range(options.cases):
        exact, is_minimal, here, there = compare(seed)
        agree += here == there
        minimal += is_minimal
        wide += here[1] < min(case(seed).learning.dimension, here[0])
        bounds += not exact
        if here != there:
            print(f"case {seed}: {here} here, {there} in digits; called exact: {exact}")
    print(
        f"{agree} of {options.cases} agree: {minimal} minimal, {wide} of a rank that counting does "
        f"not give, {bounds} upper bounds only; {time.process_time() - start:.0f} s of CPU"
    )


if __name__ == "__main__":
    main()
