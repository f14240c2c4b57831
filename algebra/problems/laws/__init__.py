"""Laws of weights and samples, and weights that are not drawn.

data          Samples and labels that are given instead of drawn
distribution  Laws of weights, teacher and samples
signs         Signs of neurons and synapses (Dale's law)
values        Measured weights: numbers that fixed weights have, with and without jitter
"""
