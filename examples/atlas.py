"""
Every allocation of a small net
===============================

All allocations of dm recurrent weights, up to renaming of hidden units, each with its exact
verdict. No allocation is sampled: the list is complete.
"""

import matchprob as mp

found = mp.atlas(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), 2, search=1.0)
print(found)
found.plot()

# %%
# Three hidden units: the 36 allocations of W lie in eight classes.

found = mp.atlas(mp.LinearRNN(n=3, T=2, b=1, d=1, m=2), 2, matrices=["W"], search=1.0)
print(found)
found.plot()
