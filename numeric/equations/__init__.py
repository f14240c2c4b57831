r"""Equations of networks as tapes, and the arithmetics that run them: lanes, discs, balls, NumPy.

arrays   Labels and Jacobians at many points, in NumPy, of any precision
balls    Tapes in ball arithmetic of any precision: exact points, or enclosures
chain    Linear networks with learnable cells as chains of matrix products, ready for kernels
critical  Critical points of a distance on the variety of students, as a system for the tracker
pairs    Rigorous arithmetic with complex discs in pairs of doubles, and tapes run in it
intervals  Intervals in doubles, rounded outwards, for many boxes at once
discs    Rigorous arithmetic with complex discs in double precision, and tapes run in it
system_forms  The equations F(x) = 0 of a system as tapes of values and derivatives, in up to three
              forms
inputs   A recurrent net in its free inputs: few unknowns, no power of W
projected  A chain in the states that fixed weights leave free, learnable weights projected out
products  Labels as sums of products: values of degree two in earlier ones
program_system  Programs of polynomial operations with learnable cells, ready for the tracker
system   What the tracker, monodromy, the trace test and certification ask of a system
lanes/   Systems of equations as tapes, and the compiled arithmetic that runs them in lanes
"""
