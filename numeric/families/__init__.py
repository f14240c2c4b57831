"""Floating-point computations that are particular to a family of networks.

activations/    Instances of networks with activations: solved in doubles, certified in balls
"""
