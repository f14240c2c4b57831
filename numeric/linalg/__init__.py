"""Methods in doubles that know nothing of networks.

float_simplex   A guess in doubles of the final basis of a linear program, which exact arithmetic
                then checks
levenberg_marquardt  Damped Gauss–Newton for a batch of real starts
"""
