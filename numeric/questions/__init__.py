"""Questions besides the verdict, where they compute in floating point.

design/  Multipliers for designs under caps
"""
