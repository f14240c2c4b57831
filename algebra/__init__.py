r"""Exact algebra without floating point. `numeric` and `matchprob` import it; it imports neither of
them.

activations/    The family of networks with activation functions and biases
certificates/   Verdicts, their evidence and checks; the proofs of verdicts are in the folders of
                the families
children        Child processes: started, waited for and ended in one place
declarations    Tables of files, declared as dataclasses: reading, and the JSON Schema
design/         Optimal allocations for a goal, with proofs
documents       The content of a result as plain data, and its renderings as text and HTML
errors          Classes of errors, and short texts of values for their messages
families        The families of networks: inspect, certify and verify by the family of a network
identify/       Which weights do the data determine?
linalg/         Linear algebra over GF(p) and Q, independent of networks
linear/         The family of networks that are chains of matrices: inspect, certify, verify
matroids/       Least-cost bases of linear matroids under caps, independent of networks
models/         The family of programs that are read from files
networks/       Network kinds, one file each: sizes, matrices and the map they compute
normalization/  The family of networks whose normalization layers learn
phases          Names of the present phases of a long call
polynomials/    Polynomial rings, ideals and their points, independent of networks
problems/       A network, what learns in it, structural zeros and laws: the problem, its file,
                its symmetries
programs/       Networks as lists of operations, evaluated in many arithmetics
ranks/          Generic ranks: the decision whether MP = 0, and explanations by counting
results         The base class of results: a document, a data frame, a picture
record/         What has to be recorded so that the data determine the weights?
relu/           The family of shallow ReLU networks: patterns, decisions with proofs, verdicts
surveys/        Many allocations of a network at once
systems/        The equations of an allocation, their incidence, their core, and the generic root
                count N
theorems/       The papers' theorems as predicates, as stated and as corrected
updates/        The verdicts where matrices learn by low-rank updates, gains or ties
time_limits     One time limit for a whole call, checked in the innermost loops
"""
