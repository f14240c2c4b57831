"""Experiments with many instances.

atlas       Atlases with probabilities: MP of every allocation of a small network
principles/ Numbers of an allocation that may predict its match probability
profiles/   Match probability as a function of a bound on the match's cost
large_networks.py  Trials of large linear RNNs by the few numbers in their equations
training/   How often gradient methods find a match, certified
"""
