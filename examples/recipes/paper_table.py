"""A table and a figure for a paper, from the CSV of `matchprob atlas --trials`.

``python paper_table.py table.csv`` writes ``table.tex``, with booktabs' rules, and ``table.pdf``,
85 mm wide: each orbit of allocations with its match probability and interval.
"""

import csv
import sys
from pathlib import Path

import matplotlib.pyplot as plt

SIGNS = {"maximal": "o", "minimal": "x", "intermediate": "s", "undecided": "^"}


def main(path: str) -> None:
    """Write both files beside the table."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or "match_probability" not in rows[0]:
        sys.exit(f"{path}: no column match_probability; write it with matchprob atlas --trials 100")
    rows.sort(key=lambda row: float(row["match_probability"]))
    lines = [
        f"{row['cells'].replace('_', ' ')} & {row['orbit']} & {row['verdict']} & "
        f"{float(row['match_probability']):.3f} & "
        f"[{float(row['low']):.3f}, {float(row['high']):.3f}] \\\\"
        for row in rows
    ]
    head = "allocation & orbit & verdict & MP & 95\\,\\% interval \\\\"
    text = ["\\begin{tabular}{lrlrl}", "\\toprule", head, "\\midrule", *lines, "\\bottomrule"]
    Path(path).with_suffix(".tex").write_text("\n".join([*text, "\\end{tabular}"]) + "\n")
    figure, axes = plt.subplots(figsize=(85 / 25.4, 60 / 25.4), layout="constrained")
    for place, row in enumerate(rows):
        value, low, high = (float(row[key]) for key in ("match_probability", "low", "high"))
        axes.plot([place, place], [low, high], color="0.6", linewidth=2)
        axes.plot(place, value, SIGNS[row["verdict"]], color="tab:blue", markersize=4)
    axes.set(xlabel="orbit of allocations", ylabel="match probability", ylim=(-0.03, 1.03))
    figure.savefig(Path(path).with_suffix(".pdf"))
    decided = sum(row["verdict"] in ("maximal", "minimal") for row in rows)
    print(f"{len(rows)} orbits, {decided} by a verdict alone")


if __name__ == "__main__":
    main(sys.argv[1]) if sys.argv[1:] else sys.exit("usage: python paper_table.py orbits.csv")
