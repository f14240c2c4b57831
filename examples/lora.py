"""
How large must a low rank be?
=============================

Fine-tuning by low-rank updates (LoRA) changes W to W + U Vᵀ. For a deep linear net, a published
threshold states that the ranks suffice if they add up to the rank of the change. Exact ranks agree
in each of 1,900 cases, and a smaller sum never suffices. With tanh the threshold increases with the
number of samples, as the number of parameters without gauge predicts, until only whole matrices
suffice.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np

import matchprob as mp

# %%
# Deep linear nets: three layers, every choice of ranks, compared with the sum of the ranks.

agree = cases = 0
for q, d, m in itertools.product((2, 3, 4), (2, 3, 4), (2, 3, 4, 5)):
    net = mp.LinearFeedForward(q=q, widths=(4, 4), d=d, m=m)
    for ranks in itertools.product(range(4), repeat=3):
        learnable = {f"W{k}": {"lora": rank} for k, rank in enumerate(ranks, 1) if rank}
        if not learnable or ranks[0] > q or ranks[2] > d:
            continue
        found = mp.inspect(mp.Problem(net, learnable))
        agree += (found.rank == found.equations) == (sum(ranks) >= min(q, d, m))
        cases += 1
print(f"{agree} of {cases}: MP = 0 exactly where the ranks add up to less than min(q, d, m)")

# %%
# At the threshold the verdict is maximal: every teacher is matched.

net = mp.LinearFeedForward(q=4, widths=(4,), d=4, m=4)
for ranks in ((1, 2), (2, 2), (1, 3)):
    problem = mp.Problem(net, {"W1": {"lora": ranks[0]}, "W2": {"lora": ranks[1]}})
    found = mp.certify(problem)
    print(ranks, found.verdict, f"(rank {found.rank} of {found.equations})")

# %%
# One hidden layer of tanh units, biases learn too: the smallest rank with MP > 0, by samples.

samples = [1, 2, 4, 6, 8, 12, 16, 24]
widths = (4, 8, 12)
smallest = {}
for width in widths:
    smallest[width] = []
    for m in samples:
        net = mp.FeedForward(q=8, widths=(width,), d=8, m=m, activation="tanh", biases=True)
        biases = {"c1": "all", "e": "all"}
        for k in range(1, min(width, 8) + 1):
            learnable = {"W1": {"lora": k}, "W2": {"lora": k}, **biases}
            found = mp.inspect(mp.Problem(net, learnable))
            if found.rank == found.equations:
                break
        smallest[width].append(k)
    print(f"width {width}:", dict(zip(samples, smallest[width], strict=True)))

# %%
net = mp.LinearFeedForward(q=6, widths=(6,), d=6, m=6)
ranks = np.zeros((7, 7), int)
for k1, k2 in itertools.product(range(7), repeat=2):
    learnable = {name: {"lora": k} for name, k in (("W1", k1), ("W2", k2)) if k}
    if learnable:
        ranks[k2, k1] = mp.inspect(mp.Problem(net, learnable)).rank

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.imshow(ranks, origin="lower", cmap="Blues", vmin=0, vmax=40)
for (k2, k1), rank in np.ndenumerate(ranks):
    left.text(k1, k2, rank, ha="center", va="center", color="white" if rank > 30 else "black")
left.plot([-0.5, 6.5], [6.0, -1.0], color="tab:orange")
left.set(xlabel="rank in layer 1", ylabel="rank in layer 2", xlim=(-0.5, 6.5), ylim=(-0.5, 6.5))
left.set_title("linear, 6 units: equations met, of 36", fontsize=10)
for width in widths:
    right.step(samples, smallest[width], where="post", label=f"{width} tanh units")
right.set(xlabel="samples", ylabel="smallest rank with MP > 0", ylim=(0, 9))
right.legend()
plt.show()
