"""Claims of Beiran and Litwin-Kumar about what has to be recorded, checked by linear theory.

    python benchmarks/published_recording_claims.py [--circuits 3]

*Prediction of neural activity in connectome-constrained recurrent networks*, Nature Neuroscience,
2025.  A circuit here has their dynamics, h ← h + (1/5)(−h + W(g ∘ tanh(h + c)) + Bx), known wiring,
and unknown gains g and biases c (gains alone, where it says so): 20 steps, 4 samples.  Some neurons
are recorded with noise of 0.05, and the predicted error of the activity of all neurons
(`matchprob record --noise`) is divided by that without a recording.  Where they train students,
this is the theory of fits near the truth.

size      how many neurons, in random order, leave a fifth of the error: by the number of neurons
          and the rank of the wiring, with the dimension of the activity (Σλ)²/Σλ²; gains unknown
biases    the same for rank 2 and full rank, gains and biases unknown
readout   two outputs recorded instead of neurons
order     neurons in the order that the theory prefers, and in random order
sloppy    the deviations of the parameters when little of the error of the activity is left
unknown   wiring that is not known: all weights are parameters

Writes docs/figures/recording-claims.csv and .png, and prints what the page says.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import matchprob as mp
from algebra.plugins.circuits.question import recording_question
from numeric.plugins.circuits.noise import Greedy
from numeric.plugins.circuits.sensitivities import sensitivity
from numeric.trials.instances import draw_instance

NOISE, STEPS, SAMPLES, INPUTS, OUTPUTS = 0.05, 20, 4, 4, 2
SIZES, RANKS = (50, 100), (1, 2, 4, 8, 0)
FIFTH = 0.2
ORDERS = 3
FIGURE = Path(__file__).resolve().parents[1] / "docs" / "figures" / "recording-claims"
FIELDS = ("part", "curve", "neurons", "circuit", "recorded", "share", "dimension")


class Circuit:
    """A circuit at its own parameters, and what its recordings leave unknown.

    Parameters
    ----------
    n : int
    rank : int
        Of the wiring; 0 for full rank.
    seed : int
    biases, wiring_is_known : bool, optional
    """

    def __init__(
        self, n: int, rank: int, seed: int, biases: bool = True, wiring_is_known: bool = True
    ) -> None:  # fmt: skip
        net = mp.RNN(
            n=n, T=STEPS, b=INPUTS, d=OUTPUTS, m=SAMPLES, activation="tanh", biases=biases,
            state="currents", leak="1/5", read="all",
        )  # fmt: skip
        law = mp.Distribution(scale={"W": "3/2"} | ({"c": "3/10"} if biases else {}))
        weights: dict[str, np.ndarray] = {}
        if rank:
            own = draw_instance(mp.Problem(net, {}, distribution=law), seed, 0)
            rng = np.random.default_rng([n, rank, seed])
            U, Q = rng.standard_normal((n, rank)), rng.standard_normal((INPUTS, rank))
            weights["W"] = U @ (1.5 * U + np.sqrt(INPUTS) * own.weights["B"] @ Q).T / n
        learns = {"W": {"gain": "columns"} if wiring_is_known else np.ones((n, n), int)}
        problem = mp.Problem(net, learns | ({"c": "all"} if biases else {}), distribution=law)
        self.n = n
        self.question = recording_question(problem, ["units", "outputs"], target="units")
        self.found = sensitivity(self.question, seed, weights)
        own = draw_instance(mp.Problem(net, {}, distribution=law), seed, 0)
        self.dimension = dimension({**own.weights, **weights}, own.X)
        self.before = self.found.total([], NOISE)

    def share(self, chosen: Sequence[int]) -> float:
        """The error that is left with some elements, of that without a recording."""
        return self.found.total(list(chosen), NOISE) / self.before

    def shares(self, order: Sequence[int], until: float = 0.0) -> list[float]:
        """The share that is left after each element of an order."""
        state, out = self._greedy(), [1.0]
        for k in order:
            state.add(k)
            out.append(self._share(state))
            if out[-1] < until:
                break
        return out

    def best_order(self, most: int) -> list[int]:
        """Neurons, each the one that lowers the error most."""
        state, left, out = self._greedy(), list(range(self.n)), list[int]()
        while len(out) < most:
            out.append(max(left, key=state.gain))
            state.add(out[-1])
            left.remove(out[-1])
        return out

    def random_orders(self) -> Iterator[list[int]]:
        """Neurons in random order."""
        for seed in range(ORDERS):
            yield np.random.default_rng(seed).permutation(self.n).tolist()

    def _greedy(self) -> Greedy:
        return Greedy(self.found.parts(range(self.n), NOISE), self.found.aims)

    def _share(self, state: Greedy) -> float:
        return float(np.sqrt(state.total / len(self.found.target))) / self.before

    @property
    def outputs(self) -> list[int]:
        """The outputs, as elements."""
        return list(range(self.n, self.n + OUTPUTS))


def dimension(weights: dict[str, np.ndarray], X: np.ndarray) -> float:
    """The dimension of the activity: (Σ λ)²/Σ λ² of its covariance's eigenvalues."""
    h, c = np.zeros((len(weights["W"]), X.shape[1])), weights.get("c", 0)
    states = []
    for t in range(STEPS):
        x = weights["B"] @ X[t * INPUTS : (t + 1) * INPUTS]
        h = 0.8 * h + 0.2 * (weights["W"] @ np.tanh(h + c) + x)
        states.append(np.tanh(h + c))
    whole = np.hstack(states)
    values = np.linalg.svd(whole - whole.mean(axis=1, keepdims=True), compute_uv=False) ** 2
    return float(values.sum() ** 2 / (values**2).sum())


