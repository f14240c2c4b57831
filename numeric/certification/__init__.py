r"""Krawczyk's test: which approximate roots are near exact ones, and which of these are real.

constraints      Certified decision which real solutions satisfy the constraints
enclosures       Boxes around the real solutions of counted instances, each with exactly one
fibre            More weights than equations: whether a match satisfies the constraints
krawczyk         Certified roots: Krawczyk's test in double-precision discs, in balls where that
                 fails
krawczyk_kernel  Krawczyk's test, compiled: one driver for the equations in the weights and the
                 lifted ones
krawczyk_pairs   Krawczyk's test in pairs of doubles, in the free inputs of a recurrent net
krawczyk_pairs_kernel  The same test, compiled
krawczyk_balls   Krawczyk's test in balls of any precision, on the exact rational instance
pool             Certified, distinct real solutions of one instance, from any approximate ones
"""
