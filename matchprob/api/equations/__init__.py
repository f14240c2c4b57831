"""The equations themselves.

symbolic  With symbols for the data; their core, and its discriminant
export    Those of an instance for other programs: msolve, PHCpack, Singular, Magma, SageMath, …
"""
