r"""Krawczyk's test: which approximate roots are roots, and which of them are real.

constraints      Which real solutions certainly obey the constraints, and which certainly do not
enclosures       Intervals around the real solutions of counted instances, each proved to hold one
fibre            More weights than equations: is a match inside the box?
krawczyk         Certified roots: Krawczyk's test in double-precision discs, in balls where that
                 fails
krawczyk_kernel  Krawczyk's test, compiled: one driver for the equations in the weights and the
                 lifted ones
krawczyk_balls   Krawczyk's test in balls of any precision, on the exact rational instance
pool             Certified, distinct real solutions of one instance, from any approximate ones
"""
