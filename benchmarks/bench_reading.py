"""Reading the files of a whole brain: 140,000 neurons with types, up to 10^7 pairs of neurons.

    python benchmarks/bench_reading.py [--lines 1000000 3000000 10000000] [--feather] [--stop]

Neurons have identifiers of 18 digits and one of 8,000 types; the edge list has lines
``pre,post,synapses`` (CSV, or Feather).  Prints CPU seconds and peak memory of a process that reads
the problem, and with `--stop` the seconds of wall time after which `identify --timeout 4` ends, and
after which an interrupt ends it (sent after 8 s, while the list is read).
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

NEURONS, TYPES = 140_000, 8_000
PROBLEM = """[network]
kind = "rnn"
n = {neurons}
T = 2
b = 1
d = 1
m = 2
activation = "tanh"
biases = true

[names]
neurons = "neurons.csv"

[types]
neurons = "neurons.csv"

[support]
W = {{ edges = "{edges}" }}

[learnable]
W = {{ gain = "cells" }}
c = "all"
"""
_READ = "import sys, matchprob; print(matchprob.load_problem(sys.argv[1]).learning.size)"


def write(folder: Path, lines: int, ending: str) -> Path:
    """The files of a random circuit of so many different pairs; returns the problem file."""
    rng = np.random.default_rng(lines)
    ids = np.sort(rng.choice(10**9, NEURONS, False)) + 720_575_940_000_000_000
    kinds = rng.integers(0, TYPES, NEURONS)
    with (folder / "neurons.csv").open("w") as out:
        out.write("name,type\n")
        out.writelines(f"{a},T{b}\n" for a, b in zip(ids.tolist(), kinds.tolist(), strict=True))
    cells = np.unique(rng.integers(0, NEURONS**2, lines + lines // 100))
    post, pre = np.divmod(rng.permutation(cells)[:lines], NEURONS)
    columns = {"pre": ids[pre], "post": ids[post], "synapses": rng.geometric(0.3, lines)}
    edges = folder / f"synapses{ending}"
    if ending == ".csv":
        names = ",".join(columns)
        rows = np.stack(list(columns.values()), axis=1)
        np.savetxt(edges, rows, "%d", ",", header=names, comments="")
    else:
        import pyarrow
        from pyarrow import feather

        feather.write_feather(pyarrow.table(columns), edges)
    path = folder / "circuit.toml"
    path.write_text(PROBLEM.format(neurons=NEURONS, edges=edges.name), "utf-8")
    return path


def read(path: Path) -> dict[str, object]:
    """CPU seconds and peak memory of a process that reads the problem."""
    child = subprocess.Popen([sys.executable, "-c", _READ, str(path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    size = child.stdout.read().decode().strip()
    _, status, usage = os.wait4(child.pid, 0)
    return {
        "parameters": int(size) if size else None,
        "seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "GiB": round(usage.ru_maxrss / 2**20, 2),
        "status": os.waitstatus_to_exitcode(status),
    }


def stopped(path: Path) -> dict[str, object]:
    """How long `identify` takes to end at its limit, and after an interrupt."""
    command = [sys.executable, "-m", "matchprob", "identify", str(path), "--timeout"]
    began = time.monotonic()
    late = subprocess.run([*command, "4"], capture_output=True, text=True, check=False)
    row: dict[str, object] = {"timeout 4": round(time.monotonic() - began, 1)}
    child = subprocess.Popen([*command, "600"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    time.sleep(8)
    began = time.monotonic()
    child.send_signal(signal.SIGINT)
    _, error = child.communicate()
    row["interrupt"] = round(time.monotonic() - began, 2)
    row["said"] = [late.stderr.strip()[-90:], error.decode().strip()[-60:]]
    return row


def main() -> None:
    """Print a line of JSON for each size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lines", type=int, nargs="+", default=[10**6, 3 * 10**6, 10**7])
    parser.add_argument("--feather", action="store_true")
    parser.add_argument("--stop", action="store_true")
    options = parser.parse_args()
    for lines in options.lines:
        with tempfile.TemporaryDirectory() as folder:
            path = write(Path(folder), lines, ".feather" if options.feather else ".csv")
            row = {"lines": lines, **read(path), **(stopped(path) if options.stop else {})}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
