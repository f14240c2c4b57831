r"""The family of networks that are chains of matrices: inspect, certify, verify.

certify           Verdicts on linear networks, with evidence that can be checked independently
columns           A whole column of W: maximal by the real degree, with the theorem and its proof
derivatives       Forward-mode derivatives over GF(p): matrices of dual numbers value + ε·tangent,
                  ε² = 0
enclosed          All solutions of an instance in disjoint balls, none real
evidence          Evidence for a verdict: written as plain data, read with exact types
inspect           Inspection: which equations an allocation leads to, and how they hang together
minimal_polynomials  Minimal polynomials over Q of the weights of solutions
reachable         Is the teacher itself among the students?  A rule for MP = 1, with its proof
recount           The generic root count computed again, by other methods: for verification
rows              Conditions of the rows of a recurrent matrix on its powers: N by minors
tied              More weights than equations: maximal where groups move together
verify            Certificates checked again, from scratch and as far as possible by other means
verify_reachable  The claim that the teacher is a student, checked at a point of its own
verify_witness    A witness without real solutions, with the theorem that it proves: rebuilt from
                  its rationals, counted by Sturm
witness           Rational instances solved exactly: the witness that a match can fail
"""
