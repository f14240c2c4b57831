r"""The family of networks that are chains of matrices: inspect, certify, verify.

certify         Verdicts on linear networks, with evidence that somebody else can check
derivatives     Forward-mode derivatives over GF(p): matrices of dual numbers value + ε·tangent,
                ε² = 0
inspect         Inspection: which equations an allocation leads to, and how they hang together
recount         The generic root count made again, by other routes: for verification
verify          Certificates checked again, from scratch and as far as possible by other means
verify_witness  A witness without real solutions, checked: rebuilt from its rationals, counted by
                Sturm
witness         Rational instances solved exactly: the witness that a match can fail
"""
