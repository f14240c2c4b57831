"""Numbers that may predict a match probability, chosen on half of the classes, tried on the others.

Reads what ``matchprob audit N.toml --principles --json`` printed for several networks.  To the
numbers in it are added the bound of Theorem 3 of docs/maximal.md, and two means over 200 drawn
instances: of log σ_min and of log σ_min/σ_max of the Jacobian of the labels with respect to the
learnable weights at the weights drawn (central differences).  The number of real solutions at
infinity differs from instance to instance: without one label the matches of an instance are a
curve, on whose real branches that label tends to +∞ or to −∞.  Their number is that of the real
solutions with this label far away (± 10⁴); its mean over 20 instances is the predictor, and beside
it the share of instances and signs that have a branch.  Both solve equations, so that they are
compared with the share of matches in 40 trials with the drawn labels, which is never chosen.  All
three have instances of their own (seed 1).  Printed are Kendall's τ of each
number for each network, and for 400 random divisions of all classes into halves: which number
(with which sign) has the highest mean τ on one half, and its mean τ on the other half beside that
of rows.

    python benchmarks/predictors.py a.json b.json …
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from math import comb, prod
from pathlib import Path

import numpy as np

import matchprob  # noqa: F401 (registers the kinds)
from algebra.networks.kinds import KINDS
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from numeric.engines.counter import InstanceCounter
from numeric.plugins.papers.principles.correlation import tau_b
from numeric.trials.instances import draw_instance

DRAWS, SPLITS = 200, 400
FAR, FAR_DRAWS = 1e4, 20
NUMBERS = (
    "rows", "columns", "quadratic", "core", "linear", "fullest row", "fullest column", "bezout",
    "terms", "N", "N mod 4", "bound", "log sigma_min", "log condition", "real at infinity",
    "reached at infinity",
)  # fmt: skip
CONTROL = "40 trials"


def labels(network, weights, X):
    """The labels of a network in doubles."""
    if network.kind == "lrnn":
        state, b = 0.0, network.b
        for t in range(network.T):
            state = weights["W"] @ (state + weights["B"] @ X[t * b : (t + 1) * b])
        return weights["D"] @ state
    value = X
    for k in range(1, len(network.shapes) + 1):
        value = weights[f"W{k}"] @ value
        if network.kind == "relu" and k == 1:
            value = np.maximum(value, 0)
    return value


def singular(allocation):
    """Means of log σ_min and log σ_min/σ_max of the Jacobian over drawn instances."""
    network, found = allocation.network, []
    for k in range(DRAWS):
        instance = draw_instance(Problem.of(allocation), 0, k)
        weights = {name: np.array(w, float) for name, w in instance.weights.items()}
        X, columns = np.array(instance.X, float), []
        for name, i, j in allocation.cells:
            ends = []
            for step in (1e-5, -1e-5):
                weights[name][i, j] += step
                ends.append(labels(network, weights, X))
                weights[name][i, j] -= step
            columns.append(((ends[0] - ends[1]) / 2e-5).ravel())
        values = np.linalg.svd(np.array(columns), compute_uv=False)
        found.append(np.log(np.maximum(values[[-1, 0]], 1e-12)))
    low, high = np.mean(found, axis=0)
    return {"log sigma_min": low, "log condition": low - high}


def at_infinity(allocation):
    """Means over instances whose last label is far: of the real solutions, and whether any is."""
    problem = Problem.of(allocation)
    drawn = [draw_instance(problem, 1, k) for k in range(2 * FAR_DRAWS)]
    far = []
    for instance in drawn[:FAR_DRAWS]:
        for sign in (1, -1):
            labels = np.array(instance.labels)
            labels[-1, -1] = sign * FAR
            far.append(replace(instance, drawn_labels=labels))
    with InstanceCounter(problem, "homotopy", timeout=30.0, complete=True) as counter:
        real, control = (
            np.array([c.real for c in counter.count_many(some) if c.status == "complete"])
            for some in (far, drawn)
        )
    if min(len(real), len(control)) < FAR_DRAWS:
        return {}
    return {
        "real at infinity": np.mean(real),
        "reached at infinity": np.mean(real > 0),
        CONTROL: np.mean(control > 0),
    }


def more(network, entry):
    """The numbers of a class that the audit does not print."""
    allocation = Allocation.from_cells(network, [tuple(c) for c in entry["cells"]])
    found = singular(allocation)
    if network.kind != "relu":
        found |= at_infinity(allocation)
    if network.kind == "lrnn":
        rows, columns = allocation.row_counts("W"), allocation.column_counts("W")
        found["bound"] = min(
            prod(comb(network.T * network.b, c) for c in rows),
            prod(comb(network.T * network.d, c) for c in columns),
        )
    return found


def read(path):
    """A network's name, and the classes of its audit with all numbers."""
    data = json.loads(Path(path).read_text())
    sizes = {k: tuple(v) if isinstance(v, list) else v for k, v in data["network"].items()}
    network = KINDS[sizes.pop("kind")](**sizes)
    return str(network), [{**c, **more(network, c)} for c in data["classes"]]


