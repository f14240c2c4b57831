r"""Compiled kernels for many chains at once, in vector lanes.

condensed  Compiled evaluation of chains in lanes: states, residuals, Jacobian, Taylor
           coefficients
inputs     Compiled evaluation in the free inputs, in lanes (`numeric.chains.inputs` has the
           equations)
lifted     The lifted Newton system without condensing, for paths on which weights grow large
linalg     Complex linear algebra on many problems at once, in vector lanes
table      The table of a chain's lane kernels: sizes, index tables and slot offsets
simd       Vector instructions for lane kernels, written as LLVM intrinsics
"""
