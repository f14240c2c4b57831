"""
Tuning only normalization layers
================================

All weights of a network are frozen and random; a scale and a shift for each unit learn. The second
paper realizes every d×d target with d² hidden units. If the output scales learn too, d² - d + 1
units suffice for a target of one layer, and no fewer: verdicts by width show it, a construction
attains it, and a proof shows that one unit less is impossible.
"""

import matplotlib.pyplot as plt
import numpy as np

import matchprob as mp
from algebra.plugins.normalization.khatri_rao import khatri_rao_rank, width_needed
from algebra.plugins.normalization.unreachable import prove_unreachable

# %%
# A 3×3 target and four samples, by hidden width.

for width in range(5, 10):
    row = []
    for scales in (("g1", "b1", "b2"), ("g1", "g2", "b1", "b2")):
        net = mp.NormNet.square(d=3, depth=1, width=width, m=4, activation="linear")
        row.append(mp.certify(mp.Problem(net, dict.fromkeys(scales, "all"))).verdict)
    print(f"w = {width}: hidden scales {row[0]:9s} both scales {row[1]}")
print("needed on all inputs:", width_needed(3, 3), width_needed(3, 3, second_scales=True))

# %%
# The construction for increasing size, with a proved error bound; and, with one unit less, a prime
# modulo which it is proved impossible.

rng = np.random.default_rng(0)
sizes, errors, conditions = (2, 4, 6, 8, 10), [], []
for d in sizes:
    target = rng.standard_normal((d, d))
    target /= np.linalg.norm(target, 2)
    made = mp.construct([(target, rng.standard_normal(d))], seed=d)
    W1, W2 = made.frozen[0][:-1], made.frozen[1][:, :-1]
    errors.append(made.error)
    conditions.append(made.condition)
    prime = prove_unreachable(W2, W1, target)
    print(f"d = {d:2d}  w = {d * d:3d}  error at most {made.error:.1e}  w - 1: no, modulo {prime}")
exact = mp.construct([rng.standard_normal((4, 4))], exact=True)
print(f"d = 4 in rationals: error {exact.error}, rank {khatri_rao_rank(4, 4, 16).rank} of 16")

# %%
# Error bound and condition number by size.

figure, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.semilogy(sizes, errors, "o-", color="#0072B2", label="proved error bound")
ax.semilogy(sizes, conditions, "s--", color="#D55E00", label="condition number")
ax.set_xlabel("d: inputs and outputs of the target")
ax.legend()
plt.show()
