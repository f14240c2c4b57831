"""Questions besides the verdict, where they compute in floating point.

design/  Multipliers for designs under caps
record/  Recordings under noise: derivatives and parameters in doubles, predicted errors, fits
"""
