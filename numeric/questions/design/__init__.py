"""Designs.

cap_relaxation  Multipliers for bases under several kinds of caps, from a linear program
"""
