r"""Chains of matrix products in several arithmetics: doubles, discs, balls, vector lanes.

arrays   Labels and Jacobian of a chain at many points, in NumPy, of any precision
balls    The equations of a chain in ball arithmetic of any precision: residuals and Jacobian
chain    Linear networks with learnable cells as chains of matrix products, ready for kernels
discs    Rigorous arithmetic with complex discs in double precision, and chains in it
lifted_discs  The lifted equations of a chain in discs: the states are unknowns too
inputs   A recurrent net in its free inputs: few unknowns, no power of W
table    Sizes and index tables of a chain, the input of every compiled kernel
lanes/   Compiled kernels for many chains at once, in vector lanes
"""
