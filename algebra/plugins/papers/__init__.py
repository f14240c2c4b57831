r"""Many allocations of a network at once.

atlas  Atlases: the verdicts of all allocations of a small network, up to symmetry
audit  The theorems, as stated, compared with the exact verdict over many allocations
document  What atlases and audits say
limits  Verdicts on what the match probability of large networks tends to
stated  What the theorems, as stated, say about one problem
structure  Classes of allocations, and what is known exactly of each without solving anything
theorems/  What do the papers' theorems say of an allocation?
"""
