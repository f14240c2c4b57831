"""Makes root_counts.json: generic root counts by elimination and msolve over GF(p).

Run from the top folder: ``python tests/data/make_root_counts.py``.  The tests of path tracking read
the file, so that they compare with counts by another method.
"""

import json
from pathlib import Path

from algebra.networks.kinds import KINDS
from algebra.problems.allocation import Allocation
from algebra.systems.root_count import generic_root_count

RNN2 = {"kind": "lrnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2}
RNN3 = {"kind": "lrnn", "n": 3, "T": 2, "b": 1, "d": 2, "m": 2}
RNN4 = {"kind": "lrnn", "n": 4, "T": 3, "b": 1, "d": 2, "m": 2}
RNN5 = {"kind": "lrnn", "n": 4, "T": 2, "b": 2, "d": 2, "m": 3}
LFFN = {"kind": "lffn", "q": 2, "widths": [2], "d": 2, "m": 2}
DEEP = {"kind": "lffn", "q": 3, "widths": [3, 3], "d": 2, "m": 3}
WIDE = {"kind": "lrnn", "n": 3, "T": 2, "b": 1, "d": 2, "m": 9}

CASES = [
    (RNN2, "W 0 0, W 1 1"),
    (RNN2, "W 0 1, W 1 0"),
    (RNN2, "W 0 0, W 0 1"),
    (RNN2, "W 0 0, W 1 0"),
    (RNN3, "W 0 0, W 0 1, W 1 2, W 2 0"),
    (RNN3, "W 0 0, W 1 1, W 2 2, W 0 1"),
    (RNN3, "W 0 0, W 1 1, B 0 0, B 2 0"),
    (RNN3, "W 0 0, W 1 1, D 0 0, D 1 2"),
    (RNN3, "W 0 1, W 2 1, B 1 0, D 0 2"),
    (RNN4, "W 0 0, W 1 1, W 2 2, W 3 3"),
    (RNN4, "W 0 1, W 1 2, W 2 0, W 3 3"),
    (RNN5, "W 0 0, W 1 1, W 2 2, W 3 3, W 0 2, W 1 3"),
    (LFFN, "W1 0 0, W1 1 1, W2 0 0, W2 1 1"),
    (LFFN, "W1 0 0, W1 0 1, W2 1 0, W2 0 1"),
    (DEEP, "W1 0 0, W1 1 1, W2 0 1, W2 2 2, W3 0 0, W3 1 2"),
    (DEEP, "W1 0 0, W1 1 2, W2 1 0, W2 2 1, W3 0 0, W3 1 1"),
    (WIDE, "W 0 0, W 0 1, W 1 2, W 2 0"),
]


def main() -> None:
    out = []
    for sizes, text in CASES:
        sizes = dict(sizes)
        network = KINDS[sizes["kind"]](**{k: v for k, v in sizes.items() if k != "kind"})
        cells = [
            (name, int(i), int(j)) for name, i, j in (part.split() for part in text.split(", "))
        ]
        allocation = Allocation.from_cells(network, cells)
        count = generic_root_count(allocation)
        out.append({"network": sizes, "cells": cells, "root_count": count.value})
        print(network, text, count.value)
    path = Path(__file__).with_name("root_counts.json")
    lines = ",\n".join(json.dumps(case) for case in out)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
