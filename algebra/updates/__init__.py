"""Problems in which matrices learn by updates: low rank, gains, ties.

equivalent  Updates that reach what some cells reach, and cells whose reach lies in an update's
certify     The verdict
verify      Its check
inspect     The structure report: sizes, dimensions, budgets, ranks
"""
