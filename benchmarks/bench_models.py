"""Capacities of six models of 10^4 to 10^7 parameters, and single ranks: CPU seconds and memory.

Run: ``python benchmarks/bench_models.py [--only NAME …] [--memory 1GB] [--tree FOLDER]``.

Each row is one command in a process of its own: its CPU seconds, its peak memory, and the ranks and
capacities that it finds.  `--tree` runs another checkout on the same files; `--memory` gives each
command that limit, and status 1 tells that a peak exceeded it by more than a fifth.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from algebra.memory_limits import memory_size
from tests.onnx_models import Net, images

HERE = Path(__file__).parents[1]
# A random matrix modulo a short prime.
MATRIX = """
import random, sys
from algebra.linalg.primes import random_prime
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import random_residues
rng, n = random.Random(0), int(sys.argv[1])
p = random_prime(rng, 23)
print(modular_rank(random_residues((n, n), p, rng), p, overwrite=True))
"""


def perceptron(act: str, *widths: int) -> Any:
    """Dense layers with biases."""
    net = Net()
    x = net.input("x", widths[0])
    for k, (q, n) in enumerate(pairwise(widths)):
        x = net.linear(f"l{k}", x, q, n)
        x = net(act, x) if k < len(widths) - 2 else x
    return net.model(x)


def residual(n: int, inner: int, layers: int, d: int, q: int) -> Any:
    """Residual blocks of two dense layers behind a normalization."""
    net = Net()
    x = net.linear("in", net.input("x", q), q, n)
    for k in range(layers):
        gain = net.tensor(np.ones(n), f"b{k}.norm.weight")
        y = net("LayerNormalization", x, gain, net.tensor(np.zeros(n), f"b{k}.norm.bias"))
        y = net("Tanh", net.linear(f"b{k}.up", y, n, inner))
        x = net("Add", x, net.linear(f"b{k}.down", y, inner, n))
    return net.model(net.linear("head", x, n, d))


MODELS: dict[str, Callable[[], Any]] = {
    "tanh": lambda: perceptron("Tanh", 8, 32, 32, 32, 1),
    "relu": lambda: perceptron("Relu", 8, 32, 32, 32, 1),
    "mlp10k": lambda: perceptron("Tanh", 20, 80, 80, 20, 10),
    "images": lambda: images(900, 120),
    "mlp100k": lambda: perceptron("Relu", 50, 200, 200, 200, 10),
    "lora1M": lambda: perceptron("Tanh", 64, 700, 700, 700, 10),
    "norms2M": lambda: residual(256, 1024, 4, 10, 32),
    "mlp10M": lambda: perceptron("Tanh", 1000, 2000, 2000, 2000, 10),
}
# Name of the row, of the model, verb and arguments; the seconds of CPU that are the goal.
ROWS: list[tuple[str, str, list[str], int | None]] = [
    ("matrix", "", ["10000"], 25),
    ("tanh", "tanh", ["dimension"], 20),
    ("relu", "relu", ["dimension"], None),
    ("mlp10k", "mlp10k", ["capacity", "--learn", "*.bias", "--learn", "*"], None),
    ("images", "images", ["capacity", "--learn", "head.*"], None),
    ("mlp100k", "mlp100k", ["capacity", "--learn", "*.bias"], None),
    ("lora1M", "lora1M", ["capacity", "--lora", "2", "--on", "l1.*,l2.*"], 30),
    ("norms2M", "norms2M", ["capacity", "--learn", "*.bias,*.norm.*", "--m", "40"], 60),
    ("mlp10M", "mlp10M", ["capacity", "--learn", "*.bias"], None),
]


def found(text: str) -> str:
    """The numbers in the answer of a command."""
    if not text.startswith("{"):
        return text.strip()
    answer = json.loads(text)
    if "subsets" not in answer:
        number = answer["dimension"]
        return f"dimension {number if number is not None else answer.get('at_least')}"
    return "; ".join(f"{s['name']}: {s['rank']}, {s['capacity']}" for s in answer["subsets"])


def run(command: Sequence[str], tree: Path) -> tuple[int, float, int, str]:
    """Status, seconds of CPU, peak in bytes and numbers of one command."""
    words = {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, **words}, cwd=tempfile.gettempdir(),
    )  # fmt: skip
    assert process.stdout is not None
    text = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = used.ru_utime + used.ru_stime
    return process.returncode, seconds, used.ru_maxrss * 1024, found(text) if text else ""


def main() -> int:
    """Print the table; 1 if a peak is too large."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="*", choices=[row[0] for row in ROWS])
    parser.add_argument("--memory")
    parser.add_argument("--seconds", type=int, default=600, help="of CPU, for each row")
    parser.add_argument("--tree", type=Path, default=HERE)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CPU, (given.seconds, given.seconds))
    excess = 0
    print("row       CPU   goal   peak  status  name: rank, capacity", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, model, words, goal in ROWS:
            if given.only and name not in given.only:
                continue
            command = ["-c", MATRIX, *words]
            if model:
                path = Path(folder) / f"{model}.onnx"
                onnx.save(MODELS[model](), str(path))
                limit = ["--memory", given.memory] if given.memory else []
                command = ["-m", "matchprob", words[0], str(path), *words[1:], "--json", *limit]
            status, seconds, peak, text = run(command, given.tree.resolve())
            numbers = f"{seconds:>4.1f} {goal or '':>6} {peak / 1e6:>6.0f} {status:>7}"
            print(f"{name:<8} {numbers}  {text}", flush=True)
            if given.memory and model:
                excess = max(excess, 5 * peak - 6 * memory_size(given.memory))
    return int(excess > 0)


if __name__ == "__main__":
    raise SystemExit(main())
