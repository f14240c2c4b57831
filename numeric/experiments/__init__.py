"""Experiments with many instances.

profiles/   Match probability as a function of a bound on the match's cost
training/   How often gradient methods find a match, certified
"""
