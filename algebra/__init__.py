r"""Exact algebra: no floating point here. `numeric` and `matchprob` build on it, never the
other way.

activations/    The family of networks with activation functions and biases
certificates/   What a verdict, its evidence and a check are; how a verdict is reached is the
                families' matter
children        Other processes: where they are started, waited for, and ended
design/         Allocations chosen for a purpose, with proofs that nothing is better
errors          What an error is, and what its message is made of: values shown on one short line
families        The families of networks: inspect, certify and verify go through the one that fits
identify/       Which weights do the data determine?
linalg/         Linear algebra over GF(p) and Q; it knows no network
linear/         The family of networks that are chains of matrices: inspect, certify, verify
matroids/       Least-cost bases of linear matroids under caps; it knows no network
models/         The family of programs that are read from files
networks/       Network kinds, one file each: sizes, matrices and the map they compute
normalization/  The family of networks whose normalization layers learn
phases          What a long call is at, by name, for whoever watches it
polynomials/    Polynomial rings, ideals and their points; it knows no network
problems/       A network, what learns in it, structural zeros and laws: the problem, its file,
                its symmetries
programs/       Networks as lists of operations, evaluated in many arithmetics
ranks/          Generic ranks: MP = 0 decided, and why, in counts
results         What every verb returns: its facts, its rows, and what follows from these
record/         What has to be recorded so that the data determine the weights?
relu/           The family of shallow ReLU networks: patterns, decisions with proofs, verdicts
surveys/        Many allocations of a network at once
systems/        The equations of an allocation, their incidence, their core, and the generic root
                count N
theorems/       The papers' theorems as predicates, as stated and as they are true
updates/        The verdicts where matrices learn by low-rank updates, gains or ties
time_limits     One time limit for a whole call, obeyed in the innermost loops
"""
