r"""From trials to statements: intervals, confidence sequences, comparisons.

approximate           Approximate matches: the share of instances whose loss gets below a bound
bands                 Simultaneous confidence bands for a distribution function
comparison            Two allocations compared on common random instances
confidence_sequences  A confidence sequence for a match probability: right at every moment at once
estimate              Match probability estimated: trials counted, an interval that is right
intervals             Confidence intervals for a match probability, and for the difference of two
"""
