"""
Do matches generalize?
======================

A match reproduces the labels of m samples. Is it the teacher's function? For a linear recurrent
network T b independent samples determine the function, and fewer do not. As many weights of W learn
as there are labels: on the diagonal, beside it, or in one row. For each m a profile by error gives
the share of trials with a match whose error on new samples is at most ε.

Result: with few samples a match says nothing about new ones, and with T b samples every match is
the teacher's function, so that the curves meet. With one sample less about a third of the trials
with a match have one of error at most 0.1. The diagonal, which matches least often, generalizes no
better.
"""

import csv
import sys

import matplotlib.pyplot as plt

import matchprob as mp

# More trials, and a table and a picture in files: python examples/generalization.py 300 FILE
TRIALS = int(sys.argv[1]) if sys.argv[1:] and sys.argv[1].isdigit() else 40
BOUNDS = (0.1, 1.0)
n, T, b = 6, 2, 3


def cells(places):
    """A mask of W."""
    return [[int((i, j) in places) for j in range(n)] for i in range(n)]


ALLOCATIONS = {
    "diagonal": lambda m: {(i, i) for i in range(m)},
    "beside the diagonal": lambda m: {(i, (i + 1) % n) for i in range(m)},
    "one row": lambda m: {(0, j) for j in range(m)},
}
rows = []
for name, chosen in ALLOCATIONS.items():
    for m in range(1, T * b + 1):
        net = mp.LinearRNN(n=n, T=T, b=b, d=1, m=m)
        problem = mp.Problem(net, {"W": cells(chosen(m))})
        found = mp.profile(problem, by="error", bounds=BOUNDS, trials=TRIALS)
        for point in (*found.points, found.profiles[0].at(float("inf"))):
            low, high = point.interval.low, point.interval.high
            rows.append((name, m, point.bound, point.matched, point.unmatched, TRIALS, low, high))
            print(f"{name:20s} m = {m}  error ≤ {point.bound:<4g} [{low:.3f}, {high:.3f}]")

# %%
# 95 % intervals; undecided trials widen them.

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), sharey=True, layout="constrained")
colors = dict(zip((*BOUNDS, float("inf")), ("#D55E00", "#E69F00", "#0072B2"), strict=True))
for ax, name in zip(axes, ALLOCATIONS, strict=True):
    for shift, (bound, color) in enumerate(colors.items()):
        own = [row for row in rows if row[0] == name and row[2] == bound]
        label = "any match" if bound == float("inf") else f"error at most {bound:g}"
        places = [row[1] + 0.06 * (shift - 1) for row in own]
        shares = [row[3] / row[5] for row in own]
        ax.plot(places, shares, color=color, lw=1.2, marker="o", ms=3, label=label)
        ax.vlines(places, [row[6] for row in own], [row[7] for row in own], color=color, lw=1)
    ax.set(title=name, xlabel="samples m", xticks=range(1, T * b + 1), ylim=(-0.02, 1.03))
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("share of trials")
axes[0].legend(loc="upper left", fontsize="small", frameon=False)
if sys.argv[2:]:
    figure.savefig(f"{sys.argv[2]}.png", dpi=130)
    with open(f"{sys.argv[2]}.csv", "w", newline="", encoding="utf-8") as file:
        head = ("allocation", "m", "bound", "matched", "unmatched", "trials", "low", "high")
        csv.writer(file, lineterminator="\n").writerows([head, *rows])
plt.show()
