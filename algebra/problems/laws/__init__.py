"""How weights and samples are drawn, and which weights are not.

distribution  Laws of weights, teacher and samples; signs of neurons and synapses (Dale's law)
values        Measured weights: numbers that fixed weights have, with and without jitter
"""
