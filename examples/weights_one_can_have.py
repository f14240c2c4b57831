"""
Weights one can have
====================

A match may need weights no synapse can have. For each trial all real solutions are known, so the
least bound that admits one of them is known too: match probability against the largest weight
allowed.

Found: the row matches always, but in one trial of five it needs a weight above 10; of the
diagonal's matches most need none above 3.
"""

import matplotlib.pyplot as plt
import numpy as np

import matchprob as mp

net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
TRIALS = 200
curves = {}
for name, mask in {
    "row": [[1, 1], [0, 0]],
    "diagonal": [[1, 0], [0, 1]],
    "off-diagonal": [[0, 1], [1, 0]],
}.items():
    found = mp.count(mp.Problem(net, {"W": mask}), instances=TRIALS)
    least = [
        min((max(abs(w) for w in solution) for solution in count.solutions), default=np.inf)
        for count in found.instances
    ]
    curves[name] = np.sort(least)
    shares = {bound: np.mean(np.array(least) <= bound) for bound in (1, 3, 10, 1e9)}
    print(f"{name:12s}", {f"|w| <= {b}": round(float(s), 3) for b, s in shares.items()})

# %%
# The same, asked directly: bounds in the problem are obeyed by every solution that counts.

bounded = mp.Problem(net, {"W": [[1, 0], [0, 1]]}, constraints=mp.Constraints(max_abs=3.0))
print(mp.estimate(bounded, trials=TRIALS))

# %%
# Match probability against the bound; even the certified row, where MP = 1, needs large weights
# at times.

figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for (name, least), style in zip(curves.items(), ("-", "--", ":"), strict=True):
    ax.step(least, np.arange(1, TRIALS + 1) / TRIALS, style, where="post", label=name)
ax.set_xscale("log")
ax.set_xlim(0.1, 1000)
ax.set_ylim(0, 1.02)
ax.set_xlabel("largest weight allowed")
ax.set_ylabel(f"match probability ({TRIALS} trials)")
ax.legend()
plt.show()
