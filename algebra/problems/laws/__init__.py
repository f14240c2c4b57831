"""Laws of weights and samples, and weights that are not drawn.

data          Samples and labels that are given instead of drawn
distribution  Laws of weights, teacher and samples
factors       Standard deviations that are given: of noise, and factors
forms         Forms of the table [distribution] in problem files
measured      The table [values] of a problem file, read
pinned        Fixed weights of a student that are exact numbers, at points and instances
signs         Signs of neurons and synapses (Dale's law)
values        Measured weights: numbers that fixed weights have, with and without jitter
"""
