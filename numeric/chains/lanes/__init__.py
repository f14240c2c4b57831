r"""Compiled kernels that work on many chains at once, in vector lanes.

condensed  Compiled evaluation of chains in lanes: states, residuals, Jacobian, Taylor
           coefficients
inputs     Compiled evaluation in the free inputs, in lanes
lifted     The lifted Newton system without condensing, for paths on which weights grow large
linalg     Complex linear algebra on many problems at once, in vector lanes
simd       Vector instructions for lane kernels, written as LLVM intrinsics
inputs     Compiled evaluation in the free inputs, in lanes (`numeric.chains.inputs` has the
           equations)
"""
