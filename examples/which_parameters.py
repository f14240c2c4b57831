"""
Which parameters should I tune?
===============================

Biases, norms, the last layer, low-rank updates: how many samples can each of them fit? The number
of parameters is too large an estimate: the 75 biases of a transformer block have rank 34, those of
a small convolutional net (19) have rank 3 on the activation patterns drawn. The capacity is a rank,
computed exactly without training.
"""

from pathlib import Path

import matplotlib.pyplot as plt

import matchprob as mp

DATA = Path("data") if Path("data").is_dir() else Path("examples/data")


def print_capacities(model, learn, lora, on=()):
    """Print the capacities of some subsets of a model's parameters, and return them."""
    found = mp.capacity(DATA / model, learn, lora=lora, on=on)
    print(f"{found.parameters} parameters, {found.outputs} labels a sample")
    print(f"{'subset':<26}{'numbers':>8}{'rank':>6}{'fits':>6}{'counting':>10}")
    for s in found.subsets:
        print(f"{s.name:<26}{s.learnable:>8}{s.rank:>6}{s.capacity:>6}{s.counting:>10}")
    for subset in found.subsets[:1]:
        print(*(f"{subset.name}: {reason}" for reason in subset.reasons), sep="\n")
    return found


# %%
# A perceptron with two hidden layers of ReLU: units that are off for all samples do not count.

perceptron = print_capacities(
    "perceptron.onnx", ["*.bias", "layer1.*", "layer2.*", "head.*"], [1, 2]
)

# %%
# A convolutional net with batch normalization: a bias before a norm in evaluation mode is a shift
# that the norm's own bias can also make, and after a mean over the image few directions are left.

convnet = print_capacities(
    "convnet.onnx", ["*.bias", "*norm*", "conv*.weight", "head.*", "*"], [1, 2]
)

# %%
# A transformer block. The biases of the keys have no effect, since a softmax does not change if the
# same number is added to all its arguments; LoRA of rank 2 on q and v loses the scales between its
# two factors.

block = print_capacities(
    "block.onnx", ["*.bias", "norm*", "q.weight,v.weight", "head.*"], [1, 2, 4],
    on=["q.weight,v.weight"],
)  # fmt: skip

# %%
# Learnable parameters and samples that they fit: the line joins the subsets that no other subset
# surpasses, the dotted line is the number of parameters.

figure, panels = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for axes, found in zip(panels, (perceptron, convnet, block), strict=True):
    found.plot(ax=axes)
plt.show()

# %%
# The smallest subset that fits 15 samples:

found = mp.capacity(DATA / "block.onnx", ["*.bias", "norm*"], lora=[1, 2], on=["q.weight,v.weight"],
                    needed=15)  # fmt: skip
print(found.cheapest.name, found.cheapest.learnable)
