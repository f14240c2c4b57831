r"""Generic ranks: the decision whether MP = 0, and explanations by counting.

budgets/      Budgets: bounds of the equations that the weights of a row, column or cross affect
generic_rank  Ranks found over GF(p) at random points, with the error bound of a deficit
jacobian      The generic Jacobian, and the exact test for MP = 0
matroid       Bases of the matroid of an allocation: sub-allocations with independent equations
parametrized  Networks with the parameters of updates as weights, for verbs that choose among them
updates       The same where matrices learn by low-rank updates, gains or ties
root_count_error  How sure a generic root count is: a bound on the probability that it is wrong
size          Size of a Jacobian: computations that are too large are rejected in advance
what_if       What one weight more or less does to the rank, for all weights at once
"""
