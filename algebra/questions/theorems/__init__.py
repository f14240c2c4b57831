r"""The papers' theorems as predicates, as stated and as corrected.

corrected   True versions of the papers' theorems
statements  The first paper's theorems, as stated, as predicates
"""
