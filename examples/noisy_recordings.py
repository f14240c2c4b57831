"""
How many neurons to record when recordings are noisy
====================================================

A wiring is known, the gain and the bias of each neuron are not: the question of
connectome-constrained networks (Beiran and Litwin-Kumar, 2025). Generically one or two recorded
neurons determine all gains and biases, and with them the activity of every other neuron. Noise is
what asks for more: most directions of the parameters are sloppy, a few are stiff.
"""

import matplotlib.pyplot as plt
import numpy as np

import matchprob as mp

n, T, b, m = 16, 6, 3, 5
rng = np.random.default_rng(0)
wiring = (rng.random((n, n)) < 0.25).astype(int)
wiring[np.arange(n), (np.arange(n) + 1) % n] = 1
net = mp.RNN(n=n, T=T, b=b, d=1, m=m, activation="tanh", biases=True, leak="1/2")
problem = mp.Problem(net, {"W": {"gain": "columns"}, "c": np.ones((n, 1), int)}, {"W": wiring})
sigma = 0.05

exact = mp.record(problem, "units", target="units", noise=sigma)
print(exact)

# %%
# Two neurons determine everything without noise, but the singular values fall by four orders of
# magnitude, and the predicted deviation of the activity is large. So neurons are chosen for a
# deviation: greedily, and at random.

levels = [0.9 * exact.total * 0.75**k for k in range(8)]
best = []
for below in levels:
    try:
        found = mp.record(problem, "units", target="units", noise=sigma, below=below)
    except mp.Unfinished:
        break
    best.append((len(found.recorded), found.total, int(found.bound)))
    print(f"below {below:.4f}: {best[-1][0]} neurons, at least {best[-1][2]}")

random = []
for count in (1, 4, 8, 12):
    must = [f"unit {k}" for k in rng.permutation(n)[:count]]
    found = mp.record(problem, "units", target="units", noise=sigma, must=must)
    random.append((len(found.recorded), found.total))

# %%
# Left the stiff and the sloppy directions, right the neurons that a deviation needs.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
axes[0].semilogy(exact.singular_values, "o-", ms=3)
axes[0].set_xlabel("direction")
axes[0].set_ylabel("singular value")
axes[1].plot(*zip(*((k, total) for k, total, _ in best), strict=True), "o-", label="greedy")
axes[1].plot(*zip(*random, strict=True), "s--", label="at random")
axes[1].set_xlabel("recorded neurons")
axes[1].set_ylabel("predicted deviation")
axes[1].legend(frameon=False)
plt.show()
