"""Verbs and pictures of plug-ins, and the page: named in lists of the core alone.

circuits/       What has to be recorded so that the data determine the weights
models/         Models from files and modules: capacities, subsets, learnable weights
normalization/  Frozen networks made equal to a target by their normalization layers
page/           The interactive page
papers/         Many allocations at once, the papers' principles, their figures
relu/           One trial of a shallow ReLU network decided with a proof
training/       Does training find the match; match probability against a bound
"""
