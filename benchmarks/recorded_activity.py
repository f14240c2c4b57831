"""What to record in circuits of 300 neurons: exact ranks, and predicted errors under noise.

    python benchmarks/recorded_activity.py [--part order|dimension|knowledge|worm]

A circuit with tanh (T = 20 steps, 4 samples, leak 1/2), of which every neuron may be recorded with
noise of 0.05.  The error is the predicted standard deviation of the activity of all neurons.

order      300 neurons, gains and biases unknown: 1 to 60 recorded, in greedy and in random order
dimension  gains unknown: the neurons that reduce the error to a fifth, by the number of neurons and
           the rank of the wiring
knowledge  300 neurons of ten types: gains and biases by neuron, or by type; and 60 neurons: gains
           and biases, synapses of known sign, synapses of unknown sign
worm       C. elegans (package c302), gains and biases by neuron

Writes examples/data/recorded_activity.csv, from which examples/what_to_record.py draws.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import matchprob as mp
from algebra.plugins.circuits.question import recording_question
from numeric.plugins.circuits.noise import Greedy
from numeric.plugins.circuits.sensitivities import sensitivity
from numeric.trials.instances import draw_instance

NOISE, STEPS, SAMPLES = 0.05, 20, 4
TABLE = Path(__file__).resolve().parents[1] / "examples" / "data" / "recorded_activity.csv"
FIELDS = ("part", "curve", "neurons", "parameters", "recorded", "rank", "error", "dimension")
COUNTS = (1, 2, 4, 8, 15, 30, 60)


def dimension(weights: dict, X: np.ndarray, inputs: int) -> float:
    """The dimension of the activity: (Σ λ)²/Σ λ² of its covariance's eigenvalues."""
    h, states = np.zeros((len(weights["W"]), X.shape[1])), []
    for t in range(STEPS):
        x = weights["B"] @ X[t * inputs : (t + 1) * inputs]
        h = 0.5 * h + 0.5 * np.tanh(weights["W"] @ (h + x) + weights["c"])
        states.append(h)
    variances = np.linalg.svd(np.hstack(states), compute_uv=False) ** 2
    return float(variances.sum() ** 2 / (variances**2).sum())


class Study:
    """A circuit, its question, and its derivatives."""

    def __init__(
        self, wiring: np.ndarray, learns: dict, *, inputs: int = 2, samples: int = SAMPLES,
        rank: int = 0, **laws: object,
    ) -> None:  # fmt: skip
        n = len(wiring)
        scale = {"W": 1.2 * np.sqrt(n / max(1.0, wiring.sum(axis=1).mean())), "c": 0.3}
        law = mp.Distribution(scale=scale, **laws)
        net = mp.RNN(
            n=n, T=STEPS, b=inputs, d=1, m=samples, activation="tanh", biases=True, leak="1/2"
        )
        problem = mp.Problem(net, learns, {"W": wiring}, distribution=law)
        self.problem, self.units = problem, [f"unit {k}" for k in range(n)]
        self.question = recording_question(problem, "units", target="units")
        own = draw_instance(mp.Problem(net, {}, {"W": wiring}, distribution=law), 0, 0)
        weights = dict(own.weights)
        if rank:
            # Recurrent and input currents of this many directions.
            rng = np.random.default_rng(n)
            U, Q = rng.standard_normal((n, rank)), rng.standard_normal((inputs, rank))
            weights["W"] = U @ (1.5 * U + np.sqrt(inputs) * weights["B"] @ Q).T / n
        self.found = sensitivity(self.question, 0, weights)
        self.dimension = dimension(weights, own.X, inputs)

    def rank(self, chosen: list[int]) -> int:
        """The generic rank of what some neurons show, exact."""
        others = [name for k, name in enumerate(self.units) if k not in chosen]
        asked = recording_question(self.problem, "units", forbidden=others)
        return int(asked.rank.rank)

    def error(self, chosen: list[int]) -> float:
        """The predicted error."""
        return self.found.total(chosen, NOISE)

    def rows(self, part: str, curve: str, most: int, ranked: tuple[int, ...]) -> Iterator[dict]:
        """Errors in greedy and random order; ranks of some random choices."""
        n = len(self.units)
        same = {
            "part": part, "neurons": n, "parameters": len(self.found.prior),
            "dimension": round(self.dimension, 2),
        }  # fmt: skip
        yield same | {"curve": curve, "recorded": 0, "rank": 0, "error": self.error([])}
        for count, deviation in enumerate(self.greedy(most), 1):
            yield same | {"curve": f"{curve}, best order", "recorded": count, "error": deviation}
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(n).tolist()
            for count in (k for k in COUNTS if k <= most):
                rank = self.rank(order[:count]) if seed == 0 and count in ranked else ""
                yield same | {
                    "curve": f"{curve}, random order {seed}", "recorded": count, "rank": rank,
                    "error": self.error(order[:count]),
                }  # fmt: skip

    def greedy(self, most: int = 0, share: float = 0.0) -> list[float]:
        """The errors along the greedy choice, to a number or to a share of the first error."""
        state = Greedy(self.found.parts(self.question.allowed, NOISE), self.found.aims)
        numbers, left, out = len(self.found.target), list(range(len(self.units))), []
        first = state.total
        while left and len(out) < (most or len(self.units)):
            best = max(left, key=state.gain)
            state.add(best)
            left.remove(best)
            out.append(float(np.sqrt(state.total / numbers)))
            if share and state.total < share**2 * first:
                break
        return out


