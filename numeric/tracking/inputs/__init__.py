r"""Path tracking in the free inputs (`numeric.equations.inputs` has the equations).

paired   The end of paths in the free inputs, in pairs of doubles, at the rational instance
precise  The end of a path in the free inputs, in many bits, at the rational instance itself
tracker  Lines between instances in their free inputs
"""
