"""
Where the first paper's theorems fail
=====================================

For seven allocations a theorem, as stated, is wrong or does not apply. Each verdict is exact, and
each certificate is verified independently. Corrected versions of the theorems, with proofs:
:doc:`/theorems`.
"""

import matplotlib.pyplot as plt

import matchprob as mp
from algebra.plugins.papers.theorems.statements import what_theorems_say

CASES = [
    (
        "4.1: three cells too many on one row and one column",
        mp.LinearFeedForward(q=3, widths=(3,), d=2, m=2),
        "W1",
        [(0, 1), (0, 2), (1, 0), (2, 0)],
    ),
    (
        "4.1: two disjoint 2×2 blocks and one more cell",
        mp.LinearFeedForward(q=5, widths=(5,), d=3, m=3),
        "W1",
        [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (2, 3), (3, 2), (3, 3), (4, 4)],
    ),
    (
        "3.2: T = 2, a row and a column of 8 without the shared cell",
        mp.LinearRNN(n=18, T=2, b=9, d=4, m=4),
        "B",
        [(0, j) for j in range(1, 9)] + [(i, 0) for i in range(1, 9)],
    ),
    (
        "3.2: T = 2, five whole rows; no budget is violated",
        mp.LinearRNN(n=6, T=2, b=3, d=3, m=5),
        "B",
        [(i, j) for i in range(5) for j in range(3)],
    ),
    (
        "3.4 is silent on a minimal allocation",
        mp.LinearRNN(n=4, T=2, b=2, d=2, m=4),
        "W",
        [(0, 0), (1, 0), (1, 3), (2, 0), (3, 0), (3, 1), (3, 2), (3, 3)],
    ),
    (
        "3.5 where m < b",
        mp.LinearRNN(n=8, T=2, b=2, d=4, m=1),
        "W",
        [(0, j) for j in range(4)],
    ),
    (
        "3.5 where b < m < 2b",
        mp.LinearRNN(n=6, T=2, b=3, d=3, m=4),
        "W",
        [(i, j) for i in range(2) for j in range(6)],
    ),
]

# %%
# The statements of the theorems, the exact verdict, its reason, and whether the certificate holds.

certificates = []
for title, network, matrix, cells in CASES:
    allocation = mp.Allocation.from_cells(network, [(matrix, *cell) for cell in cells])
    statements = {k: w for k, w in what_theorems_say(network, allocation).items() if w != "silent"}
    certificate = mp.certify(mp.Problem.of(allocation))
    certificates.append(certificate)
    checked = "verified" if mp.verify(certificate).holds else "DOES NOT HOLD"
    print(title)
    print(f"  {network}")
    print(f"  stated  {statements or 'nothing'}")
    print(f"  true  {certificate.verdict} ({certificate.rule}), {checked}")
    for reason in certificate.reasons[:1]:
        print(f"        {reason}")

# %%
# The two smallest, as pictures. On the left no row has more than m = 2 learnable weights and no
# column more than d = 2, as Theorem 4.1 requires; but the four cells lie on one row and one column,
# which take part in only 2 + 2 - 1 = 3 equations. On the right all such counts are satisfied too,
# and still the rank is 8 of 9.

figure, axes = plt.subplots(1, 2, figsize=(7, 3.2), layout="constrained")
for ax, (_, network, matrix, cells) in zip(axes, CASES[:2], strict=True):
    mask = [
        [(i, j) in cells for j in range(network.shapes[matrix][1])]
        for i in range(network.shapes[matrix][0])
    ]
    ax.imshow(mask, cmap="Blues", vmin=0, vmax=1.4)
    ax.set_xticks(range(len(mask[0])))
    ax.set_yticks(range(len(mask)))
    ax.set_title(f"{network.d}·{network.m} labels, {len(cells)} weights: minimal", fontsize=10)
    ax.set_xlabel(f"column of {matrix}")
    ax.set_ylabel(f"row of {matrix}")
plt.show()
