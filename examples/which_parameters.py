"""
Which parameters should I tune?
===============================

Biases, norms, the last layer, low-rank updates: how many samples can each of them fit? For generic
weights nearly as many as counting says, parameters divided by labels. The exceptions are what a
rank finds without training: parameters without effect, and redundant ones. The 75 biases of a
transformer block have rank 34, the 19 of a small convolutional net rank 11. What a capacity does
not say: which subset learns best, or anything about labels far from the network's own.
"""

from pathlib import Path

import matplotlib.pyplot as plt

import matchprob as mp

DATA = Path("data") if Path("data").is_dir() else Path("examples/data")


def print_capacities(model, learn, lora, on=()):
    """Print the capacities of some subsets of a model's parameters, and return them."""
    found = mp.capacity(DATA / model, learn, lora=lora, on=on)
    print(f"{found.parameters} parameters, {found.outputs} labels a sample")
    print(f"{'subset':<28}{'numbers':>8}{'':>9}{'rank':>5}{'fits':>6}{'counting':>10}  on patterns")
    for s in found.subsets:
        least = "" if s.exact or not s.on_patterns else "at least"
        print(f"{s.name:<28}{s.learnable:>8}{least:>9}{s.rank:>5}{s.capacity:>6}{s.counting:>10}"
              f"  {s.range}")  # fmt: skip
    for subset in found.subsets[:1]:
        print(*(f"{subset.name}: {reason}" for reason in subset.reasons), sep="\n")
    return found


# %%
# A perceptron with two hidden layers of ReLU. Ranks depend on the activation pattern: the largest
# is shown, over that at the model's own weights and others at which all units switch. Here it meets
# the bound for all patterns each time, the number of parameters (less the scales between the two
# factors of an update), so no pattern has a larger one. At the model's own weights it is smaller:
# some of its units are off for nearly all samples. The picture: parameters that learn, and samples
# that they fit; the line joins the subsets that no other surpasses, the dotted line is counting.

perceptron = print_capacities(
    "perceptron.onnx", ["*.bias", "layer1.*", "layer2.*", "head.*"], [1, 2]
)
perceptron.plot()
plt.show()

# %%
# A convolutional net with batch normalization: a bias before a norm in evaluation mode is a shift
# that the norm's own bias can also make: 4 of 8 numbers count, in both layers, on every pattern.
# "At least": no bound for all patterns is met.

convnet = print_capacities(
    "convnet.onnx", ["*.bias", "*norm*", "conv*.weight", "head.*", "*"], [1, 2]
)
convnet.plot()
plt.show()

# %%
# A transformer block. The biases of the keys have no effect, since a softmax does not change if the
# same number is added to all its arguments; LoRA of rank 2 on q and v loses the scales between its
# two factors.

block = print_capacities(
    "block.onnx", ["*.bias", "norm*", "q.weight,v.weight", "head.*"], [1, 2, 4],
    on=["q.weight,v.weight"],
)  # fmt: skip
block.plot()
plt.show()

# %%
# The smallest subset that fits 15 samples:

found = mp.capacity(DATA / "block.onnx", ["*.bias", "norm*"], lora=[1, 2], on=["q.weight,v.weight"],
                    needed=15)  # fmt: skip
print(found.cheapest.name, found.cheapest.learnable)
