"""Files that are read: opened, bounded and checked in one place.

opening  Files are opened here: regular ones, within limits of length and time
arrays   Arrays of NumPy and sparse matrices of SciPy: all that a file says is checked
"""
