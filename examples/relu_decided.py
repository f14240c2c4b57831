"""
A ReLU instance, decided
========================

One hidden ReLU layer: it is not known which units are active in which sample, so the failure of an
optimizer to find a match proves nothing. Here each instance is decided: a *match* has rational
weights that give the labels exactly; *no match* has a refutation of every activation pattern, which
``verify`` checks.
"""

from pathlib import Path

import matchprob as mp

# The gallery runs examples in their own folder.
here = Path(__file__).parent if "__file__" in globals() else Path()
problem = mp.load_problem(here / "relu.toml")
print(problem.network)
print(problem.allocation.size, "weights learn,", problem.network.outputs, "labels")

# %%
# Eight instances.

decisions = [mp.decide(problem, index) for index in range(8)]
for index, decision in enumerate(decisions):
    checked = "verified" if mp.verify(decision.certificate()).holds else "DOES NOT HOLD"
    print(index, repr(decision), checked)

# %%
# The result of an optimizer on the same instances: Adam from many starts, as in the paper, where a
# match counts only if an exact witness confirms it. Instances without a match of the optimizer stay
# undetermined here; above, each is decided.

found = mp.count(problem, instances=4, engine="adam", trial_timeout=4.0)
for count in found.instances:
    print(count.index, "found" if count.real else "nothing found", f"({count.status})")

# %%
# The rational weights of the first match.

match = next(decision for decision in decisions if decision.verdict == "match")
match.plot()
