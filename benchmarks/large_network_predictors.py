"""Numbers of a digraph that may predict the limit of MP, chosen on half of the digraphs.

Reads docs/figures/large-networks.csv, as ``matchprob reproduce large-networks`` writes it, without
the digraphs whose limit is exactly 1 by an odd number of solutions.  For each table with at least
eight others Kendall's τ of each number with MP_∞; then for 400 random divisions of each table into
halves the number, with its sign, of the highest mean τ on one half, and its mean τ on the other,
beside that of rows, the principle of the paper.

    python benchmarks/large_network_predictors.py [table.csv]
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np

from matchprob.plugins.papers.figures.tables import read_table
from numeric.plugins.papers.principles.correlation import tau_b

SPLITS, LEAST = 400, 8
TABLE = Path(__file__).parents[1] / "docs" / "figures" / "large-networks.csv"


def numbers(row):
    """What is known of a digraph, and of its numbers of solutions, without solving an instance."""
    cells = [tuple(map(int, cell.split("-"))) for cell in row["cells"].split()]
    heads, tails = {i for i, _ in cells}, {j for _, j in cells}
    joins = [(k, one) for k, a in enumerate(cells) for one, b in enumerate(cells) if a[1] == b[0]]
    growths = [int(part) for part in f"{row['growths']}".split(" + ") if part.isdigit()]
    return {
        "rows": len(heads), "columns": len(tails), "units": len(heads | tails),
        "loops": sum(i == j for i, j in cells), "joins": len(joins),
        "2-cycles": sum((j, i) in cells for i, j in cells if i < j),
        "parts": _parts(cells), "growths": len(growths), "N": row["N"], "N mod 4": row["N"] % 4,
        "least N of a growth": min(growths, default=row["N"]),
    }  # fmt: skip


def _parts(cells):
    """The number of connected parts."""
    parts = [set(cell) for cell in cells]
    for cell in cells:
        met = [own for own in parts if own & set(cell)]
        parts = [own for own in parts if own not in met] + [set().union(*met)]
    return len(parts)


def mean_tau(tables, name):
    """The mean of τ over the tables in which the number varies, and their number."""
    found = [t for rows in tables if (t := tau(rows, name)) is not None]
    return (sum(found) / len(found) if found else 0.0), len(found)


def tau(rows, name):
    values = np.array([own[name] for own, _ in rows], float)
    if len(rows) < 2 or np.ptp(values) == 0:
        return None
    found = tau_b(values, np.array([mp for _, mp in rows], float))
    return None if np.isnan(found) else found


def main():
    """Print τ of each number for each table, and what halves predict of each other."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else TABLE
    named = {}
    for row in read_table(path):
        key = f"r = {row['r']}, T = {row['T']}, b = d = {row['b']}"
        if not row["exact"] and row["growths"] != "open" and "" not in (row["mp"], row["N"]):
            named.setdefault(key, []).append((numbers(row), row["mp"]))
    named = {key: rows for key, rows in named.items() if len(rows) >= LEAST}
    tables = list(named.values())
    for key, rows in named.items():
        print(f"{key}: {len(rows)} digraphs between 0 and 1")
    names = list(tables[0][0][0])
    for name in names:
        found = [tau(rows, name) for rows in tables]
        texts = "".join("      –" if t is None else f"{t:7.2f}" for t in found)
        print(f"{name:20}{texts}   mean {mean_tau(tables, name)[0]:.2f}")
    rng, chosen, held, rows_held = np.random.default_rng(0), Counter(), [], []
    for _ in range(SPLITS):
        halves = [[], []]
        for rows in tables:
            order = rng.permutation(len(rows))
            for half, own in zip(halves, np.array_split(order, 2), strict=True):
                half.append([rows[k] for k in own])
        scores = {name: mean_tau(halves[0], name) for name in names}
        able = [name for name in names if 2 * scores[name][1] >= len(tables)]
        best = max(able, key=lambda name: abs(scores[name][0]))
        sign = 1 if scores[best][0] > 0 else -1
        chosen[("" if sign > 0 else "−") + best] += 1
        held.append(sign * mean_tau(halves[1], best)[0])
        rows_held.append(mean_tau(halves[1], "rows")[0])
    print("chosen:", ", ".join(f"{name} {count}" for name, count in chosen.most_common()))
    for name, values in (("chosen", held), ("rows", rows_held)):
        low, high = np.quantile(values, [0.025, 0.975])
        print(f"held out, {name}: mean τ {np.mean(values):.2f}, 95 % [{low:.2f}, {high:.2f}]")


if __name__ == "__main__":
    main()