def size(circuits: int) -> Iterator[dict]:
    """The number of neurons in random order that leave a fifth of the error."""
    kinds = [("size", rank) for rank in RANKS] + [("biases", rank) for rank in (2, 0)]
    for n in SIZES:
        for part, rank in kinds:
            for seed in range(circuits):
                circuit = Circuit(n, rank, seed, part == "biases")
                same = {
                    "part": part, "neurons": n, "circuit": seed,
                    "curve": f"rank {rank}" if rank else "full rank",
                    "dimension": round(circuit.dimension, 2),
                }  # fmt: skip
                for order in circuit.random_orders():
                    left = circuit.shares(order, FIFTH)
                    yield same | {"recorded": len(left) - 1, "share": left[-1]}


def others(circuits: int) -> Iterator[dict]:
    """The other claims, on circuits of 60 neurons with full rank."""
    n, most = 60, 30
    for seed in range(circuits):
        circuit = Circuit(n, 0, seed)
        same = {"neurons": n, "circuit": seed, "dimension": round(circuit.dimension, 2)}

        def row(part: str, curve: str, recorded: int, share: float, same: dict = same) -> dict:
            own = {"part": part, "curve": curve, "recorded": recorded, "share": share}
            return same | own

        yield row("readout", "two outputs", OUTPUTS, circuit.share(circuit.outputs))
        best = circuit.best_order(most)
        for k, share in enumerate(circuit.shares(best)):
            yield row("order", "preferred order", k, share)
        for number, order in enumerate(circuit.random_orders()):
            for k, share in enumerate(circuit.shares(order[:most])):
                yield row("order", f"random order {number}", k, share)
        for k in (5, 10, 20, 30):
            C = circuit.found.covariance(best[:k], NOISE)
            # In units of the deviations before the recording.
            yield row("sloppy", "median parameter", k, float(np.median(np.sqrt(np.diag(C)))))
            yield row("sloppy", "activity", k, circuit.share(best[:k]))
    n = 30
    for seed in range(circuits):
        for known in (True, False):
            circuit = Circuit(n, 0, seed, wiring_is_known=known)
            curve = "wiring known" if known else "wiring unknown"
            same = {"part": "unknown", "curve": curve, "neurons": n, "circuit": seed}
            order = next(circuit.random_orders())
            for k in (0, 3, 6, 10, 15, 20, 25, 30):
                chosen, other = order[:k], order[k:]
                yield same | {
                    "recorded": k, "share": unseen(circuit, chosen, other or order),
                    "dimension": round(circuit.dimension, 2),
                }  # fmt: skip


def unseen(circuit: Circuit, chosen: Sequence[int], other: Sequence[int]) -> float:
    """The error of the neurons that are not recorded, of that without a recording."""
    after, before = (circuit.found.deviations(list(c), NOISE)[0] for c in (chosen, ()))
    at = list(other)
    return float(np.sqrt((after[at] ** 2).mean() / (before[at] ** 2).mean()))


def mean_of(rows: Sequence[dict], part: str, curve: str, recorded: int) -> float:
    """The mean share of the curves whose name begins so."""
    own = [
        float(row["share"])
        for row in rows
        if row["part"] == part and row["curve"].startswith(curve)
        and int(row["recorded"]) == recorded
    ]  # fmt: skip
    return float(np.mean(own))


def means(rows: Sequence[dict], part: str, curve: str, n: str) -> tuple[float, float]:
    """The mean dimension, and the mean number of recorded neurons."""
    own = [r for r in rows if (r["part"], r["curve"], r["neurons"]) == (part, curve, n)]
    dim, count = (float(np.mean([float(r[k]) for r in own])) for k in ("dimension", "recorded"))
    return dim, count


def exponents(rows: Sequence[dict], by: str) -> tuple[float, float, float, float]:
    """Of log(recorded) = a + p log(x) + q log(neurons): p, q and their standard errors.

    x is the rank of the wiring or the dimension of the activity; gains unknown, low ranks.
    """
    own = [row for row in rows if row["part"] == "size" and row["curve"] != "full rank"]
    x = [float(r["curve"].split()[1] if by == "rank" else r["dimension"]) for r in own]
    A = np.array([[1, np.log(v), np.log(float(r["neurons"]))] for v, r in zip(x, own, strict=True)])
    y = np.log([float(r["recorded"]) for r in own])
    found, rest, *_ = np.linalg.lstsq(A, y, rcond=None)
    spread = np.sqrt(np.diag(np.linalg.inv(A.T @ A)) * rest[0] / (len(y) - 3))
    return float(found[1]), float(found[2]), float(spread[1]), float(spread[2])


