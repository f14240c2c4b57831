r"""The papers' theorems as predicates, as stated and as corrected.

corrected   True versions of the papers' theorems
principles  The first paper's unproved principles for allocations between minimal and maximal
statements  The first paper's theorems, as stated, as predicates
"""
