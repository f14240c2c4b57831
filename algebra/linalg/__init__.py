r"""Linear algebra over GF(p) and Q, independent of networks.

affine        Affine equations over GF(p), solved in stages if they are sparse
bitsets       Bipartite graphs as bit sets: matching, reachability, strong components
contractions  Einstein sums modulo a prime, by products of matrices
modular       Vectorized linear algebra modulo a prime p < 2^61, on int64 arrays
rational      Rational matrices: from rows and to texts, echelon form, kernel, linear equations
rational_lp   Linear programs over the rationals, decided exactly: a small simplex method
"""
