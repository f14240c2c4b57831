r"""Least-cost bases of linear matroids under caps, cheapest spanning groups; no networks.

linear            The matroid of a matrix's columns modulo p: rank, greedy, circuits, contraction
capped            The problem: a least-cost basis under caps; bounds and their proofs
intersection      One kind of caps: weighted matroid intersection, proved by a weight splitting
lagrangian        Lagrangian bounds of bases under caps, in integers
branch_and_bound  Several kinds of caps at once: branch and bound, proved by its leaves
optimum           The algorithm for the given number of kinds of caps
groups            Groups of columns, their gains in rank, a search over sets of groups
exchange          Which groups of vectors can be left out, by exchanges in a basis
spanning          The cheapest spanning groups
containing        The cheapest groups of vectors whose span contains given vectors
pairs             The same of two kinds of groups, of which pairs have vectors
"""
