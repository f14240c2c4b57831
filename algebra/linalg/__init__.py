r"""Linear algebra over GF(p) and Q, independent of networks.

affine        Affine equations over GF(p), solved in stages if they are sparse
arrangements  Vertices and rays of arrangements of hyperplanes over Q
contractions  Einstein sums over a ring, by products of matrices
echelon       Echelon forms modulo p: independent columns, null spaces
elimination   Independent columns of a large matrix modulo p, by products of blocks
krawczyk      Krawczyk's test in balls: a polydisc that holds exactly one solution
modular       Products of matrices of residues modulo a prime p < 2^61
numbers       Rational numbers that users give and reports print
primes        Random primes, and what a rank modulo one is worth
products      Products of larger matrices of residues: in parts, by limbs, of sparse factors
ranks         Ranks of matrices modulo a prime: of one, or of many small ones at once
rational      Rational matrices: from rows and to texts, echelon form, kernel, linear equations
rational_lp   Linear programs over the rationals, decided exactly: a small simplex method
residues      Arrays of residues: entry by entry, random ones, small products
short_primes  Residues modulo primes of 23 bits, whose products are one product of doubles
sparse        Matrices of residues with few entries that are not 0
sums          Sums of residues: entry by entry, along axes, of groups of columns
sparse_blocks  Sparse matrices as values of programs, and their Einstein sums
sparse_products  Products of sparse matrices
"""