def say(rows: Sequence[dict]) -> None:
    """Print what the documentation states."""
    print(
        "unknown  neurons  wiring     dimension  recorded for a fifth of the error (random order)"
    )
    for part, curve, n in dict.fromkeys(
        (r["part"], r["curve"], r["neurons"]) for r in rows if r["part"] in ("size", "biases")
    ):
        dim, count = means(rows, part, curve, n)
        unknown = "gains" if part == "size" else "both"
        print(f"{unknown:<7}  {n:>7}  {curve:<9}  {dim:9.1f}  {count:8.1f}")
    for by in ("rank", "dimension"):
        p, q, dp, dq = exponents(rows, by)
        print(f"recorded ~ {by}^{p:.2f}±{dp:.2f} neurons^{q:.2f}±{dq:.2f}")
    print(f"two outputs leave {mean_of(rows, 'readout', 'two', OUTPUTS):.2f}")
    for k in (2, 5, 10, 20, 30):
        preferred, random = (mean_of(rows, "order", w, k) for w in ("preferred", "random"))
        print(f"{k} of 60: preferred order {preferred:.2f}, random {random:.2f}")
    for k in (5, 10, 20, 30):
        activity, single = (mean_of(rows, "sloppy", w, k) for w in ("activity", "median"))
        print(f"{k} of 60 recorded: activity {activity:.2f}, median parameter {single:.2f}")
    for k in (3, 6, 10, 15, 20, 25):
        known, not_known = (
            mean_of(rows, "unknown", f"wiring {w}", k) for w in ("known", "unknown")
        )
        print(f"{k} of 30 recorded: unrecorded neurons {known:.2f}, wiring unknown {not_known:.2f}")


def draw(rows: Sequence[dict]) -> None:
    """Three panels: size, order, and wiring that is not known."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9.6, 3.1), layout="constrained")
    for n, colour in zip(SIZES, ("#56b4e9", "#0072b2"), strict=True):
        for part, style, what in (("size", "o-", "gains"), ("biases", "s", "gains, biases")):
            ranks = [rank for rank in RANKS if rank and (part == "size" or rank == 2)]
            y = [means(rows, part, f"rank {rank}", str(n))[1] for rank in ranks]
            left.loglog(ranks, y, style, color=colour, ms=5, lw=1, label=f"{n} neurons: {what}")
    left.set_xticks([1, 2, 4, 8], ["1", "2", "4", "8"])
    left.set_yticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    left.minorticks_off()
    left.set_xlabel("rank of the wiring")
    left.set_ylabel("recorded, for a fifth of the error")
    left.legend(frameon=False, fontsize=7)
    x = range(31)
    for word, colour, style in (("preferred", "#0072b2", "-"), ("random", "#e08a00", "--")):
        y = [mean_of(rows, "order", word, k) for k in x]
        middle.plot(x, y, style, color=colour, label=f"{word} order")
    readout = mean_of(rows, "readout", "two", OUTPUTS)
    middle.plot([OUTPUTS], [readout], "D", color="#b03a00", ms=5, label="two outputs instead")
    middle.set_xlabel("neurons recorded, of 60")
    middle.set_ylabel("error of the activity, relative")
    for word, colour in (("known", "#0072b2"), ("unknown", "#b03a00")):
        x = [0, 3, 6, 10, 15, 20, 25]
        y = [mean_of(rows, "unknown", f"wiring {word}", k) for k in x]
        right.plot(x, y, "o-", color=colour, ms=4, label=f"wiring {word}")
    right.set_xlabel("neurons recorded, of 30, at random")
    right.set_ylabel("error of the others, relative")
    for axes in (middle, right):
        axes.set_ylim(0, 1.05)
        axes.legend(frameon=False, fontsize=8)
    for axes in (left, middle, right):
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.savefig(FIGURE.with_suffix(".png"), dpi=130)


# What is computed together, with the parts of its rows.
PARTS = {
    "others": (("readout", "order", "sloppy", "unknown"), others),
    "size": (("size", "biases"), size),
}


def main() -> None:
    """Compute the rows, or those that the table lacks; print and draw them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--circuits", type=int, default=3, help="circuits of each kind")
    parser.add_argument("--part", choices=PARTS, action="append", help="both by default")
    parser.add_argument("--drawn", action="store_true", help="draw the stored table only")
    options = parser.parse_args()
    table = FIGURE.with_suffix(".csv")
    for name in () if options.drawn else options.part or PARTS:
        began, (names, make) = time.process_time(), PARTS[name]
        kept = []
        if table.exists():
            with table.open(newline="") as file:
                kept = [row for row in csv.DictReader(file) if row["part"] not in names]
        found = [row | {"share": f"{row['share']:.5g}"} for row in make(options.circuits)]
        with table.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows([*kept, *found])
        print(f"{name}: {time.process_time() - began:.0f} s of CPU", flush=True)
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    say(rows)
    draw(rows)


if __name__ == "__main__":
    main()
