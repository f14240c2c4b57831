r"""Linear algebra over GF(p) and Q, independent of networks.

affine        Affine equations over GF(p), solved in stages if they are sparse
arrangements  Vertices and rays of arrangements of hyperplanes over Q
contractions  Einstein sums over a ring, by products of matrices
elimination   Independent columns of a large matrix modulo p, by products of blocks
krawczyk      Krawczyk's test in balls: a polydisc that holds exactly one solution
modular       Vectorized linear algebra modulo a prime p < 2^61, on int64 arrays
numbers       Rational numbers that users give and reports print
rational      Rational matrices: from rows and to texts, echelon form, kernel, linear equations
rational_lp   Linear programs over the rationals, decided exactly: a small simplex method
short_primes  Residues modulo primes of 23 bits, whose products are one product of doubles
sparse        Matrices of residues with few entries that are not 0
"""
