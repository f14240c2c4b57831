"""
Does "minimal" carry over to tanh?
==================================

The linear theory's bounds prove many allocations minimal. Trained networks usually have an
activation. For tanh, the generic rank, and therefore MP = 0, is decided exactly too: by a theorem
of Ax the values of tanh behave like independent unknowns.
"""

import random

import matplotlib.pyplot as plt
import numpy as np

import matchprob as mp

sizes = {"n": 4, "T": 2, "b": 1, "d": 2, "m": 2}
nets = {
    "linear": mp.RNN(**sizes, activation="linear"),
    "tanh": mp.RNN(**sizes, activation="tanh"),
}
rng = random.Random(1)
cells = [("W", i, j) for i in range(4) for j in range(4)]
drawn = [mp.Allocation.from_cells(nets["linear"], rng.sample(cells, 4)) for _ in range(100)]


def verdict(net, allocation):
    return mp.certify(mp.Problem(net, {"W": allocation.masks["W"]}), search=0.0).verdict


minimal = {
    name: [verdict(net, allocation) == "minimal" for allocation in drawn]
    for name, net in nets.items()
}
for name, flags in minimal.items():
    print(f"{name}: {sum(flags)} of {len(drawn)} allocations of four weights are minimal")

# %%
# In the linear net, one row with three weights satisfies at most Tb = 2 equations, the numbers of
# inputs that it receives. With tanh it satisfies up to Tm = 4: each sample at each step.

fullest = np.array([max(allocation.row_counts("W")) for allocation in drawn])
rows = np.arange(1, 5)
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.bar(rows, [sum(fullest == k) for k in rows], 0.7, color="#dddddd", label="all drawn")
for shift, name, color in ((-0.175, "linear", "#0072B2"), (0.175, "tanh", "#D55E00")):
    heights = [sum(np.array(minimal[name])[fullest == k]) for k in rows]
    bars = ax.bar(rows + shift, heights, 0.35, color=color, label=f"minimal, {name}")
    ax.bar_label(bars)
ax.set_xticks(rows)
ax.set_xlabel("learnable weights in the fullest row of W")
ax.set_ylabel("allocations")
ax.legend()
plt.show()

# %%
# One of them with tanh: not minimal, and intermediate, because no output weight learns and tanh is
# bounded. The certificate contains a minor that is regular in ball arithmetic.

odd = next(a for k, a in enumerate(drawn) if minimal["linear"][k] and not minimal["tanh"][k])
found = mp.certify(mp.Problem(nets["tanh"], {"W": odd.masks["W"]}))
print(found)
print(mp.verify(found))
