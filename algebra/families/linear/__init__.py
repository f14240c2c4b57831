r"""The family of networks that are chains of matrices: inspect, certify, verify.

arguments         Arguments for MP = 1 or MP < 1: a module each, with theorem, search and check
case              One allocation whose verdict is searched, and what is known of it so far
certify           Verdicts on linear networks, with evidence that can be checked independently
evidence          Evidence as it is read from a file: ranks, N, and one argument
inspect           Inspection: the equations of an allocation and their structure
large_recount     Root counts of larger cores, again: minors, labels, other forms, numerically
minimal_polynomials  Minimal polynomials over Q of the weights of solutions
points            Points given as a parametrization: distinct, simple, none of them real
recount           The generic root count computed again, by other methods, for verification
rows              Conditions of the rows of a recurrent matrix on its powers: N by minors
verify            Verification of certificates, as far as possible by other methods
"""
