"""What has to be recorded in circuits with ReLU of the size of the fly's visual system.

    python benchmarks/bench_flyvis.py [fib25-fib19_v2.2.json] [--extent 15] [--seconds 60]

Without a file: a random circuit of 455 neurons, 15,000 synapses and 65 types.  With the connectome
of flyvis (`flyvis/connectome/` of TuragaLab/flyvis): its neurons of all columns up to an extent (1:
443 neurons, 15: all 45,669), in the files that the lines of `docs/howto/circuits.md` make.  Gains
of pairs of types, resting potentials and time constants of types are unknown, states are currents,
10 steps, 6 samples.  Prints time, memory and the answers of `identify` and of `record --target
units`, and of `verify` where a proof file is written; weights are those of instance 0.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.bench_sizes import Circuit, measured, problem_file, write
from tests.test_published_formats import flyvis_files

# As a column and its neighbours: 604 + 65 + 65 = 734 parameters.
COLUMN = Circuit(455, 15_000, 65, 604, b=8, d=10, m=6, T=10)


def connectome(file: Path, extent: int, folder: Path) -> Path:
    """The files of flyvis' connectome, of which ten neurons are read."""
    shutil.copy(file, folder / "fib25-fib19_v2.2.json")
    here = Path.cwd()
    os.chdir(folder)
    try:
        flyvis_files(extent)
    finally:
        os.chdir(here)
    with (folder / "types.csv").open(newline="") as table:
        kinds = [row["type"] for row in csv.DictReader(table)]
    n = len(kinds)
    read = np.zeros((COLUMN.d, n), np.int8)
    read[np.arange(COLUMN.d), np.random.default_rng(0).choice(n, COLUMN.d, False)] = 1
    np.save(folder / "read.npy", read)
    path = folder / "circuit.toml"
    text = problem_file(COLUMN._replace(n=n), relu=True)
    path.write_text(text + '\n[names]\nneurons = "types.csv"\n', "utf-8")
    return path


def main() -> None:
    """Print a line of JSON for each verb."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, nargs="?", help="fib25-fib19_v2.2.json")
    parser.add_argument("--extent", type=int, default=15)
    parser.add_argument("--seconds", default="60", help="of the search of record")
    parser.add_argument("--verbs", nargs="+", default=["identify", "record", "verify"])
    options = parser.parse_args()
    for verb in options.verbs:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            path = (
                connectome(options.file, options.extent, folder)
                if options.file
                else write(COLUMN, folder, relu=True)
            )
            more = ("--seconds", options.seconds) if verb == "record" else ()
            row = measured(verb, path, *more)
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
