"""Networks that are programs read from files: the family of the kind ``program``.

aten/     Programs from PyTorch modules
capacity/ How many samples can parts of a model fit, and which parameters are redundant?
certify   Verdicts: by the arguments, or as those of a feed-forward network
dimension The dimension of the set of functions of a network
inspect   The structure report
network   Programs that are read from files: the kind ``program``
onnx/     Programs from ONNX files
roles     Parameters of a model by their use: biases, norms, matrices, the last layer
verify    The checks of these
verify_dimension  The check of the proof of a dimension
"""
