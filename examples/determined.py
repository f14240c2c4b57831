"""
Which weights do the data determine?
====================================

Behaviour may leave some plastic weights open. The fibre of a generic instance, all weights that
give the same labels, tells which: its dimension, which weights are the same on all of it, and how
many isolated values the others may take.
"""

import matplotlib.pyplot as plt

import matchprob as mp

net = mp.LinearRNN(n=4, T=2, b=2, d=2, m=4)
masks = {
    "eight weights": [[1, 1, 0, 0], [1, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 0]],
    "a row and a column too full": [[1, 0, 0, 0], [1, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]],
}
found = {name: mp.identify(mp.Problem(net, {"W": mask})) for name, mask in masks.items()}
for name, result in found.items():
    print(name)
    print(result)

# %%
# On the left each weight is determined up to finitely many values. On the right a row and a
# column hold more weights than equations: whole families of weights behave alike, and one weight
# is the same in all of them.

figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for ax, (name, result) in zip(axes, found.items(), strict=True):
    result.plot(ax=ax)
    ax.set_title(name, fontsize=10)
plt.show()
