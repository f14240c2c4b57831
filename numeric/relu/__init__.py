r"""Shallow ReLU instances in floating point: trees that search, programs that bound.

cells           The tree of activation cells of one ReLU instance, ready to be searched
cells_kernel    Branch and bound on activation cells, compiled: a dual simplex warm-started down
                the tree
classification  Structured data: which allocations let a random ReLU net classify every sample
                (Figure 3c)
decide          One ReLU instance decided: floating point searches, exact arithmetic answers
decision        The answer for one ReLU instance, and what proves it
evidence        A search for a ReLU instance that proves MP < 1: no weights match it, nor any near
                it
hull            The linear programs of a ReLU instance over convex hulls of its units' activations
hull_simplex    A revised simplex for the hull programs of a ReLU instance, compiled
pairs           One instance decided by branching on complementary pairs, its weights in intervals
                or not
pairs_kernel    Branch and bound on complementarity, compiled: dual simplex warm-started down the
                tree
patience        Compiled tree searches in a thread: they end at Ctrl-C and at the time limit
refuting_rows   Rows that refuted leaves, tried on other nodes: bounds shared across the tree,
                compiled
simplex         A condensed simplex tableau, compiled: pivots, and the primal simplex
"""
