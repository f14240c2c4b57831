"""
Is spread out better?
=====================

"A more widespread allocation generally enhances the network's expressive power" is the first
paper's rule of thumb. Here it is compared with exact verdicts: for every allocation of dm recurrent
weights in small nets, how often MP > 0 and how often MP = 1 is certified, by the number of rows
(neurons that receive learnable weights) with learnable weights.

Result: concentrated allocations are *maximal* more often and *minimal* more often. Spread makes a
match possible; concentration makes it certain.
"""

from collections import Counter, defaultdict

import matplotlib.pyplot as plt

import matchprob as mp
from algebra.problems.symmetry import SymmetryGroup

NETS = [
    mp.LinearRNN(n=3, T=2, b=1, d=1, m=2),
    mp.LinearRNN(n=3, T=2, b=1, d=2, m=2),
]


def by_rows(network):
    """For each number of rows with learnable weights, the verdicts of all allocations."""
    found = mp.atlas(network, network.outputs, matrices=["W"], search=1.0)
    group = SymmetryGroup(network, ["W"])
    position = {cell: k for k, cell in enumerate(group.cells)}
    table = defaultdict(Counter)
    for entry in found.entries:
        for image in group.orbit([position[cell] for cell in entry.cells]):
            table[len({group.cells[k][1] for k in image})][entry.verdict] += 1
    return dict(sorted(table.items()))


tables = {network: by_rows(network) for network in NETS}
for network, table in tables.items():
    print(network)
    print("  rows  allocations   MP > 0   MP = 1 certified")
    for rows, tally in table.items():
        total = sum(tally.values())
        alive, sure = 1 - tally["minimal"] / total, tally["maximal"] / total
        print(f"  {rows:4d}  {total:11d}   {alive:6.0%}   {sure:6.0%}")

# %%
# The shares, by rows.

figure, axes = plt.subplots(1, len(NETS), figsize=(7, 3), sharey=True, layout="constrained")
for ax, (network, table) in zip(axes, tables.items(), strict=True):
    totals = [sum(t.values()) for t in table.values()]
    alive = [1 - t["minimal"] / n for t, n in zip(table.values(), totals, strict=True)]
    sure = [t["maximal"] / n for t, n in zip(table.values(), totals, strict=True)]
    ax.plot(list(table), alive, "o-", color="#0072B2", label="MP > 0")
    ax.plot(list(table), sure, "s--", color="#D55E00", label="MP = 1")
    ax.set_xticks(list(table))
    ax.set_ylim(-0.05, 1.05)
    ax.set_xlabel("rows of W that learn")
    ax.set_title(f"d = {network.d}: {network.outputs} weights", fontsize=10)
axes[0].set_ylabel("share of allocations")
axes[0].legend()
plt.show()
