"""Questions about an allocation or a network besides the verdict.

design/     Which allocation is optimal for a goal?
identify/   Which weights do the data determine?
premises    The features of problems for which questions about generic weights have answers
"""
