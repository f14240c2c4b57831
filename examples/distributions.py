"""
Does the ranking hold for other laws?
=====================================

The first paper leaves this comparison open: match probabilities with normal, uniform and Rademacher
(±1) weights of student and teacher. Maximal and minimal verdicts hold for every distribution with a
density; with ±1 weights no instance is generic, and each one is decided in exact arithmetic.

Result: allocations off the diagonal match more often than the diagonal with both distributions that
have a density; the row always matches with both. With ±1 weights some trials have infinitely many
solutions or stay undecided, and the intervals include these trials.
"""

import sys

import matplotlib.pyplot as plt

import matchprob as mp

# More trials for narrower intervals: python examples/distributions.py 1000
TRIALS = int(sys.argv[1]) if sys.argv[1:] and sys.argv[1].isdigit() else 60
LAWS = ("normal", "uniform", "rademacher")
net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
ALLOCATIONS = {
    "row": [[1, 1], [0, 0]],
    "diagonal": [[1, 0], [0, 1]],
    "off-diagonal": [[0, 1], [1, 0]],
}
found = {}
for name, mask in ALLOCATIONS.items():
    for law in LAWS:
        laws = mp.Distribution(weights=law, teacher=law)
        problem = mp.Problem(net, {"W": mask}, distribution=laws)
        # Instances with ±1 weights may be special: exact arithmetic decides each of them.
        engine = "exact" if law == "rademacher" else "homotopy"
        found[name, law] = mp.estimate(problem, TRIALS, engine=engine)
        interval = found[name, law].interval()
        print(f"{name:12s} {law:10s} [{interval.low:.3f}, {interval.high:.3f}]")

# %%
# 95 % intervals, by distribution. Trials in which infinitely many weights match count as matches;
# undecided trials widen the interval.

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for shift, (law, color) in enumerate(zip(LAWS, ("#0072B2", "#E69F00", "#CC79A7"), strict=True)):
    for place, name in enumerate(ALLOCATIONS):
        interval = found[name, law].interval()
        x = place + 0.2 * (shift - 1)
        # The estimate is a point, so that an interval without width is seen too.
        ax.plot(
            [x, x],
            [interval.low, interval.high],
            color=color,
            lw=4,
            solid_capstyle="butt",
            clip_on=False,
        )
        ax.plot(
            x,
            found[name, law].estimate,
            "o",
            color=color,
            ms=8,
            markeredgecolor="white",
            clip_on=False,
            label=law if not place else None,
        )
ax.set_xticks(range(len(ALLOCATIONS)), ALLOCATIONS)
ax.set_ylim(0, 1)
ax.set_ylabel("match probability")
ax.legend(loc="lower right")
plt.show()
