"""
A ReLU instance, decided
========================

One hidden ReLU layer: which units are active in which sample is not known, so an optimizer that
finds nothing proves nothing. Here each instance is decided: a *match* comes with rational weights
that give the labels exactly; *no match* with a refutation of every activation pattern, which
``verify`` checks.
"""

from pathlib import Path

import matchprob as mp

# The gallery runs examples where they stand.
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
# What an optimizer finds in the same instances: Adam from many starts, as in the paper, but a
# match only where an exact witness confirms it. What it does not find stays undetermined; above,
# each is decided.

found = mp.count(problem, instances=4, engine="adam", trial_timeout=4.0)
for count in found.instances:
    print(count.index, "found" if count.real else "nothing found", f"({count.status})")

# %%
# The rational weights of the first match.

match = next(decision for decision in decisions if decision.verdict == "match")
match.plot()
