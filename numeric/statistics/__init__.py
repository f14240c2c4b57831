r"""Statistics of trials: intervals, confidence sequences, comparisons.

approximate           Approximate matches: the share of instances whose loss gets below a bound
comparison            Two allocations compared on common random instances
confidence_sequences  A confidence sequence for a match probability, valid at all times at once
document              The documents of estimates and comparisons
estimate              Estimated match probability: counts of trials and a valid interval
intervals             Confidence intervals for a match probability, and for the difference of two
sweep                 Match probabilities of variants of a problem: one table, one picture
"""
