"""Problems in which matrices learn by updates: low rank, gains, ties.

equivalent  Updates that reach the same labels as a set of cells; cells whose values an update takes
certify     Certification
verify      Verification
inspect     The structure report: sizes, dimensions, budgets, ranks
"""
