"""Floating-point computations that are particular to a family of networks.

activations/    Instances of networks with activations: solved in doubles, certified in balls
normalization/  Scales and shifts in doubles: construction, training, sparse masks
relu/           Shallow ReLU instances: tree searches and linear programs
"""
