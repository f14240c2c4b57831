r"""The papers' theorems as predicates, as stated and as they are true.

corrected   True versions of the papers' theorems
statements  The first paper's theorems, word for word, as predicates
"""
