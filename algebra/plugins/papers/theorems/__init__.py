r"""The papers' theorems as predicates, as stated and as corrected.

corrected   True versions of the papers' theorems
principles  The first paper's unproved principles for allocations between minimal and maximal
roles       The matrices and layers that they are about
statements  The first paper's theorems, as stated, as predicates
"""
