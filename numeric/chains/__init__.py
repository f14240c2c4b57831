r"""Chains of matrix products in several arithmetics: doubles, discs, balls, vector lanes.

arrays   Labels and Jacobian of a chain at many points, in NumPy, of any precision
balls    Tapes in ball arithmetic of any precision: exact points, or enclosures
chain    Linear networks with learnable cells as chains of matrix products, ready for kernels
discs    Rigorous arithmetic with complex discs in double precision, and tapes run in it
equations  The equations F(x) = 0 of a chain as tapes of values and derivatives, in two forms
inputs   A recurrent net in its free inputs: few unknowns, no power of W
table    Sizes and index tables of a chain, the input of every compiled kernel
lanes/   Systems of equations as tapes, and the compiled arithmetic that runs them in lanes
"""
