"""Principles for allocations between minimal and maximal, compared with match probabilities.

correlation  Kendall's τ with a bootstrap interval, and pairs that a principle orders wrongly
document     What a comparison says
survey       Classes of allocations with their match probability, and the result
"""
