r"""The verbs as Python functions, by family; `matchprob` exports them, the command line calls them.

question   What a verb is asked about: a problem, or the file of one
capacity   How many samples a set of parameters can fit: the verb capacity
certify    The exact verbs: inspect, certify, decide, verify
given      One's own instance: read, refused where a verb cannot use it, and counted over Q
equations/ The equations themselves: with symbols, eliminated, for other programs
proofs/    Proof files checked, in a process of their own
estimate   The verbs that solve random instances: count, estimate, constrain, compare
profile    The match probability against what a match may cost: the verb profile
train      Does training find the match: the verb train
identify   Which weights the data determine, and the dimension of a set of functions
record     What has to be recorded so that they do
surveys    Many allocations at once: audit, atlas
tools      Floating-point help that the exact verbs hand to `algebra`
designs/   Allocations found: design, repair, robust
construct  Frozen networks made equal to a target by their normalization layers
layers     Layers of networks from elsewhere: arrays, ``.npz`` files, scikit-learn, torch
modules    Problems from torch modules, and what learns as masks for their gradients
studies    Kept trials as a person or another program wants them

Modules are named after their main verbs, so this folder exports none of them by name.
"""
