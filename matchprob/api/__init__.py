r"""The verbs as Python functions, by family; `matchprob` exports them, the command line calls them.

question   The input of a verb: a problem, or the file of one
capacity   How many samples a set of parameters can fit: the verb capacity
pieces     Points at which ranks of a model are found: own weights, given samples, patterns
models     The program of a file, a module, or a problem
subsets    Parameters by names, patterns and roles; the default subsets
certify    The exact verbs: inspect, certify, verify
decide     One trial decided with a proof: the verb decide
given      Given instances: read, refused if a verb cannot use them, and counted over Q
equations/ The equations themselves: with symbols, eliminated, for other programs
proofs/    Proof files checked, in a separate process
estimate   The verbs that solve random instances: count, estimate, constrain, compare
profile    The match probability as a function of a bound on the match: the verb profile
train      Does training find the match: the verb train
identify   Which weights the data determine, and the dimension of a set of functions
record     What has to be recorded so that the data determine them
surveys    Many allocations at once: audit, atlas
principles The papers' principles, compared with measured match probabilities (audit)
designs/   Allocations found: design, repair, robust
construct  Frozen networks made equal to a target by their normalization layers: construct
constructions By width and by depth; random frozen networks; entries of state dicts
modules    Problems from torch modules, and learnable weights as masks for gradients
studies    Stored trials as estimates and tables

Modules are named after their main verbs, so this folder exports none of them by name.
"""
