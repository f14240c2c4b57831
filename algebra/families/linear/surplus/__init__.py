"""More weights than equations: students on slices, at infinity, and nearest to a point.

apart             The table of these arguments, for verification
critical          Critical points of the distance of students from a point: MP = 1 or MP < 1
infinity          Solutions at infinity: MP = 1 if some weights may go there
partial_products  Students with fixed entries of products of matrices: MP = 1
tied              Groups of weights that move together: MP = 1
"""
