r"""The equations of an allocation, their incidence, their core, and the generic root count N.

at_points            The unknowns at all points of a core at once, modulo a prime
core                 What exact elimination leaves of a system, and the way back to the weights
degeneracy           The solutions of a recurrent net as a degeneracy locus, in few unknowns
discriminant         Where the number of real solutions changes: the discriminant of a small core
elimination          Exact elimination of linear sub-blocks, over any field and in any degree
enclosure            Exact boxes around the weights of real solutions, each with one of them
forms                The lifted forms of a network's equations: unknowns, equations, values, size
incidence            Structure of a system of equations: matchings, Dulmage–Mendelsohn, block
                     triangular form
inspection           The structure report, and how it is made of a system
instances            A student, a teacher and samples over GF(p) or Q, and the core they lead to
modular_elimination  Exact elimination over GF(p) on arrays: the core of a large quadratic system
root_count           The generic root count N: how many complex solutions a generic instance has
symbolic             Elimination with symbols for the data: the core as a person reads it
system               The polynomial equations an allocation leads to, over any ring or as arrays
update_roots         The number N of complex solutions where matrices learn by updates
"""
