r"""Path tracking in the free inputs (`numeric.chains.inputs` has the equations).

precise  The end of a path in many bits, for roots near infinity
tracker  Lines between instances in their free inputs
"""
