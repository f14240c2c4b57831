"""Recordings against stimulations: by how much each lowers the predicted deviation of a circuit.

    python benchmarks/recordings_and_stimulations.py

Two circuits with known wiring, whose gains and biases are not known: *C. elegans* (302 neurons of
the package c302, one gain and one bias for each, tanh), and one of the size of seven columns of the
fly's visual system (455 neurons of 65 types, ReLU; a gain for each pair of types, a resting
potential and a time constant for each type).  Their outputs are recorded in any case, with noise of
0.1.  Then neurons are recorded as well, or neurons are driven, one after the other: the one that
lowers the predicted deviation of all activities most (`matchprob record --stimulate --noise`).

Writes docs/figures/recordings-and-stimulations.csv and .png; a curve that the table already has is
not computed again.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import matchprob as mp
from algebra.plugins.circuits.elements import title
from algebra.plugins.circuits.question import recording_question
from benchmarks.bench_flyvis import COLUMN
from benchmarks.bench_sizes import write
from numeric.plugins.circuits.noise import GreedyPairs
from numeric.plugins.circuits.own_parameters import at_own_parameters
from numeric.plugins.circuits.sensitivities import sensitivity

SIGMA = 0.1
MOST = 8
# About so many units may be driven, at equal distances in the list.
DRIVEN = 20
FIGURE = Path(__file__).resolve().parents[1] / "docs" / "figures" / "recordings-and-stimulations"
FIELDS = ("circuit", "way", "number", "deviation", "last")


def worm() -> mp.Problem:
    """C. elegans: inputs reach 80 neurons, eight groups of others are read."""
    spec = find_spec("c302")
    if spec is None or spec.origin is None:
        raise SystemExit("pip install --no-deps c302")
    table = Path(spec.origin).parent / "data" / "herm_full_edgelist.csv"
    edges = mp.read_edges(table, type="chemical", unknown="skip")
    names = sorted({unit for unit in edges.units if unit.isupper()} | {"CANL", "CANR"})
    n = len(names)
    whole = mp.Problem(
        mp.LinearRNN(n=n, T=1, b=1, d=1, m=1), {"W": "all"}, names={"neurons": names}
    )
    W, B, D = (np.zeros(shape, int) for shape in ((n, n), (n, 6), (8, n)))
    for i, j in edges.cells(whole.names, "W"):
        W[i, j] = 1
    B[:80] = 1
    for unit in range(n - 80, n):
        D[unit % 8, unit] = 1
    net = mp.RNN(
        n=n, T=5, b=6, d=8, m=4, activation="tanh", state="currents", biases=True, leak="1/2",
        read="all",
    )  # fmt: skip
    return mp.Problem(
        net, {"W": {"gain": "rows"}, "c": "all"}, {"W": W, "B": B, "D": D},
        mp.Distribution(scale={"W": 5, "c": "1/2"}), names={"neurons": names},
    )  # fmt: skip


def fly() -> mp.Problem:
    """455 neurons of 65 types with ReLU."""
    with tempfile.TemporaryDirectory() as folder:
        path = write(COLUMN, Path(folder), relu=True)
        return at_own_parameters(mp.load_problem(path), 0, "units")


def curve(circuit: str, problem: mp.Problem, way: str) -> list[dict[str, object]]:
    """The deviation for each number of further recordings, or of stimulations."""
    n, began = problem.network.shapes["W"][0], time.process_time()
    some = [f"unit {k}" for k in range(0, n, n // DRIVEN)]
    more = {"stimulate": some} if way == "stimulated" else {}
    what = ["outputs"] if more else ["outputs", "units"]
    question = recording_question(problem, what, must=["output *"], target="units", **more)
    found = sensitivity(question)
    state, chosen = GreedyPairs(found, SIGMA), sorted(question.must)
    for k in chosen:
        state.add(k)
    rows: list[dict[str, object]] = []
    left, last = set(question.free), ""
    for number in range(MOST + 1):
        if number:
            best = max(sorted(left), key=state.gain)
            state.add(best)
            left.remove(best)
            chosen.append(best)
            last = title(question.elements[best], problem.names).rpartition("unit ")[2]
        deviation = f"{found.total(chosen, SIGMA):.5g}"
        row = dict(zip(FIELDS, (circuit, way, number, deviation, last), strict=True))
        rows.append(row)
        print(*row.values(), f"{time.process_time() - began:.0f} s", flush=True)
    return rows


def draw(rows: list[dict[str, str]]) -> None:
    """One panel for each circuit."""
    figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.0), layout="constrained")
    titles = {"worm": "C. elegans, 302 neurons", "fly": "like the fly's columns, 455 neurons"}
    for axes, (circuit, text) in zip(panels, titles.items(), strict=True):
        for way, marker, colour in (("recorded", "o", "#0072b2"), ("stimulated", "s", "#e69f00")):
            own = [r for r in rows if r["circuit"] == circuit and r["way"] == way]
            axes.plot(
                [int(r["number"]) for r in own], [float(r["deviation"]) for r in own],
                marker + "-", color=colour, ms=4, lw=1, label=f"neurons {way} as well",
            )  # fmt: skip
        axes.set_ylim(bottom=0)
        axes.set_xlabel("number of neurons, beside all outputs")
        axes.set_title(text, fontsize=10)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    panels[0].set_ylabel("predicted deviation of activities")
    panels[0].legend(frameon=False, fontsize=8)
    figure.savefig(FIGURE.with_suffix(".png"), dpi=150)


def main() -> None:
    """Write the table and the picture."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    table, known = FIGURE.with_suffix(".csv"), set[tuple[str, str]]()
    if table.exists():
        with table.open(newline="") as file:
            known = {(row["circuit"], row["way"]) for row in csv.DictReader(file)}
    else:
        table.write_text(",".join(FIELDS) + "\n", "utf-8")
    for circuit, made in (("fly", fly), ("worm", worm)):
        for way in ("recorded", "stimulated"):
            if (circuit, way) in known:
                continue
            rows = curve(circuit, made(), way)
            with table.open("a", newline="") as file:
                csv.DictWriter(file, FIELDS, lineterminator="\n").writerows(rows)
    with table.open(newline="") as file:
        draw(list(csv.DictReader(file)))


if __name__ == "__main__":
    main()
