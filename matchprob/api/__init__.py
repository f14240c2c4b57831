r"""The verbs as Python functions, by family; `matchprob` exports them, the command line calls them.

question   What a verb is asked about: a problem, or the file of one
certify    The exact verbs: inspect, certify, decide, verify
given      One's own instance: read, refused where a verb cannot use it, and counted over Q
equations/ The equations themselves: with symbols, eliminated, for other programs
proofs     A proof file checked in this process: which format it has, and its check
checker    The process in which proofs are checked: its memory and its time are limited
estimate   The verbs that solve random instances: count, estimate, constrain, compare
profile    The match probability against what a match may cost: the verb profile
train      Does training find the match: the verb train
identify   Which weights the data determine
surveys    Many allocations at once: audit, atlas
tools      Floating-point help that the exact verbs hand to `algebra`
design     Allocations found: the verb design
probable   The design with the highest match probability: certified, or raced on common instances
repair     The nearest allocation that meets a goal, and what may be lost: repair and robust
construct  Frozen networks made equal to a target by their normalization layers
layers     Layers of networks from elsewhere: arrays, ``.npz`` files, scikit-learn, torch
studies    Kept trials as a person or another program wants them
goals      The goals of the verb design: those of `algebra.design.goals`, and the one that takes
           trials

Modules are named after their main verbs, so this folder exports none of them by name.
"""
