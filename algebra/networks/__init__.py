r"""Network kinds, one file for each: sizes, matrices and the map that they compute.

kinds          The registry of kinds, and networks from the table of a file
base           Base class of networks: sizes, matrices, the map
protocols      What some kinds know besides: Jacobian, names of units, limits, costs of patterns
chain          Linear networks as chains of matrix products, and all that follows from this
chain_layout   Which matrices of a chain act, in which order, and what is read
chain_program  The program of a chain, with names for the values in its forms
chain_units    Units and lines of chains: symmetries, limits, ranks that are enough
named_chain    Chains of matrix products in programs, with matrices of any names
masks          Masks of large matrices by their entries
own_point      Given parameters of a network, at which its ranks are computed
layered        Feed-forward networks in programs
limits         Limits of matrices, rows and columns in words, as each kind gives them
feedforward    Linear estimators and multi-layer linear networks
recurrent      Linear recurrent networks, read at the last step or at every step
large          The limit of large linear RNNs in which few weights learn
rectified      Networks of layers with ReLU between them
activation     Activation functions: polynomials, and four analytic functions with their slopes
activated      Base class of the kinds with an activation: stages, and the program built from them
ffn            Feed-forward networks with an activation and biases
rnn            Recurrent networks with an activation and biases

A new kind is a new file here and its line in `kinds.KINDS`: its module is imported when the kind is
asked for.
"""
