"""Makes update_counts.json: real solutions of instances of small linear nets with updates.

Run from the top folder: ``python tests/data/make_update_counts.py``.  The problem of each number is
derived from the number alone; so is its instance of seed 0.  Equations are written by
SymPy from the formulas of the networks, with U = (I; U') of a low rank, and solved by msolve over
the rationals, without any elimination before.
"""

import json
import random
from pathlib import Path

import numpy as np
import sympy
from flint import fmpq, fmpq_mpoly_ctx

from algebra.polynomials.msolve.process import MsolveTimeout
from algebra.polynomials.msolve.solver import real_roots
from algebra.ranks.parametrized import learning_rank
from algebra.systems.equivalent_cells import as_cells
from matchprob import InputError, LinearFeedForward, LinearRNN, Problem
from numeric.trials.instances import draw_instance

FILE = Path(__file__).with_name("update_counts.json")
COUNT = 60
# Seconds for msolve; some of the larger ones take minutes, and are left out.
_SECONDS = 10


def problem(number):
    """A random problem with a low rank and finitely many solutions, most of no problem of cells."""
    rng = random.Random(f"update counts/{number}")
    while True:
        n, T, b, d, m = (rng.randint(*ends) for ends in ((2, 3), (2, 3), (1, 2), (1, 3), (1, 4)))
        net = rng.choice(
            [
                LinearRNN(n=n, T=T, b=b, d=d, m=m),
                LinearRNN(n=n, T=T, b=b, d=d, m=m),
                LinearFeedForward(q=n, widths=(rng.randint(2, 3),), d=d, m=m),
            ]
        )
        names = rng.sample(list(net.shapes), rng.randint(1, 2))
        learnable = {names[0]: {"lora": 1}}
        for name in names[1:]:
            rows, columns = net.shapes[name]
            tied = [[rng.randint(0, 2) for _ in range(columns)] for _ in range(rows)]
            learnable[name] = rng.choice([{"gain": "rows"}, {"gain": "columns"}, {"tied": tied}])
        try:
            learning = Problem(net, learnable).learning
        except InputError:
            continue
        simple = number % 10 > 0 and as_cells(Problem(net, learnable)).masks
        if not simple and learning_rank(learning).rank == learning.dimension == net.outputs <= 5:
            return Problem(net, learnable)


def labels(net, weights, X):
    """The labels by the networks' formulas."""
    if isinstance(net, LinearRNN):
        h = np.zeros((net.n, net.m), object)
        for t in range(net.T):
            h = weights["W"].dot(h) + weights["B"].dot(X[t * net.b : (t + 1) * net.b])
        return weights["D"].dot(weights["W"].dot(h))
    for name in reversed(list(net.shapes)):
        X = weights[name].dot(X)
    return X


def equations(asked, number):
    """The labels of a student minus the teacher's, over Q."""
    net, instance = asked.network, draw_instance(asked, 0, number)
    exact = np.frompyfunc(lambda v: sympy.Rational(*float(v).as_integer_ratio()), 1, 1)
    X = exact(instance.X)
    teacher = {name: exact(instance.teacher[name]) for name in net.shapes}
    weights = {name: exact(instance.weights[name]) for name in net.shapes}
    unknowns = sympy.symbols(f"t:{asked.learning.dimension}")
    left = iter(unknowns)
    for name, update in asked.updates.items():
        W, (rows, columns) = weights[name], net.shapes[name]
        if update.keyword == "lora":
            U = np.array([1, *(next(left) for _ in range(rows - 1))], object)
            V = np.array([next(left) for _ in range(columns)], object)
            weights[name] = W + np.outer(U, V)
        elif update.keyword == "gain":
            along = rows if update.line == "rows" else columns
            g = np.array([next(left) for _ in range(along)], object)
            weights[name] = (g[:, None] if update.line == "rows" else g) * W
        else:
            numbers = np.array(update.numbers)
            for number in sorted(set(numbers.ravel().tolist()) - {0}):
                W = W + next(left) * (numbers == number).astype(int)
            weights[name] = W
    ring = fmpq_mpoly_ctx.get([str(t) for t in unknowns], "degrevlex")
    found = []
    for difference in (labels(net, weights, X) - labels(net, teacher, X)).ravel():
        terms = sympy.Poly(difference, *unknowns).terms()
        found.append(ring.from_dict({m: fmpq(int(c.p), int(c.q)) for m, c in terms}))
    return found


def main():
    """Write the file."""
    out = []
    for number in range(COUNT):
        try:
            roots = real_roots(equations(problem(number), number), timeout=_SECONDS)
            out.append([len(roots.roots), roots.complex])
        except MsolveTimeout:
            out.append(None)
        print(number, problem(number), out[-1], flush=True)
    FILE.write_text(json.dumps(out) + "\n")


if __name__ == "__main__":
    main()
