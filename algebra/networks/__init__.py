r"""Network kinds, one file each: sizes, matrices and the map they compute.

base           What a network is, the registry of kinds, and `NotKnown`, the one refusal
chain          Linear networks as chains of matrix products: what follows from that description
readings       What of a network can be recorded: labels, outputs at every step, hidden states
limits         Limits of matrices, rows and columns in words, as each kind gives them
linear         The linear estimator
feedforward    Multi-layer linear networks
recurrent      Linear recurrent networks
sequence       Linear recurrent networks read out at every time step
relu           Shallow networks of rectified linear units
activation     Activation functions: polynomials, and four analytic ones with their slopes
activated      What the kinds with an activation share: stages, and the program that they are
ffn            Feed-forward networks with an activation and biases
rnn            Recurrent networks with an activation and biases
normalization  Networks whose normalization layers learn: frozen matrices, tunable scales and
               shifts; linear ones as multi-layer linear networks, by augmented matrices
program        Programs that are read from files

A new kind is a new file here: every file of this folder is imported, and a class with a `kind`
enters itself in `base.KINDS`.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in sorted(iter_modules(__path__), key=lambda module: module.name):
    import_module(f"{__name__}.{_module.name}")
