"""
Which weights do the data determine?
====================================

Behaviour may leave some plastic weights undetermined. The fibre of a generic instance, that is, all
weights that give the same labels, shows which: its dimension, the weights that are constant on it,
and the number of isolated values of the others.
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
# On the left each weight is determined up to finitely many values. On the right a row and a column
# have more weights than equations: families of weights give the same behaviour, and one weight is
# the same in all of them.

figure = plt.figure(figsize=(7.4, 2.7))
for part, (name, result) in zip(figure.subfigures(1, 2), found.items(), strict=True):
    ax = part.add_axes((0.12, 0.14, 0.8, 0.6))
    result.plot(ax=ax)
    ax.set_title("")
    part.suptitle(name, fontsize=10)
plt.show()
