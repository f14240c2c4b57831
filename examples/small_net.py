"""
Which two weights should learn?
===============================

The example net of the first paper (section B.1.1): two hidden units, two time steps, one input, one
output, two samples. Two of its four recurrent weights may learn. Of the six allocations four always
match a teacher (MP = 1, proved), and two are intermediate: their match probability is estimated,
with every count certified.
"""

import matplotlib.pyplot as plt

import matchprob as mp

net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
ALLOCATIONS = {
    "row 0": [[1, 1], [0, 0]],
    "row 1": [[0, 0], [1, 1]],
    "column 0": [[1, 0], [1, 0]],
    "column 1": [[0, 1], [0, 1]],
    "diagonal": [[1, 0], [0, 1]],
    "off-diagonal": [[0, 1], [1, 0]],
}
problems = {name: mp.Problem(net, {"W": mask}) for name, mask in ALLOCATIONS.items()}

# %%
# The verdict is exact. N is the number of complex solutions of a generic instance; if N is odd, one
# of them is real.

for name, problem in problems.items():
    verdict = mp.certify(problem)
    print(f"{name:12s}  N = {verdict.generic_root_count}  {verdict.verdict:12s}  {verdict.rule}")

# %%
# Certified allocations need no trial; for the other two, 300 trials estimate how often there is a
# match. The closed form gives 0.7153 for the diagonal and 0.8289 off the diagonal; the paper prints
# 0.74 and 0.83.

found = {name: mp.estimate(problem, trials=300) for name, problem in problems.items()}
for name, estimate in found.items():
    low, high = estimate.interval().low, estimate.interval().high
    print(f"{name:12s}  {estimate.matched}/{estimate.trials}  [{low:.4f}, {high:.4f}]")

# %%
# Bars with their 95 % intervals; certified allocations have no interval.

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for place, (name, estimate) in enumerate(found.items()):
    share = estimate.matched / estimate.trials
    sure = mp.certify(problems[name]).verdict == "maximal"
    ax.bar(place, share, color="#0072B2" if sure else "#E69F00", width=0.7)
    if not sure:
        low, high = estimate.interval().low, estimate.interval().high
        ax.errorbar(place, share, [[share - low], [high - share]], color="black", capsize=4)
ax.set_xticks(range(len(found)), found)
ax.set_ylabel("match probability")
ax.set_title("blue: certified; orange: estimated from 300 trials", fontsize=10)
plt.show()
