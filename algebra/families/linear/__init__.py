r"""The family of networks that are chains of matrices: inspect, certify, verify.

certify           Verdicts on linear networks, with evidence that can be checked independently
columns           A whole column of W: maximal by the real degree, with the theorem and its proof
derivatives       Forward-mode derivatives over GF(p): matrices of dual numbers value + ε·tangent,
                  ε² = 0
dual_bases        Whether the teacher is a student in dual bases, found vector by vector
enclosed          All solutions of an instance in disjoint balls, none of which is real
evidence          Evidence for a verdict: written as plain data, read with exact types
inspect           Inspection: the equations of an allocation and their structure
minimal_polynomials  Minimal polynomials over Q of the weights of solutions
reachable         Whether the teacher itself is a student: a rule for MP = 1, with its proof
recount           The generic root count computed again, by other methods, for verification
rows              Conditions of the rows of a recurrent matrix on its powers: N by minors
surplus           More weights than equations: arguments with a count of their own
verify            Verification of certificates, as far as possible by other methods
verification      Verification of evidence by other arithmetic than that of its search
witness           Rational instances solved exactly, as witnesses that a match can fail
"""
