"""
Matches with bounded weights
============================

A match may need weights that are too large for a synapse. For each trial all real solutions are
known, and so is the least bound on the absolute values of weights that one of them satisfies. This
gives the match probability for every bound, with an interval at each.

Result: the row always matches, but one trial of five needs a weight above 10; most matches of the
diagonal need no weight above 3.
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
# The same with bounds in the problem: only solutions within the bounds count.

bounded = mp.Problem(net, {"W": [[1, 0], [0, 1]]}, constraints=mp.Constraints(max_abs=3.0))
print(mp.estimate(bounded, trials=200))

# %%
# Both allocations on common instances, at every bound.

mp.profile(row, diagonal, trials=200).plot()
plt.show()
