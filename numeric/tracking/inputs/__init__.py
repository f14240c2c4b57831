r"""Path tracking in the free inputs (`numeric.equations.inputs` has the equations).

precise  The end of a path in the free inputs, in many bits, at the rational instance itself
tracker  Lines between instances in their free inputs
"""
