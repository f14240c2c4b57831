r"""Systems of equations as tapes, and the compiled arithmetic that runs them in vector lanes.

inputs     The tapes of a system in the free inputs (`numeric.equations.inputs` has the equations)
lifted     The tapes of a form's lifted system, for paths on which weights become large
paired_inputs  The same in pairs of doubles, for paths near infinity
linalg     Complex linear algebra for many problems at once, in vector lanes
products   Tapes of systems whose values are sums of products
simd       Vector instructions for lane kernels, written as LLVM intrinsics
tape       A system of equations as a tape: a table of block operations that one compiled kernel
           runs
"""
