"""More weights than equations: arguments with a count of their own.

apart             The table of these arguments, for verification
critical          Critical points of the distance of students from a point: MP = 1 or MP < 1
partial_products  Students with fixed entries of products of matrices: MP = 1
"""
