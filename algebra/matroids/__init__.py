r"""Least-cost bases of linear matroids under caps, cheapest groups that span; no network known.

linear            The matroid of a matrix's columns modulo p: rank, greedy, circuits, contraction
capped            The problem, a least-cost basis under caps, and what proves a bound
intersection      One kind of caps: weighted matroid intersection, proved by a weight splitting
lagrangian        Lagrangian bounds of bases under caps, in whole numbers
branch_and_bound  Several kinds of caps at once: branch and bound, proved by its leaves
optimum           Either of them, as the problem needs it
groups            Groups of columns, what they add to each other, a search over sets of groups
spanning          The cheapest groups that span
"""
