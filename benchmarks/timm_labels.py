"""Labels of timm's models against torch in doubles, and the biases' rank for two samples.

Weights are those that timm draws; two random images.  Run it where torch and timm are installed::

    python -m benchmarks.timm_labels [NAME:SIZE …]
"""

import sys
import time

import numpy as np
import timm
import torch

import matchprob as mp
from algebra.errors import InputError
from tests.doubles import labels

MODELS = (
    "resnet18:64", "mobilenetv3_small_050:64", "convnext_atto:64", "efficientnet_b0:64",
    "vit_tiny_patch16_224:224",
)  # fmt: skip


def compared(name, size):
    """One line: the largest difference of the labels, the rank of all biases, seconds of CPU."""
    torch.manual_seed(0)
    start = time.process_time()
    net = timm.create_model(name, pretrained=False, num_classes=10).double().eval()
    images = torch.randn(2, 3, size, size, dtype=torch.float64)
    try:
        read = mp.from_torch(net, (images,))
    except InputError as error:
        return f"{name}: refused: {error}", True
    weights = {
        key: np.array([int(v) / d for v in np.ravel(table).tolist()]).reshape(
            read.program.weights[key]
        )
        for key, (table, d) in read.values.items()
    }
    samples = {key: np.moveaxis(images.numpy(), 0, -1) for key in read.program.samples}
    ours = labels(read.program, weights, samples).T.reshape(2, -1)
    expected = net(images).detach().numpy()
    difference, largest = np.abs(ours - expected).max(), np.abs(expected).max()
    [row] = mp.capacity(read, ["biases"], m=2).subsets
    count = sum(parameter.numel() for parameter in net.parameters())
    text = (
        f"{name}: {count} parameters, labels differ by {difference:.0e} of {largest:.1g}, "
        f"{row.learnable} biases have rank {row.rank} for 2 samples, "
        f"{time.process_time() - start:.0f} s"
    )
    return text, bool(difference <= 1e-9 * largest)


if __name__ == "__main__":
    found = [compared(name, int(size)) for name, size in
             (one.split(":") for one in sys.argv[1:] or MODELS)]  # fmt: skip
    print("\n".join(text for text, _ in found))
    sys.exit(not all(fits for _, fits in found))
