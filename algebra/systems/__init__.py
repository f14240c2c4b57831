r"""The equations of an allocation, their incidence, their core, and the generic root count N.

core                 The core of a system after exact elimination, and back substitution: of one
                     root, or at all points at once modulo a prime
degeneracy           The solutions of a recurrent net as a degeneracy locus, in few unknowns
discriminant         The discriminant of a small core: where the number of real solutions changes
elimination          Exact elimination of linear sub-blocks, over any field and in any degree
enclosure            Disjoint exact boxes around the weights of real solutions
equivalent_cells     Updates that reach the labels of a set of cells; cells whose values an update
                     takes
forms                The lifted forms of a network's equations: unknowns, equations, values, size
growth               How solutions of large networks grow, and the equations of their limit
incidence            Structure of a system of equations: matchings, Dulmage–Mendelsohn, block
                     triangular form
inspection           The structure report of a system
instances            A student, a teacher and samples over GF(p) or Q, and their core
label_equations      The labels as polynomials in the learnable weights alone
modular_elimination  Exact elimination over GF(p) on arrays: the core of a large quadratic system
root_count           The generic root count N: number of complex solutions of a generic instance
symbolic             Elimination with symbols for the data: the core in printable form
system               The polynomial equations of an allocation, over any ring or as arrays
written              The equations in SymPy, of every kind of network and in every form
"""
