r"""Many allocations of a network at once.

atlas  Atlases: every allocation of a small network, up to symmetry, with its verdict
audit  The theorems, as stated, against the exact verdict, over many allocations at once
"""
