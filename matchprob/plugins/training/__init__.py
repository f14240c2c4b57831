"""Bounds of matches, and training.

pictures  Picture of match probabilities against a bound
profile   The match probability as a function of a bound on the match: the verb profile
train     Does training find the match: the verb train
"""
