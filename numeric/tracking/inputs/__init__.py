r"""Path tracking in the free inputs (`numeric.chains.inputs` has the equations).

kernel   The compiled tracker: many paths, `LANES` at a time
precise  The end of a path in many bits, for roots near infinity
tracker  Lines between instances in their free inputs
"""
