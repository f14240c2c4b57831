"""Programs in floating point.

doubles    Values in machine numbers, real or complex
patterns   Activation patterns at drawn points
"""
