r"""Least-cost bases of linear matroids under caps; it knows no network.

branch_and_bound  Least-cost bases under several kinds of caps at once: branch and bound, exact
intersection      Least-cost bases of a linear matroid under caps: weighted matroid intersection
lagrangian        Lagrangian bounds of bases under caps, in whole numbers
"""
