"""
Weights one can have
====================

A match may need weights no synapse can have. For each trial all real solutions are known, so the
least bound that admits one of them is known too: the match probability against the largest weight
allowed, with its interval at every bound.

Found: the row matches always, but in one trial of five it needs a weight above 10; of the
diagonal's matches most need none above 3.
"""

import matplotlib.pyplot as plt

import matchprob as mp

net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
row = mp.Problem(net, {"W": [[1, 1], [0, 0]]})
diagonal = mp.Problem(net, {"W": [[1, 0], [0, 1]]})
bounds = [1, 3, 10, 100]
for name, problem in (("row", row), ("diagonal", diagonal)):
    found = mp.profile(problem, bounds=bounds, trials=200)
    for bound, point in zip(bounds, found.points, strict=True):
        low, high = point.interval.low, point.interval.high
        print(
            f"{name:9s} every |w| at most {bound:3d}: {point.matched}/200 [{low:.3f}, {high:.3f}]"
        )

# %%
# The same, asked directly: bounds in the problem are obeyed by every solution that counts.

bounded = mp.Problem(net, {"W": [[1, 0], [0, 1]]}, constraints=mp.Constraints(max_abs=3.0))
print(mp.estimate(bounded, trials=200))

# %%
# Both allocations on common instances, at every bound.

mp.profile(row, diagonal, trials=200).plot()
plt.show()
