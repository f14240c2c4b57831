"""Recordings under noise.

noise           The predicted error of recordings under noise; the fewest for a required error
own_parameters  The circuit's own parameters as rationals: measured, and of instance 0
sensitivities   Derivatives of activities at a circuit's own parameters, in doubles
simulated_fits  How many fits to noisy recordings end far from the truth
"""
