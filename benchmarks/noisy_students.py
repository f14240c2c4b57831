"""Predicted and found errors of unrecorded neurons: students of 50 small circuits.

    python benchmarks/noisy_students.py [--circuits 50] [--plot-only]

A teacher is a circuit with known wiring; its gains and biases are not known.  Some of its neurons
are recorded with noise.  Students start with gains and biases that differ from the teacher's as the
law before the recording says, and are fitted to the recording in two ways: by the fit of the theory
(the squared error in units of the noise, and the squared distance from the start in units of the
law, by Levenberg and Marquardt's steps), and as in Beiran and Litwin-Kumar (2025), by Adam on the
squared error alone.  The error is the root mean square over the unrecorded neurons, all steps and
samples, and the students; the prediction is that of ``matchprob record --noise``.

Writes docs/figures/noisy-students.csv and .png.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import matchprob as mp

STEPS, INPUTS, SAMPLES, STUDENTS, EPOCHS = 8, 2, 4, 16, 4000
FIGURE = Path(__file__).resolve().parents[1] / "docs" / "figures" / "noisy-students"
FIELDS = ("circuit", "neurons", "recorded", "sigma", "before", "predicted", "fitted", "trained")


class Circuit:
    """A random circuit, and its states for gains and biases of many students at once."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.n = n = int(rng.integers(5, 13))
        wiring = (rng.random((n, n)) < 0.4).astype(int)
        wiring[np.arange(n), (np.arange(n) + 1) % n] = 1
        net = mp.RNN(
            n=n, T=STEPS, b=INPUTS, d=1, m=SAMPLES, activation="tanh", biases=True, leak="1/2"
        )
        self.problem = mp.Problem(
            net, {"W": {"gain": "columns"}, "c": np.ones((n, 1), int)}, {"W": wiring},
            distribution=mp.Distribution(scale={"c": "1/2"}),
        )  # fmt: skip
        own = mp.Problem(net, {}, {"W": wiring}, distribution=self.problem.distribution)
        instance = mp.draw_instance(own, 0, 0)
        self.W, self.B, c = (instance.weights[name] for name in "WBc")
        self.X = instance.X.reshape(STEPS, INPUTS, SAMPLES)
        self.truth = np.concatenate([np.ones(n), c[:, 0]])
        self.law = np.concatenate([np.ones(n), np.full(n, 0.5)])

    def states(self, values: np.ndarray) -> np.ndarray:
        """(…, unit, step, sample) for (…, gains and biases)."""
        gains, biases = values[..., : self.n, None], values[..., self.n :, None]
        h, found = np.zeros((*values.shape[:-1], self.n, SAMPLES)), []
        for x in self.X:
            h = 0.5 * h + 0.5 * np.tanh(self.W @ (gains * (h + self.B @ x)) + biases)
            found.append(h)
        return np.stack(found, axis=-2)

    def slopes(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """States of each student, and their derivatives (student, unit, step, sample, value)."""
        size = values.shape[-1]
        moved = values[:, None].astype(complex) + 1e-30j * np.eye(size)
        found = self.states(moved)
        return found[:, 0].real, np.moveaxis(found.imag / 1e-30, 1, -1)


def fitted(
    circuit: Circuit, starts: np.ndarray, data: np.ndarray, chosen: list[int], sigma: float
) -> np.ndarray:
    """Values of least squared error and distance from the start, by damped steps."""
    values, damping, law = starts.copy(), np.full(len(starts), 1e-2), circuit.law

    def loss(v: np.ndarray) -> np.ndarray:
        error = (data - circuit.states(v)[:, chosen]) / sigma
        return np.asarray((error**2).sum(axis=(1, 2, 3)) + (((v - starts) / law) ** 2).sum(axis=1))

    now = loss(values)
    for _ in range(100):
        z, J = circuit.slopes(values)
        J = J[:, chosen].reshape(len(values), -1, len(law)) / sigma
        rest = ((data - z[:, chosen]) / sigma).reshape(len(values), -1)
        left = np.swapaxes(J, 1, 2) @ J + np.diag(law**-2)
        right = np.einsum("kij,ki->kj", J, rest) + (starts - values) / law**2
        scale = np.einsum("kii->ki", left)[:, None] * np.eye(len(law))
        step = np.linalg.solve(left + damping[:, None, None] * scale, right[..., None])[..., 0]
        new = loss(values + step)
        better = new < now
        values[better] += step[better]
        now = np.where(better, new, now)
        damping = np.clip(np.where(better, damping / 4, damping * 4), 1e-9, 1e9)
    return values


def trained(
    circuit: Circuit, starts: np.ndarray, data: np.ndarray, chosen: list[int]
) -> np.ndarray:
    """Values found by Adam on the squared error of the recorded neurons, rate 0.01 to 0."""
    values = starts.copy()
    mean, square = np.zeros_like(values), np.zeros_like(values)
    for epoch in range(1, EPOCHS + 1):
        slope = gradient(circuit, values, data, chosen)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        rate = 0.01 * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        hat = np.sqrt(square / (1 - 0.999**epoch)) + 1e-8
        values -= rate * mean / (1 - 0.9**epoch) / hat
    return values


def gradient(
    circuit: Circuit, values: np.ndarray, data: np.ndarray, chosen: list[int]
) -> np.ndarray:
    """Of the mean squared error of each student, backwards through the steps."""
    n, W = circuit.n, circuit.W
    gains, biases = values[:, :n, None], values[:, n:, None]
    h, passed = np.zeros((len(values), n, SAMPLES)), []
    for x in circuit.X:
        driven = h + circuit.B @ x
        z = np.tanh(W @ (gains * driven) + biases)
        h = 0.5 * h + 0.5 * z
        passed.append((driven, z, h))
    out, back = np.zeros_like(values), np.zeros_like(h)
    for t in range(STEPS - 1, -1, -1):
        driven, z, h = passed[t]
        back[:, chosen] += 2 * (h[:, chosen] - data[:, :, t]) / data[0].size
        inner = 0.5 * back * (1 - z**2)
        sent = W.T @ inner
        out[:, :n] += (sent * driven).sum(axis=2)
        out[:, n:] += inner.sum(axis=2)
        back = 0.5 * back + sent * gains
    return out


def row(seed: int) -> dict[str, float]:
    """Predicted and found errors of a circuit."""
    circuit = Circuit(seed)
    rng = np.random.default_rng([seed, 1])
    n, sigma = circuit.n, float(rng.choice([0.01, 0.03, 0.1]))
    chosen = sorted(rng.permutation(n)[: rng.integers(1, n)].tolist())
    others = [k for k in range(n) if k not in chosen]
    names = [f"unit {k}" for k in range(n)]
    found = mp.record(
        circuit.problem, "units", target=[names[k] for k in others], noise=sigma, seconds=1,
        must=[names[k] for k in chosen], forbidden=[names[k] for k in others],
    )  # fmt: skip
    starts = circuit.truth + circuit.law * rng.standard_normal((STUDENTS, 2 * n))
    truth = circuit.states(circuit.truth)
    data = truth[chosen] + sigma * rng.standard_normal((STUDENTS, len(chosen), STEPS, SAMPLES))

    def error(values: np.ndarray) -> float:
        far = circuit.states(values)[:, others] - truth[others]
        return float(np.sqrt((far**2).mean()))

    return {
        "circuit": seed, "neurons": n, "recorded": len(chosen), "sigma": sigma,
        "before": error(starts), "predicted": found.total,
        "fitted": error(fitted(circuit, starts, data, chosen, sigma)),
        "trained": error(trained(circuit, starts, data, chosen)),
    }  # fmt: skip


def draw(rows: list[dict[str, float]]) -> None:
    """Predicted errors across, found ones up."""
    figure, axes = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
    predicted = [r["predicted"] for r in rows]
    for key, marker, colour, label in (
        ("trained", "s", "#e69f00", "Adam, the error alone"),
        ("fitted", "o", "#0072b2", "fit of the theory"),
    ):
        axes.loglog(
            predicted, [r[key] for r in rows], marker, color=colour, ms=4.5, mfc="none", label=label
        )
    ends = [0.6 * min(predicted), 1.6 * max(predicted)]
    axes.plot(ends, ends, color="0.6", lw=0.8, zorder=0)
    axes.set_xlabel("predicted error of the unrecorded neurons")
    axes.set_ylabel(f"found, {STUDENTS} students")
    axes.set_title(f"{len(rows)} circuits of 5 to 12 neurons", fontsize=10)
    axes.legend(frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(FIGURE.with_suffix(".png"), dpi=150)


def main() -> None:
    """Write the table and the picture, and print how far found errors are from predicted ones."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--circuits", type=int, default=50)
    parser.add_argument("--plot-only", action="store_true")
    options = parser.parse_args()
    table = FIGURE.with_suffix(".csv")
    if not options.plot_only:
        began = time.process_time()
        with table.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            for seed in range(options.circuits):
                found = row(seed)
                writer.writerow({k: f"{v:.6g}" for k, v in found.items()})
                file.flush()
        print(f"{time.process_time() - began:.0f} s of CPU")
    with table.open(newline="") as file:
        rows = [{k: float(v) for k, v in r.items()} for r in csv.DictReader(file)]
    for key in ("fitted", "trained"):
        ratios = np.array([r[key] / r["predicted"] for r in rows])
        low, middle, high = np.quantile(ratios, [0.1, 0.5, 0.9])
        print(f"{key} / predicted: median {middle:.2f}, 80 % between {low:.2f} and {high:.2f}")
    draw(rows)


if __name__ == "__main__":
    main()
