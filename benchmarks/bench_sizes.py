"""Circuits of 300 to 45,000 neurons whose parameters are shared by type: time, memory, answer.

    python benchmarks/bench_sizes.py [--sizes 300 1000] [--unread] [--out sizes.jsonl]

Random circuits in the files that a user has: an edge list (CSV), a list of types (CSV), a problem
file.  Synaptic gains are shared by pairs of types, biases and leaks by type.  With `--unread` the
neurons of a tenth of the types neither send nor are read, so their parameters are free.  Every verb
runs as a process of its own; a row that the output file already has is not computed again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Circuit(NamedTuple):
    """A size: neurons, synapses, types, pairs of types with synapses, inputs, outputs, samples."""

    n: int
    synapses: int
    types: int
    pairs: int
    b: int = 10
    d: int = 40
    m: int = 20
    T: int = 20
    unread: int = 0

    @property
    def parameters(self) -> int:
        """Gains of pairs, biases and leaks of types."""
        return self.pairs + 2 * self.types


# 604 + 65 + 65 = 734 parameters, as of the fly's visual system; 500 of the largest.
CIRCUITS = [
    Circuit(300, 6_000, 10, 80),
    Circuit(1_000, 50_000, 20, 260),
    Circuit(5_000, 1_000_000, 65, 604),
    Circuit(45_000, 1_500_000, 50, 400),
]
VERBS = {
    "identify": ("identify",),
    "target": ("identify", "--target", "units"),
    "record": ("record", "--target", "units", "--out", "recording.json"),
    "verify": ("verify",),
}
# Seconds for each; the machine may be loaded.
_LIMIT = "3600"


def problem_file(circuit: Circuit, relu: bool) -> str:
    """The problem of an edge list and a list of types; its outputs are read by `read.npy`."""
    activation = '"relu"\nstate = "currents"' if relu else '"tanh"'
    return (
        f'[network]\nkind = "rnn"\nn = {circuit.n}\nT = {circuit.T}\nb = {circuit.b}\n'
        f"d = {circuit.d}\nm = {circuit.m}\nactivation = {activation}\nbiases = true\n"
        'leak = "learnable"\nread = "all"\n\n'
        '[support]\nW = { edges = "synapses.csv" }\nD = "read.npy"\n\n[types]\n'
        'neurons = "types.csv"\n\n[learnable]\nW = { gain = "cells" }\nc = "all"\nleak = "all"\n'
    )


def write(circuit: Circuit, folder: Path, relu: bool = False) -> Path:
    """The files of a circuit."""
    rng = np.random.default_rng(circuit.n)
    n, kinds = circuit.n, circuit.types
    kind = np.concatenate([np.arange(kinds), rng.integers(0, kinds, n - kinds)])
    rng.shuffle(kind)
    members = [np.flatnonzero(kind == k) for k in range(kinds)]
    # Types form a ring and further random pairs, so that every type is reached.
    senders = kinds - circuit.unread
    ring = [(k + 1) % senders * kinds + k for k in range(senders)]
    ring += [k * kinds + k - senders for k in range(senders, kinds)]
    sent = np.flatnonzero(np.arange(kinds * kinds) % kinds < senders)
    more = rng.permutation(np.setdiff1d(sent, ring))
    pairs = np.concatenate([ring, more[: circuit.pairs - kinds]])
    cells = np.zeros(0, np.int64)
    every = [rng.permutation(len(members[p // kinds]) * len(members[p % kinds])) for p in pairs]
    share = circuit.synapses / sum(map(len, every))
    for p, order in zip(pairs.tolist(), every, strict=True):
        post, pre = members[p // kinds], members[p % kinds]
        some = order[: max(1, round(len(order) * share))]
        cells = np.append(cells, post[some // len(pre)] * n + pre[some % len(pre)])
    post, pre = np.divmod(np.sort(cells), n)
    counts = rng.geometric(0.3, len(cells))
    table = np.stack([pre, post, counts], axis=1)
    np.savetxt(folder / "synapses.csv", table, "%d", ",", header="pre,post,synapses", comments="")
    (folder / "types.csv").write_text("".join(f"T{k}\n" for k in kind), "utf-8")
    read = np.zeros((circuit.d, n), np.int8)
    read[np.arange(circuit.d), rng.choice(np.flatnonzero(kind < senders), circuit.d, False)] = 1
    np.save(folder / "read.npy", read)
    path = folder / "circuit.toml"
    path.write_text(problem_file(circuit, relu), "utf-8")
    return path


def measured(verb: str, path: Path, *more: str) -> dict[str, object]:
    """CPU seconds, peak memory and answer of a verb, with more options."""
    folder, out = path.parent, path.parent / "answer.json"
    if verb == "verify":
        measured("record", path)
        path = folder / "recording.json"
    command = [sys.executable, "-m", "matchprob", *VERBS[verb], str(path), "--json"]
    command += ["--timeout", _LIMIT, *more]
    with out.open("w", encoding="utf-8") as stream:
        child = subprocess.Popen(
            command, stdout=stream, stderr=subprocess.PIPE, text=True, cwd=folder
        )
        assert child.stderr is not None
        error = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
    row: dict[str, object] = {
        "verb": verb,
        "seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "GiB": round(usage.ru_maxrss / 2**20, 2),
        "status": os.waitstatus_to_exitcode(status),
    }
    text = out.read_text("utf-8")
    if not text:
        return row | {"error": error.strip().splitlines()[-1:]}
    found = json.loads(text)
    keys = (
        "learnable", "rank", "fibre_dimension", "target_free", "recorded", "bound", "optimal",
        "error_bound", "holds", "at", "free_in",
    )  # fmt: skip
    row |= {key: found[key] for key in keys if key in found}
    if found.get("target"):
        row["target"] = [sum(own["determined"] for own in found["target"]), len(found["target"])]
    return row


def main() -> None:
    """Write one line of JSON for each size and verb that is not in the file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[c.n for c in CIRCUITS])
    parser.add_argument("--verbs", nargs="+", default=list(VERBS), choices=list(VERBS))
    parser.add_argument("--unread", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("sizes.jsonl"))
    options = parser.parse_args()
    lines = options.out.read_text("utf-8").splitlines() if options.out.exists() else []
    done = {(row["n"], row["unread"], row["verb"]) for row in map(json.loads, lines)}
    for full in CIRCUITS:
        circuit = full._replace(unread=full.types // 10) if options.unread else full
        for verb in options.verbs:
            if circuit.n not in options.sizes or (circuit.n, circuit.unread, verb) in done:
                continue
            with tempfile.TemporaryDirectory() as folder:
                row = measured(verb, write(circuit, Path(folder)))
            row = circuit._asdict() | {"parameters": circuit.parameters} | row
            print(json.dumps(row), flush=True)
            with options.out.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
