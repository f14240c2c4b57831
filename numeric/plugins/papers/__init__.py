"""Experiments with many instances.

atlas           Atlases with probabilities: MP of every allocation of a small network
principles/     Numbers of an allocation that may predict its match probability
large_networks  Trials of large linear RNNs by the few numbers in their equations
"""
