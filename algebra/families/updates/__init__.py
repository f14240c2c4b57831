"""Problems in which matrices learn by updates: low rank, gains, ties.

certify  Certification
verify   Verification
inspect  The structure report: sizes, dimensions, budgets, ranks
"""
