"""
Which neurons have to be recorded?
==================================

Behaviour leaves many synapses undetermined. Recordings of some hidden units determine them: the
smallest such set of units is computed, with a proof. Each linear unit adds little, because its
numbers are a few numbers of the same linear map; each unit with tanh adds more, the more samples
there are.
"""

import matplotlib.pyplot as plt
import numpy as np

import matchprob as mp

n, T, b, d = 16, 3, 2, 2
mask = (np.random.default_rng(0).random((n, n)) < 0.2).astype(int)
print(f"{mask.sum()} plastic synapses among {n} units")


def problem(kind, m):
    sizes = {"n": n, "T": T, "b": b, "d": d, "m": m}
    net = mp.LinearRNN(**sizes) if kind == "linear" else mp.RNN(**sizes, activation="tanh")
    return mp.Problem(net, {"W": mask})


print(mp.identify(problem("tanh", 4)).document().title)

# %%
# The two outputs have eight labels: no synapse is determined. So hidden units are recorded.

for kind in ("linear", "tanh"):
    print(f"\n{kind}, both outputs: rank", mp.record(problem(kind, 4)).rank.rank)
    print(mp.record(problem(kind, 4), "units"))

# %%
# With eight samples 3 units with tanh suffice, instead of 13. In the linear network more samples
# than the b = 2 that span the inputs of a step change nothing: 9 units, for any number of samples.

samples = range(1, 9)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for kind in ("linear", "tanh"):
    found = [mp.record(problem(kind, m), "units") for m in samples]
    axes[0].plot(samples, [len(f.recorded) for f in found], "o-", label=kind)
    axes[1].plot(samples, [f.rank.rank for f in found], "o-", label=kind)
axes[1].axhline(mask.sum(), color="0.6", lw=0.8)
for ax, label in zip(axes, ("units to record", "weights they determine"), strict=True):
    ax.set_xlabel("samples m")
    ax.set_ylabel(label)
    ax.legend(frameon=False)
plt.show()

# %%
# Some units are expensive: the first half costs four times as much. Two units are recorded in any
# case. The proof states that no cheaper set suffices, and is verified from its file alone.

costs = {f"unit {k}": 4 if k < n // 2 else 1 for k in range(n)}
chosen = mp.record(problem("tanh", 3), "units", costs=costs, must=["unit 0", "unit 9"])
print(chosen)
chosen.plot()
plt.show()
