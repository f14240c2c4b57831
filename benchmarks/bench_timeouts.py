"""Seconds by which each verb exceeds its limit: commands on problems of minutes or hours.

`--timeout S` bounds the whole call. Each command here runs in a process of its own, so the
measurement includes the start of Python (about half a second). The table has the seconds beyond S,
the exit status, and the last line on stderr.

    python benchmarks/bench_timeouts.py [--limits 2,5] [--only WORD] [--repeat 1]

Run it on a quiet machine: the limits are wall time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import matchprob as mp


@dataclass(frozen=True)
class Overrun:
    """One command under one limit: seconds beyond the limit, exit status, last message."""

    name: str
    limit: float
    beyond: float
    status: int
    message: str


def spread(n: int) -> mp.Problem:
    """A linear RNN whose generic root count is too expensive: n²/8 weights in half of the rows."""
    net = mp.LinearRNN(n=n, T=n // 2, b=1, d=n // 4, m=n // 2)
    rng = np.random.default_rng(0)
    W = np.zeros((n, n), int)
    for i in range(n // 2):
        W[i, rng.choice(n, n // 4, replace=False)] = 1
    return mp.Problem(net, {"W": W.tolist()})


def problems() -> dict[str, mp.Problem]:
    """Problems that no verb finishes in seconds, by name."""
    rng = np.random.default_rng(1)
    W1 = (rng.random((24, 18)) < 0.3).astype(int).tolist()
    wide = mp.LinearRNN(n=60, T=20, b=3, d=10, m=60)
    return {
        "spread12": spread(12),
        "spread20": spread(20),
        "spread32": spread(32),
        "all32": mp.Problem(spread(32).network, {"W": "all"}),
        "all60": mp.Problem(wide, {"W": "all"}),
        "deep": mp.Problem(mp.LinearRNN(n=2, T=10**6, b=1, d=1, m=2), {"W": [[1, 1], [0, 0]]}),
        "many": mp.Problem(mp.LinearRNN(n=2, T=2, b=1, d=1, m=10**7), {"W": [[1, 1], [0, 0]]}),
        "relu": mp.Problem(mp.ShallowReLU(q=18, n=24, d=6, m=24), {"W1": W1}),
        "tanh": mp.Problem(mp.RNN(n=40, T=12, b=5, d=8, m=60, activation="tanh"), {"W": "all"}),
        "square": mp.Problem(
            mp.RNN(n=6, T=4, b=2, d=3, m=12, activation={"polynomial": [0, 0, 1]}), {"W": "all"}
        ),
        "atlas": mp.Problem(mp.LinearRNN(n=3, T=3, b=1, d=1, m=3), {"W": "all"}),
    }


COMMANDS = {
    "inspect": ["all32", "all60", "deep", "many", "square", "tanh"],
    "certify": ["spread12", "spread20", "spread32", "all32", "all60", "deep", "many", "tanh"],
    "count": ["spread12", "spread20", "all32", "many", "square"],
    "estimate": ["spread12", "spread20", "relu", "square"],
    "design --goal maximal": ["spread32", "all32"],
    "design --goal cheapest": ["all32", "tanh"],
    "repair": ["spread32", "tanh"],
    "robust": ["all32", "all60"],
    "record --what units": ["all32", "tanh"],
    "identify": ["spread20", "all60", "tanh"],
    "audit --matrix W --count 1000000": ["spread32"],
    "atlas --budget 9": ["atlas"],
    "decide": ["relu"],
    "train --trials 100000": ["spread12", "relu"],
    "profile": ["spread12"],
    "dimension": ["all60", "square"],
}


def measure(name: str, command: list[str], limit: float) -> Overrun:
    """Run one command under one limit; stop it 60 s after the limit."""
    line = [sys.executable, "-m", "matchprob", *command, "--timeout", str(limit)]
    began = time.monotonic()
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=limit + 60)
        status, stderr = done.returncode, done.stderr
    except subprocess.TimeoutExpired:
        status, stderr = -9, "stopped by this script"
    beyond = time.monotonic() - began - limit
    return Overrun(name, limit, beyond, status, (stderr.strip().splitlines() or [""])[-1])


def main() -> None:
    """Measure every command, print the table, and the largest excess."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limits", default="2,5")
    parser.add_argument("--only", default="")
    parser.add_argument("--repeat", type=int, default=1)
    chosen = parser.parse_args()
    found: list[Overrun] = []
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for key, problem in problems().items():
            paths[key] = Path(folder) / f"{key}.toml"
            paths[key].write_text(problem.to_toml())
        for command, keys in COMMANDS.items():
            verb, *options = command.split()
            for key in keys:
                name = f"{command} {key}"
                if chosen.only not in name:
                    continue
                for limit in map(float, chosen.limits.split(",")):
                    for _ in range(chosen.repeat):
                        one = measure(name, [verb, str(paths[key]), *options], limit)
                        found.append(one)
                        print(
                            f"{name:45} {limit:5g} s {one.beyond:+7.2f} s  status {one.status}"
                            f"  {one.message[:90]}",
                            flush=True,
                        )
    late = [one for one in found if one.beyond > 2.0]
    worst = max(found, key=lambda one: one.beyond)
    print(f"{len(found)} calls, {len(late)} more than 2 s late; worst {worst.beyond:.2f} s beyond")
    print(f"the limit: {worst.name}")


if __name__ == "__main__":
    main()