def tau(classes, name):
    """Kendall's τ of a number on some classes; None if it is constant or unknown."""
    known = [(c[name], c["estimate"]) for c in classes if c.get(name) is not None]
    if len(known) < 2:
        return None
    found = tau_b(*(np.array(v, float) for v in zip(*known, strict=True)))
    return None if np.isnan(found) else found


def mean_tau(nets, name):
    """The mean of τ over the networks in which the number varies, and their number."""
    found = [t for classes in nets if (t := tau(classes, name)) is not None]
    return (sum(found) / len(found) if found else 0.0), len(found)


def main():
    """Print both tables."""
    named = [read(path) for path in sys.argv[1:]]
    nets = [classes for _, classes in named]
    for k, (name, classes) in enumerate(named):
        print(f"{k}: {name}: {len(classes)} classes")
    print(f"{'':16}" + "".join(f"{k:>7}" for k in range(len(nets))) + "   mean")
    for name in (*NUMBERS, CONTROL):
        found = [tau(classes, name) for classes in nets]
        texts = "".join("      –" if t is None else f"{t:7.2f}" for t in found)
        print(f"{name:16}{texts}{mean_tau(nets, name)[0]:7.2f}")
    rng, chosen, held, rows, control = np.random.default_rng(0), Counter(), [], [], []
    for _ in range(SPLITS):
        first, second = [], []
        for classes in nets:
            order = rng.permutation(len(classes))
            half = len(classes) // 2
            first.append([classes[i] for i in order[:half]])
            second.append([classes[i] for i in order[half:]])
        scores = {name: mean_tau(first, name) for name in NUMBERS}
        # A number has to vary in at least half of the networks.
        able = [name for name in NUMBERS if 2 * scores[name][1] >= len(nets)]
        best = max(able, key=lambda name: abs(scores[name][0]))
        sign = 1 if scores[best][0] > 0 else -1
        chosen[("" if sign > 0 else "−") + best] += 1
        held.append(sign * mean_tau(second, best)[0])
        rows.append(mean_tau(second, "rows")[0])
        control.append(mean_tau(second, CONTROL)[0])
    print("chosen:", ", ".join(f"{name} {number}" for name, number in chosen.most_common()))
    for name, values in (("chosen", held), ("rows", rows), (CONTROL, control)):
        low, high = np.quantile(values, [0.025, 0.975])
        print(
            f"held out, {name}: mean τ {np.mean(values):.2f}, "
            f"95 % of splits [{low:.2f}, {high:.2f}]"
        )
    better = np.mean(np.array(held) > np.array(rows))
    print(f"the chosen number has the larger τ in {better:.0%} of the splits")


if __name__ == "__main__":
    main()