def wiring_of(n: int, density: float, seed: int = 0) -> np.ndarray:
    """Random synapses, among them a cycle through all neurons."""
    wiring = (np.random.default_rng(seed).random((n, n)) < density).astype(int)
    wiring[np.arange(n), (np.arange(n) + 1) % n] = 1
    return wiring


def gains_and_biases(n: int, types: int = 0) -> dict:
    """What learns: a gain and a bias of each neuron, or of each type."""
    if not types:
        return {"W": {"gain": "columns"}, "c": np.ones((n, 1), int)}
    kinds = [1 + k % types for k in range(n)]
    return {"W": {"gain": "columns", "groups": kinds}, "c": {"tied": [[kind] for kind in kinds]}}


def order() -> Iterator[dict]:
    """300 neurons, one by one."""
    n = 300
    study = Study(wiring_of(n, 0.5), gains_and_biases(n))
    yield from study.rows("order", "by neuron", 60, (1, 2, 4, 8))


def dimension_rows() -> Iterator[dict]:
    """The neurons that reduce the error to a fifth, gains unknown."""
    for n in (60, 120, 240, 480):
        for rank in (1, 2, 4, 8, 0):
            study = Study(np.ones((n, n), int), {"W": {"gain": "columns"}}, inputs=8, rank=rank)
            errors = study.greedy(share=0.2)
            yield {
                "part": "dimension", "curve": f"rank {rank}" if rank else "full rank",
                "neurons": n, "parameters": n, "recorded": len(errors), "error": errors[-1],
                "dimension": round(study.dimension, 2),
            }  # fmt: skip


def knowledge() -> Iterator[dict]:
    """What the wiring is known up to."""
    n = 300
    study = Study(wiring_of(n, 0.5), gains_and_biases(n, 10))
    yield from study.rows("knowledge", "by type", 8, (1, 2))
    wiring, signs = wiring_of(60, 0.1), np.random.default_rng(1).choice([-1, 1], 60, p=[0.3, 0.7])
    free = {"W": wiring, "c": np.ones((60, 1), int)}
    for curve, learns, laws in (
        ("60: gains and biases", gains_and_biases(60), {}),
        ("60: synapses of known sign", free, {"signs": signs.tolist()}),
        ("60: synapses of unknown sign", free, {}),
    ):
        yield from Study(wiring, learns, **laws).rows("knowledge", curve, 60, (1, 4, 8))


def worm() -> Iterator[dict]:
    """The chemical synapses of C. elegans."""
    spec = find_spec("c302")
    assert spec is not None, "pip install --no-deps c302"
    assert spec.origin is not None
    table = Path(spec.origin).parent / "data" / "herm_full_edgelist.csv"
    edges = mp.read_edges(table, type="chemical", unknown="skip")
    names = sorted({u for u in edges.units if u.isupper()} | {"CANL", "CANR"})
    net = mp.LinearRNN(n=len(names), T=1, b=1, d=1, m=1)
    cells = edges.cells(mp.Problem(net, {"W": "all"}, names={"neurons": names}).names, "W")
    wiring = np.zeros((len(names), len(names)), int)
    for i, j in cells:
        wiring[i, j] = 1
    study = Study(wiring, gains_and_biases(len(names)))
    yield from study.rows("worm", "C. elegans", 60, (1, 4, 8))


PARTS = {"order": order, "dimension": dimension_rows, "knowledge": knowledge, "worm": worm}


def main() -> None:
    """Replace the rows of the parts, and print their time."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--part", choices=PARTS, action="append")
    options = parser.parse_args()
    for part in options.part or PARTS:
        began = time.process_time()
        found = list(PARTS[part]())
        kept = []
        if TABLE.exists():
            with TABLE.open(newline="") as file:
                kept = [row for row in csv.DictReader(file) if row["part"] != part]
        with TABLE.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(kept)
            writer.writerows(row | {"error": f"{row['error']:.5g}"} for row in found)
        print(f"{part}: {len(found)} rows, {time.process_time() - began:.0f} s of CPU", flush=True)


if __name__ == "__main__":
    main()
