r"""Shallow ReLU instances in floating point: tree searches and linear programs.

cells           The tree of activation cells of one ReLU instance
cells_kernel    Branch and bound on activation cells, compiled: a dual simplex warm-started down
                the tree
complementarity The engine `complementarity`: shallow ReLU nets, decided or counted
decide          Decision of one ReLU instance: floating-point search, exact proofs
decision        The decision of one ReLU instance and its evidence
evidence        A search for a ReLU instance that proves MP < 1: neither it nor the instances near
                it have a match
hull            The linear programs of a ReLU instance over convex hulls of its units' activations
hull_simplex    A revised simplex for the hull programs of a ReLU instance, compiled
integral        The size of the labels of a ReLU layer on Gaussian samples, in balls
interruptible   Compiled tree searches in a thread: they end at Ctrl-C and at the time limit
pairs           One instance decided by branching on complementary pairs, also with weights in
                intervals
pairs_kernel    Branch and bound on complementarity, compiled: dual simplex warm-started down the
                tree
products        Products of learnable weights of several layers: some are kept, or boxes divided
refuting_rows   Rows that refuted leaves, tried on other nodes: bounds shared across the tree,
                compiled
relu_exact      The engine `relu-exact`: ReLU normalization networks, by verdict or in
                rationals
simplex         A condensed simplex tableau, compiled: pivots, and the primal simplex
tree            A search for a match in doubles, whose solution or leaves are then decided over Q
"""
