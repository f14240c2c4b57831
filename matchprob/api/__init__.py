r"""The verbs as Python functions, by family; `matchprob` exports them, the command line calls them.

question   The input of a verb: a problem, or the file of one
certify    The exact verbs: inspect, certify, verify
given      Given instances: read, refused if a verb cannot use them, and counted over Q
equations/ The equations themselves: with symbols, eliminated, for other programs
proofs/    Proof files checked, in a separate process
estimate   The verbs that solve random instances: count, estimate, constrain, compare
identify   Which weights the data determine
designs/   Allocations found: design, repair, robust
studies    Stored trials as estimates and tables

Modules are named after their main verbs, so this folder exports none of them by name.
"""
