r"""The family of shallow ReLU networks: patterns, decisions with proofs, verdicts.

arrangement     The arrangement of a ReLU unit over Q, and refutations by Lagrangian duality
box_program     Exact decisions, also under constraints: linear programs over Q and branching
certify         Verdicts on shallow ReLU nets by counting, or by one refuted instance
decision        Evidence for one ReLU instance, as a file that can be checked independently
equations       A shallow ReLU instance over Q: exact witnesses of a match, Farkas vectors
inspect         Inspection of shallow ReLU nets: counting and ranks over activation patterns
leaves          Leaves of a refutation: their evidence, and whether they cover all patterns
network         Shallow networks of rectified linear units: the kind ``relu``
patterns        Activation patterns: the linear system of each, its rank, numbers of patterns
verify          Verification of certificates of shallow ReLU nets
"""
