"""What a match costs.

conditions      Condition of a match: bounds of its Jacobian's smallest singular value
solutions       Size, change, signs, residual after rounding, condition
"""
