"""Models from files and modules.

capacity  How many samples a set of parameters can fit: the verb capacity
dimension The dimension of the set of a network's functions: the verb dimension
layers    Layers of given networks: arrays, ``.npz`` files, scikit-learn, torch
models    The program of a file, a module, or a problem
modules   Problems from torch modules, and learnable weights as masks for gradients
pictures  Pictures of capacities against parameters, and of dimensions
pieces    Points at which ranks of a model are found: own weights, given samples, patterns
subsets   Parameters by names, patterns and roles; the default subsets
"""
