r"""The family of shallow ReLU networks: patterns, decisions with proofs, verdicts.

arrangement     The arrangement of a ReLU unit over Q, and refutations by Lagrangian duality
box_program     Exact decisions under constraints: linear programs over Q, branched
certify         Verdicts on shallow ReLU nets by counting, and by one refuted instance
decision        Evidence for one ReLU instance, as a file that can be checked independently
equations       A shallow ReLU instance over Q: exact witnesses of a match, Farkas vectors of none
hull_program    The linear program over a ReLU instance's convex hulls, solved exactly
inspect         Inspection of shallow ReLU nets: counting and ranks over activation patterns
leaves          Leaves of a refutation: what refutes each, and that they hold every pattern
patterns        Activation patterns: the linear system of each, its rank, and how many are left
verify          Certificates of shallow ReLU nets checked again
"""
