"""Verification of evidence on linear networks by other arithmetic than that of its search.

enclosed   solutions in disjoint polydiscs, in rational arithmetic without balls
definite   a positive definite form that some labels contradict, with its theorem
dual_bases the claim that vectors of dual bases make the teacher a student
labels     N as the degree of the labels' ideal, as polynomials in the weights alone
normal_form a basis in which B and D are diagonal and the surplus weight is fixed, with its theorem
reachable  the claim that the teacher is a student, at a new point
witness    a witness without real solutions, with its theorem: recomputed
"""
