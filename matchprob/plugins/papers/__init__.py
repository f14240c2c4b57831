"""What the papers state, over many allocations.

figures/    The papers' figures, computed again
pictures    Picture of match probabilities against numbers that may predict them
principles  The papers' principles, compared with measured match probabilities (audit)
surveys     Many allocations at once: audit, atlas
"""
