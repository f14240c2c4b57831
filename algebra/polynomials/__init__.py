r"""Polynomial rings, ideals and their points, independent of networks.

msolve/          The msolve program: text, process, answers
parametrization  Rational parametrizations of finitely many points, proved and evaluated exactly
permutation_groups  The group that permutations of N points generate: order, blocks, solvability
points           The points of a zero-dimensional radical ideal over GF(p), all at once
quadratic        Polynomials of degree at most two over GF(p), as arrays of terms
quotient         The algebra of finitely many points modulo a prime: units, values, systems
rational_functions  Polynomials whose coefficients are rational functions of parameters
real_roots       The real solutions of a polynomial system, and the cases that need no solver
rings            The coefficient rings of systems, with one small interface
staircase        The quotient of a polynomial ring by a zero-dimensional ideal, from a Gröbner
                 basis
substitution     Affine forms in the place of unknowns: substitution into quadrics
"""
