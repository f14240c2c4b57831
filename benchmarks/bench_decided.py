"""Trials that are decided, and their time, in two checkouts: one line for each kind of net.

    python benchmarks/bench_decided.py OLD NEW

More weights than equations, random cells beside given ones, tanh, ReLU of several layers, scales of
normalization.  Each problem is estimated by both trees in turn, kernels compiled before; a line has
the trials that match, that do not, and that are undetermined, and the processor time of the
command, start of Python included.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from compare_trees import call_python

_RNN = 'kind = "lrnn"\nn = {}\nT = {}\nb = 1\nd = 1\nm = {}\n[learnable]\nW = {}'
_RELU = 'kind = "ffn"\nactivation = "relu"\nq = 3\nwidths = [3, 3]\nd = 1\nm = {}\n[learnable]\n{}'
_TANH = """kind = "rnn"
n = 3
T = 2
b = 1
d = 1
m = {}
activation = "tanh"
biases = true
[learnable]
W = [[1, {}, 0], [0, 0, 0], [0, 0, 0]]
c = [[1], [0], [0]]"""
_SCALES = """kind = "normnet"
widths = [2, 2]
hidden = [4]
m = 3
activation = "relu"
[learnable]
g1 = "all"
g2 = "all\""""
# Words, trials, and the lines after [network].
PROBLEMS = (
    ("surplus, n = 2, two weights, one equation", 1000,
     _RNN.format(2, 2, 1, "[[1, 0], [0, 1]]")),
    ("surplus, n = 3, three weights, two equations", 1000,
     _RNN.format(3, 2, 2, "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]")),
    ("random cells, n = 4", 300, _RNN.format(4, 3, 3, "{ random = { budget = 3 } }")),
    ("random cells, n = 8", 300, _RNN.format(8, 3, 3, "{ random = { budget = 3 } }")),
    ("given cells, n = 4", 300,
     _RNN.format(4, 3, 3, "[[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]")),
    ("tanh, two weights", 50, _TANH.format(2, 0)),
    ("tanh, three weights", 20, _TANH.format(3, 1)),
    ("ReLU, two hidden layers, four weights of one", 200,
     _RELU.format(4, "W1 = [[1, 1, 0], [1, 0, 1], [0, 0, 0]]")),
    ("ReLU, a weight of each of two layers", 50,
     _RELU.format(2, "W1 = [[1, 0, 0], [0, 0, 0], [0, 0, 0]]\n"
                  "W2 = [[0, 1, 0], [0, 0, 0], [0, 0, 0]]")),
    ("scales of a ReLU normalization net", 40, _SCALES),
)  # fmt: skip


def line(tree: Path, file: Path, trials: int) -> str:
    """The trials of one problem in one tree."""
    words = ["-m", "matchprob", "estimate", str(file), "--json", "--trials"]
    call_python(tree, *words, "2")
    spent, status, text = call_python(tree, *words, str(trials), "--timeout", "120")
    try:
        found = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except ValueError:
        return f"status {status}: refused"
    counts = "/".join(str(found[key]) for key in ("matched", "unmatched", "undetermined"))
    return f"{counts}, {spent:.1f} s"


def main() -> None:
    """Print a row for each problem."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trees", type=Path, nargs=2, metavar="TREE")
    trees = [tree.resolve() for tree in parser.parse_args().trees]
    print("| net | trials | OLD: matched/unmatched/undetermined | NEW |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for number, (title, trials, text) in enumerate(PROBLEMS):
            file = Path(folder, f"p{number}.toml")
            file.write_text("[network]\n" + text + "\n", encoding="utf-8")
            found = [line(tree, file, trials) for tree in trees]
            print(f"| {title} | {trials} | {found[0]} | {found[1]} |", flush=True)


if __name__ == "__main__":
    main()
