r"""Generic ranks: the decision whether MP = 0, and explanations by counting.

budgets/      Budgets: bounds of the equations that the weights of a row, column or cross affect
deficits      What a rank deficit at random points is worth: bounds of its error
derivatives   Forward-mode derivatives over GF(p): matrices of dual numbers
few_samples   Rows of the labels' Jacobian from as few samples as the rank can need
generalization  Whether a match is the teacher's function, from ranks with more samples
generic_rank  Ranks found over GF(p) at random points, with the error bound of a deficit
jacobian      The generic Jacobian, and the exact test for MP = 0
matroid       Bases of the matroid of an allocation: sub-allocations with independent equations
minors        A regular minor at a rational point, in ball arithmetic: a rank proved another way
parametrized  Networks with the parameters of updates as weights, for verbs that choose among them
pieces        Programs that choose by signs or tokens, piece by piece
readings      Derivatives of the numbers that can be recorded, in one pass
updates       Generic ranks if matrices learn by low-rank updates, gains or ties
root_count_error  The certainty of a generic root count: a bound on the probability of an error
size          Size of a Jacobian: computations that are too large are rejected in advance
what_if       The effect of one weight more or less on the rank, for all weights at once
"""
