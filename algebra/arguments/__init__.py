"""Arguments for MP = 1 or MP < 1: theorem, search and check; one search, one verification.

affine_part         Labels that are affine in some weights, of full rank: MP = 1
argued              Verdicts that follow by an argument, once the ranks are checked
argument            What an argument is, and what its search finds
at_infinity         Solutions at infinity: MP = 1 if some weights may go there
bases               What checks of a teacher in another basis share
case                One allocation whose verdict is searched, and what is known of it so far
cells_within_reach  Updates that take all values of some cells, which are maximal: MP = 1
certify             Verdicts with evidence that can be checked independently
critical_points     Critical points of the distance of students from a point: MP = 1 or MP < 1
definite_form       Labels that contradict a positive definite form of the weights: MP < 1
dual_bases          The teacher is a student in dual bases, found vector by vector: MP = 1
enclosed_solutions  All solutions of an instance in disjoint balls, none of them real: MP < 1
evidence            Evidence as it is read from a file: ranks, N, and one argument
everything_learns   Every weight learns: MP = 1
formal_ranks        Exact ranks with formal values: the theorem, and the checks of minors
large_recount       Root counts of larger cores, again: minors, labels, other forms, numerically
minimal_polynomials  Minimal polynomials over Q of the weights of solutions
no_real_root        An instance solved exactly, without real solutions: MP < 1
order               The arguments by name, and the order of their searches
partial_products    Students with fixed entries of products of matrices: MP = 1
points              Points given as a parametrization: distinct, simple, none of them real
recount             The generic root count computed again, by other methods, for verification
root_count          An odd number of complex solutions: MP = 1
row_minors          N by minors in the powers of a recurrent matrix
rows                Conditions of the rows of a recurrent matrix on its powers
solved_instances    Rational instances solved exactly: the search for a witness
stuck_output        Outputs that read bounded values, so some labels are out of reach: MP < 1
sub_allocation      A part of the allocation with an odd number of solutions: MP = 1
teacher_reached     The teacher itself is a student after a change of basis: MP = 1
verify              Verification of certificates, as far as possible by other methods
whole_column        A whole column of W, by the real degree of its map: MP = 1
witness             A rational instance with all its solutions, as a file has it
"""
