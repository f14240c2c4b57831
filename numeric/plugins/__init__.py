"""Floating-point computations of plug-ins: the core names these folders in lists alone.

circuits/       Recordings under noise: derivatives in doubles, predicted errors, fits
normalization/  Scales and shifts in doubles: construction, training, sparse masks
papers/         Match probabilities of all allocations, principles, large networks
relu/           Shallow ReLU instances: tree searches, linear programs, engines
training/       How often gradient methods find a match; match probability against a bound
"""
