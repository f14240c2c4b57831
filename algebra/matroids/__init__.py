r"""Least-cost bases of linear matroids under caps; it knows no network.

linear            The matroid of a matrix's columns modulo p: rank, greedy, circuits, contraction
capped            The problem, a least-cost basis under caps, and what proves a bound
intersection      One kind of caps: weighted matroid intersection, proved by a weight splitting
lagrangian        Lagrangian bounds of bases under caps, in whole numbers
branch_and_bound  Several kinds of caps at once: branch and bound, proved by its leaves
optimum           Either of them, as the problem needs it
"""
