"""Programs in floating point.

patterns   Activation patterns at drawn points
"""
